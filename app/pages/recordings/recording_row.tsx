import type { Stream } from '../../../kits/typescript/src/api.js';
import { say, sayCount } from '../../language/say.js';
import { Badge } from '../../parts/placeholders.js';
import { durationText, Time } from '../../parts/time.js';
import { isLive } from '../../recording/is_live.js';
import { isTextOnly } from '../../recording/is_text_only.js';
import { StarButton } from '../../recording/star_button.js';
import type { OnStarAndTags } from '../../recording/stars_and_tags.js';
import { recordingName } from '../../recording/stream_names.js';
import { TagLinks } from '../../recording/tags.js';
import { BASE } from '../../router.js';
import { FoundNote } from './found_note.js';
import { type Sources, sourceName } from './source_names.js';

const NAMES_SHOWN = 3;

/** A recording in the list. `choose`: absent while nothing is selected. */
export function RecordingRow({
  stream,
  sources,
  is_chosen,
  choose,
  with_day,
  onStarAndTags,
}: {
  stream: Stream;
  sources: Sources;
  is_chosen: boolean;
  choose?: ((chosen: boolean) => void) | undefined;
  /** Where the list is not by days. */
  with_day: boolean;
  onStarAndTags: OnStarAndTags;
}) {
  const { id, source_id, source_device_id, captured_at, end_ms, first_line } = stream;
  const source = sources.get(source_id) ?? { name: null, device_id: source_device_id };
  const title = <bdi>{recordingName(stream)}</bdi>;
  const speakers = speakersText(stream);
  return (
    <li class={is_chosen ? 'chosen' : undefined}>
      {choose !== undefined && (
        <input
          type="checkbox"
          id={`choose-${id}`}
          class="row-choice"
          checked={is_chosen}
          onChange={(event) => choose(event.currentTarget.checked)}
        />
      )}
      <div class="row-when">
        <Time at={captured_at} style={with_day ? 'date' : 'time'} />
      </div>
      <div class="row-main">
        {choose === undefined ? (
          <a class="row-title" href={`${BASE}/recordings/${id}`}>
            {title}
          </a>
        ) : (
          <label class="row-title" for={`choose-${id}`}>
            {title}
          </label>
        )}
        {first_line != null && (
          <p class="row-text one-line">
            <bdi>{first_line}</bdi>
          </p>
        )}
        <FoundNote stream={stream} />
        <p class="row-facts">
          {end_ms !== undefined && <span>{durationText(end_ms)}</span>}
          {isTextOnly(stream) && <span>{say('Text only')}</span>}
          {speakers !== null && <bdi>{speakers}</bdi>}
          <bdi>{sourceName(source)}</bdi>
        </p>
        {stream.tags != null && stream.tags.length > 0 && <TagLinks tags={stream.tags} />}
      </div>
      <div class="row-end">
        <State stream={stream} />
        {choose === undefined && <StarButton stream={stream} onStarAndTags={onStarAndTags} />}
      </div>
    </li>
  );
}

/** Nothing where all is there. */
function State({ stream }: { stream: Stream }) {
  const { end_ms, stored_chunks, chunks, transcript_revision } = stream;
  if (isLive(stream)) return <Badge tone="live">{say('Recording now')}</Badge>;
  if (end_ms === undefined) return <Badge>{say('Unfinished')}</Badge>;
  if (stored_chunks < chunks) return <Badge tone="caution">{say('Still arriving')}</Badge>;
  return transcript_revision === 0 ? <Badge>{say('No text')}</Badge> : null;
}

/** Who speaks: the names, and how many others. Null where nothing is known of it. */
function speakersText({ speakers }: Stream): string | null {
  if (speakers == null || speakers.length === 0) return null;
  const names = [...new Set(speakers.flatMap(({ name }) => name ?? []))].slice(0, NAMES_SHOWN);
  const others = speakers.length - names.length;
  if (names.length === 0) return sayCount(others, { one: '{n} speaker', other: '{n} speakers' });
  return others === 0
    ? names.join(', ')
    : sayCount(others, { one: '{names} and {n} more', other: '{names} and {n} more' }, { names: names.join(', ') });
}
