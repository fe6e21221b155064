import type { SearchHit } from '../../kits/typescript/src/api.js';
import { clockText } from '../../src/domain/span_text.js';
import { type PlainText, say } from '../language/say.js';
import { Badge } from '../parts/placeholders.js';
import { Time } from '../parts/time.js';
import { RecordingLink } from '../recording/stream_names.js';
import { BASE } from '../router.js';

const KIND_NAMES: Record<SearchHit['kind'], PlainText | null> = {
  turn: null,
  suggestion: 'Suggestion',
  note: 'Note|a mark',
  conversation: 'Conversation',
  memory: 'Memory',
};

/** A sentence that was found, with its recording and day. */
export function Hit({ hit }: { hit: SearchHit }) {
  const { kind, snippet, stream_id, start_ms, started_at, speaker_name } = hit;
  const text = <HighlightedText {...snippet} />;
  const kind_name = KIND_NAMES[kind];
  return (
    <li>
      <div class="row-main">
        <p class="row-facts">
          {speaker_name !== null && (
            <strong>
              <bdi>{speaker_name}</bdi>
            </strong>
          )}
          <Time at={started_at} />
          {stream_id !== null && <RecordingLink stream_id={stream_id} at_ms={start_ms ?? 0} />}
          {start_ms !== null && <span>{say('at {time}', { time: clockText(start_ms) })}</span>}
        </p>
        {stream_id === null ? (
          <p class="row-title">{text}</p>
        ) : (
          <a class="row-title found" href={`${BASE}/recordings/${stream_id}?t=${start_ms ?? 0}`}>
            {text}
          </a>
        )}
      </div>
      {kind_name !== null && <Badge>{say(kind_name)}</Badge>}
    </li>
  );
}

/** A text in which words that were looked for are marked. */
export function HighlightedText({ text, highlights }: SearchHit['snippet']) {
  const parts = [];
  let at = 0;
  for (const [from, to] of highlights) {
    parts.push(text.slice(at, from), <mark key={from}>{text.slice(from, to)}</mark>);
    at = to;
  }
  return (
    <bdi>
      {parts}
      {text.slice(at)}
    </bdi>
  );
}
