import { createHash } from 'node:crypto';
import type { Logger } from 'pino';
import type { Counter } from 'prom-client';
import type { JobFailure } from '../../../actors/job.js';
import { isRefused, nullIfPermanent, type Refusal } from '../../domain/refusals.js';
import { isRetryable } from '../store/store.js';
import { DueWorker, type DueWorkerOptions } from './due_worker.js';
import type { ClaimedWork, JobQueue, JobResult } from './job_queue.js';
import { LEASE_MS, persisting, prolonging } from './leases.js';

/** `message`: for operators. */
export type EngineJobFailure = JobFailure & { message: string };

/** The outcome of a job in an engine. */
export type EngineOutcome<Result> = { ok: true; result: Result } | { ok: false; failure: EngineJobFailure };

type EngineResult<Result> = Omit<Result, 'claim' | 'digest'>;

type EngineWork<Work extends ClaimedWork, Result extends JobResult> = DueWorkerOptions & {
  jobs: Pick<JobQueue<Work, Result, unknown>, 'due' | 'claimOf' | 'prolong' | 'publish' | 'failed' | 'release'>;
  /** Counts jobs by outcome. */
  ended: Counter;
  log: Pick<Logger, 'warn'>;
  /** Logged with a failure. */
  failed_text: string;
  onFailure?(code: string): void;
  run(work: Work, signal: AbortSignal): Promise<EngineOutcome<EngineResult<Result>>>;
  /** The reason for which an invalid result counts as failed. */
  badResult(refusal: Refusal, result: EngineResult<Result>): EngineJobFailure;
};

/** The built-in worker of a kind of job: runs an engine on each due job, and publishes its result. */
export function engineWorker<Work extends ClaimedWork, Result extends JobResult>(
  kind: EngineWork<Work, Result>,
): DueWorker {
  const { jobs } = kind;
  return new DueWorker(jobs.due, kind, async ({ name }, signal) => {
    const work = await jobs.claimOf(name, LEASE_MS);
    if (work === null) return;
    const prolong = () => jobs.prolong(work.job, work.claim, LEASE_MS);
    await prolonging(prolong, () => runJob(kind, work, signal));
  });
}

/** Closes the engines of a worker, each once. */
export async function closeEngines(engines: ReadonlyMap<string, { close(): Promise<void> }>): Promise<void> {
  await Promise.all([...new Set(engines.values())].map((engine) => engine.close()));
}

async function runJob<Work extends ClaimedWork, Result extends JobResult>(
  kind: EngineWork<Work, Result>,
  work: Work,
  signal: AbortSignal,
): Promise<void> {
  const { jobs, ended, badResult } = kind;
  const { job, claim } = work;
  const outcome = await kind.run(work, signal);
  if (!outcome.ok) return signal.aborted ? jobs.release(job, claim) : endFailed(kind, work, outcome.failure);
  const digest = createHash('sha256').update(JSON.stringify(outcome.result)).digest('base64url');
  const result = { ...outcome.result, claim, digest } as Result;
  try {
    await persisting(() => jobs.publish(job, result), signal);
    ended.inc({ worker: 'built_in', status: 'published' });
  } catch (error) {
    if (!isRefused(error)) throw error;
    ended.inc({ worker: 'built_in', status: 'refused' });
    if (isRetryable(error)) throw error;
    // Another worker has it, it is gone, or its input has changed; what it lacks itself must not come back for ever.
    if (isRefused(error, 'BAD_REQUEST')) await endFailed(kind, work, badResult(error.refusal, outcome.result));
  }
}

async function endFailed<Work extends ClaimedWork, Result extends JobResult>(
  { jobs, ended, log, failed_text, onFailure }: EngineWork<Work, Result>,
  { job, claim }: Work,
  { message, ...failure }: EngineJobFailure,
): Promise<void> {
  onFailure?.(failure.code);
  ended.inc({ worker: 'built_in', status: 'failed' });
  log.warn({ job, code: failure.code, reason: message }, failed_text);
  // Where another worker has it, that one decides.
  await jobs.failed(job, { claim, ...failure }).catch(nullIfPermanent);
}
