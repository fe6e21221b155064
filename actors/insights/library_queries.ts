import { LIMITS } from '../../src/domain/limits.js';
import type { Refusal } from '../../src/domain/refusals.js';
import { type Decision, messagesOf, type RangeQuery, type Read, type RecordQuery } from '../actor.js';
import {
  entryOf,
  ITEM_KINDS,
  ITEMS,
  isOf,
  itemIn,
  itemOr,
  itemRecord,
  itemRecords,
  numberIn,
  numbersOfSession,
  recordsOf,
  sessionRecords,
} from './item_records.js';
import { spansOf } from './library_spans.js';
import type { ConversationSpan, Feedback, ItemKind, Items, Library, Revision } from './library_state.js';

/** An item with its kind. */
export type AnyItem = { [Kind in ItemKind]: { kind: Kind; item: Items[Kind] } }[ItemKind];
export type MovedTo = { moved_to: string };
type Last = { order: number; id: string } | null;

export type NumberedFeedback = Feedback & { number: number };
type Numbered = { kind: ItemKind; number: number };
type Listing = { kind: ItemKind; range: RangeQuery };

/** Queries of a library. */
export const queryMessages = messagesOf<Library>()({
  /** An item, or the library to which it has moved with its recording. */
  item: {
    reads: true,
    records: ({ kind, number }: Numbered) => [
      ...itemRecords(kind, number),
      { collection: 'moved', id: entryOf(kind, number) },
    ],
    decide(_, { kind, number }: Numbered, facts): { reply: AnyItem | MovedTo | Refusal } {
      const item = itemOr(facts, kind, number);
      if (!('refused' in item)) return { reply: { kind, item } as AnyItem };
      return { reply: facts.record<MovedTo>('moved', entryOf(kind, number)) ?? item };
    },
  },

  /** The number of an item that has come from another library, by the id that it was made under. */
  arrived: {
    reads: true,
    records: ({ id }: { id: string }) => [{ collection: 'arrived', id }],
    decide: (_, { id }: { id: string }, facts) => ({
      reply: { number: facts.record<number>('arrived', id) ?? null },
    }),
  },

  /** Several items of one kind, in the order asked for; missing ones are left out. */
  items_of: {
    reads: true,
    records: ({ kind, numbers }: { kind: ItemKind; numbers: number[] }) =>
      first(numbers).map((number) => itemRecord(kind, number)),
    decide: (_, { kind, numbers }: { kind: ItemKind; numbers: number[] }, facts) => ({
      reply: { items: found(facts, kind, first(numbers)) },
    }),
  },

  /** A page of one kind, by last change. `looked`: the number of items that the page was chosen from. */
  list: {
    records: ({ kind, range }: Listing) => [{ collection: ITEMS[kind], range }],
    decide(_, { kind }: Listing, facts) {
      const rows = facts.range<Items[ItemKind]>(ITEMS[kind]);
      const last = rows.at(-1);
      return {
        reply: {
          items: rows.map(({ id, order, value }) => ({ number: Number.parseInt(id, 16), order, item: value })),
          last: (last === undefined ? null : { order: last.order, id: last.id }) as Last,
          looked: rows.length,
        },
      };
    },
  },

  /** Lists the revisions of an item, the newest first. */
  revisions: {
    records: ({ kind, number, range }: Numbered & { range: RangeQuery }) => [
      ...itemRecords(kind, number),
      recordsOf('revisions', { kind, number }, range),
    ],
    decide(
      _,
      { kind, number }: Numbered & { range: RangeQuery },
      facts,
    ): Decision<Library, { revisions: Revision[]; last: Last }> {
      const item = itemOr(facts, kind, number);
      if ('refused' in item) return { reply: item };
      const rows = facts.range<Revision>('revisions').filter((row) => isOf({ kind, number }, row));
      const last = rows.at(-1);
      return {
        reply: {
          revisions: rows.map(({ value }) => value),
          last: last === undefined ? null : { order: last.order, id: last.id },
        },
      };
    },
  },

  /** Lists the feedback to a suggestion, the newest first. */
  feedback_given: {
    records: ({ number }: { number: number }) => [
      ...itemRecords('suggestion', number),
      recordsOf('feedback', { kind: 'suggestion', number }, { limit: LIMITS.feedback_kept_max }),
    ],
    decide(_, { number }: { number: number }, facts): Decision<Library, { feedback: NumberedFeedback[] }> {
      const item = itemOr(facts, 'suggestion', number);
      if ('refused' in item) return { reply: item };
      const rows = facts.range<Feedback>('feedback').filter((row) => isOf({ kind: 'suggestion', number }, row));
      return { reply: { feedback: rows.map(({ id, value }) => ({ number: numberIn(id), ...value })) } };
    },
  },

  /**
   * The numbers of the default pipeline's conversations of a stream, made or to be made, in the order of its timeline.
   */
  conversations_on: {
    reads: true,
    records: ({ stream_id }: { stream_id: string }) => spansOf([{ stream_id }]),
    decide: (_, { stream_id }: { stream_id: string }, facts) => ({
      reply: { conversations: [...new Set(ownSpans(stream_id, facts).map(({ conversation }) => conversation))] },
    }),
  },

  /** The longest conversation of the default pipeline on each of these streams; missing ones are left out. */
  longest_on: {
    reads: true,
    records: ({ stream_ids }: { stream_ids: string[] }) => spansOf(stream_ids.map((stream_id) => ({ stream_id }))),
    further: ({ stream_ids }: { stream_ids: string[] }, _state, read: Read): RecordQuery[] =>
      [...new Set(stream_ids)].flatMap((stream_id) =>
        longestFirst(stream_id, read).map((number) => itemRecord('conversation', number)),
      ),
    decide(_, { stream_ids }: { stream_ids: string[] }, facts) {
      const longest = [...new Set(stream_ids)].flatMap((stream_id) => {
        const [first] = found(facts, 'conversation', longestFirst(stream_id, facts));
        return first === undefined ? [] : [{ stream_id, ...first }];
      });
      return { reply: { longest } };
    },
  },

  /** Lists the items of a recorder session, those changed last first. */
  session_items: {
    records: ({ session_id }: { session_id: string }) => sessionRecords(session_id),
    further: ({ session_id }: { session_id: string }, _state, read): RecordQuery[] =>
      ITEM_KINDS.flatMap((kind) => numbersOfSession(read, kind, session_id).map((number) => itemRecord(kind, number))),
    decide(_, { session_id }: { session_id: string }, facts) {
      const of = <Kind extends ItemKind>(kind: Kind) =>
        found(facts, kind, numbersOfSession(facts, kind, session_id)).sort(
          (a, b) => b.item.updated_at_ms - a.item.updated_at_ms || b.number - a.number,
        );
      return {
        reply: { conversations: of('conversation'), memories: of('memory'), suggestions: of('suggestion') },
      };
    },
  },
});

/** The longest conversation may still have to be made, so the next longest ones are looked at as well. */
const LONGEST_LOOKED = 3;

function ownSpans(stream_id: string, read: Pick<Read, 'record'>): ConversationSpan[] {
  const spans = read.record<ConversationSpan[]>('spans', stream_id) ?? [];
  return spans.filter(({ pipeline_id }) => pipeline_id === null);
}

function longestFirst(stream_id: string, read: Pick<Read, 'record'>): number[] {
  const spans = [...ownSpans(stream_id, read)].sort((a, b) => b.end_ms - b.start_ms - (a.end_ms - a.start_ms));
  return [...new Set(spans.map(({ conversation }) => conversation))].slice(0, LONGEST_LOOKED);
}

function first(numbers: number[]): number[] {
  return numbers.slice(0, LIMITS.items_read_max);
}

function found<Kind extends ItemKind>(
  turn: Parameters<typeof itemIn>[0],
  kind: Kind,
  numbers: number[],
): { number: number; item: Items[Kind] }[] {
  return numbers.flatMap((number) => {
    const item = itemIn(turn, kind, number);
    return item === undefined ? [] : [{ number, item }];
  });
}
