import type { EventType, Suggestion } from '../../../kits/typescript/src/api.js';
import { api } from '../../api/api.js';
import type { SuggestionFilters } from './filters.js';

const PAGE_ITEMS = 100;
/** So many are put in order; who has more narrows the list. */
const ITEMS_MAX = 1_000;

export const SUGGESTION_EVENTS: readonly EventType[] = [
  'suggestion.created',
  'suggestion.updated',
  'suggestion.deleted',
];

/** `is_cut`: there are more. */
export type LoadedSuggestions = { items: readonly Suggestion[]; is_cut: boolean };

/** Suggestions of these statuses, `max` of each at most, the newest change first. */
export async function loadAll({
  statuses,
  max = ITEMS_MAX,
  ...filters
}: SuggestionFilters & {
  statuses: readonly Suggestion['status'][];
  kind?: Suggestion['kind'];
  max?: number;
}): Promise<LoadedSuggestions> {
  const all = await Promise.all(statuses.map((status) => loadStatus({ status, ...filters }, max)));
  return { items: all.flatMap(({ items }) => items), is_cut: all.some(({ is_cut }) => is_cut) };
}

async function loadStatus(
  filters: SuggestionFilters & { status: Suggestion['status']; kind?: Suggestion['kind'] },
  max: number,
): Promise<LoadedSuggestions> {
  const items: Suggestion[] = [];
  let cursor: string | undefined;
  do {
    const page = await api('GET /suggestions', { query: { limit: PAGE_ITEMS, cursor, ...filters } });
    items.push(...page.items);
    cursor = page.cursor ?? undefined;
  } while (cursor !== undefined && items.length < max);
  return { items, is_cut: cursor !== undefined };
}
