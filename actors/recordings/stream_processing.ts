import { addInterval, type Interval } from '../../src/domain/intervals.js';
import { LIMITS } from '../../src/domain/limits.js';
import { refuse } from '../../src/domain/refusals.js';
import {
  type Decision,
  DONE,
  type DoneDecision,
  type Effect,
  type Facts,
  messagesOf,
  type RangeQuery,
  type Read,
} from '../actor.js';
import { dueIndexEffects, GIVEN_UP, isLastTry, prolongMessage } from '../job.js';
import type { TranscriptMessage } from '../transcripts/transcript.js';
import {
  type Chunk,
  type ChunkClaim,
  type ChunkResult,
  chunkKey,
  keptStream,
  putChunk,
  type Stream,
  type StreamState,
} from './stream_state.js';

const CHUNKS_TOLD_MAX = 256; // ours: of a backlog, with one commit
const AUDIO_TOLD_MAX = 64; // ours: spans of audio that wait to be told

/** `tries`: this one included. */
export type ClaimedChunk = { number: number; tries: number; until_ms: number };

/** Collection `unprocessed`, by number, in the order in which they were stored. */
type WaitingChunk = { tries: number };

const NOT_HELD = refuse('CONFLICT', 'The claim does not hold any more; the chunk may be in other hands.');
const CHUNK_TRIES = { tries_max: LIMITS.chunk_tries_max };
const LOST: ChunkResult = {
  status: 'failed',
  failure: { code: GIVEN_UP, message: `${LIMITS.chunk_tries_max} workers took the chunk and gave no result.` },
};

export const TELL_REMINDER = 'tell';

/** The index of a partition's streams with chunks to process, by when they are due. */
export const PROCESSING_INDEX = { owner: 'processing', index: 'due' } as const;

/**
 * The jobs of a stream: stored chunks to be processed. `left`: how many more can be claimed. docs/architecture.md,
 * "Jobs".
 */
