import { LIMITS } from '../src/domain/limits.js';
import { refuse, unreachable } from '../src/domain/refusals.js';
import type { Decision, Effect, RecordQuery, Records } from './actor.js';
import { type Chunk, type ChunkResult, chunkKey, putChunk, type Stream } from './stream_state.js';

/**
 * How stored chunks come to be processed: each waits in its stream until a worker claims it, for a time and under a
 * token, and a result counts only under the token of the claim that was the last. The stream decides all of it, so
 * that no chunk is in two hands at once and none is forgotten.
 */
export type ProcessingMessage =
  /** The oldest that nobody has claimed; `token` is drawn for this message. */
  | { type: 'claim_chunks'; token: string; limit: number; lease_ms: number }
  /** Still at it: the claim holds for so long from now on. */
  | { type: 'prolong_claim'; number: number; token: string; lease_ms: number }
  /** Of chunks that were claimed with this token. */
  | { type: 'chunk_results'; token: string; results: { number: number; result: ChunkResult }[] };

/** `left`: how many more could be claimed. */
export type ProcessingReply =
  | { claimed: ClaimedChunk[]; left: number }
  | { until_ms: number }
  /** `taken`: those whose claim still held, or that had this result already. */
  | { taken: number[]; left: number };

/** `tries` counts this one. */
export type ClaimedChunk = { number: number; tries: number; until_ms: number };

/** Collection `unprocessed`, by number, in the order in which they were stored. */
type Waiting = { tries: number };

const NOT_HELD = refuse('CONFLICT', 'The claim does not hold any more; the chunk may be in other hands.');
const DUE_LIST = 'due';

/** The list of a partition's streams that have something to process, each at the time when it has. */
export const PROCESSING_INDEX = { owner: 'processing', index: DUE_LIST } as const;

export function processingFacts(message: ProcessingMessage, state: Stream | null): RecordQuery[] {
  switch (message.type) {
    case 'claim_chunks':
      return [{ collection: 'unprocessed', range: { limit: message.limit + (state?.claims.length ?? 0) } }];
    case 'prolong_claim':
      return [];
    case 'chunk_results':
      return message.results.map(({ number }) => ({ collection: 'chunks', id: chunkKey(number) }));
    default:
      return unreachable(message);
  }
}

export function decideProcessing(
  state: Stream,
  message: ProcessingMessage,
  facts: Records,
  now_ms: number,
): Decision<Stream, ProcessingReply> {
  switch (message.type) {
    case 'claim_chunks': {
      const { token, limit, lease_ms } = message;
      const held = state.claims.filter(({ until_ms }) => now_ms < until_ms);
      const free = facts
        .range<Waiting>('unprocessed')
        .filter(({ id }) => !held.some(({ number }) => chunkKey(number) === id))
        .slice(0, Math.min(limit, LIMITS.claims_per_stream_max - held.length));
      if (free.length === 0) return { reply: { claimed: [], left: 0 } };
      const until_ms = now_ms + lease_ms;
      const claimed = free.map(({ id, value }) => ({
        number: Number.parseInt(id, 16),
        tries: value.tries + 1,
        until_ms,
      }));
      const next = { ...state, claims: [...held, ...claimed.map(({ number }) => ({ number, token, until_ms }))] };
      const counted = free.map(
        ({ id, order, value }): Effect => ({
          ...{ effect: 'put_record', collection: 'unprocessed', id, order, value: { tries: value.tries + 1 } },
        }),
      );
      return {
        reply: { claimed, left: unclaimed(next, now_ms) },
        next,
        effects: [...counted, ...dueEffects(state, next, facts.self)],
      };
    }
    case 'prolong_claim': {
      const { number, token, lease_ms } = message;
      const held = state.claims.find((claim) => claim.number === number && claim.token === token);
      if (held === undefined || now_ms >= held.until_ms) return { reply: NOT_HELD };
      const until_ms = now_ms + lease_ms;
      const next = { ...state, claims: state.claims.map((claim) => (claim === held ? { ...held, until_ms } : claim)) };
      return { reply: { until_ms }, next, effects: dueEffects(state, next, facts.self) };
    }
    case 'chunk_results': {
      const { token, results } = message;
      const effects: Effect[] = [];
      const taken: number[] = [];
      let { claims, unprocessed } = state;
      for (const { number, result } of results) {
        const chunk = facts.record<Chunk>('chunks', chunkKey(number));
        if (chunk?.processed_by === token && isSame(chunk.result, result)) taken.push(number);
        // A lease that ran out counts as long as nobody else has taken the chunk.
        const held = claims.find((claim) => claim.number === number && claim.token === token);
        if (chunk === undefined || held === undefined) continue;
        taken.push(number);
        claims = claims.filter((claim) => claim !== held);
        unprocessed -= 1;
        effects.push(putChunk(number, { ...chunk, result, processed_by: token }), {
          ...{ effect: 'delete_record', collection: 'unprocessed', id: chunkKey(number) },
        });
      }
      if (effects.length === 0) return { reply: { taken, left: unclaimed(state, now_ms) } };
      const next = { ...state, claims, unprocessed };
      return {
        reply: { taken, left: unclaimed(next, now_ms) },
        next,
        effects: [...effects, ...dueEffects(state, next, facts.self)],
      };
    }
    default:
      return unreachable(message);
  }
}

/** Keeps the partition's list true: where the stream has something to claim, and from when on. */
export function dueEffects(was: Stream, is: Stream, member: string): Effect[] {
  const [before_ms, due_ms] = [dueAt(was), dueAt(is)];
  if (before_ms === due_ms) return [];
  return due_ms === null
    ? [{ effect: 'remove_from_index', ...PROCESSING_INDEX, member }]
    : [{ effect: 'add_to_index', ...PROCESSING_INDEX, member, order: due_ms }];
}

/**
 * Null while nothing waits; 0 for what nobody has in hand, so that one more of it changes nothing. Where as many are in
 * hands as may be, the rest waits for the first of these: until then nobody looks in vain.
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
