import { createHash } from 'node:crypto';
import type { Logger } from 'pino';
import type { Counter, Gauge } from 'prom-client';
import type { JobFailure } from '../../../actors/job.js';
import { isRefused, nullIfPermanent, type Refusal } from '../../domain/refusals.js';
import type { SharedPool } from '../pools/shared_pool.js';
import { isRetryable } from '../store/store.js';
import type { DuePoll } from './due_poll.js';
import { JobPool, LEASE_MS, persisting, prolonging } from './job_pool.js';
import type { ClaimedWork, JobQueue, JobResult } from './job_queue.js';

/** `message`: for operators. */
export type EngineJobFailure = JobFailure & { message: string };

/** The outcome of a job in an engine. */
export type EngineOutcome<Result> = { ok: true; result: Result } | { ok: false; failure: EngineJobFailure };

type EngineResult<Result> = Omit<Result, 'claim' | 'digest'>;

type EngineWorkerDeps<Work extends ClaimedWork, Result extends JobResult> = {
  jobs: Pick<JobQueue<Work, Result, unknown>, 'due' | 'claimOf' | 'prolong' | 'publish' | 'failed' | 'release'>;
  poll: DuePoll;
  at_once: number;
  sweep_every_ms: number;
  engines: ReadonlyMap<string, { close(): Promise<void> }>;
  /** Jobs that this worker has, and jobs by how they ended. */
  in_flight: Gauge;
  ended: Counter;
  log: Pick<Logger, 'warn'>;
  /** Logged with a failure. */
  failed_text: string;
  onFailure?(code: string): void;
  run(work: Work, signal: AbortSignal): Promise<EngineOutcome<EngineResult<Result>>>;
  /** Why a result that is not what a result may be counts as failed. */
  badResult(refusal: Refusal, result: EngineResult<Result>): EngineJobFailure;
};

/** The built-in worker of a kind of job: runs an engine on each job that is due, and publishes what it made. */
export class EngineWorker<Work extends ClaimedWork, Result extends JobResult> {
  readonly #deps: EngineWorkerDeps<Work, Result>;
  readonly #pool: JobPool;

  constructor(deps: EngineWorkerDeps<Work, Result>) {
    this.#deps = deps;
    const { jobs, poll, at_once, sweep_every_ms } = deps;
    const workOn = (entity_id: string, signal: AbortSignal) => this.#workOn(entity_id, signal);
    this.#pool = new JobPool({ due: jobs.due, poll, at_once, sweep_every_ms, workOn, is_due_shared: true });
  }

  get places(): SharedPool {
    return this.#pool.places;
  }

  start(): void {
    this.#pool.start();
  }

  /** Releases the jobs that it has. */
  async stop(): Promise<void> {
    await this.#pool.stop();
    await Promise.all([...new Set(this.#deps.engines.values())].map((engine) => engine.close()));
  }

  /** This entity may have a job. */
  offer(entity_id: string): void {
    this.#pool.offer(entity_id);
  }

  /** Does all jobs that are due, to the end; for the test clock. Never rejects. */
  look(): Promise<void> {
    return this.#pool.look();
  }

  async #workOn(entity_id: string, signal: AbortSignal): Promise<void> {
    const { jobs, in_flight } = this.#deps;
    const work = await jobs.claimOf(entity_id, LEASE_MS);
    if (work === null) return;
    in_flight.inc();
    const prolong = () => jobs.prolong(work.job, work.claim, LEASE_MS);
    try {
      await prolonging(prolong, () => this.#run(work, signal));
    } finally {
      in_flight.dec();
    }
  }

  async #run(work: Work, signal: AbortSignal): Promise<void> {
    const { jobs, ended, run, badResult } = this.#deps;
    const { job, claim } = work;
    const outcome = await run(work, signal);
    if (!outcome.ok) return signal.aborted ? jobs.release(job, claim) : this.#failed(work, outcome.failure);
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
      if (isRefused(error, 'BAD_REQUEST')) await this.#failed(work, badResult(error.refusal, outcome.result));
    }
  }

  async #failed({ job, claim }: Work, { message, ...failure }: EngineJobFailure): Promise<void> {
    const { jobs, ended, log, failed_text, onFailure } = this.#deps;
    onFailure?.(failure.code);
    ended.inc({ worker: 'built_in', status: 'failed' });
    log.warn({ job, code: failure.code, reason: message }, failed_text);
    // Where another worker has it, that one decides.
    await jobs.failed(job, { claim, ...failure }).catch(nullIfPermanent);
  }
}
