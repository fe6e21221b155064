import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import type { ClaimedChunk } from '../../../actors/recordings/stream_processing.js';
import { PROCESSING_INDEX } from '../../../actors/recordings/stream_processing.js';
import type { Chunk, ChunkResult, Stream } from '../../../actors/recordings/stream_state.js';
import { LIMITS } from '../../domain/limits.js';
import { isRefusal, type Refusal } from '../../domain/refusals.js';
import { checkAudio } from '../../engine/audio/check.js';
import { blobKey } from '../../engine/blobs/blob_keys.js';
import type { BlobStore } from '../../engine/blobs/blob_store.js';
import { DueEntities } from '../../engine/jobs/due_entities.js';
import type { DuePoll } from '../../engine/jobs/due_poll.js';
import { DueTask } from '../../engine/jobs/due_task.js';
import type { Actors } from '../../engine/runtime/actors.js';
import type { Metrics } from '../../engine/runtime/metrics.js';
import { randomBytes } from '../../engine/runtime/random.js';
import { type Store, StoreUnavailable } from '../../engine/store/store.js';

/** So long chunks gather before the built-in worker takes those of a stream together: it makes two commits of them all. */
const GATHER_MS = 500;
/** What other processes stored, or left behind, is found after this at the latest. */
const SWEEP_EVERY_MS = 60_000;
const BATCH = 32;
const STREAMS_AT_ONCE = 4;
/** Of bodies that came and wait to be checked; what does not fit is read again. */
const BODIES_BYTES_MAX = 32 * 1_048_576; // ours: half a second of very many devices

type Parts = {
  store: Store;
  actors: Actors;
  blobs: BlobStore;
  poll: DuePoll;
  metrics: Metrics;
  log: Pick<Logger, 'error'>;
  now: () => number;
  /** Whether this process checks chunks itself; otherwise it leaves them to workers on the operator port. */
  is_worker: boolean;
  /** Absent where nobody transcribes what was processed. */
  transcribes?: { window_ms: number } | undefined;
  /** A stream's transcript was told of more audio. */
  onTold?: (stream_id: string) => void;
};

/** A chunk in the hands of a worker; a result needs the token. */
export type Work = ClaimedChunk & { token: string; chunk: Chunk; stream: Stream };

/**
 * Hands stored chunks to whoever processes them, here or on the operator port. Which chunk is whose, streams decide;
 * this only knows where to ask.
 */
export class ChunkProcessing {
  readonly #parts: Parts;
  readonly #streams: DueEntities;
  readonly #task: DueTask<void>;
  /** Small ones that this process took and has still to check, by key. */
  readonly #bodies = new LRUCache<string, Buffer[]>({ maxSize: BODIES_BYTES_MAX, sizeCalculation: bytesOf });
  #gathering: NodeJS.Timeout | null = null;
  #is_stopped = false;

  constructor(parts: Parts) {
    this.#parts = parts;
    const { store, now, poll } = parts;
    const asked = { poll, queue: PROCESSING_INDEX, every_ms: SWEEP_EVERY_MS };
    this.#task = new DueTask(asked, (partitions) => this.#run(partitions));
    this.#streams = new DueEntities({
      store,
      poll,
      now,
      index: PROCESSING_INDEX,
      complain: (error) => this.#complain(error),
    });
  }

  start(): void {
    if (this.#parts.is_worker) this.#task.start();
  }

  async stop(): Promise<void> {
    this.#is_stopped = true;
    if (this.#gathering !== null) clearTimeout(this.#gathering);
    await this.#task.stop();
  }

  /** A chunk of the stream was stored; `parts` are its bytes, where they are in memory. */
  offer(stream_id: string, { key, parts }: { key: string; parts: Buffer[] | null }): void {
    this.#streams.offer(stream_id);
    if (!this.#parts.is_worker || this.#is_stopped) return;
    if (parts !== null) this.#bodies.set(key, parts);
    if (this.#gathering !== null) return;
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
    const found: Work[] = [];
    for (const partition of await this.#streams.partitions()) {
      for (const stream_id of await this.#streams.due(partition)) {
        const claimed = await this.#streams.tryOn(stream_id, () =>
          this.#claimOf(stream_id, { limit: limit - found.length, lease_ms }),
        );
        found.push(...(claimed?.work ?? []));
        if (found.length >= limit) return found;
      }
    }
    return found;
  }

  async #run(partitions: readonly number[]): Promise<void> {
    try {
      this.#streams.offerPartitions(partitions);
      await this.#work();
    } catch (error) {
      this.#complain(error);
    }
  }

  /**
   * The built-in worker: runs until nothing is due, or nothing that is due can be claimed. Of a stream that is being removed
   * nothing can, and it is due until it is gone.
   */
  async #work(): Promise<void> {
    const isStopped = () => this.#is_stopped;
    await this.#streams.workThrough((stream_id) => this.#workOn(stream_id), { at_once: STREAMS_AT_ONCE, isStopped });
    // What is left was checked elsewhere, or its stream was removed.
    if (this.#gathering === null) this.#bodies.clear();
  }

  /** Gives how many chunks of the stream it took. */
  async #workOn(stream_id: string): Promise<number> {
    const { blobs, metrics } = this.#parts;
    const { work, taken } = await this.#claimOf(stream_id, { limit: BATCH, lease_ms: LIMITS.chunk_lease_ms });
    const [first] = work;
    if (first === undefined) return taken;
    const results: { number: number; result: ChunkResult }[] = [];
    for (const { chunk, number } of work) {
      const key = blobKey(stream_id, chunk.chunk_id);
      const parts = this.#bodies.get(key);
      this.#bodies.delete(key);
      const result = await checkAudio(blobs, { ...chunk, key, parts });
      metrics.chunks_processed.inc({ worker: 'built_in', status: result.status });
      results.push({ number, result });
    }
    const answer = await this.result(stream_id, { token: first.token, results });
    if (isRefusal(answer) && answer.refused !== 'NOT_FOUND') throw refusedWork(answer);
    return taken;
  }

  /** What became of claimed chunks; where somebody transcribes, their transcript knows of it before this answers. */
  async result(stream_id: string, said: { token: string; results: { number: number; result: ChunkResult }[] }) {
    const { actors, transcribes, onTold } = this.#parts;
    if (transcribes === undefined) return actors.stream(stream_id).chunk_results(said);
    const answer = await actors.downstream.stream(stream_id).chunk_results({ ...said, transcribes });
    if (!isRefusal(answer)) onTold?.(stream_id);
    return answer;
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

function bytesOf(parts: Buffer[]): number {
  return parts.reduce((total, part) => total + part.length, 0);
}

/** A problem that passes is waited for, and not logged. */
function refusedWork({ refused, message }: Refusal): Error {
  return refused === 'UNAVAILABLE' ? new StoreUnavailable(message) : new Error(message);
}
