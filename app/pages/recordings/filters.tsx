import { useState } from 'preact/hooks';
import { usePeople } from '../../contacts/people.js';
import { dayAfter, momentOf } from '../../language/formats.js';
import { say } from '../../language/say.js';
import { Button } from '../../parts/button.js';
import { DateField, SelectField } from '../../parts/field.js';
import { distinctTags, known_tags } from '../../recording/stars_and_tags.js';
import { place, setQuery } from '../../router.js';
import { account, may } from '../../shell/account.js';
import { type Sources, sourceName } from './source_names.js';

const NAMES = ['workspace', 'source', 'who', 'tag', 'from', 'to'] as const;
/** Those that stand outside of the folded part. */
const OUTSIDE = ['starred', 'q'] as const;
const DAY = /^\d{4}-\d\d-\d\d$/;
const NO_FILTERS = Object.fromEntries([...NAMES, ...OUTSIDE].map((name) => [name, null]));

export type RecordingFilters = {
  workspace_id?: string | undefined;
  source_id?: string | undefined;
  contact_id?: string | undefined;
  tag?: string | undefined;
  starred?: 'true' | undefined;
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
    tag: given('tag'),
    starred: query.get('starred') ? 'true' : undefined,
    from: dayBegins(given('from'), 0),
    to: dayBegins(given('to'), 1),
  };
}

export function isFiltered(query: URLSearchParams): boolean {
  return [...NAMES, ...OUTSIDE].some((name) => query.get(name));
}

/** The workspace whose recordings are all listed; null where more narrows the list, or nothing. */
export function emptyWorkspaceIn(query: URLSearchParams): string | null {
  const given = [...NAMES, ...OUTSIDE].filter((name) => query.get(name));
  return given.length === 1 ? query.get('workspace') || null : null;
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
  const tag = query.get('tag') ?? '';
  const tags = distinctTags([...known_tags.value, ...(tag === '' ? [] : [tag])]);
  return (
    <div class="filters">
      <details open={open}>
        <summary>{chosen === 0 ? say('Filters') : say('Filters ({chosen})', { chosen })}</summary>
        <div class="filter-fields">
          {shared.length > 0 && (
            <SelectField
              label={say('Workspace')}
              value={workspace}
              onValue={(id) => setQuery({ workspace: id, source: null })}
              options={[['', say('Recorded by me')], ...shared.map(({ id, name }) => [id, name] as const)]}
            />
          )}
          {workspace === '' && (
            <SelectField
              label={say('Source')}
              value={query.get('source') ?? ''}
              onValue={(source) => setQuery({ source })}
              options={[['', say('All')], ...[...sources.values()].map((one) => [one.id, sourceName(one)] as const)]}
            />
          )}
          {may('turns:read') && (
            <SelectField
              label={say('Person')}
              value={query.get('who') ?? ''}
              onValue={(who) => setQuery({ who })}
              options={[['', say('Anybody')], ...people]}
            />
          )}
          {tags.length > 0 && (
            <SelectField
              label={say('Tag')}
              value={tags.find((one) => one.toLowerCase() === tag.toLowerCase()) ?? ''}
              onValue={(wanted) => setQuery({ tag: wanted })}
              options={[['', say('Any')], ...tags.map((one) => [one, one] as const)]}
            />
          )}
          <DateField label={say('From')} value={query.get('from') ?? ''} onValue={(from) => setQuery({ from })} />
          <DateField label={say('To')} value={query.get('to') ?? ''} onValue={(to) => setQuery({ to })} />
        </div>
      </details>
      {isFiltered(query) && (
        <p class="filter-end">
          <Button small onClick={clearFilters}>
            {say('Clear filters')}
          </Button>
        </p>
      )}
    </div>
  );
}

/** When a day begins here, or so many days later; undefined for what is no day. */
function dayBegins(day: string | undefined, days: number): string | undefined {
  if (day === undefined || !DAY.test(day)) return undefined;
  if (Number.isNaN(momentOf(day))) return undefined;
  return new Date(momentOf(dayAfter(day, days))).toISOString();
}
