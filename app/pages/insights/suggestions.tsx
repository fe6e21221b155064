import { useEffect, useRef } from 'preact/hooks';
import type { Suggestion } from '../../../kits/typescript/src/api.js';
import { api } from '../../api/api.js';
import { useEvents } from '../../api/event_feed.js';
import { useLoaded } from '../../api/loading.js';
import { usePeople } from '../../contacts/people.js';
import { byDue } from '../../insights/due_order.js';
import { KINDS, STATUS_NAMES, SuggestionRow } from '../../insights/suggestion_row.js';
import { SelectField } from '../../parts/field.js';
import { EmptyState, Show } from '../../parts/placeholders.js';
import { timeText } from '../../parts/time.js';
import { leaveRow } from '../../parts/toast_action.js';
import { includeTitles, recordingName } from '../../recording/stream_names.js';
import { place, setQuery } from '../../router.js';
import { may } from '../../shell/account.js';
import { QueryTabs } from './query_tabs.js';

const PAGE_ITEMS = 100;
/** So many are put in order; who has more narrows the list. */
const ITEMS_MAX = 1_000;
const RECORDINGS = 100;
const STATUSES = ['open', 'accepted', 'completed', 'dismissed'] as const;
const ME = 'me';

type ShownSuggestions = { items: readonly Suggestion[]; is_cut: boolean };

/** Suggestions of a status: what is due first comes first. The address holds what is chosen. */
export function Suggestions() {
  const { query } = place.value;
  const status = STATUSES.find((one) => one === query.get('status')) ?? 'open';
  const kind = (Object.keys(KINDS) as Suggestion['kind'][]).find((one) => one === query.get('kind'));
  const filters = { kind, owner: query.get('who') || undefined, stream_id: query.get('recording') || undefined };
  const found = useLoaded(() => loadAll({ status, ...filters }), [status, JSON.stringify(filters)]);
  useEvents(['suggestion.created', 'suggestion.updated', 'suggestion.deleted'], found.reload);
  const list = useRef<HTMLUListElement>(null);
  // A row that goes leaves the focus to the one behind it.
  const next_focus = useRef<number | null>(null);
  useEffect(() => {
    const at = next_focus.current;
    next_focus.current = null;
    if (at === null) return;
    const rows = list.current?.children ?? [];
    const row = rows[Math.min(at, rows.length - 1)];
    if (row === undefined) leaveRow();
    else row.querySelector<HTMLElement>('button')?.focus();
  });
  const shownOf = ({ items }: ShownSuggestions) => items.filter((one) => one.status === status).sort(orderOf(status));
  const latest = useRef(found.data);
  latest.current = found.data;
  const change = (next: Suggestion) => {
    const now = latest.current;
    if (now === null) return;
    if (next.status !== status) next_focus.current = shownOf(now).findIndex(({ id }) => id === next.id);
    found.set({ ...now, items: [...now.items.filter(({ id }) => id !== next.id), next] });
  };
  const is_narrow = Object.values(filters).some((filter) => filter !== undefined);
  return (
    <>
      <QueryTabs
        label="Suggestions by status"
        name="status"
        rows={STATUSES.map((one) => [one === 'open' ? null : one, STATUS_NAMES[one]])}
      />
      <Filters />
      <Show of={found}>
        {(known) => {
          const shown = shownOf(known);
          if (shown.length === 0) return <Nothing status={status} is_narrow={is_narrow} />;
          return (
            <>
              <ul class="list" aria-label="Suggestions" ref={list}>
                {shown.map((one) => (
                  <SuggestionRow key={one.id} suggestion={one} onChange={change} />
                ))}
              </ul>
              {known.is_cut && <p class="hint">Not all are shown. Filter by person, kind or recording.</p>}
            </>
          );
        }}
      </Show>
    </>
  );
}

function orderOf(status: Suggestion['status']): (one: Suggestion, other: Suggestion) => number {
  if (status === 'open' || status === 'accepted') return byDue;
  return (one, other) => other.updated_at.localeCompare(one.updated_at);
}

type SuggestionFilters = {
  status: Suggestion['status'];
  kind: Suggestion['kind'] | undefined;
  owner: string | undefined;
  stream_id: string | undefined;
};

async function loadAll(filters: SuggestionFilters): Promise<ShownSuggestions> {
  const items: Suggestion[] = [];
  let cursor: string | undefined;
  do {
    const page = await api('GET /suggestions', { query: { limit: PAGE_ITEMS, cursor, ...filters } });
    items.push(...page.items);
    cursor = page.cursor ?? undefined;
  } while (cursor !== undefined && items.length < ITEMS_MAX);
  return { items, is_cut: cursor !== undefined };
}

function Filters() {
  const { query } = place.value;
  const people = usePeople();
  const recordings = useLoaded(
    () =>
      may('audio:read')
        ? api('GET /audio/streams', { query: { limit: RECORDINGS, ...includeTitles() } })
        : Promise.resolve({ items: [], cursor: null }),
    [],
  );
  const chosen = query.get('recording') ?? '';
  const named = (recordings.data?.items ?? []).map((stream) => {
    const is_titled = (stream.title ?? stream.title_suggested ?? null) !== null;
    const day = is_titled ? `, ${timeText(stream.captured_at, 'date')}` : '';
    return [stream.id, `${recordingName(stream)}${day}`] as const;
  });
  const is_listed = chosen === '' || named.some(([id]) => id === chosen);
  return (
    <div class="filter-fields to-do-filters">
      <SelectField
        label="For whom"
        value={query.get('who') ?? ''}
        onValue={(who) => setQuery({ who })}
        options={[['', 'Anybody'], [ME, 'Me'], ...people.filter(([, name]) => !name.endsWith(' (me)'))]}
      />
      <SelectField
        label="Kind"
        value={query.get('kind') ?? ''}
        onValue={(kind) => setQuery({ kind })}
        options={[['', 'All'], ...Object.entries(KINDS)]}
      />
      <SelectField
        label="Recording"
        value={chosen}
        onValue={(recording) => setQuery({ recording })}
        options={[['', 'All'], ...(is_listed ? [] : [[chosen, 'An older recording'] as const]), ...named]}
      />
    </div>
  );
}

function Nothing({ status, is_narrow }: { status: (typeof STATUSES)[number]; is_narrow: boolean }) {
  if (is_narrow) {
    return (
      <EmptyState icon="search" title="Nothing matches">
        <p>Choose another person, kind or recording.</p>
      </EmptyState>
    );
  }
  if (status !== 'open') return <EmptyState title={`Nothing is ${STATUS_NAMES[status].toLowerCase()}`} />;
  return (
    <EmptyState icon="check" title="Nothing is open">
      <p>When somebody promises, asks or decides something in a recording, a suggestion appears here by itself.</p>
    </EmptyState>
  );
}
