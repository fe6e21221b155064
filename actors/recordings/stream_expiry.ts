import { addInterval, type Interval, shared } from '../../src/domain/intervals.js';
import { LIMITS } from '../../src/domain/limits.js';
import { dueIndex, type Expire, isBefore } from '../../src/domain/retention.js';
import { type Decision, DONE, type DoneDecision, type Effect, type Facts, messagesOf } from '../actor.js';
import { countRemoved } from '../insights/library.js';
import { dueEffects } from './stream_processing.js';
import {
  type Chunk,
  chunkKey,
  hasExpired,
  keptStream,
  putChunk,
  type Stream,
  type StreamState,
} from './stream_state.js';

/**
 * Expiry of a stream's audio. Each chunk with bytes stands in the collection `kept`, by number, in the order in which their
 * uploads began, and the stream on its account's due list at the first of them. A chunk expires in one commit, then its
 * bytes are erased, and with another commit it leaves the collection: what is cut off in between is due again.
 * docs/areas.md, "The retention sweep".
 */
const KEPT = 'kept';

type ChunkPosition = { order: number; id: string };

export const expiryMessages = messagesOf<StreamState>()({
  /** Chunks whose clock is before that time, from the oldest on. */
  due_audio: {
    records: ({ after, limit }: DueInput) => [keptAfter(after, limit)],
    decide: keptStream((_, { before_ms, limit }: DueInput, facts): Decision<Stream, DueAudio> => {
      const rows = facts.range(KEPT);
      const due = rows.filter(({ order }) => isBefore(order, before_ms));
      const is_last = due.length < limit;
      return { reply: { due: due.map(({ id }) => numberOf(id)), next: is_last ? null : placeOf(due) } };
    }),
  },

  /** Expires those of these chunks whose clock is before the cutoff. The title goes with a stream's last audio. */
  expire_audio: {
    records: ({ numbers }: ExpireAudio) => [
      ...numbers.flatMap((number) =>
        ['chunks', 'unprocessed'].map((collection) => ({ collection, id: chunkKey(number) })),
      ),
    ],
    decide: keptStream((state, input: ExpireAudio, facts): Decision<Stream, { gone: GoneAudio[]; expired: number }> => {
      const gone = input.numbers.flatMap((number): Gone => {
        const chunk = facts.record<Chunk>('chunks', chunkKey(number));
        return chunk !== undefined && expires(chunk, input, facts) ? [{ number, chunk }] : [];
      });
      const next = titleExpired(audioExpired(state, gone, facts), input);
      const count = gone.length + (next.title === state.title ? 0 : 1);
      const left_over = input.numbers.flatMap((number): Gone => {
        const chunk = facts.record<Chunk>('chunks', chunkKey(number));
        return chunk !== undefined && hasExpired(chunk) ? [{ number, chunk }] : [];
      });
      const reply = { gone: [...gone, ...left_over].flatMap(goneAudio), expired: gone.length };
      if (count === 0) return { reply };
      return {
        reply,
        next,
        effects: [
          ...gone.flatMap(expired),
          countRemoved(input, 'audio', count),
          ...dueEffects(state, next, facts.self),
          ...retentionEffects(state, next),
        ],
      };
    }),
  },

  /** The bytes of these expired chunks are erased. */
  audio_erased: {
    records: ({ numbers }: { numbers: number[] }) => [
      ...numbers.map((number) => ({ collection: 'chunks', id: chunkKey(number) })),
      keptAfter(null, numbers.length + 1),
    ],
    decide: keptStream((state, { numbers }: { numbers: number[] }, facts): DoneDecision<Stream> => {
      const erased = numbers.flatMap((number): Gone => {
        const chunk = facts.record<Chunk>('chunks', chunkKey(number));
        return chunk !== undefined && hasExpired(chunk) && chunk.place !== null ? [{ number, chunk }] : [];
      });
      if (erased.length === 0) return { reply: DONE };
      const keys = new Set(erased.map(({ number }) => chunkKey(number)));
      const left = facts.range(KEPT).find(({ id }) => !keys.has(id));
      const next = { ...state, oldest_audio_ms: left?.order ?? null };
      const effects = erased.flatMap(({ number, chunk }): Effect[] => [
        putChunk(number, { ...chunk, place: null }),
        { effect: 'delete_record', collection: KEPT, id: chunkKey(number) },
      ]);
      return { reply: DONE, next, effects: [...effects, ...retentionEffects(state, next)] };
    }),
  },
});

/** `limit`: at most `expired_per_commit_max`. */
type DueInput = { before_ms: number | null; after: ChunkPosition | null; limit: number };
type DueAudio = { due: number[]; next: ChunkPosition | null };
export type Gone = { number: number; chunk: Chunk }[];
/** A chunk that has expired, whose bytes are to be erased. */
export type GoneAudio = { number: number; place: string; size_bytes: number };

/**
 * `spared`: spans that await a transcript, of audio that is not kept. There, and until it is processed, a chunk stays
 * for a day. Null spares nothing.
 */
export type ExpireAudio = Expire & { numbers: number[]; spared: Interval[] | null };

