import { useState } from 'preact/hooks';
import { usePeople } from '../../contacts/people.js';
import { Button } from '../../parts/button.js';
import { DateField, SelectField } from '../../parts/field.js';
import { place, setQuery } from '../../router.js';
import { account, may } from '../../shell/account.js';
import { type Sources, sourceName } from './source_names.js';

const NAMES = ['workspace', 'source', 'who', 'from', 'to'] as const;
const DAY = /^\d{4}-\d\d-\d\d$/;
const NO_FILTERS = Object.fromEntries(NAMES.map((name) => [name, null]));

export type RecordingFilters = {
  workspace_id?: string | undefined;
  source_id?: string | undefined;
  contact_id?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
};

/** The filters that the address holds, as the API takes them. */
export function filtersIn(query: URLSearchParams): RecordingFilters {
  const given = (name: (typeof NAMES)[number]) => query.get(name) || undefined;
  return {
    workspace_id: given('workspace'),
    // What others recorded comes from sources of theirs.
    source_id: given('workspace') === undefined ? given('source') : undefined,
    contact_id: given('who'),
    from: dayBegins(given('from'), 0),
    to: dayBegins(given('to'), 1),
  };
}

export function isFiltered(query: URLSearchParams): boolean {
  return NAMES.some((name) => query.get(name));
}

export function clearFilters(): void {
  setQuery(NO_FILTERS);
}

/** Narrows the list of recordings. The address holds what is chosen. */
export function Filters({ sources }: { sources: Sources }) {
  const { query } = place.value;
  const people = usePeople();
  const shared = (account.value?.workspaces ?? []).filter((one) => !one.private);
  const workspace = query.get('workspace') ?? '';
  const chosen = NAMES.filter((name) => query.get(name)).length;
  // What narrows the list is in sight when the page opens; from then on it is the reader's.
  const [open] = useState(chosen > 0);
  return (
    <details class="filters" open={open}>
      <summary>{chosen === 0 ? 'Filters' : `Filters (${chosen})`}</summary>
      <div class="filter-fields">
        {shared.length > 0 && (
          <SelectField
            label="Workspace"
            value={workspace}
            onValue={(id) => setQuery({ workspace: id, source: null })}
            options={[['', 'Recorded by me'], ...shared.map(({ id, name }) => [id, name] as const)]}
          />
        )}
        {workspace === '' && (
          <SelectField
            label="Source"
            value={query.get('source') ?? ''}
            onValue={(source) => setQuery({ source })}
            options={[['', 'All'], ...[...sources.values()].map((one) => [one.id, sourceName(one)] as const)]}
          />
        )}
        {may('turns:read') && (
          <SelectField
            label="Person"
            value={query.get('who') ?? ''}
            onValue={(who) => setQuery({ who })}
            options={[['', 'Anybody'], ...people]}
          />
        )}
        <DateField label="From" value={query.get('from') ?? ''} onValue={(from) => setQuery({ from })} />
        <DateField label="To" value={query.get('to') ?? ''} onValue={(to) => setQuery({ to })} />
      </div>
      {chosen > 0 && (
        <p class="filter-end">
          <Button small onClick={clearFilters}>
            Clear filters
          </Button>
        </p>
      )}
    </details>
  );
}

/** When a day begins here, or so many days later; undefined for what is no day. */
function dayBegins(day: string | undefined, days: number): string | undefined {
  if (day === undefined || !DAY.test(day)) return undefined;
  const at = new Date(`${day}T00:00:00`);
  if (Number.isNaN(at.getTime())) return undefined;
  at.setDate(at.getDate() + days);
  return at.toISOString();
}
