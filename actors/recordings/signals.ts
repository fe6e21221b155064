import { LIMITS } from '../../src/domain/limits.js';
import type { StreamMove } from '../../src/domain/moves.js';
import { isRefusal, refuse } from '../../src/domain/refusals.js';
import { dueIndex, type Expire, type Expired, isBefore } from '../../src/domain/retention.js';
import { BLOCKS } from '../../src/domain/search/places.js';
import {
  type Decision,
  DONE,
  type DoneDecision,
  defineActor,
  type Effect,
  type Facts,
  type MessageOf,
  type RangeQuery,
  type RecordQuery,
} from '../actor.js';
import { countRemoved } from '../insights/library.js';
import {
  carryNotes,
  dropNote,
  forgetNotes,
  freshNotes,
  indexNotes,
  NOTE_TYPE,
  type PostedNotes,
  searchedNotes,
} from './note_blocks.js';
import {
  type Batch,
  bytesOf,
  isSame,
  type ListedSignal,
  type Owner,
  type PostedSignal,
  type Signal,
  type Signals,
  type Staged,
} from './signals_state.js';

const EXPIRED_BATCHES_MAX = 16; // ours: posted batches of signals that one commit looks into

export type SignalsMessage = MessageOf<typeof signals>;

const OTHER_CONTENT = (ref: string) =>
  refuse('CONFLICT', `A signal of this stream has the ref ${JSON.stringify(ref)} and other content.`);
const TOO_MANY = refuse('CONFLICT', `A stream holds at most ${LIMITS.signals_per_stream_max} signals.`);
const TOO_LARGE = refuse(
  'CONFLICT',
  `A stream holds at most ${LIMITS.signal_bytes_per_stream_max} bytes of payloads of signals.`,
);
const BUSY = refuse('TOO_MANY_REQUESTS', 'Too many large batches are being posted to this stream.', {
  retry_after_s: 1,
});
const SWEPT = refuse('UNAVAILABLE', 'The request took too long; post it again.', { retry_after_s: 1 });
const NONE: Signals = { count: 0, payload_bytes: 0, longest_ms: 0, staged: [], owner: null, oldest_ms: null };

/** The record of a payload that a request brought. */
export function payloadKey(request: string, part: number): string {
  return `${request}.${part}`;
}