/** The stream with one more stored chunk, and the effects by which retention finds it. */
export function keptChunk(
  stream: Stream,
  chunk: Chunk,
  number: number,
  changes: Partial<Stream>,
): { next: Stream; effects: Effect[] } {
  const clock_ms = clockOf(chunk);
  const next = { ...stream, ...changes, oldest_audio_ms: Math.min(stream.oldest_audio_ms ?? clock_ms, clock_ms) };
  return { next, effects: [keep(chunkKey(number), clock_ms), ...retentionEffects(stream, next)] };
}

/**
 * Updates the due list, on which the stream stands at its oldest audio, or at its start while only its title is left.
 */
export function retentionEffects(was: Stream, is: Stream): Effect[] {
  const [before_ms, due_ms] = [dueAt(was), dueAt(is)];
  if (before_ms === due_ms) return [];
  return due_ms === null ? [noLongerDue(is)] : [{ effect: 'add_to_index', ...dueMember(is), order: due_ms }];
}

/** Puts a stream that was moved on the due list of its new workspace. */
export function dueAgain(was: Stream, is: Stream): Effect[] {
  const due_ms = dueAt(is);
  return due_ms === null ? [] : [noLongerDue(was), { effect: 'add_to_index', ...dueMember(is), order: due_ms }];
}

export function noLongerDue(stream: Pick<Stream, 'id' | 'account_id' | 'workspace_id'>): Effect {
  return { effect: 'remove_from_index', ...dueMember(stream) };
}

function dueMember({
  id: member,
  account_id: owner,
  workspace_id,
}: Pick<Stream, 'id' | 'account_id' | 'workspace_id'>) {
  return { owner, index: dueIndex('audio', workspace_id), member };
}

function dueAt(stream: Stream): number | null {
  if (stream.oldest_audio_ms !== null) return stream.oldest_audio_ms;
  return hasIdleTitle(stream) ? startedAt(stream) : null;
}

/** The title of a stream whose audio is gone; the title of a stream that never had audio stays. */
function hasIdleTitle({ title, stored_chunks, stored_until_ms }: Stream): boolean {
  return title !== null && stored_chunks === 0 && stored_until_ms > 0;
}

function startedAt({ captured_at }: Stream): number {
  return Date.parse(captured_at);
}

/** When its upload began. */
function clockOf({ upload_started_at_ms, stored_at_ms, registered_at_ms }: Chunk): number {
  return upload_started_at_ms ?? stored_at_ms ?? registered_at_ms;
}

function expires(chunk: Chunk, { before_ms, spared }: ExpireAudio, { now_ms }: Facts): boolean {
  const clock_ms = clockOf(chunk);
  if (chunk.status !== 'stored' || !isBefore(clock_ms, before_ms)) return false;
  if (spared === null || now_ms >= clock_ms + LIMITS.spared_ms_max) return true;
  const span = spanOf(chunk);
  return chunk.result !== undefined && !spared.some((interval) => shared(interval, span) > 0);
}

/** The stream without these chunks. */
export function audioExpired(stream: Stream, gone: Gone, facts: Facts): Stream {
  if (gone.length === 0) return stream;
  const numbers = new Set(gone.map(({ number }) => number));
  const unprocessed = gone.filter(({ number }) => facts.record('unprocessed', chunkKey(number)) !== undefined);
  return {
    ...stream,
    stored_chunks: stream.stored_chunks - gone.length,
    stored_bytes: stream.stored_bytes - gone.reduce((sum, { chunk }) => sum + chunk.size_bytes, 0),
    unprocessed: stream.unprocessed - unprocessed.length,
    claims: stream.claims.filter(({ number }) => !numbers.has(number)),
    expired_chunks: stream.expired_chunks + gone.length,
    audio_expired: gone.reduce(
      (spans, { chunk }) => addInterval(spans, spanOf(chunk), LIMITS.expired_spans_max),
      stream.audio_expired,
    ),
  };
}

/** Rule I-021. While a chunk awaits its upload, not all of the audio is gone. */
function titleExpired(stream: Stream, { before_ms }: Expire): Stream {
  const goes = hasIdleTitle(stream) && stream.open.length === 0 && isBefore(startedAt(stream), before_ms);
  return goes ? { ...stream, title: null } : stream;
}

/** Takes the audio of a chunk away; its bytes are erased after that. */
export function expired({ number, chunk: { result: _, processed_by: __, ...chunk } }: Gone[number]): Effect[] {
  return [
    putChunk(number, { ...chunk, status: 'expired' }),
    { effect: 'delete_record', collection: 'unprocessed', id: chunkKey(number) },
  ];
}

export function goneAudio({ number, chunk: { place, size_bytes } }: Gone[number]): GoneAudio[] {
  return place === null ? [] : [{ number, place, size_bytes }];
}

function spanOf({ source_start_ms, source_end_ms }: Chunk): Interval {
  return [source_start_ms, source_end_ms];
}

function numberOf(key: string): number {
  return Number.parseInt(key, 16);
}

function keep(id: string, clock_ms: number): Effect {
  return { effect: 'put_record', collection: KEPT, id, value: true, order: clock_ms };
}

function keptAfter(after: ChunkPosition | null, limit: number) {
  return { collection: KEPT, range: { after: after ?? undefined, limit } };
}

function placeOf(rows: readonly ChunkPosition[]): ChunkPosition | null {
  const last = rows.at(-1);
  return last === undefined ? null : { order: last.order, id: last.id };
}
