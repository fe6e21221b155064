import type { Logger } from 'pino';
import type { Chunk, ChunkStatus, Stream } from '../../../actors/recordings/stream_state.js';
import { chunkId, isId, PARTITIONS, streamOfChunk } from '../../domain/ids.js';
import { LIMITS } from '../../domain/limits.js';
import { isRefused } from '../../domain/refusals.js';
import { blobKey, partitionFolder, streamFolder } from '../../engine/blobs/blob_keys.js';
import type { BlobStore } from '../../engine/blobs/blob_store.js';
import { PeriodicTask } from '../../engine/jobs/periodic_task.js';
import type { Metrics } from '../../engine/metrics/metrics.js';
import { randomBytes } from '../../engine/random/random.js';
import type { Actors } from '../../engine/runtime/actors.js';
import { isRetryable } from '../../engine/store/store.js';
import type { SweepSchedule } from '../../engine/store/sweep_schedule.js';
import { RetentionBackfill } from '../workspaces/retention_backfill.js';
import { AccountBytes } from './account_bytes.js';
import type { MissingAudio } from './missing_audio.js';

const RUN_EVERY_MS = 60_000;
/** Partitions taken at a time. */
const TURNS_MAX = 32;
/** A sweep that was cut off is tried again after this. */
const AGAIN_MS = 10 * 60_000;
const PAGE_MAX = 200;
/** Named in one line of the log. */
const NAMED_MAX = 10;
/** After each stream it rests for so many times as long as that took: sweeping is in no hurry, and others are. */
const REST_FACTOR = 2;
/** A server that stops waits for a rest to end. */
const REST_MAX_MS = 200;
/** The sweep over streams instead of bytes: finds those of which no byte is left. */
const STREAMS = 'streams';

type AudioSweepDeps = {
  turns: SweepSchedule;
  actors: Actors;
  blobs: BlobStore;
  lost_audio: MissingAudio;
  /** Begins to bring in, for one walk over all streams, what a release without search has stored. */
  searchBackfill: () => { look(stream: Stream): Promise<void> };
  metrics: Metrics;
  log: Pick<Logger, 'info' | 'error'>;
  now: () => number;
};

/** Whether a chunk's bytes must be there, may be put at any moment, or are nobody's. */
const BYTES: Record<ChunkStatus, 'there' | 'awaited' | 'unclaimed'> = {
  stored: 'there',
  awaiting_upload: 'awaited',
  expired: 'unclaimed',
};

/** A stream whose bytes are being looked at: which of its numbers have some, and of how many we know. */
type FoundStream = { stream_id: string; chunks: number; present: Uint8Array; is_usable: boolean };

/** A stream that gives no answer, such as a quarantined one: its files are left alone. */
class UnusableStream extends Error {
  override name = 'UnusableStream';
}

/**
 * Holds the bytes in the blob store against the chunks that are marked stored, a partition a day each. Bytes that no
 * chunk, file or export claims are removed: a server may have ended between storing them and saying so, or between erasing a stream and
 * an upload that was in progress. Chunks whose bytes are not there are reported; nothing can bring them back.
 */
export class AudioSweep {
  readonly #deps: AudioSweepDeps;
  readonly #task = new PeriodicTask(() => this.#run(), RUN_EVERY_MS);
  #stopped = false;

  constructor(deps: AudioSweepDeps) {
    this.#deps = deps;
  }

  start(): void {
    this.#task.start();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#task.stop();
  }

  /** Sweeps what is due. Never rejects. */
  look(): Promise<void> {
    return this.#task.runOnce();
  }

