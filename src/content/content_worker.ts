import { createHash } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { BlobStore } from '../blobs/blob_store.js';
import { isRefusal, type Refusal } from '../domain/refusals.js';
import type { Metrics } from '../runtime/metrics.js';
import { StoreUnavailable } from '../store/store.js';
import { PeriodicTask } from '../workers/periodic_task.js';
import type { Engine } from './engines/engine.js';
import { transcribeWindow } from './transcribe_window.js';
import type { WindowWork } from './transcription.js';
import type { TranscriptionJobs } from './transcription_jobs.js';

/** What fell due meanwhile is found after this. */
const RUN_EVERY_MS = 1_000;
/** What falls due, or other processes have left, is found after this. */
const SWEEP_EVERY_MS = 1_000;
const LEASE_MS = 30_000;
const PROLONG_EVERY_MS = 10_000;
const PUBLISH_TRIES_MAX = 10;
const PUBLISH_PAUSE_MS = 1_000;

type Parts = {
  jobs: TranscriptionJobs;
  blobs: BlobStore;
  engine: Engine;
  metrics: Metrics;
  log: Pick<Logger, 'error' | 'warn'>;
  at_once: number;
};

/** The built-in worker: transcribes windows that are due with the configured engine, a few at a time. */
export class ContentWorker {
  readonly #parts: Parts;
  readonly #task = new PeriodicTask(() => this.#run(), RUN_EVERY_MS);
  readonly #stopping = new AbortController();
  /** Streams with a window that is due, and those of which one is being transcribed. */
  readonly #waiting = new Set<string>();
  readonly #in_hand = new Set<string>();
  readonly #lanes = new Set<Promise<void>>();
  #swept_ms = Number.NEGATIVE_INFINITY;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  start(): void {
    this.#task.start();
  }

  /** Gives back what is in hand. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#task.stop();
    await Promise.all(this.#lanes);
    await this.#parts.engine.close();
  }

  /** There may be something to do for this stream. */
  offer(stream_id: string): void {
    this.#parts.jobs.due.offer(stream_id);
    void this.#task.runOnce();
  }

  /** Transcribes all that is due, to the end; for the test clock. Never rejects. */
  async look(): Promise<void> {
    this.#swept_ms = Number.NEGATIVE_INFINITY;
    for (let was_due = true; was_due && !this.#stopping.signal.aborted; ) {
      await this.#task.runOnce();
      was_due = this.#lanes.size > 0;
      await Promise.all(this.#lanes);
    }
  }

  async #run(): Promise<void> {
    const { jobs, at_once } = this.#parts;
    try {
      if (performance.now() - this.#swept_ms > SWEEP_EVERY_MS) {
        this.#swept_ms = performance.now();
        await jobs.due.sweep();
      }
      const partitions = await jobs.due.partitions();
      const due = await Promise.all(partitions.map((partition) => jobs.due.due(partition)));
      for (const stream_id of due.flat()) if (!this.#in_hand.has(stream_id)) this.#waiting.add(stream_id);
    } catch (error) {
      this.#complain(error);
    }
    while (this.#lanes.size < at_once && this.#waiting.size > 0 && !this.#stopping.signal.aborted) {
      const lane = this.#lane().finally(() => {
        this.#lanes.delete(lane);
        // What fell due meanwhile, such as the next window of what was done here.
        if (!this.#stopping.signal.aborted) void this.#task.runOnce();
      });
      this.#lanes.add(lane);
    }
  }

  async #lane(): Promise<void> {
    for (const stream_id of this.#waiting) {
      if (this.#stopping.signal.aborted) return;
      this.#waiting.delete(stream_id);
      this.#in_hand.add(stream_id);
      await this.#parts.jobs.due.tryOn(stream_id, () => this.#workOn(stream_id));
      this.#in_hand.delete(stream_id);
    }
  }

  async #workOn(stream_id: string): Promise<void> {
    const { jobs, metrics } = this.#parts;
    const work = await jobs.claimOf(stream_id, LEASE_MS);
    if (work === null) return;
    metrics.windows_in_hand.inc();
    const prolonging = setInterval(() => void jobs.prolong(work.job, work.claim, LEASE_MS), PROLONG_EVERY_MS);
    try {
      await this.#transcribe(work);
    } finally {
      clearInterval(prolonging);
      metrics.windows_in_hand.dec();
    }
  }

  async #transcribe(work: WindowWork): Promise<void> {
    const { jobs, engine, blobs, metrics, log } = this.#parts;
    const { job, claim } = work;
    const { signal } = this.#stopping;
    const done = (status: string) => metrics.windows.inc({ worker: 'built_in', status });
    const transcribed = await transcribeWindow({ engine, blobs, work, signal });
    if (transcribed.ok) {
      const { result } = transcribed;
      const digest = createHash('sha256').update(JSON.stringify(result)).digest('base64url');
      const published = await this.#persist(() => jobs.publish(job, { claim, digest, result, engine: engine.name }));
      if (!isRefusal(published)) return done('published');
      done('refused');
      if (published.refused === 'UNAVAILABLE') throw new StoreUnavailable(published.message);
      // Somebody else has it, or it is gone; what it lacks itself must not come back for ever.
      if (published.refused === 'BAD_REQUEST')
        await jobs.failed(job, { claim, code: 'BAD_RESULT', retry: false, engine: engine.name });
      return;
    }
    const { code, message, retry, retry_after_ms } = transcribed.failure;
    if (signal.aborted) return jobs.release(job, claim);
    metrics.engine_failures.inc({ code });
    done('failed');
    log.warn({ job, code, reason: message }, 'a window could not be transcribed');
    const rest = retry_after_ms === undefined ? {} : { rest_ms: retry_after_ms };
    const failed = await jobs.failed(job, { claim, code, retry, engine: engine.name, ...rest });
    if (isRefusal(failed) && failed.refused === 'UNAVAILABLE') throw new StoreUnavailable(failed.message);
  }

  /** What was heard is worth more than one try to write it down. */
  async #persist<T>(publish: () => Promise<T | Refusal>): Promise<T | Refusal> {
    for (let tries = 1; ; tries++) {
      const published = await publish();
      const is_away = isRefusal(published) && published.refused === 'UNAVAILABLE';
      if (!is_away || tries === PUBLISH_TRIES_MAX || this.#stopping.signal.aborted) return published;
      await setTimeout(PUBLISH_PAUSE_MS, undefined, { signal: this.#stopping.signal }).catch(() => {});
    }
  }

  #complain(error: unknown): void {
    if (!(error instanceof StoreUnavailable))
      this.#parts.log.error({ err: error }, 'what is to be transcribed could not be found; it is tried again');
  }
}