export const processingMessages = messagesOf<StreamState>()({
  /**
   * Claims the oldest unclaimed chunks. `token`: random, made for this message. `given_up`: those that failed for good
   * here.
   */
  claim_chunks: {
    records: ({ limit }: ClaimInput, state) => [
      { collection: 'unprocessed', range: { limit: limit + (state?.status === 'kept' ? state.claims.length : 0) } },
    ],
    further: (_: ClaimInput, _state, read: Read) =>
      read
        .range<WaitingChunk>('unprocessed')
        .flatMap(({ id, value }) => (isLastTry(value.tries, CHUNK_TRIES) ? [{ collection: 'chunks', id }] : [])),
    decide: keptStream((state, { token, limit, lease_ms }: ClaimInput, facts): Decision<Stream, Claimed> => {
      const { self, now_ms } = facts;
      const held = state.claims.filter(({ until_ms }) => now_ms < until_ms);
      const due = facts
        .range<WaitingChunk>('unprocessed')
        .filter(({ id }) => !held.some(({ number }) => chunkKey(number) === id))
        .slice(0, Math.min(limit, LIMITS.claims_per_stream_max - held.length));
      if (due.length === 0) return { reply: { claimed: [], given_up: 0, left: 0 } };
      const until_ms = now_ms + lease_ms;
      const effects: Effect[] = [];
      const claimed: ClaimedChunk[] = [];
      for (const { id, order, value } of due) {
        const number = Number.parseInt(id, 16);
        const chunk = isLastTry(value.tries, CHUNK_TRIES) ? facts.record<Chunk>('chunks', id) : undefined;
        if (chunk !== undefined) {
          effects.push(...overEffects(number, { ...chunk, result: LOST, processed_by: token }));
          continue;
        }
        const tries = value.tries + 1;
        claimed.push({ number, tries, until_ms });
        effects.push({ effect: 'put_record', collection: 'unprocessed', id, order, value: { tries } });
      }
      const given_up = due.length - claimed.length;
      const claims = [...held, ...claimed.map(({ number }) => ({ number, token, until_ms }))];
      const next = { ...state, claims, unprocessed: state.unprocessed - given_up };
      return {
        reply: { claimed, given_up, left: unclaimed(next, now_ms) },
        next,
        effects: [...effects, ...dueEffects(state, next, self)],
      };
    }),
  },

  prolong_claim: prolongMessage<Stream, HeldChunk, ChunkClaim, StreamState>({
    given: keptStream,
    not_held: NOT_HELD,
    held(state, named) {
      const job = heldClaim(state, named);
      return job === undefined ? null : { until_ms: job.until_ms, job };
    },
    prolonged(state, { job, until_ms }, { self }) {
      const claims = state.claims.map((claim) => (claim === job ? { ...job, until_ms } : claim));
      const next = { ...state, claims };
      return { next, effects: dueEffects(state, next, self) };
    },
  }),

  /**
   * Results of chunks claimed under this token. `taken`: those whose claim still held, or that have this result
   * already.
   */
  chunk_results: {
    records: ({ results }: ChunkResults) =>
      results.map(({ number }) => ({ collection: 'chunks', id: chunkKey(number) })),
    decide: keptStream(
      (state, { token, results, transcribes }: ChunkResults, facts): Decision<Stream, TakenResults> => {
        const { self, now_ms } = facts;
        const effects: Effect[] = [];
        const taken: number[] = [];
        const audio: Interval[] = [];
        let { claims, unprocessed } = state;
        for (const { number, result } of results) {
          const chunk = facts.record<Chunk>('chunks', chunkKey(number));
          if (chunk?.processed_by === token && isSame(chunk.result, result)) taken.push(number);
          // A lease that expired counts as long as nobody else has taken the chunk.
          const held = heldClaim({ claims }, { number, token });
          if (chunk === undefined || held === undefined) continue;
          taken.push(number);
          claims = claims.filter((claim) => claim !== held);
          unprocessed -= 1;
          if (result.status === 'processed') audio.push([chunk.source_start_ms, chunk.source_end_ms]);
          effects.push(...overEffects(number, { ...chunk, result, processed_by: token }));
        }
        if (effects.length === 0) return { reply: { taken, left: unclaimed(state, now_ms) } };
        const told = toldOf({ ...state, claims, unprocessed }, audio, transcribes);
        return {
          reply: { taken, left: unclaimed(told.next, now_ms) },
          next: told.next,
          effects: [...effects, ...told.effects, ...dueEffects(state, told.next, self)],
        };
      },
    ),
  },

  /** Tells the transcript of the chunks that arrived soon after it was last told. */
  tell_waiting: {
    decide: keptStream(
      (state, _: unknown, facts): DoneDecision<Stream> => ({ reply: DONE, ...tellWaiting(state, facts) }),
    ),
  },

  /**
   * Tells the transcript of chunks that were processed while there was no engine, a part at a time. `after`: null at
   * the end.
   */
  tell_transcript: {
    records: ({ after }: Backlog) => [{ collection: 'chunks', range: { after, limit: CHUNKS_TOLD_MAX } }],
    decide: keptStream(
      (state, { transcribes }: Backlog, facts): Decision<Stream, { after: RangeQuery['after'] | null }> => {
        const rows = facts.range<Chunk>('chunks');
        const audio = rows.flatMap(({ value: chunk }): Interval[] =>
          chunk.result?.status === 'processed' && chunk.status === 'stored'
            ? [[chunk.source_start_ms, chunk.source_end_ms]]
            : [],
        );
        const last = rows.length < CHUNKS_TOLD_MAX ? undefined : rows.at(-1);
        const after = last === undefined ? null : { order: last.order, id: last.id };
        const told: Stream = after === null ? { ...state, untold: 0 } : state;
        const next: Stream = audio.length > 0 ? { ...told, transcribed: true } : told;
        return { reply: { after }, next, effects: audio.length > 0 ? [tellTranscript(next, audio, transcribes)] : [] };
      },
    ),
  },
});

/** Absent while there is no engine. */
export type Transcribes = { window_ms: number };
type Backlog = { after?: RangeQuery['after']; transcribes: Transcribes };

type HeldChunk = { number: number; token: string };
type ClaimInput = { token: string; limit: number; lease_ms: number };
type Claimed = { claimed: ClaimedChunk[]; given_up: number; left: number };
type ChunkResults = {
  token: string;
  results: { number: number; result: ChunkResult }[];
  transcribes?: Transcribes | undefined;
};
type TakenResults = { taken: number[]; left: number };

/** Stores a chunk's result, and ends its wait. */
function overEffects(number: number, chunk: Chunk): Effect[] {
  return [putChunk(number, chunk), { effect: 'delete_record', collection: 'unprocessed', id: chunkKey(number) }];
}

function heldClaim({ claims }: Pick<Stream, 'claims'>, { number, token }: HeldChunk): ChunkClaim | undefined {
  return claims.find((claim) => claim.number === number && claim.token === token);
}

