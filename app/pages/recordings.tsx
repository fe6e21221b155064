import type { Source, Stream } from '../../kits/typescript/src/api.js';
import { api } from '../api/api.js';
import { useEvents } from '../api/event_feed.js';
import { useList, useLoaded, usePolling } from '../api/loading.js';
import { DropZone, ImportButton } from '../imports/import_button.js';
import { ImportList } from '../imports/import_list.js';
import { ButtonLink } from '../parts/button.js';
import { Page } from '../parts/page.js';
import { Badge, EmptyState, List } from '../parts/placeholders.js';
import { dayOf, dayText, durationText, Time } from '../parts/time.js';
import { FirstWords } from '../recording/first_words.js';
import { isLive } from '../recording/is_live.js';
import { includeTitles, recordingName } from '../recording/stream_names.js';
import { BASE, place } from '../router.js';
import { account } from '../shell/account.js';

const PAGE_ITEMS = 50;
const SOURCES = 100;
/** No event tells that a recording under way goes on. */
const LIVE_POLL_MS = 60_000;

type KnownNames = ReadonlyMap<string, Source>;

/** Everything that was recorded, by the days on which it was. */
export function Recordings() {
  const workspace_id = place.value.query.get('workspace') ?? undefined;
  const streams = useList(
    (cursor) => api('GET /audio/streams', { query: { limit: PAGE_ITEMS, cursor, workspace_id, ...includeTitles() } }),
    [workspace_id],
  );
  const known = useLoaded(loadKnown, []);
  usePolling(streams.items.some(isLive), LIVE_POLL_MS, streams.reload);
  useEvents(['stream.created', 'stream.updated', 'stream.deleted'], () => streams.reload());
  useEvents(['source.created', 'source.updated'], () => known.reload());
  useEvents(['conversation.created', 'conversation.updated'], () => streams.reload());
  return (
    <Page
      title="Recordings"
      actions={
        <>
          <ImportButton />
          <ButtonLink kind="primary" icon="microphone" href={`${BASE}/record`}>
            Record
          </ButtonLink>
        </>
      }
    >
      <DropZone />
      <ImportList />
      <Workspaces chosen={workspace_id ?? null} />
      <List
        of={streams}
        empty={<Nothing />}
        whole={(items) => <Days streams={items} known={known.data ?? NOTHING_KNOWN} />}
      />
    </Page>
  );
}

const NOTHING_KNOWN: KnownNames = new Map();

/** Loads the names of sources. */
async function loadKnown(): Promise<KnownNames> {
  const sources = await api('GET /sources', { query: { limit: SOURCES } });
  return new Map(sources.items.map((source) => [source.id, source]));
}

/** Whose recordings: only where there is a choice. */
function Workspaces({ chosen }: { chosen: string | null }) {
  const { workspaces } = account.value ?? { workspaces: [] };
  if (workspaces.length < 2) return null;
  const choices = [{ id: null, name: 'Recorded by me' }, ...workspaces.filter((one) => !one.private)];
  return (
    <nav class="tabs" aria-label="Whose recordings">
      {choices.map(({ id, name }) => (
        <a
          key={id}
          class="tab"
          href={`${BASE}/recordings${id === null ? '' : `?workspace=${id}`}`}
          aria-current={id === chosen ? 'true' : undefined}
        >
          <bdi>{name}</bdi>
        </a>
      ))}
    </nav>
  );
}

function Days({ streams, known }: { streams: readonly Stream[]; known: KnownNames }) {
  const days = new Map<string, Stream[]>();
  // The list has them as they were registered; a recorder may bring its recordings days later.
  for (const stream of streams.toSorted((a, b) => b.captured_at.localeCompare(a.captured_at))) {
    const day = dayOf(stream.captured_at);
    days.set(day, [...(days.get(day) ?? []), stream]);
  }
  return (
    <>
      {[...days].map(([day, of_day]) => (
        <section key={day} class="day">
          <h2>{dayText(day)}</h2>
          <ul class="list">
            {of_day.map((stream) => (
              <Row key={stream.id} stream={stream} known={known} />
            ))}
          </ul>
        </section>
      ))}
    </>
  );
}

function Row({ stream, known }: { stream: Stream; known: KnownNames }) {
  const source = known.get(stream.source_id);
  const is_named = (stream.title ?? stream.title_suggested ?? null) !== null;
  return (
    <li>
      <div class="row-when">
        <Time at={stream.captured_at} style="time" />
      </div>
      <div class="row-main">
        <a class="row-title" href={`${BASE}/recordings/${stream.id}`}>
          <bdi>{is_named ? recordingName(stream) : <FirstWords stream={stream} />}</bdi>
        </a>
        {stream.first_line != null && (
          <p class="row-text one-line">
            <bdi>{stream.first_line}</bdi>
          </p>
        )}
        <p class="row-facts">
          {stream.end_ms !== undefined && <span>{durationText(stream.end_ms)}</span>}
          <bdi>{source?.name ?? (stream.source_device_id === null ? 'An app' : 'A recording device')}</bdi>
        </p>
      </div>
      <div class="row-end">{isLive(stream) && <Badge tone="live">recording now</Badge>}</div>
    </li>
  );
}

function Nothing() {
  return (
    <EmptyState
      icon="microphone"
      title="Nothing is recorded yet"
      action={
        <ButtonLink kind="primary" icon="microphone" href={`${BASE}/record`}>
          Record with this browser
        </ButtonLink>
      }
    >
      <p>
        Say something into this computer’s microphone, or drop audio files here: they become recordings, and text beside
        them.
      </p>
    </EmptyState>
  );
}
