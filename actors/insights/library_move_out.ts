import { placeOfInsight } from '../../src/domain/ids.js';
import { LIMITS } from '../../src/domain/limits.js';
import type { StreamMove } from '../../src/domain/moves.js';
import {
  type Decision,
  DONE,
  type DoneDecision,
  type Effect,
  type Facts,
  messagesOf,
  type Read,
  type RecordQuery,
} from '../actor.js';
import {
  entryOf,
  feedbackGiven,
  ITEM_KINDS,
  ITEMS,
  itemIn,
  itemRecord,
  oldestRevision,
  recordsBeside,
  shownId,
  suppressedOf,
} from './item_records.js';
import { partsElsewhere } from './library_conversations.js';
import { conversationEvent, memoryEvent } from './library_edits.js';
import { groupRecords, leave } from './library_groups.js';
import { Writing } from './library_items.js';
import { jobsOn } from './library_jobs.js';
import { spansOf, spansOn } from './library_spans.js';
import {
  type Conversation,
  type ConversationSpan,
  HAND_REFS,
  type HandRef,
  type InsightJob,
  type InsightRun,
  type ItemKind,
  type Items,
  insightKey,
  type Library,
  type Revision,
  type Suggestion,
  type Suppressed,
  type Unsettled,
} from './library_state.js';
import { deletedSpeechOf } from './library_withdrawal.js';
import {
  keyOf,
  type MovedItem,
  type MovingStream,
  type Shares,
  sharesOf,
  targetOf,
  withoutNumbers,
} from './moved_items.js';
import { unsettle, unsettledKey } from './unsettled_ranges.js';

/**
 * Items of a recording leave for the library of another workspace (docs/areas.md, "Moved recordings"). Each
 * message is one commit, which sends what it removes; messages between two entities keep their order.
 */

const LOOKED_MAX = 64; // ours: items that one step looks at
const MOVED_MAX = 8; // ours: items that one step moves
const BESIDE_MAX = 200; // ours: their revisions and feedback, unless one item has more

/** One step: items of a kind after this one. */
type MoveStep = { stream_id: string; kind: ItemKind; after: Position | null };
type Position = { order: number; id: string };
type Leaving = { number: number; item: Items[ItemKind]; shares: Shares<ItemKind> };

