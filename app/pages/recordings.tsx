import { useEffect, useRef } from 'preact/hooks';
import type { Stream } from '../../kits/typescript/src/api.js';
import { api } from '../api/api.js';
import { useEvents } from '../api/event_feed.js';
import { useList, useLoaded, usePolling } from '../api/loading.js';
import { DropZone, ImportButton } from '../imports/import_button.js';
import { ImportList } from '../imports/import_list.js';
import { dayOf } from '../language/formats.js';
import { say } from '../language/say.js';
import { Button, ButtonLink } from '../parts/button.js';
import { Page } from '../parts/page.js';
import { EmptyState, List } from '../parts/placeholders.js';
import { dayText } from '../parts/time.js';
import { deleted_ids } from '../recording/deletion.js';
import { isLive } from '../recording/is_live.js';
import { type OnStarAndTags, rememberTags } from '../recording/stars_and_tags.js';
import { BASE, place } from '../router.js';
import { EmptyWorkspace } from './recordings/empty_workspace.js';
import { clearFilters, emptyWorkspaceIn, Filters, filtersIn, isFiltered } from './recordings/filters.js';
import { FindRecordings } from './recordings/find_recordings.js';
import { loadPage, loadWhole, needsWhole, orderedStreams, sortIn } from './recordings/ordering.js';
import { RecordingRow } from './recordings/recording_row.js';
import { type Selection, SelectionBar, useSelection } from './recordings/selection.js';
import type { Sources } from './recordings/source_names.js';

const SOURCES = 100;
/** No event tells that a recording under way goes on. */
const LIVE_POLL_MS = 60_000;
const NO_SOURCES: Sources = new Map();

/** Everything that was recorded, by the days on which it was. */
export function Recordings() {
  const { query } = place.value;
  const filters = filtersIn(query);
  const is_whole = needsWhole(query);
  const streams = useList(
    (cursor) => (is_whole ? loadWhole(filters, cursor) : loadPage(filters, cursor)),
    [JSON.stringify(filters), is_whole],
  );
  const { state, more } = streams;
  const items = streams.items.filter(({ id }) => !deleted_ids.value.has(id));
  const has_recordings = useRef(false);
  has_recordings.current ||= items.length > 0 || isFiltered(query);
  const sources = useLoaded(loadSources, []).data ?? NO_SOURCES;
  const sort = sortIn(query);
  const shown = orderedStreams(items, { q: query.get('q') ?? '', sort });
  const selection = useSelection(shown);
  useEffect(() => rememberTags(streams.items), [streams.items]);
  const onStarAndTags: OnStarAndTags = (id, marks) =>
    streams.change((all) => all.map((stream) => (stream.id === id ? { ...stream, ...marks } : stream)));
  useEffect(() => {
    // A page may have nothing that passes while there is more behind it.
    if (state === 'ready' && items.length === 0) more?.();
  }, [state]);
  usePolling(items.some(isLive), LIVE_POLL_MS, streams.reload);
  useEvents(['stream.created', 'stream.updated', 'stream.deleted'], () => streams.reload());
  useEvents(['conversation.created', 'conversation.updated'], () => streams.reload());
  return (
    <Page
      title={say('Recordings')}
      actions={
        <>
          <ImportButton />
          <ButtonLink kind="primary" icon="microphone" href={`${BASE}/record`}>
            {say('Record')}
          </ButtonLink>
        </>
      }
    >
      <DropZone />
      <ImportList />
      {has_recordings.current && (
        <>
          <FindRecordings />
          <div class="list-tools">
            <Filters sources={sources} />
            {shown.length > 0 && selection.ids === null && (
              <Button small onClick={selection.begin}>
                {say('Select')}
              </Button>
            )}
          </div>
        </>
      )}
      {selection.ids !== null && <SelectionBar streams={shown} selection={selection} onStarAndTags={onStarAndTags} />}
      {is_whole && more !== null && state === 'ready' && (
        <p class="notice">
          {say('These are the newest {n} recordings. “Show more” goes on with older ones.', { n: items.length })}
        </p>
      )}
      <List
        of={streams}
        empty={nothingIn(query)}
        whole={() => {
          if (shown.length === 0) return isFiltered(query) ? nothingIn(query) : more === null && <Nothing />;
          const listed = { streams: shown, sources, selection, onStarAndTags };
          return sort === '' || sort === 'oldest' ? <Days {...listed} /> : <Rows {...listed} with_day />;
        }}
      />
    </Page>
  );
}

async function loadSources(): Promise<Sources> {
  const sources = await api('GET /sources', { query: { limit: SOURCES } });
  return new Map(sources.items.map((source) => [source.id, source]));
}

type ListedStreams = {
  streams: readonly Stream[];
  sources: Sources;
  selection: Selection;
  onStarAndTags: OnStarAndTags;
};

function Days({ streams, ...rest }: ListedStreams) {
  const days = new Map<string, Stream[]>();
  for (const stream of streams) {
    const day = dayOf(stream.captured_at);
    days.set(day, [...(days.get(day) ?? []), stream]);
  }
  return (
    <>
      {[...days].map(([day, of_day]) => (
        <section key={day} class="day">
          <h2>{dayText(day)}</h2>
          <Rows streams={of_day} {...rest} />
        </section>
      ))}
    </>
  );
}

function Rows({ streams, selection, with_day = false, ...rest }: ListedStreams & { with_day?: boolean }) {
  const { ids, choose } = selection;
  return (
    <ul class="list">
      {streams.map((stream) => (
        <RecordingRow
          key={stream.id}
          stream={stream}
          with_day={with_day}
          is_chosen={ids?.has(stream.id) === true}
          choose={ids === null ? undefined : (chosen) => choose(stream.id, chosen)}
          {...rest}
        />
      ))}
    </ul>
  );
}

/** Why the list is empty, and what to do about it. */
function nothingIn(query: URLSearchParams) {
  const workspace_id = emptyWorkspaceIn(query);
  if (workspace_id !== null) return <EmptyWorkspace id={workspace_id} />;
  return isFiltered(query) ? <NothingFound /> : <Nothing />;
}

function Nothing() {
  return (
    <EmptyState
      icon="microphone"
      title={say('No recordings yet')}
      action={
        <ButtonLink kind="primary" icon="microphone" href={`${BASE}/record`}>
          {say('Record with this browser')}
        </ButtonLink>
      }
    >
      <p>
        {say(
          'Speak into this computer’s microphone, or drop audio files and transcripts here. They become recordings with text.',
        )}
      </p>
    </EmptyState>
  );
}

function NothingFound() {
  return (
    <EmptyState
      icon="search"
      title={say('No recording matches')}
      action={<Button onClick={clearFilters}>{say('Clear filters')}</Button>}
    >
      <p>{say('Choose other words, another person or source, or a longer time.')}</p>
    </EmptyState>
  );
}
