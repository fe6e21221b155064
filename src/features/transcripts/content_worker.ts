import { createHash } from 'node:crypto';
import type { Logger } from 'pino';
import { isRefusal } from '../../domain/refusals.js';
import type { BlobStore } from '../../engine/blobs/blob_store.js';
import type { DuePoll } from '../../engine/jobs/due_poll.js';
import { JobLanes, LEASE_MS, persisting, prolonging } from '../../engine/jobs/job_lanes.js';
import type { Metrics } from '../../engine/runtime/metrics.js';
import { StoreUnavailable } from '../../engine/store/store.js';
import type { LostAudio } from '../recordings/lost_audio.js';
import type { Engine } from './engines/engine.js';
import { transcribeWindow } from './transcribe_window.js';
import type { WindowWork } from './transcription.js';
import type { TranscriptionJobs } from './transcription_jobs.js';

const SWEEP_EVERY_MS = 1_000;

const UNKNOWN_FAILURE = {
  ...{ code: 'ENGINE_UNKNOWN', retry: false, of_file: false, retry_after_ms: undefined },
  message: 'The pipeline names an engine that this server does not know.',
} as const;
const UNKNOWN = { ok: false, failure: UNKNOWN_FAILURE, failures: [UNKNOWN_FAILURE] } as const;

type Parts = {
  jobs: TranscriptionJobs;
  poll: DuePoll;
  blobs: BlobStore;
  lost_audio: Pick<LostAudio, 'confirms'>;
  /** By the names that pipelines have for them. */
  engines: ReadonlyMap<string, Engine>;
  metrics: Metrics;
  log: Pick<Logger, 'error' | 'warn'>;
  at_once: number;
};

/** The built-in worker: transcribes windows that are due with the engine of their pipeline, a few at a time. */
export class ContentWorker {
  readonly #parts: Parts;
  readonly #lanes: JobLanes;

  constructor(parts: Parts) {
    this.#parts = parts;
    const { log, at_once, poll } = parts;
    this.#lanes = new JobLanes({
      ...{ due: parts.jobs.due, poll, at_once, sweep_every_ms: SWEEP_EVERY_MS, log },
      workOn: (stream_id, signal) => this.#workOn(stream_id, signal),
      complaint: 'what is to be transcribed could not be found; it is tried again',
    });
  }

  start(): void {
    this.#lanes.start();
  }

  /** Gives back what is in hand. */
  async stop(): Promise<void> {
    await this.#lanes.stop();
    await Promise.all([...this.#parts.engines.values()].map((engine) => engine.close()));
  }

  /** There may be something to do for this stream. */
  offer(stream_id: string): void {
    this.#lanes.offer(stream_id);
  }

  /** Transcribes all that is due, to the end; for the test clock. Never rejects. */
  look(): Promise<void> {
    return this.#lanes.look();
  }

  async #workOn(stream_id: string, signal: AbortSignal): Promise<void> {
    const { jobs, metrics } = this.#parts;
    const work = await jobs.claimOf(stream_id, LEASE_MS);
    if (work === null) return;
    metrics.windows_in_hand.inc();
    const prolong = () => jobs.prolong(work.job, work.claim, LEASE_MS);
    try {
      await prolonging(prolong, () => this.#transcribe(work, signal));
    } finally {
      metrics.windows_in_hand.dec();
    }
  }

  async #transcribe(work: WindowWork, signal: AbortSignal): Promise<void> {
    const { jobs, engines, blobs, lost_audio, metrics, log } = this.#parts;
    const { job, claim } = work;
    const done = (status: string) => metrics.windows.inc({ worker: 'built_in', status });
    const engine = engines.get(work.engine);
    const heard_by = engine?.name ?? work.engine;
    const onLost = (chunk_id: string) => void lost_audio.confirms(chunk_id).catch(() => {});
    const transcribed =
      engine === undefined ? UNKNOWN : await transcribeWindow({ engine, blobs, work, signal, onLost });
    for (const { code } of signal.aborted ? [] : transcribed.failures) metrics.engine_failures.inc({ code });
    if (transcribed.ok) {
      const [first] = transcribed.failures;
      if (first !== undefined)
        log.warn({ job, code: first.code, reason: first.message }, 'a part of a window could not be transcribed');
      const { result } = transcribed;
      const digest = createHash('sha256').update(JSON.stringify(result)).digest('base64url');
      const heard = { claim, digest, result, engine: heard_by };
      const published = await persisting(() => jobs.publish(job, heard), signal);
      if (!isRefusal(published)) return done('published');
      done('refused');
      if (published.refused === 'UNAVAILABLE') throw new StoreUnavailable(published.message);
      // Somebody else has it, or it is gone; what it lacks itself must not come back for ever.
      if (published.refused === 'BAD_REQUEST')
        await jobs.failed(job, { claim, code: 'BAD_RESULT', retry: false, engine: heard_by });
      return;
    }
    const { code, message, retry, retry_after_ms } = transcribed.failure;
    if (signal.aborted) return jobs.release(job, claim);
    done('failed');
    log.warn({ job, code, reason: message }, 'a window could not be transcribed');
    const rest = retry_after_ms === undefined ? {} : { rest_ms: retry_after_ms };
    const failed = await jobs.failed(job, { claim, code, retry, engine: heard_by, ...rest });
    if (isRefusal(failed) && failed.refused === 'UNAVAILABLE') throw new StoreUnavailable(failed.message);
  }
}