export const signals = defineActor<Signals>()({
  kind: 'signals',
  home: 'id',
  schema: 1,
  // A batch that took several large requests would be one large commit.
  batch_max: 1,
  messages: {
    /** The ids of these signals that exist. */
    compare: {
      records: signalRecords,
      decide(_, { signals }: { signals: Pick<PostedSignal, 'id' | 'ref' | 'content'>[] }, facts) {
        const known: string[] = [];
        for (const { id, ref, content } of signals) {
          const found = facts.record<Signal>('signals', id);
          if (found !== undefined && !isSame(found, { ref, content })) return { reply: OTHER_CONTENT(ref) };
          if (found !== undefined) known.push(id);
        }
        return { reply: { known } };
      },
    },

    /** Stages payloads of a request. */
    stage: (state, request: StageRequest, { now_ms }) => stage(state ?? NONE, request, now_ms),

    post: {
      records: signalRecords,
      decide: (state, request: PostRequest, facts) => post(state ?? NONE, request, facts),
    },

    /** The request has failed. */
    unstage(state, { request }: { request: string }) {
      const staged = state?.staged.find((other) => other.request === request);
      return state === null || staged === undefined ? { reply: DONE } : { reply: DONE, ...swept(state, [staged]) };
    },

    sweep_staged(state, _: unknown, { now_ms }) {
      if (state === null) return { reply: DONE };
      const old = state.staged.filter(({ began_ms }) => now_ms >= began_ms + LIMITS.signals_staged_ms);
      return { reply: DONE, ...swept(state, old) };
    },

    list: {
      records: ({ range }: { range: RangeQuery }) => [{ collection: 'signals', range }],
      decide(_, __: { range: RangeQuery }, facts) {
        const rows = facts.range<Signal>('signals');
        const signals: ListedSignal[] = rows.map(({ id, order, value }) => ({ ...value, id, order }));
        return { reply: { signals } };
      },
    },

    /** A signal, and whether there is one. */
    one: {
      records: ({ id }: { id: string }) => [{ collection: 'signals', id }],
      decide: (_, { id }: { id: string }, facts) => ({
        reply: { signal: facts.record<Signal>('signals', id) ?? null },
      }),
    },

    /** Gives the length of the longest signal: a search for signals that end after a time begins that much earlier. */
    extent: (state) => ({ reply: { longest_ms: state?.longest_ms ?? 0 } }),

    payloads: {
      records: ({ keys }: { keys: string[] }) => keys.map((id) => ({ collection: 'payloads', id })),
      decide(_, { keys }: { keys: string[] }, facts) {
        const found = keys.flatMap((key): [string, string][] => {
          const text = facts.record<string>('payloads', key);
          return text === undefined ? [] : [[key, text]];
        });
        return { reply: { payloads: Object.fromEntries(found) } };
      },
    },

    view: { reads: true, decide: (state) => ({ reply: state ?? NONE }) },

    // From their stream:
    move: {
      records: (_: StreamMove) => searchedNotes,
      decide(state, { account_id, to }: StreamMove, facts): DoneDecision<Signals> {
        if (state === null || state.owner === null) return { reply: DONE };
        const { self } = facts;
        const owner = { account_id, workspace_id: to };
        const next = { ...state, owner };
        const effects = [
          ...retentionEffects(state, { ...state, oldest_ms: null }, self),
          ...retentionEffects({ ...next, oldest_ms: null }, next, self),
          ...(state.notes === undefined ? [] : carryNotes(state.owner, owner, facts)),
        ];
        return { reply: DONE, next, effects };
      },
    },

    /**
     * The ids of batches whose clock is before a time, oldest first, with as many of their signals as one commit takes.
     */
    due_signals: {
      records: (_: DueSignals) => [oldestBatches(EXPIRED_BATCHES_MAX)],
      decide(_, { before_ms, limit }: DueSignals, facts): Decision<Signals, { batches: DueBatch[] }> {
        const batches: DueBatch[] = [];
        let room = limit;
        for (const { id, order, value } of facts.range<Batch>('batches')) {
          if (!isBefore(order, before_ms) || room === 0) break;
          const ids = value.slice(0, room);
          batches.push({ id, ids });
          room -= ids.length;
        }
        return { reply: { batches } };
      },
    },

    /** Removes the payloads of those signals whose clock is before the cutoff. The signals stay. */
    expire: {
      records: ({ batches }: ExpireSignals) => [
        oldestBatches(batches.length + 1),
        ...batches.flatMap(({ ids }) => ids.map((id) => ({ collection: 'signals', id }))),
      ],
      decide: (state, input: ExpireSignals, facts) =>
        state === null ? { reply: NOTHING_LEFT } : expire(state, input, facts),
    },

    erase: {
      records: (_: unknown) => searchedNotes,
      decide(state, _: unknown, facts) {
        if (state === null) return { reply: DONE };
        const collections = ['signals', 'payloads', 'batches', ...(state.notes === undefined ? [] : [BLOCKS])];
        const effects: Effect[] = [
          ...collections.map((collection): Effect => ({ effect: 'delete_collection', collection })),
          { effect: 'cancel_reminder', name: 'sweep_staged' },
          ...retentionEffects(state, NONE, facts.self),
          ...(state.owner === null ? [] : forgetNotes(state.owner, facts)),
          { effect: 'delete' },
        ];
        return { reply: DONE, next: null, effects };
      },
    },
  },

  invariant(state) {
    if (state.payload_bytes < 0) return 'payloads of less than no bytes';
    return state.staged.length > LIMITS.signals_staged_requests_max ? 'too many staged requests' : null;
  },
});

/** `part`: the index of the payload's signal in the request. */
type StageRequest = { request: string; payloads: { part: number; text: string; bytes: number }[] };
/** `staged`: the payloads of new signals were staged and are not repeated. Account and workspace are the stream's. */
type PostRequest = Owner & {
  request: string;
  signals: PostedSignal[];
  staged: boolean;
  noted?: PostedNotes | undefined;
};
/** `limit`: at most `expired_per_commit_max`. */
type DueSignals = { before_ms: number | null; limit: number };
type DueBatch = { id: string; ids: string[] };
type ExpireSignals = Expire & { batches: DueBatch[] };
const NOTHING_LEFT: Expired = { removed: 0, left: false };

function signalRecords({ signals }: { signals: { id: string }[] }): RecordQuery[] {
  return signals.map(({ id }) => ({ collection: 'signals', id }));
}

