import type { Logger } from 'pino';
import type { ClaimedChunk } from '../../actors/stream_processing.js';
import { PROCESSING_INDEX } from '../../actors/stream_processing.js';
import type { Chunk, ChunkResult, Stream } from '../../actors/stream_state.js';
import { checkAudio } from '../audio/check.js';
import { blobKey } from '../blobs/blob_keys.js';
import type { BlobStore } from '../blobs/blob_store.js';
import { PARTITIONS, partitionOfId } from '../domain/ids.js';
import { LIMITS } from '../domain/limits.js';
import { isRefusal, type Refusal } from '../domain/refusals.js';
import { randomBytes } from '../random.js';
import type { Actors } from '../runtime/actors.js';
import type { Metrics } from '../runtime/metrics.js';
import { type Store, StoreUnavailable } from '../store/store.js';
import { Backoff } from './backoff.js';
import { PeriodicTask } from './periodic_task.js';

/** So long chunks gather before the built-in worker takes those of a stream together: it makes two commits of them all. */
const GATHER_MS = 500;
/** What other processes stored, or left behind, is found after this at the latest. */
const SWEEP_EVERY_MS = 60_000;
/** Somebody who asks for work finds what another process has stored after this. */
const SWEPT_FRESH_MS = 1_000;
const BATCH = 32;
const STREAMS_AT_ONCE = 4;
const STREAMS_READ = 50;
/** Reads of one partition while all of it is skipped. */
const STEPS_MAX = 200;
/** A stream that gives no chunk, for example a quarantined one, is skipped for this long. */
const RETRY = { first_ms: 5_000, max_ms: 5 * 60_000, kept_max: 10_000 };

type Parts = {
  store: Store;
  actors: Actors;
  blobs: BlobStore;
  metrics: Metrics;
  log: Pick<Logger, 'error'>;
  now: () => number;
  /** Whether this process checks chunks itself; otherwise it leaves them to workers on the operator port. */
  is_worker: boolean;
};

/** A chunk in the hands of a worker; a result needs the token. */
export type Work = ClaimedChunk & { token: string; chunk: Chunk; stream: Stream };

/**
 * Hands stored chunks to whoever processes them, here or on the operator port. Which chunk is whose, streams decide;
 * this only knows where to ask.
 */
export class ChunkProcessing {
  readonly #parts: Parts;
  /** Partitions that may have something due. */
  readonly #hot = new Set<number>();
  readonly #task = new PeriodicTask(() => this.#run(), SWEEP_EVERY_MS);
  readonly #unusable = new Backoff(RETRY);
  #swept_ms = Number.NEGATIVE_INFINITY;
  #gathering: NodeJS.Timeout | null = null;
  #is_stopped = false;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  start(): void {
    if (this.#parts.is_worker) this.#task.start();
  }

  async stop(): Promise<void> {
    this.#is_stopped = true;
    if (this.#gathering !== null) clearTimeout(this.#gathering);
    await this.#task.stop();
  }

  /** A chunk of the stream was stored. */
  offer(stream_id: string): void {
    this.#hot.add(partitionOfId(stream_id));
    if (!this.#parts.is_worker || this.#is_stopped || this.#gathering !== null) return;
    this.#gathering = setTimeout(() => {
      this.#gathering = null;
      void this.#work().catch((error: unknown) => this.#complain(error));
    }, GATHER_MS);
    this.#gathering.unref();
  }

  /** Processes all that is due here; for the test clock. Never rejects. */
  look(): Promise<void> {
    return this.#parts.is_worker ? this.#task.runOnce() : Promise.resolve();
  }

  /** Up to so many chunks for a worker, the oldest of some streams, none of which anybody else gets for that time. */
  async claim({ limit, lease_ms }: { limit: number; lease_ms: number }): Promise<Work[]> {
    if (this.#hot.size === 0 && performance.now() - this.#swept_ms > SWEPT_FRESH_MS) await this.#sweep();
    const found: Work[] = [];
    for (const partition of [...this.#hot]) {
      for (const stream_id of await this.#due(partition)) {
        const claimed = await this.#tryOn(stream_id, () =>
          this.#claimOf(stream_id, { limit: limit - found.length, lease_ms }),
        );
        found.push(...(claimed?.work ?? []));
        if (found.length >= limit) return found;
      }
    }
    return found;
  }

  async #run(): Promise<void> {
    try {
      await this.#sweep();
      await this.#work();
    } catch (error) {
      this.#complain(error);
    }
  }

