import { LIMITS } from '../../src/domain/limits.js';
import { refuse } from '../../src/domain/refusals.js';
import { fingerprintOf, modelOfVectors, VECTORS, VECTORS_DUE } from '../../src/domain/search/vectors.js';
import {
  type Decision,
  DONE,
  type DoneDecision,
  type Effect,
  messagesOf,
  type RangeQuery,
  type Read,
  type RecordQuery,
} from '../actor.js';
import { dueIndexEffects, isLastTry, type JobChange, workerMessages } from '../job.js';
import { changedMember } from './transcript_block.js';
import { type PageTurn, pageKey, readPage } from './transcript_page.js';
import { ofTranscript, type Transcript, type VectorsClaim } from './transcript_state.js';
import { VECTORS_INDEX } from './vectors_index.js';

/**
 * Vectors of pages, which a worker makes of their turns. A page that changes loses its vectors in the same commit, and is due
 * again.
 */

const VECTORS_PAGES_MAX = 4; // ours: of one claim
const DROPPED_PAGES_MAX = 32; // ours: of one commit

const NOT_HELD = refuse('CONFLICT', 'These vectors are not yours to make: the claim was lost.');
const NOTHING = { account_id: '', pages: [] as number[] };
const TRIES = { tries_max: LIMITS.vectors_tries_max, rests_ms: LIMITS.vectors_retries_ms };

type HeldVectors = { token: string };
/** `fingerprint`: of the texts behind the vectors. */
export type MadeVectors = { page: number; fingerprint: number; vectors: Uint8Array };

const vectorJobs = workerMessages<Transcript, HeldVectors, VectorsClaim>({
  given: ofTranscript,
  not_held: NOT_HELD,
  tries: TRIES,
  held: ({ vectors_claim: claim }, { token }) =>
    claim?.token === token ? { until_ms: claim.until_ms, job: claim } : null,
  prolonged: (state, { job, until_ms }, facts) => claimed(state, { ...job, until_ms }, facts.self),
  rested: (state, { job }, not_before_ms, facts) =>
    claimed(state, { ...job, token: '', until_ms: not_before_ms }, facts.self),
  released: (state, { job }, facts) =>
    claimed(state, { token: '', tries: job.tries - 1, until_ms: facts.now_ms }, facts.self),
  failed: (state, _held, _failure, facts) => unclaimed(state, null, facts.self),
});