export const moveOutMessages = messagesOf<Library>()({
  /** The recording is in another workspace from here on. Its jobs end; the other library has them made again. */
  move_out: {
    records: ({ stream_id }: StreamMove) => [
      ...spansOf([{ stream_id }]),
      ...suppressedOf([{ stream_id }]),
      ...deletedSpeechOf(stream_id),
      { collection: 'runs', id: stream_id },
      { collection: 'unsettled', range: { limit: LIMITS.insights_waiting_max } },
    ],
    further: ({ stream_id }: StreamMove, _state, read: Read): RecordQuery[] => [
      ...jobsOn(stream_id, read).flatMap((job) => [job, { ...job, collection: ITEMS.conversation }]),
      ...partsElsewhere(stream_id, read).flatMap((part) => [
        { collection: 'unsettled', id: unsettledKey({ ...part, again: true }) },
        ...spansOf([part]),
      ]),
    ],
    decide(state, move: StreamMove, facts): DoneDecision<Library> {
      if (state?.insights === undefined) return { reply: DONE, effects: [tellStream(move)] };
      const { stream_id } = move;
      const writing = new Writing(state, facts);
      const moving: MovingStream = {
        move,
        conversations: {},
        spans: facts.record<ConversationSpan[]>('spans', stream_id) ?? [],
        suppressed: facts.record<Suppressed[]>('suppressed', stream_id) ?? [],
        runs: facts.record<InsightRun[]>('runs', stream_id) ?? [],
        ranges: takeRanges(writing, stream_id),
        is_deleted: facts.record('deleted_speech', stream_id) !== undefined,
      };
      for (const collection of ['spans', 'suppressed', 'runs']) writing.drop(collection, stream_id);
      writing.write('moving', stream_id, { value: moving });
      writing.effects.push(step(facts, { stream_id, kind: 'conversation', after: null }));
      return writing.done(DONE);
    },
  },

  // From itself:
  move_items: {
    records: ({ stream_id, kind, after }: MoveStep) => [
      { collection: 'moving', id: stream_id },
      { collection: ITEMS[kind], range: { ...(after !== null && { after }), limit: LOOKED_MAX } },
    ],
    further: (asked: MoveStep, _state, read: Read): RecordQuery[] =>
      chosen(asked, read).leaving.flatMap(({ number, item }) => besideItem(asked.kind, { number, item }, read)),
    decide(state, asked: MoveStep, facts): DoneDecision<Library> {
      const moving = facts.record<MovingStream>('moving', asked.stream_id);
      // The library has ended with its workspace or account.
      if (state === null || moving === undefined) return { reply: DONE };
      const writing = new Writing(state, facts);
      const { leaving, next } = chosen(asked, facts);
      const { kind, stream_id } = asked;
      const known = { ...moving, conversations: { ...moving.conversations } };
      const items = leaving.flatMap((one) => letGo(writing, kind, { ...one, moving: known }));
      if (items.length > 0) writing.effects.push(tellTarget(known.move, { type: 'take_in', move: known.move, items }));
      const later = ITEM_KINDS[ITEM_KINDS.indexOf(kind) + 1];
      if (next !== null || later !== undefined) {
        if (kind === 'conversation' && leaving.length > 0) writing.write('moving', stream_id, { value: known });
        const then = next === null ? { kind: later as ItemKind, after: null } : { kind, after: next };
        writing.effects.push(step(facts, { stream_id, ...then }));
      } else {
        writing.drop('moving', stream_id);
        writing.effects.push(tellTarget(known.move, { type: 'take_in_stream', moving: withKeys(known) }));
      }
      return writing.done(DONE);
    },
  },

  /** From a library that an item of this one has left again: where it is now. */
  moved_on: (state, { entry, library_id }: { entry: string; library_id: string }): Decision<Library, typeof DONE> =>
    state === null ? { reply: DONE } : { reply: DONE, effects: [movedTo(entry, library_id)] },
});

/** Drops what waits to be found or made on a recording; returns where. Other recordings of its conversations begin anew. */
function takeRanges(writing: Writing, stream_id: string): MovingStream['ranges'] {
  const { facts } = writing;
  const ranges: MovingStream['ranges'] = [];
  for (const { id, value } of facts.range<Unsettled>('unsettled')) {
    if (value.stream_id !== stream_id) continue;
    const { source_id, pipeline_id, from_ms, to_ms, again } = value;
    ranges.push({ source_id, pipeline_id, from_ms, to_ms, again });
    writing.drop('unsettled', id);
  }
  for (const { conversation, ...part } of partsElsewhere(stream_id, facts)) {
    const touched = spansOn(writing, part.stream_id).filter((span) => span.conversation === conversation);
    const { start_ms: from_ms, end_ms: to_ms, ...range } = part;
    const due_ms = facts.now_ms + LIMITS.settle_ms;
    unsettle(writing, { ...range, from_ms, to_ms, again: true }, { touched, due_ms });
  }
  for (const { id } of jobsOn(stream_id, facts)) {
    const job = facts.record<InsightJob>('jobs', id);
    const of = job ?? facts.record<Conversation>(ITEMS.conversation, id);
    const here = (of?.parts ?? []).filter((part) => part.stream_id === stream_id);
    const is_divided = here.length < (of?.parts.length ?? 0);
    if (job !== undefined) writing.drop('jobs', id);
    if (of === undefined || (job === undefined && !is_divided)) continue;
    for (const { source_id, start_ms: from_ms, end_ms: to_ms } of here)
      ranges.push({ source_id, pipeline_id: of.pipeline_id, from_ms, to_ms, again: true });
  }
  return ranges;
}

