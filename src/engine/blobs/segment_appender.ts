/** Appends blobs to segments: one file a stream and process at a time, one sync for all who wait for it. */
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import type { DirectorySync } from './directory_sync.js';
import { type Disk, writeAll } from './disk.js';

const openFile = promisify(fs.open);
const closeFile = promisify(fs.close);
const truncateFile = promisify(fs.ftruncate);
const accessFile = promisify(fs.access);
const unlinkFile = promisify(fs.unlink);

/** A segment that has grown to this size is followed by another. */
const SEGMENT_BYTES_MAX = 64 * 1_048_576; // ours: some hours of a stream, and what removals must empty to free it
/** Written and synced at once. */
const BATCH_BYTES_MAX = 4 * 1_048_576; // ours: sixteen of the largest records
const BATCH_PARTS_MAX = 1_000; // ours: below the 1,024 that one writev takes
/** Files held open; one that waits for its turn is closed, and opened again. Those being written may be more. */
const OPEN_FILES_MAX = 500; // ours: a process may have few thousand, most of them for sockets
/** Streams of which it is known where to append; one that is forgotten gets a new segment. */
const KNOWN_STREAMS_MAX = 50_000; // ours: some ten megabytes
/** The number of times that a batch is written again when somebody takes its segment away meanwhile. */
const TRIES_MAX = 5;

export const SEGMENT_SUFFIX = '.seg';

/** Where a record begins. */
export interface RecordLocation {
  /** The segment's file name without its suffix. */
  segment: string;
  offset: number;
}

interface WaitingRecord {
  parts: Buffer[];
  bytes: number;
  resolve(place: RecordLocation): void;
  reject(error: unknown): void;
}

interface Segment {
  path: string;
  name: string;
  /** Null while it is closed. */
  fd: number | null;
  /** Where the next record goes. */
  bytes: number;
  /** Whether its name is durable. */
  is_named: boolean;
}

interface Stream {
  directory: string;
  waiting: WaitingRecord[];
  is_busy: boolean;
  segment: Segment | null;
  /** Whether its segment may be gone; it is let go before the next batch. */
  is_forgotten: boolean;
}

export interface AppenderParts {
  disk: Disk;
  directory_sync: DirectorySync;
  /** Opens a file that isn't there yet, in a directory that is made when it isn't. */
  openNew: (directory: string, name: string) => Promise<{ path: string; fd: number }>;
  segment_bytes_max?: number | undefined;
  open_files_max?: number | undefined;
}

export class SegmentAppender {
  readonly #parts: AppenderParts;
  readonly #segment_bytes_max: number;
  readonly #open_files_max: number;
  /** By directory, in order of use. */
  readonly #streams = new Map<string, Stream>();
  /** Whose segment is open, in order of use. */
  readonly #open = new Set<Stream>();
  readonly #runs = new Set<Promise<void>>();

  constructor(parts: AppenderParts) {
    this.#parts = parts;
    this.#segment_bytes_max = parts.segment_bytes_max ?? SEGMENT_BYTES_MAX;
    this.#open_files_max = parts.open_files_max ?? OPEN_FILES_MAX;
  }

  /** Appends records, each with its header first; resolves when they and the names of their segments are on disk. */
  append(directory: string, records: readonly Buffer[][]): Promise<RecordLocation[]> {
    const stream = this.#streamOf(directory);
    const appended = records.map(
      (parts) =>
        new Promise<RecordLocation>((resolve, reject) => {
          const bytes = parts.reduce((total, part) => total + part.length, 0);
          stream.waiting.push({ parts, bytes, resolve, reject });
        }),
    );
    if (!stream.is_busy) {
      const run = this.#run(stream).finally(() => this.#runs.delete(run));
      this.#runs.add(run);
    }
    return Promise.all(appended);
  }

  /** To be called when a stream's directory is removed, before and after: what comes then goes into a new segment. */
  forget(directory: string): void {
    const stream = this.#streams.get(directory);
    if (stream !== undefined) stream.is_forgotten = true;
  }

