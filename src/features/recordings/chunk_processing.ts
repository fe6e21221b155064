import { LRUCache } from 'lru-cache';
import type { ClaimedChunk } from '../../../actors/recordings/stream_processing.js';
import { PROCESSING_INDEX } from '../../../actors/recordings/stream_processing.js';
import { type ChunkResult, isStored, type StoredChunk, type Stream } from '../../../actors/recordings/stream_state.js';
import { LIMITS } from '../../domain/limits.js';
import { orNull, orRefused } from '../../domain/refusals.js';
import { type CheckedChunk, checkAudio } from '../../engine/audio/check.js';
import { audioKey } from '../../engine/blobs/blob_keys.js';
import type { BlobStore } from '../../engine/blobs/blob_store.js';
import { newClaimToken } from '../../engine/jobs/claim_token.js';
import type { DueMembersDeps } from '../../engine/jobs/due_members.js';
import { DueWorker } from '../../engine/jobs/due_worker.js';
import type { Metrics } from '../../engine/metrics/metrics.js';
import type { Actors } from '../../engine/runtime/actors.js';

/** How long chunks gather before the built-in worker takes those of a stream together, with two commits for all. */
const GATHER_MS = 500;
/** Chunks that other processes stored, or left, are found after this time at the latest. */
const EVERY_MS = 60_000;
const BATCH = 32;
const STREAMS_AT_ONCE = 4;
/** Bytes of bodies that wait to be checked; others are read again. */
const BODIES_BYTES_MAX = 32 * 1_048_576; // ours: half a second of very many devices

type ChunkProcessingDeps = DueMembersDeps & {
  actors: Actors;
  blobs: BlobStore;
  metrics: Metrics;
  /** Whether this process checks chunks itself; otherwise workers on the operator port do. */
  is_worker: boolean;
  /** Absent if processed audio is not transcribed. */
  transcribes?: { window_ms: number } | undefined;
  /** Called after a stream's transcript was told of more audio. */
  onTold?: (stream_id: string) => void;
};

/** A claimed chunk; a result needs the token. */
export type Work = ClaimedChunk & { token: string; chunk: StoredChunk; stream: Stream };

/** `parts`: the chunk's bytes, if they are in memory. `is_decoded`: a decoder has read it and measured its length. */
type ArrivedChunk = Omit<CheckedChunk, 'key' | 'parts'> & { parts: readonly Buffer[] | null; is_decoded?: boolean };

/** Hands stored chunks to workers, here or on the operator port, and checks them if this process is a worker. */
export class ChunkProcessing {
  readonly #deps: ChunkProcessingDeps;
  /** Started if this process checks chunks. */
  readonly worker: DueWorker;
  /** Streams whose transcripts are being told of audio that was checked before it was stored. */
  readonly #told = new Set<string>();
  /** Small chunks that this process took and must still check, by key. */
  readonly #bodies = new LRUCache<string, Buffer[]>({ maxSize: BODIES_BYTES_MAX, sizeCalculation: bytesOf });

