import type { Logger } from 'pino';
import { type Chunk, isStored, type Stream } from '../../../actors/recordings/stream_state.js';
import { isId, PARTITIONS, partitionOfId } from '../../domain/ids.js';
import { LIMITS } from '../../domain/limits.js';
import { isRefused } from '../../domain/refusals.js';
import { audioKey, partitionFolder, placedBytes, streamFolder, WAVEFORM_NAME } from '../../engine/blobs/blob_keys.js';
import type { AppendedBytes, BlobStore } from '../../engine/blobs/blob_store.js';
import type { DueMembersDeps } from '../../engine/jobs/due_members.js';
import { DueWorker } from '../../engine/jobs/due_worker.js';
import { prolonging } from '../../engine/jobs/leases.js';
import type { Metrics } from '../../engine/metrics/metrics.js';
import { randomBytes } from '../../engine/random/random.js';
import type { Actors } from '../../engine/runtime/actors.js';
import type { AudioSweeps } from '../../engine/store/audio_sweeps.js';
import { AccountBytes } from './account_bytes.js';
import type { MissingAudio } from './missing_audio.js';

const AUDIO_SWEEP_EVERY_MS = 86_400_000; // ours: each partition's bytes are held against its chunks so often

const EVERY_MS = 60_000;
/** Another process takes a sweep over after this time, and an interrupted sweep is tried again. */
const LEASE_MS = 10 * 60_000;
const PAGE_MAX = 200;
/** The number of ids in one line of the log. */
const NAMED_MAX = 10;
/**
 * The sweep rests after each stream for this multiple of the time that the stream took, to leave room for other work.
 */
const REST_FACTOR = 2;
/** The longest rest: a stopping server waits for its end. */
const REST_MAX_MS = 200;
/** The sweep over streams: compares the files in their folders with their chunks, and the chunks with their bytes. */
const STREAMS = 'streams';
/** The sweep over bytes that are stored beside those of other streams. */
const APPENDED = 'appended';

type AudioSweepDeps = DueMembersDeps & {
  sweeps: AudioSweeps;
  /** Ids of all streams, some perhaps twice. */
  streamIds: () => AsyncIterable<string>;
  actors: Actors;
  blobs: BlobStore;
  lost_audio: MissingAudio;
  metrics: Metrics;
  log: Pick<Logger, 'info' | 'error'>;
};

/** A stream that gives no answer, such as a quarantined one: its files are left alone. */
class UnusableStream extends Error {
  override name = 'UnusableStream';
}

/**
 * Compares the bytes in the blob store with the stored chunks, once a day. Removes bytes that no chunk, file or export
 * claims: a server may have ended between storing them and recording that, or between erasing a stream and an upload in
 * progress. Reports chunks whose bytes are missing; nothing can restore them.
 */
export class AudioSweep {
  readonly worker: DueWorker;
  readonly #deps: AudioSweepDeps;
  #is_refusal_logged = false;