  async #run(): Promise<void> {
    const { turns, log, now } = this.#deps;
    try {
      await turns.schedule(spread(now()));
      while (!this.#stopped) {
        const taken = await turns.take({ now_ms: now(), limit: TURNS_MAX });
        if (taken.length === 0) return;
        await this.#sweepAll(taken);
      }
    } catch (error) {
      if (!isRetryable(error)) log.error({ err: error }, 'audio could not be swept; it is tried again');
    }
  }

  async #sweepAll(names: string[]): Promise<void> {
    const { turns, blobs, metrics, log, now } = this.#deps;
    const done = new Set<string>();
    try {
      if (!(await this.#isOurs())) return;
      const folders = new Set(await blobs.partitions());
      for (const name of names) {
        try {
          if (name === STREAMS) await this.#sweepStreams();
          else if (folders.has(partitionFolder(Number(name)))) await this.#sweepPartition(Number(name));
        } catch (error) {
          if (isRetryable(error)) throw error;
          log.error({ err: error, name }, 'audio could not be swept; it is tried again');
          continue;
        }
        if (this.#stopped) return;
        done.add(name);
        metrics.audio_sweeps.inc();
      }
    } finally {
      const now_ms = now();
      const wait_ms = (name: string) => (done.has(name) ? LIMITS.audio_sweep_every_ms : AGAIN_MS);
      await turns.schedule(names.map((name) => ({ name, at_ms: now_ms + wait_ms(name) })));
    }
  }

  /**
   * Whether these bytes are this storage's. Beside a Redis that came up empty, or a wrong one, all of them would look as
   * if nobody claimed them.
   */
  async #isOurs(): Promise<boolean> {
    const { turns, blobs, log } = this.#deps;
    const name = await turns.owner(Buffer.from(randomBytes(12)).toString('base64url'));
    if ((await blobs.claim(name)) === name) return true;
    log.error(
      'audio is not swept: the blob store belongs to another Redis, or this one lost its data; see .owner there',
    );
    return false;
  }

  async #sweepPartition(partition: number): Promise<void> {
    const { blobs, metrics, log } = this.#deps;
    const folder = partitionFolder(partition);
    const left_behind = await blobs.sweepTemporary(LIMITS.audio_orphan_age_ms, folder);
    const tally = { looked_at: 0, removed: left_behind };
    metrics.audio_removed.inc(left_behind);
    const account_bytes = new AccountBytes(this.#deps);
    let found: FoundStream | null = null;
    for await (const key of blobs.list(folder)) {
      if (this.#stopped) return;
      const place = placeOf(key);
      const of_account = place === null ? await account_bytes.removeUnclaimed(key) : null;
      if (place === null && of_account === null) continue; // not ours to judge
      tally.looked_at += 1;
      metrics.audio_swept.inc();
      if (place === null) {
        tally.removed += of_account ?? 0;
        metrics.audio_removed.inc(of_account ?? 0);
        continue;
      }
      if (found?.stream_id !== place.stream_id) {
        if (found !== null) tally.removed += await this.#compare(found);
        found = await this.#findStream(place.stream_id);
      }
      if (!found.is_usable) continue;
      if (place.number <= found.chunks) mark(found.present, place.number);
      else tally.removed += await this.#removeUnclaimed(place);
    }
    if (found !== null) tally.removed += await this.#compare(found);
    if (tally.removed > 0) log.info({ partition, ...tally }, 'bytes that nothing claims were removed');
  }

  /** No chunks, when there is no such stream. */
  async #findStream(stream_id: string): Promise<FoundStream> {
    const stream = await this.#view(stream_id);
    const chunks = stream === 'unusable' ? 0 : (stream?.chunks ?? 0);
    return { stream_id, chunks, present: new Uint8Array((chunks >>> 3) + 1), is_usable: stream !== 'unusable' };
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

  /** Goes through a stream's chunks beside what was found of it; gives how many blobs were removed. */
  async #compare({ stream_id, chunks, present, is_usable }: FoundStream): Promise<number> {
    if (!is_usable) return 0;
    const began = performance.now();
    const missing: number[] = [];
    let removed = 0;
    let after: { order: number; id: string } | undefined;
    for (let is_last = chunks === 0; !is_last && !this.#stopped; ) {
      const page = await this.#deps.actors
        .stream(stream_id)
        .list_chunks({ range: { after, limit: PAGE_MAX } })
        .catch(absent);
      const listed = page?.chunks ?? [];
      for (const { chunk_id, status } of listed) {
        const number = streamOfChunk(chunk_id)?.number as number;
        const is_present = number <= chunks && isMarked(present, number);
        if (number <= chunks) unmark(present, number);
        const place = { stream_id, chunk_id, number };
        if (is_present) removed += await this.#removeUnclaimed(place, status);
        else if (BYTES[status] === 'there' && (await this.#isMissing(place))) missing.push(number);
      }
      const last = listed.at(-1);
      if (last !== undefined) after = { order: last.order, id: last.member };
      is_last = listed.length < PAGE_MAX;
    }
    if (this.#stopped) return removed;
    // Numbers without a record: how they came to their bytes is not known.
    for (let at = 0; at < present.length; at++) {
      for (let number = at * 8; present[at] !== 0 && number < at * 8 + 8; number++) {
        if (!isMarked(present, number)) continue;
        unmark(present, number);
        removed += await this.#removeUnclaimed({ stream_id, chunk_id: chunkId(stream_id, number), number });
      }
    }
    if (missing.length > 0) this.#report(stream_id, missing.length, missing);
    await restAfter(began);
    return removed;
  }

  /** Removes bytes unless a chunk claims them or they are young; gives how many blobs that were. */
  async #removeUnclaimed(place: ChunkPlace, known_status?: ChunkStatus): Promise<0 | 1> {
    const { blobs, metrics } = this.#deps;
    const status = known_status ?? (await this.#chunk(place))?.status;
    // What awaits its upload becomes stored, or expires within a day.
    if (status !== undefined && BYTES[status] !== 'unclaimed') return 0;
    const key = blobKey(place.stream_id, place.chunk_id);
    if ((await blobs.removeOlder(key, LIMITS.audio_orphan_age_ms)) !== 'removed') return 0;
    metrics.audio_removed.inc();
    return 1;
  }

  /** Whether a chunk that was marked stored has no bytes, and is still marked so. */
  async #isMissing(place: ChunkPlace): Promise<boolean> {
    if (await this.#deps.blobs.has(blobKey(place.stream_id, place.chunk_id))) return false;
    const chunk = await this.#chunk(place);
    return chunk !== null && BYTES[chunk.status] === 'there';
  }

  /**
   * Finds streams whose bytes are all gone, which no walk over bytes comes across, and shows all to who brings in what an
   * older release has stored.
   */
  async #sweepStreams(): Promise<void> {
    const { actors, turns, blobs, searchBackfill } = this.#deps;
    const places = new RetentionBackfill(actors);
    const search = searchBackfill();
    for await (const stream_id of turns.streamIds()) {
      if (this.#stopped) return;
      const began = performance.now();
      const stream = await this.#view(stream_id);
      if (stream === null || stream === 'unusable') continue;
      await places.look(stream);
      await search.look(stream);
      if (stream.stored_chunks === 0) continue;
      let has_some = false;
      for await (const _ of blobs.list(streamFolder(stream_id))) {
        has_some = true;
        break;
      }
      if (!has_some) {
        const still = await actors.stream(stream_id).view().catch(absent);
        if (still !== null && still.stored_chunks > 0) this.#report(stream_id, still.stored_chunks, []);
      }
      await restAfter(began);
    }
  }

  #report(stream_id: string, missing: number, numbers: number[]): void {
    const { metrics, log } = this.#deps;
    metrics.audio_missing.inc(missing);
    this.#deps.lost_audio.note(stream_id);
    const some = numbers.slice(0, NAMED_MAX);
    log.error(
      { stream_id, missing, ...(some.length > 0 ? { some } : {}) },
      'audio is lost: stored chunks have no bytes',
    );
  }

  async #chunk({ stream_id, number }: ChunkPlace): Promise<Chunk | null> {
    return (await this.#deps.actors.stream(stream_id).chunk({ number }).catch(absent))?.chunk ?? null;
  }
}

/** For `catch`: null when there is no such stream, or no such chunk in it. */
function absent(error: unknown): null {
  if (isRefused(error, 'NOT_FOUND')) return null;
  throw isRefused(error, 'INTERNAL') ? new UnusableStream(`stream: ${error.message}`) : error;
}

type ChunkPlace = { stream_id: string; chunk_id: string; number: number };

/** The chunk that a key names; null for any other key. */
function placeOf(key: string): ChunkPlace | null {
  const chunk_id = key.slice(key.lastIndexOf('/') + 1);
  const home = isId(chunk_id) ? streamOfChunk(chunk_id) : null;
  return home === null || blobKey(home.stream_id, chunk_id) !== key ? null : { ...home, chunk_id };
}

/** When each is due that was never swept: one after the other over a whole turn, so that none is a burden. */
function spread(now_ms: number): { name: string; at_ms: number }[] {
  const step_ms = LIMITS.audio_sweep_every_ms / (PARTITIONS + 1);
  const names = [...Array.from({ length: PARTITIONS }, (_, partition) => String(partition)), STREAMS];
  return names.map((name, index) => ({ name, at_ms: Math.round(now_ms + (index + 1) * step_ms) }));
}

function mark(bits: Uint8Array, number: number): void {
  bits[number >>> 3] = (bits[number >>> 3] ?? 0) | (1 << (number & 7));
}

function unmark(bits: Uint8Array, number: number): void {
  bits[number >>> 3] = (bits[number >>> 3] ?? 0) & ~(1 << (number & 7));
}

function isMarked(bits: Uint8Array, number: number): boolean {
  return ((bits[number >>> 3] ?? 0) & (1 << (number & 7))) !== 0;
}

function restAfter(began: number): Promise<void> {
  const ms = Math.min(REST_MAX_MS, (performance.now() - began) * REST_FACTOR);
  return new Promise((resolve) => setTimeout(resolve, ms));
}