  /** The same, when a directory of such directories is removed. */
  forgetBelow(directory: string): void {
    for (const stream of this.#streams.values()) {
      if (stream.directory.startsWith(`${directory}${path.sep}`)) stream.is_forgotten = true;
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#runs);
    for (const stream of this.#open) await this.#letGo(stream);
    this.#streams.clear();
  }

  #streamOf(directory: string): Stream {
    const known = this.#streams.get(directory);
    const stream = known ?? { directory, waiting: [], is_busy: false, segment: null, is_forgotten: false };
    this.#streams.delete(directory);
    this.#streams.set(directory, stream);
    if (this.#streams.size <= KNOWN_STREAMS_MAX) return stream;
    for (const oldest of this.#streams.values()) {
      // One with an open segment is no use to forget: its turn comes when that is closed.
      if (oldest.is_busy || this.#open.has(oldest) || oldest === stream) continue;
      this.#streams.delete(oldest.directory);
      break;
    }
    return stream;
  }

  async #run(stream: Stream): Promise<void> {
    stream.is_busy = true;
    try {
      while (stream.waiting.length > 0) {
        const batch = takeBatch(stream.waiting);
        try {
          const { segment, offset } = await this.#write(stream, batch);
          let at = offset;
          for (const { bytes, resolve } of batch) {
            resolve({ segment: segment.name, offset: at });
            at += bytes;
          }
        } catch (error) {
          for (const { reject } of batch) reject(error);
        }
      }
    } finally {
      stream.is_busy = false;
    }
    await this.#closeIdle();
  }

  async #write(stream: Stream, batch: WaitingRecord[]): Promise<{ segment: Segment; offset: number }> {
    const { disk, directory_sync } = this.#parts;
    const parts = batch.flatMap(({ parts }) => parts);
    const bytes = batch.reduce((total, { bytes }) => total + bytes, 0);
    for (let tries = 1; ; tries++) {
      const { segment, fd } = await this.#openSegment(stream);
      const offset = segment.bytes;
      // Whatever comes of it: no place is used twice, since somebody may be about to overwrite what was seen there.
      segment.bytes += bytes;
      try {
        await writeAll(disk, fd, { parts, bytes, at: offset });
        // Looked at after the write: whoever takes a segment away renames it first and reads it then, so that either
        // these bytes are seen there, or it is seen here that it is gone.
        const [synced, named, is_there] = await Promise.allSettled([
          disk.sync(fd),
          segment.is_named ? undefined : directory_sync.sync(stream.directory),
          accessFile(segment.path),
        ]);
        if (synced.status === 'rejected') throw synced.reason;
        if (is_there.status === 'fulfilled') {
          if (named.status === 'rejected') throw named.reason;
          segment.is_named = true;
          return { segment, offset };
        }
      } catch (error) {
        await this.#giveUp(stream, segment, offset);
        throw error;
      }
      await this.#letGo(stream);
      if (tries >= TRIES_MAX) throw new Error('the segment was taken away each time');
    }
  }

  async #openSegment(stream: Stream): Promise<{ segment: Segment; fd: number }> {
    if (stream.is_forgotten || (stream.segment?.bytes ?? 0) >= this.#segment_bytes_max) {
      stream.is_forgotten = false;
      await this.#letGo(stream);
    }
    const known = stream.segment;
    let fd = known?.fd ?? null;
    if (known !== null && fd === null) fd = await openFile(known.path, 'r+').catch(() => null);
    let segment = known;
    if (segment === null || fd === null) {
      const name = randomUUID();
      const opened = await this.#parts.openNew(stream.directory, `${name}${SEGMENT_SUFFIX}`);
      fd = opened.fd;
      segment = { path: opened.path, name, fd, bytes: 0, is_named: false };
      stream.segment = segment;
    }
    segment.fd = fd;
    this.#open.delete(stream);
    this.#open.add(stream);
    return { segment, fd };
  }

  /** After a write or sync that failed nothing is known of what lies behind `offset`, nor of later syncs of this file. */
  async #giveUp(stream: Stream, { fd, path }: Segment, offset: number): Promise<void> {
    if (fd !== null) await truncateFile(fd, offset).catch(() => {});
    await this.#letGo(stream);
    if (offset === 0) await unlinkFile(path).catch(() => {});
  }

  async #letGo(stream: Stream): Promise<void> {
    const fd = stream.segment?.fd ?? null;
    stream.segment = null;
    this.#open.delete(stream);
    if (fd !== null) await closeFile(fd);
  }

  async #closeIdle(): Promise<void> {
    for (const stream of this.#open) {
      if (this.#open.size <= this.#open_files_max) return;
      const { segment } = stream;
      if (stream.is_busy || segment === null || segment.fd === null) continue;
      const { fd } = segment;
      segment.fd = null;
      this.#open.delete(stream);
      // All that it holds is synced, and nobody waits for this.
      await closeFile(fd).catch(() => {});
    }
  }
}

function takeBatch(waiting: WaitingRecord[]): WaitingRecord[] {
  let [count, bytes, parts] = [0, 0, 0];
  for (const next of waiting) {
    bytes += next.bytes;
    parts += next.parts.length;
    if (count > 0 && (bytes > BATCH_BYTES_MAX || parts > BATCH_PARTS_MAX)) break;
    count += 1;
  }
  return waiting.splice(0, count);
}