  /** Finds out which partitions have something. */
  async #sweep(): Promise<void> {
    this.#swept_ms = performance.now();
    await Promise.all(Array.from({ length: PARTITIONS }, (_, partition) => this.#due(partition)));
  }

  /** Streams of a partition with something to claim. A partition that has none is left alone until it is offered more. */
  async #due(partition: number): Promise<string[]> {
    const { store, now } = this.#parts;
    this.#hot.delete(partition);
    const place = { owner: PROCESSING_INDEX.owner, partition };
    const now_ms = now();
    let after: { order: number; member: string } | undefined;
    for (let steps = 0; steps < STEPS_MAX; steps++) {
      const rows = await store.list(place, PROCESSING_INDEX.index, { after, descending: false, limit: STREAMS_READ });
      const due = rows.filter(({ order }) => order <= now_ms);
      const usable = due.map(({ member }) => member).filter((id) => !this.#unusable.isWaiting(id, now_ms));
      if (usable.length > 0) {
        this.#hot.add(partition);
        return usable;
      }
      if (due.length < STREAMS_READ) break;
      after = due.at(-1);
    }
    return [];
  }

  /** Does something with a stream; one that it can't be done with keeps nobody else's chunks waiting. */
  async #tryOn<T>(stream_id: string, work: () => Promise<T>): Promise<T | null> {
    try {
      const done = await work();
      this.#unusable.succeeded(stream_id);
      return done;
    } catch (error) {
      this.#unusable.failed(stream_id, this.#parts.now());
      this.#complain(error);
      return null;
    }
  }

  /**
   * The built-in worker: runs until nothing is due, or nothing that is due can be claimed. Of a stream that is being removed
   * nothing can, and it is due until it is gone.
   */
  async #work(): Promise<void> {
    for (let taken = 1; taken > 0 && !this.#is_stopped && this.#hot.size > 0; ) {
      taken = 0;
      for (const partition of [...this.#hot]) {
        const streams = await this.#due(partition);
        const lane = async () => {
          for (let id = streams.shift(); id !== undefined && !this.#is_stopped; id = streams.shift())
            taken += (await this.#tryOn(id, () => this.#workOn(id as string))) ?? 0;
        };
        await Promise.all(Array.from({ length: STREAMS_AT_ONCE }, lane));
      }
    }
  }

  /** Gives how many chunks of the stream it took. */
  async #workOn(stream_id: string): Promise<number> {
    const { actors, blobs, metrics } = this.#parts;
    const { work, taken } = await this.#claimOf(stream_id, { limit: BATCH, lease_ms: LIMITS.chunk_lease_ms });
    const [first] = work;
    if (first === undefined) return taken;
    const results: { number: number; result: ChunkResult }[] = [];
    for (const { chunk, number } of work) {
      const result = await checkAudio(blobs, { ...chunk, key: blobKey(stream_id, chunk.chunk_id) });
      metrics.chunks_processed.inc({ worker: 'built_in', status: result.status });
      results.push({ number, result });
    }
    const answer = await actors.stream(stream_id).chunk_results({ token: first.token, results });
    if (isRefusal(answer) && answer.refused !== 'NOT_FOUND') throw refusedWork(answer);
    return taken;
  }

  /** `taken` counts those as well that are given up here. */
  async #claimOf(
    stream_id: string,
    { limit, lease_ms }: { limit: number; lease_ms: number },
  ): Promise<{ work: Work[]; taken: number }> {
    const { actors } = this.#parts;
    const token = Buffer.from(randomBytes(12)).toString('base64url');
    const answer = await actors.stream(stream_id).claim_chunks({ token, limit, lease_ms });
    if (isRefusal(answer)) {
      if (answer.refused === 'NOT_FOUND') return { work: [], taken: 0 };
      throw refusedWork(answer);
    }
    const work: Work[] = [];
    const lost: number[] = [];
    for (const claimed of answer.claimed) {
      if (claimed.tries > LIMITS.chunk_tries_max) {
        lost.push(claimed.number);
        continue;
      }
      const found = await actors.stream(stream_id).chunk({ number: claimed.number });
      if (isRefusal(found)) continue;
      work.push({ ...claimed, token, ...found });
    }
    if (lost.length > 0) await this.#giveUp(stream_id, token, lost);
    return { work, taken: answer.claimed.length };
  }

  /** No worker that claimed these came back. */
  async #giveUp(stream_id: string, token: string, numbers: number[]): Promise<void> {
    const { actors, metrics } = this.#parts;
    const message = `${LIMITS.chunk_tries_max} workers took the chunk and gave no result.`;
    const result: ChunkResult = { status: 'failed', failure: { code: 'GIVEN_UP', message } };
    metrics.chunks_processed.inc({ worker: 'none', status: 'failed' }, numbers.length);
    await actors.stream(stream_id).chunk_results({ token, results: numbers.map((number) => ({ number, result })) });
  }

  #complain(error: unknown): void {
    if (!(error instanceof StoreUnavailable))
      this.#parts.log.error({ err: error }, 'chunks could not be processed; they are tried again');
  }
}

/** A problem that passes is waited for, and not logged. */
function refusedWork({ refused, message }: Refusal): Error {
  return refused === 'UNAVAILABLE' ? new StoreUnavailable(message) : new Error(message);
}