function post(before: Signals, request: PostRequest, facts: Facts): Decision<Signals, { signals: ListedSignal[] }> {
  const own = before.staged.find((other) => other.request === request.request);
  const read = readPosted(request, own, facts);
  if (isRefusal(read)) return { reply: read };
  const { listed, fresh, used, effects } = read;
  if (before.count + fresh.size > LIMITS.signals_per_stream_max) return { reply: TOO_MANY };
  // What was staged is counted already; of that, what somebody else has posted meanwhile is deleted.
  const fresh_bytes = [...fresh.values()].reduce((sum, { payload }) => sum + bytesOf(payload), 0);
  const payload_bytes = before.payload_bytes - (own?.bytes ?? 0) + fresh_bytes;
  if (payload_bytes > LIMITS.signal_bytes_per_stream_max) return { reply: TOO_LARGE };
  // From here on it succeeds.
  if (fresh.size === 0 && own === undefined) return { reply: { signals: listed } };
  const idle = (own?.parts ?? []).filter((part) => !used.has(part));
  effects.push(...idle.map((part) => dropPayload(request.request, part)));
  const left = before.staged.filter((other) => other !== own);
  if (own !== undefined && left.length === 0) effects.push({ effect: 'cancel_reminder', name: 'sweep_staged' });
  const lengths = [...fresh.values()].map(({ start_ms, end_ms }) => (end_ms ?? start_ms) - start_ms);
  const next: Signals = {
    ...before,
    count: before.count + fresh.size,
    payload_bytes,
    longest_ms: Math.max(before.longest_ms, ...lengths),
    staged: left,
  };
  if (fresh.size === 0) return { reply: { signals: listed }, next, effects };
  const { account_id, workspace_id } = request;
  const { now_ms, self } = facts;
  // The caller may have read the stream before it was moved.
  const owner = before.owner ?? { account_id, workspace_id };
  const noted = freshNotes(request.noted, fresh);
  const kept: Signals = {
    ...next,
    owner,
    ...(noted === null ? {} : { notes: (before.notes ?? 0) + noted.notes.length }),
    oldest_ms: Math.min(before.oldest_ms ?? now_ms, now_ms),
  };
  return {
    reply: { signals: listed },
    next: kept,
    effects: [
      ...effects,
      { effect: 'put_record', collection: 'batches', id: request.request, value: [...fresh.keys()], order: now_ms },
      ...retentionEffects(before, kept, self),
      ...(noted === null ? [] : indexNotes(owner, noted, { known: before.notes ?? 0, self })),
    ],
  };
}

function expire(state: Signals, { batches, ...input }: ExpireSignals, facts: Facts): Decision<Signals, Expired> {
  const due = new Map(batches.map(({ id, ids }) => [id, new Set(ids)]));
  const effects: Effect[] = [];
  const clocks_left: number[] = [];
  let [removed, bytes] = [0, 0];
  for (const { id, order, value } of facts.range<Batch>('batches')) {
    const goes = isBefore(order, input.before_ms) ? due.get(id) : undefined;
    const stays = goes === undefined ? value : value.filter((signal_id) => !goes.has(signal_id));
    if (stays.length > 0) clocks_left.push(order);
    if (goes === undefined) continue;
    effects.push(
      stays.length > 0
        ? { effect: 'put_record', collection: 'batches', id, value: stays, order }
        : { effect: 'delete_record', collection: 'batches', id },
    );
    for (const signal_id of value.filter((one) => goes.has(one))) {
      const signal = facts.record<Signal>('signals', signal_id);
      if (signal?.payload.state !== 'available') continue;
      removed += 1;
      bytes += signal.payload.bytes;
      effects.push(...withoutPayload(signal_id, signal, signal.payload.key, facts.now_ms));
      if (signal.type === NOTE_TYPE && state.owner !== null)
        effects.push(...dropNote(state.owner, signal_id, facts.self));
    }
  }
  const oldest_ms = clocks_left[0] ?? null;
  const reply = { removed, left: oldest_ms !== null && isBefore(oldest_ms, input.before_ms) };
  if (effects.length === 0) return { reply };
  const next = {
    ...state,
    payload_bytes: state.payload_bytes - bytes,
    oldest_ms,
  };
  if (removed > 0) effects.push(countRemoved(input, 'transcripts', removed));
  return { reply, next, effects: [...effects, ...retentionEffects(state, next, facts.self)] };
}

function withoutPayload(id: string, signal: Signal, key: string | null, removed_at_ms: number): Effect[] {
  const value: Signal = { ...signal, payload: { state: 'expired', removed_at_ms } };
  return [
    { effect: 'put_record', collection: 'signals', id, value, order: signal.start_ms },
    ...(key === null ? [] : [{ effect: 'delete_record' as const, collection: 'payloads', id: key }]),
  ];
}