/** The next items that the recording has a part in, as many as one commit moves, and where the step after it begins. */
function chosen(
  { kind, stream_id }: MoveStep,
  read: Pick<Read, 'range'>,
): { leaving: Leaving[]; next: Position | null } {
  const rows = read.range<Items[ItemKind]>(ITEMS[kind]);
  const leaving: Leaving[] = [];
  let beside = 0;
  for (const [at, { id, value: item }] of rows.entries()) {
    const shares = sharesOf(item, stream_id);
    if (shares.goes === null && shares.stays === item) continue;
    beside += recordsBeside(item);
    const last = rows[at - 1];
    const is_enough = leaving.length === MOVED_MAX || (leaving.length > 0 && beside > BESIDE_MAX);
    if (is_enough && last !== undefined) return { leaving, next: { order: last.order, id: last.id } };
    leaving.push({ number: Number.parseInt(id, 16), item, shares });
  }
  const last = rows.length === LOOKED_MAX ? rows.at(-1) : undefined;
  return { leaving, next: last === undefined ? null : { order: last.order, id: last.id } };
}

function besideItem(kind: ItemKind, { number, item }: Pick<Leaving, 'number' | 'item'>, read: Read): RecordQuery[] {
  const revisions = revisionsOf(kind, number, item).map((id) => ({ collection: 'revisions', id }));
  if ('superseded_by' in item)
    return [...revisions, ...(item.superseded_by === null ? [] : [itemRecord('memory', item.superseded_by)])];
  if (!('group' in item)) return revisions;
  return [
    ...revisions,
    ...feedbackOf(number, item).map(({ id }) => ({ collection: 'feedback', id })),
    ...(item.ref === undefined ? [] : [{ collection: HAND_REFS, id: item.ref }]),
    itemRecord('suggestion', number),
    ...groupRecords([number], null, read),
  ];
}

/** Removes an item, or the part of it on the recording; returns what goes. */
function letGo(
  writing: Writing,
  kind: ItemKind,
  { number, item, shares, moving }: Leaving & { moving: MovingStream },
): MovedItem[] {
  const { facts } = writing;
  const { goes, stays } = shares;
  const { stream_id } = moving.move;
  if (stays !== null) keepRest(writing, number, stays);
  if (goes === null) return [];
  const place = { library_id: facts.self, kind, number };
  const key = keyOf(place, item, { stays, stream_id });
  const conversations = conversationsOf(kind, { number, item }, moving);
  if ('parts' in item) moving.conversations[number] = { key, memories: item.memories };
  const is_whole = stays === null;
  const is_same = goes === item;
  const moved = {
    ...{ kind, key, conversations },
    item: withSuperseder(withoutNumbers(goes), item, facts),
    revisions: is_whole && is_same ? readRevisions(kind, { number, item }, facts) : [],
    feedback: 'group' in item ? readFeedback(number, item, facts) : [],
    hand_ref: 'ref' in item ? (facts.record<HandRef>(HAND_REFS, item.ref as string) ?? null) : null,
  } as MovedItem;
  if (!is_whole) return [moved];
  if ('group' in item && item.group !== null) leaveGroup(writing, number, item);
  writing.remove(kind, number, item);
  writing.effects.push(...forwarded(place, item, targetOf(moving.move)));
  return [moved];
}

/** Names the conversations of spans and runs as the other library knows them. */
function withKeys(moving: MovingStream): MovingStream {
  const keyed = <Of extends { conversation: number }>(one: Of) => {
    const key = moving.conversations[one.conversation]?.key;
    return key === undefined ? one : { ...one, key };
  };
  return { ...moving, conversations: {}, spans: moving.spans.map(keyed), runs: moving.runs.map(keyed) };
}

function keepRest(writing: Writing, number: number, stays: Items[ItemKind]): void {
  if ('state_version' in stays) {
    const changed_fields = ['evidence'];
    const state_version = stays.state_version + 1;
    const item = writing.replace('suggestion', number, { ...stays, state_version });
    writing.suggestionEvent('suggestion.updated', number, { item, data: { changed_fields, state_version } });
  } else if ('parts' in stays) {
    const item = writing.replace('conversation', number, stays);
    conversationEvent(writing, 'conversation.updated', { number, item, changed_fields: ['parts'] });
  } else {
    const item = writing.replace('memory', number, stays);
    memoryEvent(writing, 'memory.updated', { number, item, changed_fields: ['evidence'] });
  }
}