export const vectorMessages = messagesOf<Transcript>()({
  /** Claims pages whose vectors are to be made; none if nothing is due or another worker has the claim. */
  claim_vectors: {
    records: () => [{ collection: VECTORS_DUE, range: { limit: VECTORS_PAGES_MAX } }],
    decide(
      state,
      { token, lease_ms }: { token: string; lease_ms: number },
      facts,
    ): Decision<Transcript, { account_id: string; pages: number[] }> {
      if (state === null) return { reply: NOTHING };
      const claim = state.vectors_claim;
      if (claim !== null && claim.until_ms > facts.now_ms)
        return { reply: NOTHING, effects: dueIndexEffects(placeOf(facts.self), { is_ms: claim.until_ms }) };
      const pages = facts.range(VECTORS_DUE).map(({ id }) => Number.parseInt(id, 16));
      if (pages.length === 0 || (claim !== null && isLastTry(claim.tries, TRIES)))
        return { reply: NOTHING, ...unclaimed(state, null, facts.self) };
      const tries = (claim?.tries ?? 0) + 1;
      return {
        reply: { account_id: state.account_id, pages },
        ...claimed(state, { token, tries, until_ms: facts.now_ms + lease_ms }, facts.self),
      };
    },
  },

  prolong_vectors: vectorJobs.prolong,
  fail_vectors: vectorJobs.fail,
  release_vectors: vectorJobs.release,

  /**
   * Removes vectors, `keeps`: but for those of this model. `wanted`: new ones are made. A claim is lost, so that nothing that
   * is being made comes after. `after`: the last page that was looked at; null when that was all.
   */
  drop_vectors: {
    records: ({ after }: DroppedVectors): RecordQuery[] => [
      { collection: 'published', range: { after, limit: DROPPED_PAGES_MAX + 1 } },
      { collection: VECTORS_DUE, range: { limit: 1 } },
    ],
    further: (_: DroppedVectors, __: Transcript | null, read: Read): RecordQuery[] =>
      read.range('published').map(({ id }) => ({ collection: VECTORS, id })),
    decide(
      state,
      { keeps, wanted }: DroppedVectors,
      facts,
    ): Decision<Transcript, { after: { order: number; id: string } | null }> {
      if (state === null) return { reply: { after: null } };
      const found = facts.range('published');
      const seen = found.slice(0, DROPPED_PAGES_MAX);
      const gone = seen.filter(({ id }) => {
        const vectors = facts.record<Uint8Array>(VECTORS, id);
        return vectors !== undefined && (keeps === null || modelOfVectors(vectors) !== keeps);
      });
      const last = found.length > seen.length ? seen.at(-1) : undefined;
      const after = last === undefined ? null : { order: last.order, id: last.id };
      const is_due = wanted && (gone.length > 0 || facts.range(VECTORS_DUE).length > 0);
      if (gone.length === 0 && wanted && !is_due) return { reply: { after } };
      const { next, effects } = unclaimed(state, is_due ? facts.now_ms : null, facts.self);
      return {
        reply: { after },
        next,
        effects: [
          ...gone.flatMap(({ id }): Effect[] => [
            { effect: 'delete_record', collection: VECTORS, id },
            { effect: 'put_record', collection: VECTORS_DUE, id, value: 1, order: Number.parseInt(id, 16) },
            changedMember(state, id, facts.self),
          ]),
          ...effects,
        ],
      };
    },
  },

  /** Stores vectors. A page that has changed since stays due. */
  publish_vectors: {
    records: ({ made }: { token: string; made: MadeVectors[] }): RecordQuery[] => [
      ...made.map(({ page }) => ({ collection: 'pages', id: pageKey(page) })),
      { collection: VECTORS_DUE, range: { limit: VECTORS_PAGES_MAX + 1 } },
    ],
    decide: ofTranscript(
      (state, { token, made }: { token: string; made: MadeVectors[] }, facts): DoneDecision<Transcript> => {
        if (state.vectors_claim?.token !== token) return { reply: NOT_HELD };
        const done = made.filter(({ page, fingerprint }) => {
          const { turns } = readPage(page, facts.record('pages', pageKey(page)));
          return turns.length > 0 && fingerprint === fingerprintOfTurns(turns);
        });
        const keys = new Set(done.map(({ page }) => pageKey(page)));
        const left = facts.range(VECTORS_DUE).some(({ id }) => !keys.has(id));
        const { next, effects } = unclaimed(state, left ? facts.now_ms : null, facts.self);
        return {
          reply: DONE,
          next,
          effects: [
            ...done.flatMap(({ page, vectors }): Effect[] => [
              { effect: 'put_record', collection: VECTORS, id: pageKey(page), value: vectors },
              { effect: 'delete_record', collection: VECTORS_DUE, id: pageKey(page) },
              changedMember(state, pageKey(page), facts.self),
            ]),
            ...effects,
          ],
        };
      },
    ),
  },
});

type DroppedVectors = { keeps: number | null; wanted: boolean; after?: RangeQuery['after'] };

export function fingerprintOfTurns(turns: readonly PageTurn[]): number {
  return fingerprintOf(turns.map(({ serial, text }) => `${serial} ${text}`));
}

function placeOf(self: string): { owner: string; index: string; member: string } {
  return { ...VECTORS_INDEX, member: self };
}

function claimed(state: Transcript, claim: VectorsClaim, self: string): JobChange<Transcript> {
  return {
    next: { ...state, vectors_claim: claim },
    effects: dueIndexEffects(placeOf(self), { is_ms: claim.until_ms }),
  };
}

/** `due_ms`: when the next vectors are to be made; null for never. */
function unclaimed(state: Transcript, due_ms: number | null, self: string): JobChange<Transcript> {
  return {
    next: { ...state, vectors_claim: null },
    effects: dueIndexEffects(placeOf(self), { is_ms: due_ms }),
  };
}