  constructor(deps: ChunkProcessingDeps) {
    this.#deps = deps;
    const work = {
      queue: PROCESSING_INDEX,
      every_ms: EVERY_MS,
      at_once: STREAMS_AT_ONCE,
      gather_ms: GATHER_MS,
      complaint: 'chunks could not be processed; they are tried again',
      // What is left was checked elsewhere, or its stream was removed.
      onIdle: () => this.#bodies.clear(),
    };
    this.worker = DueWorker.of(deps, work, ({ name }) => this.#workOn(name));
  }

  /** A chunk of the stream was stored; `parts` are its bytes, if they are in memory. */
  offer(stream_id: string, { key, parts }: { key: string; parts: Buffer[] | null }): void {
    if (this.#deps.is_worker && parts !== null) this.#bodies.set(key, parts);
    this.worker.offer(stream_id);
  }

  /** Checks a chunk before it is stored; undefined if it is checked later, or by workers. */
  async check({ parts, is_decoded, ...chunk }: ArrivedChunk): Promise<ChunkResult | undefined> {
    if (!this.#deps.is_worker) return undefined;
    if (is_decoded === true) return { status: 'processed', checked: true };
    return parts === null ? undefined : checkAudio(this.#deps.blobs, { ...chunk, parts, key: '' });
  }

  /** Part of messages that store checked chunks; undefined without transcription. */
  get transcribes(): { window_ms: number } | undefined {
    return this.#deps.transcribes;
  }

  /** Records the results of checks of stored chunks. */
  noteChecked(stream_id: string, results: readonly ChunkResult[]): void {
    const { metrics, onTold, transcribes } = this.#deps;
    for (const { status } of results) metrics.chunks_processed.inc({ worker: 'built_in', status });
    const tells = transcribes !== undefined && results.some(({ status }) => status === 'processed');
    if (!tells || onTold === undefined || this.#told.has(stream_id)) return;
    this.#told.add(stream_id);
    // The transcript gets its message after the commit; no upload waits for that.
    const late = setTimeout(() => {
      this.#told.delete(stream_id);
      onTold(stream_id);
    }, GATHER_MS);
    late.unref();
  }

  /** Claims up to `limit` chunks for a worker: the oldest of some streams. */
  claim({ limit, lease_ms }: { limit: number; lease_ms: number }): Promise<Work[]> {
    return this.worker.due.claim(limit, async (stream_id, left) => {
      const { work } = await this.#claimOf(stream_id, { limit: left, lease_ms });
      return work;
    });
  }

  /**
   * False if no chunk could be claimed. No chunk of a stream that is being removed can be; the stream stays due until
   * it is gone.
   */
  async #workOn(stream_id: string): Promise<boolean> {
    const { blobs, metrics } = this.#deps;
    const { work, taken } = await this.#claimOf(stream_id, { limit: BATCH, lease_ms: LIMITS.chunk_lease_ms });
    const [first] = work;
    if (first === undefined) return taken > 0;
    const results: { number: number; result: ChunkResult }[] = [];
    for (const { chunk, number } of work) {
      const key = audioKey(stream_id, chunk);
      const parts = this.#bodies.get(key);
      this.#bodies.delete(key);
      const result = await checkAudio(blobs, { ...chunk, key, parts });
      metrics.chunks_processed.inc({ worker: 'built_in', status: result.status });
      results.push({ number, result });
    }
    await orNull(this.result(stream_id, { token: first.token, results }), 'NOT_FOUND');
    return true;
  }

  /**
   * Takes the results of claimed chunks. With transcription, the transcript knows of the chunks before this answers.
   */
  async result(stream_id: string, said: { token: string; results: { number: number; result: ChunkResult }[] }) {
    const { actors, transcribes, onTold } = this.#deps;
    if (transcribes === undefined) return actors.stream(stream_id).chunk_results(said);
    const answer = await actors.downstream.stream(stream_id).chunk_results({ ...said, transcribes });
    onTold?.(stream_id);
    return answer;
  }

  /** `taken` also counts chunks that failed because too many workers lost them. */
  async #claimOf(
    stream_id: string,
    { limit, lease_ms }: { limit: number; lease_ms: number },
  ): Promise<{ work: Work[]; taken: number }> {
    const { actors, metrics } = this.#deps;
    const token = newClaimToken();
    const answer = await orNull(actors.stream(stream_id).claim_chunks({ token, limit, lease_ms }), 'NOT_FOUND');
    if (answer === null) return { work: [], taken: 0 };
    const { claimed, given_up } = answer;
    if (given_up > 0) metrics.chunks_processed.inc({ worker: 'none', status: 'failed' }, given_up);
    const work: Work[] = [];
    for (const one of claimed) {
      const found = await actors.stream(stream_id).chunk({ number: one.number }).catch(orRefused(null));
      if (found !== null && isStored(found.chunk)) work.push({ ...one, token, ...found, chunk: found.chunk });
    }
    return { work, taken: claimed.length + given_up };
  }
}

function bytesOf(parts: Buffer[]): number {
  return parts.reduce((total, part) => total + part.length, 0);
}