function leaveGroup(writing: Writing, number: number, item: Suggestion): void {
  leave(writing, item.group as number, [number]);
  const data = { changed_fields: ['group_id'], state_version: item.state_version };
  writing.suggestionEvent('suggestion.updated', number, { item, data });
}

/** The place of an item that has moved, for whoever asks for it by its id: the library that made it knows it. */
function forwarded(
  { library_id: self, kind, number }: { library_id: string; kind: ItemKind; number: number },
  item: Items[ItemKind],
  target: string,
): Effect[] {
  if (item.kept_id === undefined) return [movedTo(entryOf(kind, number), target)];
  const arrived: Effect = { effect: 'delete_record', collection: 'arrived', id: item.kept_id };
  const home = placeOfInsight(item.kept_id);
  if (home === null || home.library_id === target || home.library_id === self) return [arrived];
  const message = { type: 'moved_on', entry: entryOf(kind, home.number), library_id: target };
  return [arrived, { effect: 'notify', to: { kind: 'library', id: home.library_id }, message }];
}

function movedTo(entry: string, library_id: string): Effect {
  return { effect: 'put_record', collection: 'moved', id: entry, value: { moved_to: library_id } };
}

function conversationsOf(
  kind: ItemKind,
  { number, item }: Pick<Leaving, 'number' | 'item'>,
  { conversations }: MovingStream,
): string[] {
  if ('group' in item) return item.conversation === null ? [] : keysOf([conversations[item.conversation]]);
  if (kind !== 'memory') return [];
  return keysOf(Object.values(conversations).filter(({ memories }) => memories.includes(number)));
}

function keysOf(found: ({ key: string } | undefined)[]): string[] {
  return found.flatMap((one) => one?.key ?? []);
}

function withSuperseder(goes: Items[ItemKind], item: Items[ItemKind], facts: Facts): Items[ItemKind] {
  if (!('superseded_by' in item) || item.superseded_by === null) return goes;
  const by = itemIn(facts, 'memory', item.superseded_by);
  return {
    ...goes,
    kept_superseded_by: shownId(facts.self, 'memory', item.superseded_by, by ?? {}),
  } as Items['memory'];
}

function revisionsOf(kind: ItemKind, number: number, item: Items[ItemKind]): string[] {
  const first = oldestRevision(item);
  return Array.from({ length: item.revision - first }, (_, at) => `${entryOf(kind, number)}.${insightKey(first + at)}`);
}

function readRevisions(kind: ItemKind, { number, item }: Pick<Leaving, 'number' | 'item'>, facts: Facts): Revision[] {
  return revisionsOf(kind, number, item).flatMap((id) => {
    const one = facts.record<Revision>('revisions', id);
    return one === undefined ? [] : [{ ...one, item: withoutNumbers(one.item) }];
  });
}

function feedbackOf(number: number, item: Suggestion): { id: string; number: number }[] {
  const given = feedbackGiven(item);
  const first = Math.max(1, given - LIMITS.feedback_kept_max + 1);
  return Array.from({ length: given - first + 1 }, (_, at) => ({
    id: `${entryOf('suggestion', number)}.${insightKey(first + at)}`,
    number: first + at,
  }));
}

function readFeedback(number: number, item: Suggestion, facts: Facts): { number: number; value: unknown }[] {
  return feedbackOf(number, item).flatMap(({ id, number: at }) => {
    const value = facts.record('feedback', id);
    return value === undefined ? [] : [{ number: at, value }];
  });
}

function step(facts: Facts, asked: MoveStep): Effect {
  return { effect: 'notify', to: { kind: 'library', id: facts.self }, message: { type: 'move_items', ...asked } };
}

function tellTarget(move: StreamMove, message: unknown): Effect {
  return { effect: 'notify', to: { kind: 'library', id: targetOf(move) }, message };
}

export function tellStream(move: StreamMove): Effect {
  return { effect: 'notify', to: { kind: 'stream', id: move.stream_id }, message: { type: 'moved', ...move } };
}
