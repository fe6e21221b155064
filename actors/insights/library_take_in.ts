import { libraryId } from '../../src/domain/ids.js';
import { LIMITS } from '../../src/domain/limits.js';
import type { StreamMove } from '../../src/domain/moves.js';
import { DONE, type DoneDecision, messagesOf, type Read, type RecordQuery } from '../actor.js';
import { entryOf, itemIn, itemRecord, orderOf, suppressedOf } from './item_records.js';
import { begin, Writing } from './library_items.js';
import { tellStream } from './library_move_out.js';
import { putSpans, spansOf, spansOn } from './library_spans.js';
import {
  type ConversationSpan,
  HAND_REFS,
  type HandRef,
  type InsightRun,
  type ItemKind,
  type Items,
  insightKey,
  type Library,
  type Suppressed,
} from './library_state.js';
import { deletedSpeechOf, noteDeleted } from './library_withdrawal.js';
import { type MovedItem, type MovingStream, placeHere } from './moved_items.js';
import { unsettle, unsettledKey } from './unsettled_ranges.js';

/** Items of a recording come from the library of another workspace. They keep their ids and their clocks. */

const RUNS_KEPT_MAX = 50; // ours: of one recording

type TakeIn = { move: StreamMove; items: MovedItem[] };
type TakeInStream = { moving: MovingStream };

export const takeInMessages = messagesOf<Library>()({
  take_in: {
    records: ({ items }: TakeIn) => [
      ...arrivedAs(items.flatMap(({ conversations }) => conversations)),
      ...items.flatMap((one) => (refOf(one) === null ? [] : [{ collection: HAND_REFS, id: refOf(one) as string }])),
    ],
    further: ({ items }: TakeIn, state: Library | null, read: Read): RecordQuery[] =>
      items.flatMap(({ conversations }) =>
        numbersOf(conversations, idOf(state), read).map((number) => itemRecord('conversation', number)),
      ),
    decide(state, { move, items }: TakeIn, facts): DoneDecision<Library> {
      const writing = writingOf(state, move, facts);
      for (const one of items) receive(writing, one);
      return writing.done(DONE);
    },
  },

  /** All items have come. What was still to be found or made there is looked for here. */
  take_in_stream: {
    records: ({ moving: { move, spans, runs, ranges } }: TakeInStream) => [
      ...arrivedAs(keysIn([...spans, ...runs])),
      ...spansOf([move]),
      ...suppressedOf([move]),
      ...deletedSpeechOf(move.stream_id),
      { collection: 'runs', id: move.stream_id },
      ...ranges.flatMap(({ pipeline_id }) =>
        [false, true].map((again) => ({ collection: 'unsettled', id: unsettledKey({ ...move, pipeline_id, again }) })),
      ),
    ],
    decide(state, { moving }: TakeInStream, facts): DoneDecision<Library> {
      const { move, ranges, is_deleted } = moving;
      const { stream_id } = move;
      const has_nothing = [...moving.spans, ...moving.runs, ...moving.suppressed, ...ranges].length === 0;
      if (has_nothing && !is_deleted) return { reply: DONE, effects: [tellStream(move)] };
      const writing = writingOf(state, move, facts);
      const numberOf = (key: string | undefined) =>
        key === undefined ? undefined : numbersOf([key], facts.self, facts)[0];
      const spans = moving.spans.flatMap(({ key, ...span }): ConversationSpan[] => {
        const conversation = numberOf(key);
        return conversation === undefined ? [] : [{ ...span, conversation }];
      });
      if (spans.length > 0) putSpans(writing, stream_id, [...spansOn(writing, stream_id), ...spans]);
      const runs = moving.runs.flatMap(({ key, ...run }): InsightRun[] => {
        const conversation = numberOf(key);
        return conversation === undefined ? [] : [{ ...run, conversation }];
      });
      const all_runs = [...runs, ...(facts.record<InsightRun[]>('runs', stream_id) ?? [])];
      if (runs.length > 0) writing.write('runs', stream_id, { value: all_runs.slice(-RUNS_KEPT_MAX) });
      if (moving.suppressed.length > 0) suppress(writing, moving);
      for (const range of ranges) {
        const touched = spansOn(writing, stream_id).filter(
          ({ pipeline_id, start_ms, end_ms }) =>
            pipeline_id === range.pipeline_id && start_ms <= range.to_ms && end_ms >= range.from_ms,
        );
        const again = touched.length > 0;
        unsettle(writing, { ...range, stream_id, again }, { touched, due_ms: facts.now_ms + LIMITS.settle_ms });
      }
      if (is_deleted) noteDeleted(writing, { of: 'stream', id: stream_id });
      writing.effects.push(tellStream(move));
      return writing.done(DONE);
    },
  },
});

