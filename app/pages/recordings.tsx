import { useEffect, useRef } from 'preact/hooks';
import type { Stream } from '../../kits/typescript/src/api.js';
import { api } from '../api/api.js';
import { useEvents } from '../api/event_feed.js';
import { useList, useLoaded, usePolling } from '../api/loading.js';
import { DropZone, ImportButton } from '../imports/import_button.js';
import { ImportList } from '../imports/import_list.js';
import { Button, ButtonLink } from '../parts/button.js';
import { Page } from '../parts/page.js';
import { EmptyState, List } from '../parts/placeholders.js';
import { dayOf, dayText } from '../parts/time.js';
import { isLive } from '../recording/is_live.js';
import { includeAll } from '../recording/stream_names.js';
import { BASE, place } from '../router.js';
import { clearFilters, Filters, filtersIn, isFiltered } from './recordings/filters.js';
import { RecordingRow } from './recordings/recording_row.js';
import { type Selection, SelectionBar, useSelection } from './recordings/selection.js';
import type { Sources } from './recordings/source_names.js';

const PAGE_ITEMS = 50;
const SOURCES = 100;
/** No event tells that a recording under way goes on. */
const LIVE_POLL_MS = 60_000;
const NO_SOURCES: Sources = new Map();

/** Everything that was recorded, by the days on which it was. */
export function Recordings() {
  const { query } = place.value;
  const filters = filtersIn(query);
  const streams = useList(
    (cursor) => api('GET /audio/streams', { query: { limit: PAGE_ITEMS, cursor, ...filters, ...includeAll() } }),
    [JSON.stringify(filters)],
  );
  const { state, items, more } = streams;
  const has_recordings = useRef(false);
  has_recordings.current ||= items.length > 0 || isFiltered(query);
  const sources = useLoaded(loadSources, []).data ?? NO_SOURCES;
  const selection = useSelection(items);
  useEffect(() => {
    // A page may have nothing that passes while there is more behind it.
    if (state === 'ready' && items.length === 0) more?.();
  }, [state]);
  usePolling(items.some(isLive), LIVE_POLL_MS, streams.reload);
  useEvents(['stream.created', 'stream.updated', 'stream.deleted'], () => streams.reload());
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
      {has_recordings.current && (
        <div class="list-tools">
          <Filters sources={sources} />
          {items.length > 0 && selection.ids === null && (
            <Button small onClick={selection.begin}>
              Select
            </Button>
          )}
        </div>
      )}
      {selection.ids !== null && (
        <SelectionBar
          streams={items}
          selection={selection}
          removed={(ids) => streams.change((all) => all.filter(({ id }) => !ids.has(id)))}
        />
      )}
      <List
        of={streams}
        empty={isFiltered(query) ? <NothingFound /> : <Nothing />}
        whole={(all) => <Days streams={all} sources={sources} selection={selection} />}
      />
    </Page>
  );
}

async function loadSources(): Promise<Sources> {
  const sources = await api('GET /sources', { query: { limit: SOURCES } });
  return new Map(sources.items.map((source) => [source.id, source]));
}

function Days({ streams, sources, selection }: { streams: readonly Stream[]; sources: Sources; selection: Selection }) {
  const days = new Map<string, Stream[]>();
  // The list has them as they were registered; a recorder may bring its recordings days later.
  for (const stream of streams.toSorted((a, b) => b.captured_at.localeCompare(a.captured_at))) {
    const day = dayOf(stream.captured_at);
    days.set(day, [...(days.get(day) ?? []), stream]);
  }
  const { ids, choose } = selection;
  return (
    <>
      {[...days].map(([day, of_day]) => (
        <section key={day} class="day">
          <h2>{dayText(day)}</h2>
          <ul class="list">
            {of_day.map((stream) => (
              <RecordingRow
                key={stream.id}
                stream={stream}
                sources={sources}
                is_chosen={ids?.has(stream.id) === true}
                choose={ids === null ? undefined : (chosen) => choose(stream.id, chosen)}
              />
            ))}
          </ul>
        </section>
      ))}
    </>
  );
}

function Nothing() {
  return (
    <EmptyState
      icon="microphone"
      title="No recordings yet"
      action={
        <ButtonLink kind="primary" icon="microphone" href={`${BASE}/record`}>
          Record with this browser
        </ButtonLink>
      }
    >
      <p>Speak into this computer’s microphone, or drop audio files here. They become recordings with text.</p>
    </EmptyState>
  );
}

function NothingFound() {
  return (
    <EmptyState
      icon="search"
      title="No recording matches"
      action={<Button onClick={clearFilters}>Clear filters</Button>}
    >
      <p>Choose another person or source, or a longer time.</p>
    </EmptyState>
  );
}