/**
 * Tells the transcript of chunks that were checked before they were stored: at once, or with what arrives within half a
 * second if it was told a moment ago.
 */
export function checkedEffects(
  stream: Stream,
  { chunks, transcribes }: { chunks: readonly Chunk[]; transcribes: Transcribes | undefined },
  { now_ms }: Facts,
): { next: Stream; effects: Effect[] } {
  const audio = chunks.flatMap(({ result, source_start_ms, source_end_ms }): Interval[] =>
    result?.status === 'processed' ? [[source_start_ms, source_end_ms]] : [],
  );
  if (audio.length === 0 || transcribes === undefined) return toldOf(stream, audio, transcribes);
  const due_ms = (stream.told_at_ms ?? 0) + LIMITS.audio_told_every_ms;
  // Its clock may have been set back, or it has an end that the transcript knows already.
  const may_wait = now_ms < due_ms && now_ms >= due_ms - LIMITS.audio_told_every_ms && stream.end_ms === null;
  const known = stream.to_tell?.intervals;
  if (!may_wait && known === undefined) return toldOf({ ...stream, told_at_ms: now_ms }, audio, transcribes);
  let intervals = known ?? [];
  for (const interval of audio) intervals = addInterval(intervals, interval, Number.POSITIVE_INFINITY);
  const next: Stream = { ...stream, to_tell: { intervals, window_ms: transcribes.window_ms } };
  if (!may_wait || intervals.length > AUDIO_TOLD_MAX) return tellWaiting(next, { now_ms });
  const message = { type: 'tell_waiting' };
  const reminder: Effect = { effect: 'schedule_reminder', name: TELL_REMINDER, at_ms: due_ms, message };
  return { next, effects: known === undefined ? [reminder] : [] };
}

/** Tells the transcript of all chunks that wait. */
export function tellWaiting(stream: Stream, { now_ms }: Pick<Facts, 'now_ms'>): { next: Stream; effects: Effect[] } {
  const { to_tell } = stream;
  if (to_tell === null) return { next: stream, effects: [] };
  const told = toldOf({ ...stream, to_tell: null, told_at_ms: now_ms }, to_tell.intervals, to_tell);
  return { next: told.next, effects: [...told.effects, { effect: 'cancel_reminder', name: TELL_REMINDER }] };
}

function toldOf(
  state: Stream,
  audio: Interval[],
  transcribes: Transcribes | undefined,
): { next: Stream; effects: Effect[] } {
  if (audio.length === 0) return { next: state, effects: [] };
  if (transcribes === undefined) return { next: { ...state, untold: state.untold + audio.length }, effects: [] };
  const next: Stream = { ...state, transcribed: true };
  return { next, effects: [tellTranscript(next, audio, transcribes)] };
}

function tellTranscript(stream: Stream, intervals: Interval[], { window_ms }: Transcribes): Effect {
  const { id, account_id, workspace_id, source_id, captured_at, end_ms } = stream;
  const of = { account_id, workspace_id, source_id, captured_at_ms: Date.parse(captured_at), end_ms };
  const message: TranscriptMessage = { type: 'audio', stream: of, window_ms, intervals };
  return { effect: 'notify', to: { kind: 'transcript', id }, message };
}

/** Updates the partition's index: whether the stream has something to claim, and from when. */
export function dueEffects(was: Stream, is: Stream, member: string): Effect[] {
  return dueIndexEffects({ ...PROCESSING_INDEX, member }, { was_ms: dueAt(was), is_ms: dueAt(is) });
}

/**
 * When a chunk can be claimed next. Null while none waits; 0 for unclaimed ones, so that one more changes nothing. Once
 * as many are claimed as may be, the end of the first lease.
 */
function dueAt({ unprocessed, claims }: Stream): number | null {
  if (unprocessed === 0) return null;
  const may_claim = unprocessed > claims.length && claims.length < LIMITS.claims_per_stream_max;
  return may_claim ? 0 : Math.min(...claims.map(({ until_ms }) => until_ms));
}

function isSame(known: ChunkResult | undefined, result: ChunkResult): boolean {
  if (known?.status === 'failed' && result.status === 'failed')
    return known.failure.code === result.failure.code && known.failure.message === result.failure.message;
  return known?.status === 'processed' && result.status === 'processed' && known.checked === result.checked;
}

function unclaimed({ unprocessed, claims }: Stream, now_ms: number): number {
  return unprocessed - claims.filter(({ until_ms }) => now_ms < until_ms).length;
}
