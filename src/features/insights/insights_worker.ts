import { createHash } from 'node:crypto';
import type { Logger } from 'pino';
import { isRefusal } from '../../domain/refusals.js';
import type { DuePoll } from '../../engine/jobs/due_poll.js';
import { JobLanes, LEASE_MS, persisting, prolonging } from '../../engine/jobs/job_lanes.js';
import type { Metrics } from '../../engine/runtime/metrics.js';
import { StoreUnavailable } from '../../engine/store/store.js';
import { EngineFailed, type EngineFailure } from '../transcripts/engines/engine.js';
import type { InsightEngine } from './engines/insight_engine.js';
import type { InsightJobs, InsightWork } from './insight_jobs.js';

/** Conversations are looked for when they have been quiet for a while: seconds more are not noticed. */
const SWEEP_EVERY_MS = 5_000;

type Parts = {
  jobs: InsightJobs;
  poll: DuePoll;
  /** By the names that pipelines have for them. */
  engines: ReadonlyMap<string, InsightEngine>;
  metrics: Metrics;
  log: Pick<Logger, 'error' | 'warn'>;
  at_once: number;
};

/** The built-in worker: looks into conversations that are due with the engine of their pipeline, a few at a time. */
export class InsightsWorker {
  readonly #parts: Parts;
  readonly #lanes: JobLanes;

  constructor(parts: Parts) {
    this.#parts = parts;
    const { log, at_once, poll } = parts;
    this.#lanes = new JobLanes({
      ...{ due: parts.jobs.due, poll, at_once, sweep_every_ms: SWEEP_EVERY_MS, log },
      workOn: (library_id, signal) => this.#workOn(library_id, signal),
      complaint: 'conversations that are due could not be found; it is tried again',
    });
  }

  start(): void {
    this.#lanes.start();
  }

  /** Gives back what is in hand. */
  async stop(): Promise<void> {
    await this.#lanes.stop();
    await Promise.all([...new Set(this.#parts.engines.values())].map((engine) => engine.close()));
  }

  /** There may be something to do for this library. */
  offer(library_id: string): void {
    this.#lanes.offer(library_id);
  }

  /** Looks into all that is due, to the end; for the test clock. Never rejects. */
  look(): Promise<void> {
    return this.#lanes.look();
  }

  async #workOn(library_id: string, signal: AbortSignal): Promise<void> {
    const { jobs, metrics } = this.#parts;
    const work = await jobs.claimOf(library_id, LEASE_MS);
    if (work === null) return;
    metrics.insights_in_hand.inc();
    const prolong = () => jobs.prolong(work.job, work.claim, LEASE_MS);
    try {
      await prolonging(prolong, () => this.#think(work, signal));
    } finally {
      metrics.insights_in_hand.dec();
    }
  }

  async #think(work: InsightWork, signal: AbortSignal): Promise<void> {
    const { jobs, engines, metrics } = this.#parts;
    const { job, claim, input } = work;
    const engine = engines.get(work.engine);
    if (engine === undefined) {
      const message = 'The pipeline names an engine that this server does not know.';
      return this.#failed(work, { code: 'ENGINE_UNKNOWN', message, retry: false }, null);
    }
    const thought = await thoughtOf(engine, { input, signal });
    if (signal.aborted) return jobs.release(job, claim);
    if (!thought.ok) return this.#failed(work, thought.failure, engine.name);
    const { raw } = thought;
    const digest = createHash('sha256')
      .update(JSON.stringify(raw) ?? '')
      .digest('base64url');
    const said = { claim, digest, raw, made_by: engine.made_by, engine: engine.name };
    const published = await persisting(() => jobs.publish(job, said), signal);
    metrics.insight_jobs.inc({ worker: 'built_in', status: isRefusal(published) ? 'refused' : 'published' });
    if (!isRefusal(published)) return;
    if (published.refused === 'UNAVAILABLE') throw new StoreUnavailable(published.message);
    // Somebody else has it, it is gone, or its turns are others now.
    if (published.refused !== 'BAD_REQUEST') return;
    const where = published.details?.[0]?.path ?? '';
    const message = `The answer is not what an answer may be, at ${where.replaceAll(/[^\w.]/g, '').slice(0, 60)}.`;
    await this.#failed(work, { code: 'ENGINE_BAD_ANSWER', message, retry: true }, engine.name);
  }

  async #failed({ job, claim }: InsightWork, failure: Failure, engine: string | null): Promise<void> {
    const { jobs, metrics, log } = this.#parts;
    const { code, message, retry, retry_after_ms: rest_ms } = failure;
    metrics.insight_failures.inc({ code });
    metrics.insight_jobs.inc({ worker: 'built_in', status: 'failed' });
    log.warn({ job, code, reason: message }, 'a conversation could not be looked into');
    const failed = await jobs.failed(job, { claim, code, retry, rest_ms, engine });
    if (isRefusal(failed) && failed.refused === 'UNAVAILABLE') throw new StoreUnavailable(failed.message);
  }
}

type Failure = Omit<EngineFailure, 'code' | 'of_file'> & { code: string };
type Thought = { ok: true; raw: unknown } | { ok: false; failure: EngineFailure };

async function thoughtOf(
  engine: InsightEngine,
  { input, signal }: { input: InsightWork['input']; signal: AbortSignal },
): Promise<Thought> {
  try {
    return { ok: true, raw: await engine.think(input, signal) };
  } catch (error) {
    if (error instanceof EngineFailed) return { ok: false, failure: error.failure };
    throw error;
  }
}