  constructor(deps: AudioSweepDeps) {
    this.#deps = deps;
    const work = {
      ...({ queue: 'audio_sweeps', every_ms: EVERY_MS, at_once: 1 } as const),
      complaint: 'audio could not be swept; it is tried again',
    };
    this.worker = DueWorker.of(deps, work, ({ name }) => this.#sweep(name));
  }

  /** Makes each sweep due within a day that never was. */
  schedule(): Promise<void> {
    return this.#deps.sweeps.schedule(spread(this.#deps.now()));
  }

  /** False if another process has the sweep, or it was cut off. */
  async #sweep(name: string): Promise<boolean> {
    const { sweeps, now } = this.#deps;
    const now_ms = now();
    if (!(await sweeps.lease(name, { now_ms, again_ms: now_ms + LEASE_MS }))) return false;
    if (!(await this.#isOurs())) return false;
    await prolonging(
      () => sweeps.postpone(name, now() + LEASE_MS),
      () => this.#sweepBytes(name),
    );
    if (this.worker.is_stopping) return false;
    await sweeps.postpone(name, now() + AUDIO_SWEEP_EVERY_MS);
    return true;
  }

  async #sweepBytes(name: string): Promise<void> {
    if (name === STREAMS) return this.#sweepStreams();
    if (name === APPENDED) return this.#sweepAppended();
    const folders = await this.#deps.blobs.partitions();
    if (folders.includes(partitionFolder(Number(name)))) await this.#sweepPartition(Number(name));
  }

  /** Whether these bytes belong to this storage. With an empty or a wrong Redis, all of them would look unclaimed. */
  async #isOurs(): Promise<boolean> {
    const { sweeps, blobs, log } = this.#deps;
    const name = await sweeps.owner(Buffer.from(randomBytes(12)).toString('base64url'));
    const is_ours = (await blobs.claim(name)) === name;
    if (!is_ours && !this.#is_refusal_logged)
      log.error(
        'audio is not swept: the blob store belongs to another Redis, or this one lost its data; see .owner there',
      );
    this.#is_refusal_logged = !is_ours;
    return is_ours;
  }

  async #sweepPartition(partition: number): Promise<void> {
    const { blobs, metrics, log } = this.#deps;
    const folder = partitionFolder(partition);
    const left_behind = await blobs.sweepTemporary(LIMITS.audio_orphan_age_ms, folder);
    const tally = { looked_at: 0, removed: left_behind };
    metrics.audio_removed.inc(left_behind);
    const account_bytes = new AccountBytes(this.#deps);
    const seen = { stream_id: '', is_gone: false };
    for await (const key of blobs.list(folder)) {
      if (this.worker.is_stopping) return;
      const id = streamOf(key);
      const of_account = id === null ? await account_bytes.removeUnclaimed(key) : null;
      if (id === null && of_account === null) continue; // not ours to judge
      tally.looked_at += 1;
      metrics.audio_swept.inc();
      if (id !== null && seen.stream_id !== id)
        Object.assign(seen, { stream_id: id, is_gone: (await this.#view(id)) === null });
      // What is left of a stream that is there is looked at with its chunks.
      const removed = of_account ?? (seen.is_gone ? await this.#removeOld(key) : 0);
      if (of_account !== null) metrics.audio_removed.inc(removed);
      tally.removed += removed;
    }
    if (tally.removed > 0) log.info({ partition, ...tally }, 'bytes that nothing claims were removed');
  }

  async #view(stream_id: string): Promise<Stream | null | 'unusable'> {
    try {
      return await this.#deps.actors.stream(stream_id).view().catch(absent);
    } catch (error) {
      if (!(error instanceof UnusableStream)) throw error;
      this.#deps.log.error({ stream_id }, 'the audio of a stream that is out of service could not be swept');
      return 'unusable';
    }
  }

  /** Sweeps all streams. */
  async #sweepStreams(): Promise<void> {
    for await (const stream_id of this.#deps.streamIds()) {
      if (this.worker.is_stopping) return;
      const began = performance.now();
      const stream = await this.#view(stream_id);
      if (stream === null || stream === 'unusable') continue;
      await this.#compare(stream_id);
      await restAfter(began);
    }
  }

  /** Compares the files in a stream's folder with its chunks, and the chunks with their bytes. */
  async #compare(stream_id: string): Promise<void> {
    const { blobs, metrics } = this.#deps;
    const unclaimed = new Set<string>();
    for await (const key of blobs.list(streamFolder(stream_id))) unclaimed.add(key.slice(key.lastIndexOf('/') + 1));
    const present = new Set(unclaimed);
    const missing: string[] = [];
    for await (const chunk of this.#chunks(stream_id)) {
      metrics.audio_swept.inc();
      // What awaits its upload becomes stored, or expires within a day.
      if (chunk.status === 'awaiting_upload') unclaimed.delete(chunk.chunk_id);
      if (chunk.place === null) continue;
      const key = audioKey(stream_id, { ...chunk, place: chunk.place });
      const name = placedBytes(key)?.container ?? chunk.place;
      unclaimed.delete(name);
      if (isStored(chunk)) unclaimed.delete(WAVEFORM_NAME);
      if (isStored(chunk) && !present.has(name) && !(await blobs.has(key))) missing.push(chunk.chunk_id);
    }
    if (this.worker.is_stopping) return;
    for (const name of unclaimed) await this.#removeOld(`${streamFolder(stream_id)}/${name}`);
    const still = missing.length === 0 ? null : await this.#view(stream_id);
    if (still !== null && still !== 'unusable' && still.stored_chunks > 0) this.#report(stream_id, missing);
  }

  async *#chunks(stream_id: string): AsyncGenerator<Chunk> {
    for (let after: { order: number; id: string } | undefined; !this.worker.is_stopping; ) {
      const range = { after, limit: PAGE_MAX };
      const page = await this.#deps.actors.stream(stream_id).list_chunks({ range }).catch(absent);
      const listed = page?.chunks ?? [];
      yield* listed;
      const last = listed.at(-1);
      if (last === undefined || listed.length < PAGE_MAX) return;
      after = { order: last.order, id: last.member };
    }
  }

  async #sweepAppended(): Promise<void> {
    const { blobs, metrics, log } = this.#deps;
    let removed = 0;
    let began = performance.now();
    const claims = (stream_id: string, appended: readonly AppendedBytes[]) => this.#claims(stream_id, appended);
    for await (const count of blobs.sweepAppended(LIMITS.audio_orphan_age_ms, claims)) {
      removed += count;
      metrics.audio_removed.inc(count);
      if (this.worker.is_stopping) return;
      await restAfter(began);
      began = performance.now();
    }
    if (removed > 0) log.info({ removed }, 'bytes of chunks that nothing claims were removed');
  }

