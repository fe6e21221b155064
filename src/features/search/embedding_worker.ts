import type { Logger } from 'pino';
import { pageKey, type TranscriptPage } from '../../../actors/transcripts/transcript_page.js';
import { fingerprintOfTurns, type MadeVectors } from '../../../actors/transcripts/transcript_vectors.js';
import { VECTORS_INDEX } from '../../../actors/transcripts/vectors_index.js';
import { LIMITS } from '../../domain/limits.js';
import { nullIfPermanent } from '../../domain/refusals.js';
import { encodeVectors, type WindowVector, windowsOf } from '../../domain/search/vectors.js';
import { DueEntities } from '../../engine/jobs/due_entities.js';
import type { DuePoll } from '../../engine/jobs/due_poll.js';
import { JobPool, LEASE_MS, persisting, prolonging } from '../../engine/jobs/job_pool.js';
import type { Metrics } from '../../engine/metrics/metrics.js';
import { randomBytes } from '../../engine/random/random.js';
import type { Actors } from '../../engine/runtime/actors.js';
import type { Store } from '../../engine/store/store.js';
import { EngineFailed } from '../transcripts/engines/engine.js';
import type { Embeddings } from './embeddings.js';

/** Pages that other processes have left behind are found after this at the latest. */
const SWEEP_EVERY_MS = 10_000;
const AT_ONCE = 2;
const TOKEN_BYTES = 12;

type EmbeddingWorkerDeps = {
  store: Store;
  actors: Actors;
  poll: DuePoll;
  embeddings: Embeddings;
  metrics: Pick<Metrics, 'embedding_failures' | 'vectors_made'>;
  log: Pick<Logger, 'error' | 'warn'>;
  now: () => number;
};

/** Makes vectors of pages of transcripts, when these have been quiet for a while. */
export class EmbeddingWorker {
  readonly #deps: EmbeddingWorkerDeps;
  readonly #pool: JobPool;

  constructor(deps: EmbeddingWorkerDeps) {
    this.#deps = deps;
    const { store, now, poll, log } = deps;
    const complaint = 'vectors of turns could not be made; that is tried again';
    const due = new DueEntities({ store, poll, now, index: VECTORS_INDEX, log, complaint });
    const workOn = (id: string, signal: AbortSignal) => this.#workOn(id, signal);
    this.#pool = new JobPool({ due, poll, at_once: AT_ONCE, sweep_every_ms: SWEEP_EVERY_MS, workOn });
  }

  start(): void {
    this.#pool.start();
  }

  async stop(): Promise<void> {
    await this.#pool.stop();
  }

  /** Does all that is due, to the end; for the test clock. Never rejects. */
  look(): Promise<void> {
    return this.#pool.look();
  }

  /** False where nothing could be done. */
  async #workOn(id: string, signal: AbortSignal): Promise<boolean> {
    const { actors, log, metrics } = this.#deps;
    const transcript = actors.transcript(id);
    const token = Buffer.from(randomBytes(TOKEN_BYTES)).toString('base64url');
    const claimed = await transcript.claim_vectors({ token, lease_ms: LEASE_MS }).catch(nullIfPermanent);
    if (claimed === null || claimed.pages.length === 0) return false;
    const prolong = () => transcript.prolong_vectors({ token, lease_ms: LEASE_MS });
    try {
      const made = await prolonging(prolong, () => this.#made(id, claimed.pages, signal));
      await persisting(() => transcript.publish_vectors({ token, made }), signal).catch(nullIfPermanent);
      metrics.vectors_made.inc(made.length);
      return true;
    } catch (error) {
      if (!(error instanceof EngineFailed)) throw error;
      const { code, retry_after_ms } = error.failure;
      if (signal.aborted) await transcript.release_vectors({ token }).catch(nullIfPermanent);
      else {
        metrics.embedding_failures.inc({ code });
        log.warn({ transcript: id, code }, 'vectors of turns could not be made');
        const failure = { token, code, retry: true, rest_ms: retry_after_ms };
        await transcript.fail_vectors(failure).catch(nullIfPermanent);
      }
      return false;
    }
  }

  async #made(id: string, numbers: readonly number[], signal: AbortSignal): Promise<MadeVectors[]> {
    const made: MadeVectors[] = [];
    for (const number of numbers) {
      const after = { order: number - 1, id: pageKey(Math.max(0, number - 1)) };
      const { pages } = await this.#deps.actors.transcript(id).pages({ range: { after, limit: 1 } });
      const page = pages.find((one) => one.number === number);
      if (page === undefined || page.turns.length === 0) continue;
      const vectors = await this.#vectorsOf(page, { stream_id: id, signal });
      made.push({ page: number, fingerprint: fingerprintOfTurns(page.turns), vectors });
    }
    return made;
  }

  async #vectorsOf({ turns }: TranscriptPage, of: { stream_id: string; signal: AbortSignal }): Promise<Uint8Array> {
    const { embeddings } = this.#deps;
    const windows = windowsOf(turns.length, LIMITS.vector_window_turns);
    const found: WindowVector[] = [];
    for (let from = 0; from < windows.length; from += LIMITS.vectors_asked_max) {
      const asked = windows.slice(from, from + LIMITS.vectors_asked_max);
      const texts = asked.map(({ first, last }) =>
        turns
          .slice(first, last + 1)
          .map(({ text }) => text)
          .join('\n')
          .slice(0, LIMITS.vector_window_chars_max),
      );
      const vectors = await embeddings.of(texts, of);
      for (const [at, window] of asked.entries()) found.push({ ...window, vector: vectors[at] as Int8Array });
    }
    return encodeVectors(embeddings.model, found);
  }
}
