import { type Refusal, refuse } from '../src/domain/refusals.js';
import type { Decision, Effect, Facts, Read, RecordQuery } from './actor.js';

/**
 * The job protocol. An actor embeds jobs of a kind by a description of where it stores them.
 *
 *   waiting   a worker may claim it from its due time on
 *   claimed   one worker has it, under a token, until its lease ends
 *   over      it has a result, or it failed for good
 *
 * Only the last claim counts. When its lease ends, any worker may claim the job again. Until one does, a result, a failure
 * and a release under the old token still count; the lease itself can not be prolonged any more. A failure that may pass
 * makes the job wait, longer after each try. A release makes it wait for nothing, and was no try. A job that was claimed as
 * often as it may be has failed.
 */

/** A job under the claim that a message names, and when its lease ends. `job`: what its kind stores. */
export type HeldJob<Job> = { until_ms: number; job: Job };

/** Why a job has no result. `retry`: another try may succeed. `rest_ms`: how long the engine asked to be left alone. */
export type JobFailure = {
  code: string;
  retry: boolean;
  rest_ms?: number | undefined;
  /** The name of the engine that failed, if there was one. */
  engine?: string | null | undefined;
};

/** `again`: the job is tried again after a rest. */
export type FailedJob = { again: boolean; tries: number };
export type Lease = { until_ms: number };
export type LeaseInput = { lease_ms: number };

/** The number of tries that a job has, and the rest after each failed one. */
export type JobTries = { tries_max: number; rests_ms: readonly number[] };

/** The code of a job that was claimed as often as it may be, without an outcome. */
export const GIVEN_UP = 'GIVEN_UP';
export const JOB_DONE = { done: true } as const;

const OTHER_CONTENT = refuse('CONFLICT', 'Something else was published under this claim.');

export type JobChange<State> = { next: State | null; effects: Effect[] };
type Given<State, Named, Stored> = <Input extends Named, D extends Decision<State, unknown>>(
  decide: (state: State, input: Input, facts: Facts) => D,
) => (state: Stored | null, input: Input, facts: Facts) => D | { reply: Refusal };

/**
 * Where an actor stores claims of a kind. `Named`: how messages name a job and its claim. `Stored`: the states of the
 * actor.
 */
export type ClaimKind<State, Named, Job, Stored = State> = {
  /** The check that the state must pass before any decision. */
  given: Given<State, Named, Stored>;
  /** The refusal of a message under a lost claim. */
  not_held: Refusal;
  records?(named: Named): RecordQuery[];
  /** The job, if this claim is its last one. */
  held(state: State, named: Named, read: Read): HeldJob<Job> | null;
  /** Stores a longer lease. */
  prolonged(state: State, held: HeldJob<Job>, facts: Facts): JobChange<State>;
};

/** Storage of jobs that may fail and be released. `tries`: how often the job was claimed. */
export type JobKind<State, Named, Job extends { tries: number }, Failure extends JobFailure = JobFailure> = ClaimKind<
  State,
  Named,
  Job
> & {
  tries: JobTries;
  /** Names the records that `failed` reads beside the job. */
  further?(job: Job): RecordQuery[];
  /** Stores that the job waits until a time. Absent if each failure is final. */
  rested?(state: State, held: HeldJob<Job>, not_before_ms: number, facts: Facts): JobChange<State>;
  /** Stores that the job waits, without counting a try. */
  released(state: State, held: HeldJob<Job>, facts: Facts): JobChange<State>;
  /** Stores that the job has failed for good. */
  failed(state: State, held: HeldJob<Job>, failure: Failure, facts: Facts): JobChange<State>;
};

/** The message by which a worker prolongs its lease. */
export function prolongMessage<State, Named, Job, Stored = State>(kind: ClaimKind<State, Named, Job, Stored>) {
  return {
    records: (named: Named & LeaseInput) => kind.records?.(named) ?? [],
    decide: kind.given((state, named: Named & LeaseInput, facts): Decision<State, Lease> => {
      const held = kind.held(state, named, facts);
      if (held === null || facts.now_ms >= held.until_ms) return { reply: kind.not_held };
      const until_ms = facts.now_ms + named.lease_ms;
      return { reply: { until_ms }, ...kind.prolonged(state, { ...held, until_ms }, facts) };
    }),
  };
}

/** The messages of a worker that has claimed a job, other than results. */
export function workerMessages<State, Named, Job extends { tries: number }, Failure extends JobFailure = JobFailure>(
  kind: JobKind<State, Named, Job, Failure>,
) {
  return {
    prolong: prolongMessage(kind),

    /** The worker has no result: the job rests and is tried again, or has failed after its last try. */
    fail: {
      records: (named: Named & Failure) => kind.records?.(named) ?? [],
      ...(kind.further !== undefined && {
        further: (named: Named & Failure, state: State | null, read: Read): RecordQuery[] => {
          const held = state === null ? null : kind.held(state, named, read);
          return held === null ? [] : (kind.further?.(held.job) ?? []);
        },
      }),
      decide: kind.given((state, failure: Named & Failure, facts): Decision<State, FailedJob> => {
        const held = kind.held(state, failure, facts);
        if (held === null) return { reply: kind.not_held };
        const { tries } = held.job;
        const rested = failure.retry && !isLastTry(tries, kind.tries) ? kind.rested : undefined;
        const changed =
          rested === undefined
            ? kind.failed(state, held, failure, facts)
            : rested(state, held, facts.now_ms + restAfter(tries, kind.tries, failure), facts);
        return { reply: { again: rested !== undefined, tries }, ...changed };
      }),
    },

    /** A worker stops before the job was done; another may claim it at once. */
    release: {
      records: (named: Named) => kind.records?.(named) ?? [],
      decide: kind.given((state, named: Named, facts): Decision<State, typeof JOB_DONE> => {
        const held = kind.held(state, named, facts);
        return { reply: JOB_DONE, ...(held !== null && kind.released(state, held, facts)) };
      }),
    },
  };
}

/** Whether a job that was claimed so often may not be claimed again. */
export function isLastTry(tries: number, { tries_max }: Pick<JobTries, 'tries_max'>): boolean {
  return tries >= tries_max;
}

/** The rest after this number of tries, ms. */
export function restAfter(tries: number, { rests_ms }: JobTries, { rest_ms = 0 }: Pick<JobFailure, 'rest_ms'>): number {
  return Math.max(rest_ms, rests_ms[tries - 1] ?? 0);
}

/** A stored result. `digest`: of all that the worker sent. */
export type StoredResult<Tally> = { token: string; digest: string; tally: Tally };

/** The stored tally of a result under this claim, so that a repetition gets the same answer; null without one. */
export function tallyBefore<Tally>(
  stored: readonly StoredResult<Tally>[],
  { token, digest }: { token: string; digest: string },
): Tally | Refusal | null {
  const before = stored.find((one) => one.token === token);
  if (before === undefined) return null;
  return before.digest === digest ? before.tally : OTHER_CONTENT;
}

/** Updates a partition's index of what is due if it has changed. `was_ms`: absent to set it anew. */
export function dueIndexEffects(
  place: { owner: string; index: string; member: string },
  { was_ms, is_ms }: { was_ms?: number | null; is_ms: number | null },
): Effect[] {
  if (was_ms === is_ms) return [];
  return is_ms === null
    ? [{ effect: 'remove_from_index', ...place }]
    : [{ effect: 'add_to_index', ...place, order: is_ms }];
}
