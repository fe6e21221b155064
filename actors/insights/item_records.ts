import { insightId } from '../../src/domain/ids.js';
import { LIMITS } from '../../src/domain/limits.js';
import { type Refusal, refuse } from '../../src/domain/refusals.js';
import type { Facts, Read, RecordQuery } from '../actor.js';
import { type ItemKind, type Items, insightKey, type Span, type Suggestion } from './library_state.js';

/** The reply if a library has no such item. */
export const NO_ITEM_HERE = refuse('NOT_FOUND', 'There is nothing with this id.');

const NO_ITEM: Readonly<Record<ItemKind, Refusal>> = {
  conversation: refuse('NOT_FOUND', 'There is no such conversation.'),
  memory: refuse('NOT_FOUND', 'There is no such memory.'),
  suggestion: refuse('NOT_FOUND', 'There is no such suggestion.'),
};
const EXPIRED_ITEM: Readonly<Record<ItemKind, Refusal>> = {
  conversation: refuse('CONTENT_EXPIRED', 'The workspace does not keep this conversation any longer.'),
  memory: refuse('CONTENT_EXPIRED', 'The workspace does not keep this memory any longer.'),
  suggestion: refuse('CONTENT_EXPIRED', 'The workspace does not keep this suggestion any longer.'),
};

export const ITEM_KINDS = ['conversation', 'memory', 'suggestion'] as const satisfies ItemKind[];
/** The collections of each kind. */
export const ITEMS = { conversation: 'conversations', memory: 'memories', suggestion: 'suggestions' } as const;
export const OF_SESSION = {
  conversation: 'session_conversations',
  memory: 'session_memories',
  suggestion: 'session_suggestions',
} as const;
/** The count of numbers of each kind. The order of an item is made of kind and number. */
const NUMBERS = 2 ** 30;
/** Sorts behind every continuation of an id. */
const LAST = '~';

/** The id under which callers know an item. */
export function shownId(library_id: string, kind: ItemKind, number: number, { kept_id }: { kept_id?: string }): string {
  return kept_id ?? insightId(library_id, kind, number);
}

export type LibraryOwner = { account_id: string; workspace_id: string };

export function itemRecord(kind: ItemKind, number: number): RecordQuery {
  return { collection: ITEMS[kind], id: insightKey(number) };
}

/** An item, or the record that says that it has expired. */
export function itemRecords(kind: ItemKind, number: number): RecordQuery[] {
  return [itemRecord(kind, number), { collection: 'expired', id: entryOf(kind, number) }];
}

export function itemIn<Kind extends ItemKind>(
  turn: Pick<Read, 'record'>,
  kind: Kind,
  number: number,
): Items[Kind] | undefined {
  return turn.record<Items[Kind]>(ITEMS[kind], insightKey(number));
}

/** An item, or the refusal that says why there is none. The message must have asked for `itemRecords`. */
export function itemOr<Kind extends ItemKind>(facts: Facts, kind: Kind, number: number): Items[Kind] | Refusal {
  const item = itemIn(facts, kind, number);
  if (item !== undefined) return item;
  return facts.record('expired', entryOf(kind, number)) === undefined ? NO_ITEM[kind] : EXPIRED_ITEM[kind];
}

/** The newest records of an item, in a collection in which all of an item have one order. */
export function recordsOf(
  collection: 'revisions' | 'feedback',
  { kind, number }: { kind: ItemKind; number: number },
  { after, limit }: { after?: { order: number; id: string } | undefined; limit: number },
): RecordQuery {
  const first = { order: orderOf(kind, number), id: `${entryOf(kind, number)}.${LAST}` };
  return { collection, range: { after: after ?? first, descending: true, limit } };
}

/** The number of a record among those of its item, by its id. */
export function numberIn(record_id: string): number {
  return Number.parseInt(record_id.slice(record_id.lastIndexOf('.') + 1), 16);
}

export function isOf({ kind, number }: { kind: ItemKind; number: number }, { id }: { id: string }): boolean {
  return id.startsWith(`${entryOf(kind, number)}.`);
}

/** Queries the items of a recorder session, the newest of each kind first. */
export function sessionRecords(session_id: string): RecordQuery[] {
  const after = { order: sessionOrder(session_id), id: `${session_id}:${LAST}` };
  return ITEM_KINDS.map((kind) => ({
    collection: OF_SESSION[kind],
    range: { after, descending: true, limit: LIMITS.session_items_max },
  }));
}

export function numbersOfSession(read: Read, kind: ItemKind, session_id: string): number[] {
  return read
    .range(OF_SESSION[kind])
    .flatMap(({ id }) => (id.startsWith(`${session_id}:`) ? [Number.parseInt(id.slice(-8), 16)] : []));
}

/** The key of texts with the same stems in one pipeline. Other texts may share it by chance. */
export function textKey(pipeline_id: string | null, stems: readonly string[]): string {
  const text = [pipeline_id ?? '', ...new Set([...stems].sort())].join('\n');
  let [low, high] = [0x811c9dc5, 0x01000193];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    low = Math.imul(low ^ code, 0x01000193);
    high = Math.imul(high ^ code ^ (low >>> 13), 0x85ebca6b);
  }
  return `${insightKey(low >>> 0)}${insightKey(high >>> 0)}`;
}

export function suppressedOf(spans: readonly Pick<Span, 'stream_id'>[]): RecordQuery[] {
  return [...new Set(spans.map(({ stream_id }) => stream_id))].map((id) => ({ collection: 'suppressed', id }));
}

/** Counts the records beside an item. */
export function recordsBeside(item: Items[ItemKind]): number {
  const feedback = 'feedback' in item ? Math.min(feedbackGiven(item), LIMITS.feedback_kept_max) : 0;
  return item.revision - oldestRevision(item) + feedback;
}

export function oldestRevision({ revision }: { revision: number }): number {
  return Math.max(1, revision - LIMITS.revisions_kept_max);
}

export function isSameItem(
  one: { kind: ItemKind; number: number },
  other: { kind: ItemKind; number: number },
): boolean {
  return one.kind === other.kind && one.number === other.number;
}

export function entryOf(kind: ItemKind, number: number): string {
  return `${kind.charAt(0)}${insightKey(number)}`;
}

export function orderOf(kind: ItemKind, number: number): number {
  return ITEM_KINDS.indexOf(kind) * NUMBERS + number;
}

/** The order of a recorder session. Two sessions share one only if they began in the same millisecond. */
export function sessionOrder(session_id: string): number {
  return Number.parseInt(session_id.slice(0, 8) + session_id.slice(9, 13), 16) || 0;
}

/** Counts how often feedback was given. */
export function feedbackGiven({ feedback }: Pick<Suggestion, 'feedback'>): number {
  return feedback.helpful + feedback.not_helpful + feedback.wrong;
}
