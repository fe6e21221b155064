import { LIMITS } from '../../src/domain/limits.js';
import { addCounts, type Expire, type Expired, isBefore } from '../../src/domain/retention.js';
import { type Decision, messagesOf, type Read, type RecordQuery } from '../actor.js';
import { ITEM_KINDS, ITEMS, recordsBeside } from './item_records.js';
import { Writing } from './library_items.js';
import { spansOf, withoutConversation } from './library_spans.js';
import type { Conversation, ItemKind, Items, Library } from './library_state.js';

/** Expiry of items by retention: their content is removed, and a record that they existed stays. */

const INSIGHT_RECORDS_REMOVED_MAX = 2_000; // ours: revisions and feedback that go with one commit of retention

const STEP = LIMITS.expired_per_commit_max;

export const expiryMessages = messagesOf<Library>()({
  /** Removes and counts items that have not changed since the cutoff, as many as one commit may. */
  expire: {
    records: (_: Expire) => ITEM_KINDS.map((kind) => ({ collection: ITEMS[kind], range: { limit: STEP + 1 } })),
    further: ({ before_ms }: Expire, _state, read: Read): RecordQuery[] =>
      oldIn(read, before_ms).old.flatMap(({ item }) => ('parts' in item ? spansOf(item.parts) : [])),
    decide(state, { before_ms, sweep_id }: Expire, facts): Decision<Library, Expired> {
      if (state === null || state.insights === undefined) return { reply: { removed: 0, left: false } };
      const { old, oldest_ms } = oldIn(facts, before_ms);
      const { sweep } = state;
      const counted =
        sweep?.sweep_id === sweep_id ? { ...sweep, counts: addCounts(sweep.counts, { insights: old.length }) } : sweep;
      const writing = new Writing({ ...state, sweep: counted }, facts);
      for (const { kind, number, item } of old) {
        writing.expire(kind, number, item);
        if (kind === 'conversation') withoutConversation(writing, number, (item as Conversation).parts);
      }
      writing.setOldest(oldest_ms);
      const reply = { removed: old.length, left: oldest_ms !== null && isBefore(oldest_ms, before_ms) };
      return writing.effects.length === 0 ? { reply } : writing.done(reply);
    },
  },
});

type OldItem = { kind: ItemKind; number: number; item: Items[ItemKind]; order: number };

/** The items whose clock is before the cutoff, as many as one commit takes, and the clock of the oldest that stays. */
function oldIn(read: Pick<Read, 'range'>, before_ms: number | null): { old: OldItem[]; oldest_ms: number | null } {
  const all = ITEM_KINDS.flatMap((kind) =>
    read
      .range<Items[ItemKind]>(ITEMS[kind])
      .map(({ id, order, value }): OldItem => ({ kind, number: Number.parseInt(id, 16), item: value, order })),
  ).sort((a, b) => a.order - b.order);
  let beside = 0;
  let taken = 0;
  for (const { item, order } of all) {
    if (taken === STEP || !isBefore(order, before_ms)) break;
    beside += recordsBeside(item);
    if (taken > 0 && beside > INSIGHT_RECORDS_REMOVED_MAX) break;
    taken += 1;
  }
  return { old: all.slice(0, taken), oldest_ms: all[taken]?.order ?? null };
}