/** Updates the due list, on which the stream's signals stand at the oldest that keep their payloads. */
function retentionEffects(was: Signals, is: Signals, member: string): Effect[] {
  const { oldest_ms } = is;
  const owner = is.owner ?? was.owner;
  if (owner === null || was.oldest_ms === oldest_ms) return [];
  const due = { owner: owner.account_id, index: dueIndex('signals', owner.workspace_id), member };
  return [
    oldest_ms === null ? { effect: 'remove_from_index', ...due } : { effect: 'add_to_index', ...due, order: oldest_ms },
  ];
}

function oldestBatches(limit: number) {
  return { collection: 'batches', range: { limit } };
}

/** The content of a request: all its signals in order, the new ones, and the staged payloads that they use. */
type Posted = { listed: ListedSignal[]; fresh: Map<string, Signal>; used: Set<number>; effects: Effect[] };

function readPosted({ request, signals: posted, staged }: PostRequest, own: Staged | undefined, facts: Facts) {
  const fresh = new Map<string, Signal>();
  const read: Posted = { listed: [], fresh, used: new Set(), effects: [] };
  for (const [part, { id, payload, payload_bytes: bytes, ...light }] of posted.entries()) {
    const known = fresh.get(id) ?? facts.record<Signal>('signals', id);
    if (known !== undefined && !isSame(known, light)) return OTHER_CONTENT(light.ref);
    if (known !== undefined) {
      read.listed.push({ ...known, id, order: known.start_ms });
      continue;
    }
    const is_written = staged && payload !== null;
    if (is_written && own?.parts.includes(part) !== true) return SWEPT;
    const key = payload === null ? null : payloadKey(request, part);
    const signal: Signal = { ...light, created_at_ms: facts.now_ms, payload: { state: 'available', key, bytes } };
    fresh.set(id, signal);
    read.listed.push({ ...signal, id, order: signal.start_ms });
    read.effects.push({ effect: 'put_record', collection: 'signals', id, value: signal, order: signal.start_ms });
    if (is_written) read.used.add(part);
    else if (key !== null) read.effects.push({ effect: 'put_record', collection: 'payloads', id: key, value: payload });
  }
  return read;
}

function stage(before: Signals, { request, payloads }: StageRequest, now_ms: number): Decision<Signals, typeof DONE> {
  const own = before.staged.find((other) => other.request === request);
  const fresh = payloads.filter(({ part }) => own?.parts.includes(part) !== true);
  if (fresh.length === 0) return { reply: DONE };
  if (own === undefined && before.staged.length >= LIMITS.signals_staged_requests_max) return { reply: BUSY };
  const bytes = fresh.reduce((sum, payload) => sum + payload.bytes, 0);
  if (before.payload_bytes + bytes > LIMITS.signal_bytes_per_stream_max) return { reply: TOO_LARGE };
  const staged: Staged = {
    request,
    parts: [...(own?.parts ?? []), ...fresh.map(({ part }) => part)],
    bytes: (own?.bytes ?? 0) + bytes,
    began_ms: own?.began_ms ?? now_ms,
  };
  const effects: Effect[] = fresh.map(({ part, text }) => ({
    effect: 'put_record',
    collection: 'payloads',
    id: payloadKey(request, part),
    value: text,
  }));
  if (before.staged.length === 0) effects.push(sweepAt(now_ms + LIMITS.signals_staged_ms));
  return {
    reply: DONE,
    next: {
      ...before,
      payload_bytes: before.payload_bytes + bytes,
      staged: [...before.staged.filter((other) => other !== own), staged],
    },
    effects,
  };
}

/** Removes what these requests have staged; the sweep comes again for the oldest that is left. */
function swept(before: Signals, gone: Staged[]): { next: Signals; effects: Effect[] } {
  const left = before.staged.filter((staged) => !gone.includes(staged));
  const oldest_ms = Math.min(...left.map(({ began_ms }) => began_ms));
  const effects = gone.flatMap(({ request, parts }) => parts.map((part) => dropPayload(request, part)));
  effects.push(
    left.length > 0
      ? sweepAt(oldest_ms + LIMITS.signals_staged_ms)
      : { effect: 'cancel_reminder', name: 'sweep_staged' },
  );
  const bytes = gone.reduce((sum, staged) => sum + staged.bytes, 0);
  return { next: { ...before, staged: left, payload_bytes: before.payload_bytes - bytes }, effects };
}

function dropPayload(request: string, part: number): Effect {
  return { effect: 'delete_record', collection: 'payloads', id: payloadKey(request, part) };
}

function sweepAt(at_ms: number): Effect {
  return { effect: 'schedule_reminder', name: 'sweep_staged', at_ms, message: { type: 'sweep_staged' } };
}
