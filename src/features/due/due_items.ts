import { shownId } from '../../../actors/insights/item_records.js';
import type { Suggestion } from '../../../actors/insights/library_state.js';
import { listCursor, type Position } from '../../access/cursors.js';
import type { Principal } from '../../access/principal.js';
import { LIMITS } from '../../domain/limits.js';
import { type FoundItem, librariesOf } from '../insights/reading/insight_access.js';
import { listItems } from '../insights/reading/insight_lists.js';
import { InsightReader } from '../insights/reading/insight_reader.js';
import type { FeatureServices } from '../services.js';

/** Open and accepted suggestions of an account that have a time. */

/** The number of pages of suggestions that are read to find those due. */
const PAGES_LOOKED = 20;

/** `due_date`: the day, where no time was named; `due_at_ms` is its noon then. */
export type DueItem = { id: string; text: string; due_at_ms: number; due_date: string | null; changed_at_ms: number };

/** The open and accepted suggestions of the account that have a time, the earliest first. */
export async function dueItems(
  services: Pick<FeatureServices, 'actors' | 'runtime' | 'store'>,
  who: Principal,
): Promise<DueItem[]> {
  const libraries = (await librariesOf(services, who, undefined)).filter((one) => one.account_id === who.account_id);
  const reading = new InsightReader(services, who);
  const found: DueItem[] = [];
  let cursor: Position | undefined;
  for (let pages = 0; pages < PAGES_LOOKED; pages++) {
    const page = await listItems(services, {
      ...{ kind: 'suggestion' as const, libraries, limit: LIMITS.day_items_max, cursor, narrow: true, reading },
      passes: ({ item }: FoundItem<'suggestion'>) => isDue(item),
    });
    found.push(...page.rows.map(dueItem));
    if (page.cursor === null) break;
    cursor = listCursor.parse(page.cursor);
  }
  return found.sort((a, b) => a.due_at_ms - b.due_at_ms || (a.id < b.id ? -1 : 1));
}

function isDue({ pipeline_id, status, due_at_ms, text }: Suggestion): boolean {
  const is_open = status === 'open' || status === 'accepted';
  return pipeline_id === null && is_open && due_at_ms !== null && text !== '';
}

function dueItem({ place, number, item }: FoundItem<'suggestion'>): DueItem {
  const { text, due_at_ms, due_date, updated_at_ms } = item;
  const id = shownId(place.library_id, 'suggestion', number, item);
  return { id, text, due_at_ms: due_at_ms ?? 0, due_date, changed_at_ms: updated_at_ms };
}