function writingOf(state: Library | null, { account_id, to }: StreamMove, facts: Writing['facts']): Writing {
  const place = { account_id, workspace_id: to };
  const { library, effects } = state === null ? begin(place, facts) : { library: state, effects: [] };
  const writing = new Writing(library, facts);
  writing.effects.push(...effects);
  return writing;
}

/** An item that was made here gets its number back. */
function receive(writing: Writing, { kind, key, item, conversations, revisions, feedback, hand_ref }: MovedItem): void {
  const { self } = writing.facts;
  const here = placeHere(key, self);
  const number = here ?? writing.give(kind);
  const { kept_id: _, ...rest } = item;
  const numbers = numbersOf(conversations, self, writing.facts);
  const is = {
    ...rest,
    ...(here === null && !key.includes('/') && { kept_id: key }),
    ...(kind === 'suggestion' && conversationOf(writing, numbers)),
  } as Items[ItemKind];
  writing.create(kind, number, is);
  for (const { revision, ...one } of revisions)
    writing.write('revisions', `${entryOf(kind, number)}.${insightKey(revision)}`, {
      value: {
        ...one,
        revision,
        item: { ...one.item, ...(kind === 'suggestion' && conversationOf(writing, numbers)) },
      },
      order: orderOf(kind, number),
    });
  for (const { number: at, value } of feedback)
    writing.write('feedback', `${entryOf(kind, number)}.${insightKey(at)}`, { value, order: orderOf(kind, number) });
  for (const conversation of numbers) addTo(writing, conversation, kind, number);
  const ref = refOf({ item });
  if (hand_ref !== null && ref !== null && writing.record(HAND_REFS, ref) === undefined)
    writing.write(HAND_REFS, ref, { value: { ...hand_ref, number } satisfies HandRef });
  if (here === null) writing.write('arrived', key, { value: number });
  else writing.drop('moved', entryOf(kind, number));
}

function conversationOf(writing: Writing, [number]: number[]): Partial<Items['suggestion']> {
  if (number === undefined) return {};
  const kept_id = conversationIn(writing, number)?.kept_id;
  return { conversation: number, ...(kept_id !== undefined && { kept_conversation_id: kept_id }) };
}

function addTo(writing: Writing, conversation: number, kind: ItemKind, number: number): void {
  const item = conversationIn(writing, conversation);
  if (item === undefined) return;
  const { suggestions, memories } = item;
  const added = kind === 'memory' ? { memories: [...memories, number] } : { suggestions: [...suggestions, number] };
  writing.keep('conversation', conversation, { ...item, ...added });
}

function conversationIn(writing: Writing, number: number): Items['conversation'] | undefined {
  return itemIn({ record: (collection, id) => writing.record(collection, id) }, 'conversation', number);
}

/** Deleted and dismissed items get new numbers: those of here are taken. */
function suppress(writing: Writing, { move: { stream_id }, suppressed }: MovingStream): void {
  const numbers = new Map<string, number>();
  const renumbered = suppressed.map((one): Suppressed => {
    const entry = entryOf(one.kind, one.number);
    const number = numbers.get(entry) ?? writing.give(one.kind);
    numbers.set(entry, number);
    return { ...one, number };
  });
  const before = writing.record<Suppressed[]>('suppressed', stream_id) ?? [];
  writing.write('suppressed', stream_id, { value: [...before, ...renumbered] });
}

function keysIn(named: readonly { key?: string | undefined }[]): string[] {
  return named.flatMap(({ key }) => key ?? []);
}

function arrivedAs(keys: readonly string[]): RecordQuery[] {
  return [...new Set(keys)].map((id) => ({ collection: 'arrived', id }));
}

/** The numbers here of conversations that have come. */
function numbersOf(keys: readonly string[], self: string, read: Pick<Read, 'record'>): number[] {
  return keys.flatMap((key) => placeHere(key, self) ?? read.record<number>('arrived', key) ?? []);
}

function idOf(state: Library | null): string {
  return state === null ? '' : libraryId(state.account_id, state.workspace_id);
}

function refOf({ item }: Pick<MovedItem, 'item'>): string | null {
  return 'group' in item ? (item.ref ?? null) : null;
}