  /** Bytes of a stream that gives no answer are left alone. */
  async #claims(stream_id: string, appended: readonly AppendedBytes[]): Promise<boolean[]> {
    try {
      const known = await this.#deps.actors.stream(stream_id).claimed_places({ appended }).catch(absent);
      return appended.map(({ place }) => known?.claimed.includes(place) ?? false);
    } catch (error) {
      if (!(error instanceof UnusableStream)) throw error;
      return appended.map(() => true);
    }
  }

  /** Returns the number of removed blobs. */
  async #removeOld(key: string): Promise<0 | 1> {
    const { blobs, metrics } = this.#deps;
    if ((await blobs.removeOlder(key, LIMITS.audio_orphan_age_ms)) !== 'removed') return 0;
    metrics.audio_removed.inc();
    return 1;
  }

  #report(stream_id: string, missing: readonly string[]): void {
    const { metrics, log } = this.#deps;
    metrics.audio_missing.inc(missing.length);
    this.#deps.lost_audio.note(stream_id);
    log.error(
      { stream_id, missing: missing.length, some: missing.slice(0, NAMED_MAX) },
      'audio is lost: stored chunks have no bytes',
    );
  }
}

/** For `catch`: null when there is no such stream, or no such chunk in it. */
function absent(error: unknown): null {
  if (isRefused(error, 'NOT_FOUND')) return null;
  throw isRefused(error, 'INTERNAL') ? new UnusableStream(`stream: ${error.message}`) : error;
}

/** The stream in whose folder a key lies; null for any other key. */
function streamOf(key: string): string | null {
  const [partition, id] = key.split('/');
  return isId(id) && partitionFolder(partitionOfId(id)) === partition ? id : null;
}

/** The first time of each sweep: one after the other over a day, to spread the load. */
function spread(now_ms: number): { name: string; at_ms: number }[] {
  const step_ms = AUDIO_SWEEP_EVERY_MS / (PARTITIONS + 2);
  const names = [...Array.from({ length: PARTITIONS }, (_, partition) => String(partition)), STREAMS, APPENDED];
  return names.map((name, index) => ({ name, at_ms: Math.round(now_ms + (index + 1) * step_ms) }));
}

function restAfter(began: number): Promise<void> {
  const ms = Math.min(REST_MAX_MS, (performance.now() - began) * REST_FACTOR);
  return new Promise((resolve) => setTimeout(resolve, ms));
}
