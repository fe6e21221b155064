/**
 * The bytes of chunks in a folder of segments. Each process appends to a segment of its own, so that requests share a
 * write and a sync. Whoever appends gets the place of each chunk's bytes; nothing here knows which chunk has which.
 *
 * Several processes erase in one segment. Whoever replaces or removes a file renames first and reads the old one then;
 * whoever writes to it looks afterwards whether its name still leads to it, and does it again where it does not. So
 * either the write is seen by the one who reads, or the rename by the one who writes.
 */
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import pMap from 'p-map';
import { RecentlyUsed } from '../pools/recently_used.js';
import { newContainer, type PlacedBytes } from './blob_keys.js';
import type { AppendedClaims } from './blob_store.js';
import type { DirectorySync } from './directory_sync.js';
import { type Disk, writeAll } from './disk.js';
import { codeOf, nullIfAbsent } from './file_errors.js';
import { InTurn } from './in_turn.js';
import { type ChunkBytes, decodeHeader, encodeHeader, encodeRecords, RECORD_HEADER_BYTES } from './segment_record.js';
import {
  bytesAt,
  encodeSegmentHead,
  type FoundRecord,
  readCheckedAt,
  type ScanEnd,
  SEGMENT_HEAD_BYTES,
  scanSegment,
  writeCheckedAt,
} from './segment_scan.js';

const openFile = promisify(fs.open);
const closeFile = promisify(fs.close);
const statFile = promisify(fs.stat);
const statOpen = promisify(fs.fstat);
const renameFile = promisify(fs.rename);
const unlinkFile = promisify(fs.unlink);
const truncateFile = promisify(fs.ftruncate);

const SUFFIX = '.seg';
/** The suffix of a segment that is being removed: it must not be found by its name. */
const GONE_SUFFIX = '.gone';
const SEGMENT_FILE = /^([0-9a-z]{17})\.seg$/;
const SEGMENT_BYTES_MAX = 64 * 1_048_576;
/** Nothing is appended to an older segment, so that it can be checked. */
const SEGMENT_AGE_MAX_MS = 3_600_000;
/** The most bytes of one write. */
const GROUP_BYTES_MAX = 4 * 1_048_576;
const GROUP_PARTS_MAX = 1_000; // below IOV_MAX
/** The number of times that a write is repeated whose segment was taken away. */
const TRIES_MAX = 4;
/** A range that begins before this offset is read together with its record's header. */
const NEAR_BYTES = 16_384;
const PIECE_BYTES = 1_048_576;
const ZEROS = Buffer.alloc(PIECE_BYTES);
/** The number of segments in which a request erases at once. */
const ERASED_AT_ONCE = 8;
/** A segment is rewritten if its size on disk exceeds twice its live bytes, and this. */
const SPARE_BYTES = 1_048_576;
const BLOCK_BYTES = 512; // of `stat`
/** The number of segments whose live bytes are remembered. */
const KNOWN_MAX = 10_000;
/** An unchanged segment is checked against its chunks again after this time. */
const CHECK_EVERY_MS = 30 * 86_400_000;
/** A file that was changed so long after it was checked was changed by more than that. */
const CHECK_WRITE_MS = 1_000;
/** Records that are checked against the chunks of their stream at once. */
const CLAIMS_MAX = 100;

export type Warn = (details: Record<string, unknown>, text: string) => void;

type SegmentsDeps = {
  directory: string;
  /** Makes a file, and its directory if necessary. */
  openNew: (name: string) => Promise<{ path: string; fd: number }>;
  directory_sync: DirectorySync;
  disk: Disk;
  machineMs: () => number;
  warn: Warn;
  segment_bytes_max?: number | undefined;
};

type WaitingAppend = {
  chunks: readonly ChunkBytes[];
  bytes: number;
  resolve: (places: string[]) => void;
  reject: (error: unknown) => void;
};

type OpenSegment = {
  container: string;
  path: string;
  fd: number;
  ino: number;
  begun_ms: number;
  bytes: number;
  /** Whether nothing more may be appended; the writer in progress closes it. */
  is_left: boolean;
};
type LiveBytes = { records: number; bytes: number };
/** `at_mtime_ms`: the file's time then; another process may have erased in it since. */
type KnownLive = LiveBytes & { at_mtime_ms: number };

export class Segments {
  readonly #deps: SegmentsDeps;
  readonly #waiting: WaitingAppend[] = [];
  #is_writing = false;
  #current: OpenSegment | null = null;
  /** Erasures, one after the other in each segment. */
  readonly #erasures = new InTurn();
  readonly #live = new RecentlyUsed<KnownLive>(KNOWN_MAX);

  constructor(deps: SegmentsDeps) {
    this.#deps = deps;
  }

  /** Durable when it resolves with the places of the chunks' bytes. */
  append(chunks: readonly ChunkBytes[]): Promise<string[]> {
    let bytes = 0;
    for (const chunk of chunks) bytes += RECORD_HEADER_BYTES + chunk.bytes.length;
    return new Promise((resolve, reject) => {
      this.#waiting.push({ chunks, bytes, resolve, reject });
      if (!this.#is_writing) void this.#writeGroups();
    });
  }

  /** A range of the bytes at a place; null if they are gone. */
  async read(placed: PlacedBytes, { start, end }: { start: number; end: number }): Promise<Buffer | null> {
    const fd = await openFile(this.#pathOf(placed.container), 'r').catch(nullIfAbsent);
    if (fd === null) return null;
    try {
      const at = placed.offset + RECORD_HEADER_BYTES + start;
      const length = end - start + 1;
      if (start <= NEAR_BYTES) {
        const whole = await bytesAt(fd, placed.offset, RECORD_HEADER_BYTES + start + length);
        const bytes = whole.subarray(RECORD_HEADER_BYTES + start);
        return isLive(whole, placed) && bytes.length === length ? bytes : null;
      }
      const bytes = await bytesAt(fd, at, length);
      const header = await bytesAt(fd, placed.offset, RECORD_HEADER_BYTES);
      return isLive(header, placed) && bytes.length === length ? bytes : null;
    } finally {
      await closeFile(fd);
    }
  }

  async has(placed: PlacedBytes): Promise<boolean> {
    const fd = await openFile(this.#pathOf(placed.container), 'r').catch(nullIfAbsent);
    if (fd === null) return false;
    try {
      const ends = placed.offset + RECORD_HEADER_BYTES + placed.size_bytes;
      return isLive(await bytesAt(fd, placed.offset, RECORD_HEADER_BYTES), placed) && (await statOpen(fd)).size >= ends;
    } finally {
      await closeFile(fd);
    }
  }

  /**
   * Overwrites the bytes at places, and removes segments without other live bytes; resolves when they are gone from the
   * disk.
   */
  async erase(placed: readonly PlacedBytes[]): Promise<void> {
    const of_container = new Map<string, PlacedBytes[]>();
    for (const one of placed) {
      const records = of_container.get(one.container);
      if (records === undefined) of_container.set(one.container, [one]);
      else records.push(one);
    }
    await pMap(
      of_container,
      ([container, records]) => this.#erasures.run(container, () => this.#erase(container, records)),
      {
        concurrency: ERASED_AT_ONCE,
      },
    );
  }

  /** Erases unclaimed bytes that were appended before that time; yields how much after each segment. */
  async *sweep(before_ms: number, claims: AppendedClaims): AsyncGenerator<number> {
    for (const file of (await fs.promises.readdir(this.#deps.directory).catch(nullIfAbsent)) ?? []) {
      const container = SEGMENT_FILE.exec(file.replace(GONE_SUFFIX, SUFFIX))?.[1];
      if (container === undefined) continue;
      yield await this.#erasures.run(container, async () => {
        if (file.endsWith(GONE_SUFFIX)) await this.#removeIfEmpty(container);
        return this.#sweepOne(container, { before_ms, claims });
      });
    }
  }

  async close(): Promise<void> {
    if (this.#current !== null) await this.#leave(this.#current.container);
  }

  #pathOf(container: string): string {
    return path.join(this.#deps.directory, container + SUFFIX);
  }

  async #writeGroups(): Promise<void> {
    this.#is_writing = true;
    while (this.#waiting.length > 0) {
      const group = takeGroup(this.#waiting);
      try {
        const places = await this.#write(group.flatMap(({ chunks }) => chunks));
        for (const { chunks, resolve } of group) resolve(places.splice(0, chunks.length));
      } catch (error) {
        for (const { reject } of group) reject(error);
      }
    }
    this.#is_writing = false;
  }

  async #write(chunks: readonly ChunkBytes[]): Promise<string[]> {
    const { disk, directory, directory_sync, machineMs } = this.#deps;
    const records = encodeRecords(chunks, machineMs());
    for (let tries = 1; ; tries++) {
      const segment = await this.#openSegment();
      const { container, path: file, fd, ino, bytes: at } = segment;
      const is_new = at === 0;
      const parts = is_new ? [encodeSegmentHead(), ...records] : records;
      const bytes = parts.reduce((sum, part) => sum + part.length, 0);
      // Whatever comes of it, no place is used twice.
      segment.bytes += bytes;
      try {
        await writeAll(disk, fd, { parts, bytes, at });
        const [synced, named, found] = await Promise.allSettled([
          disk.sync(fd),
          is_new ? directory_sync.sync(directory) : undefined,
          statFile(file).catch(nullIfAbsent),
        ]);
        for (const step of [synced, named, found]) if (step.status === 'rejected') throw step.reason;
        if (found.status === 'fulfilled' && found.value?.ino === ino)
          return placesOf(container, is_new ? SEGMENT_HEAD_BYTES : at, chunks);
      } catch (error) {
        // Nothing is known of what was written last, so nothing is appended behind it.
        await truncateFile(fd, at).catch(() => {});
        await this.#seal();
        if (is_new) await unlinkFile(file).catch(() => {});
        throw error;
      }
      await this.#seal();
      if (tries >= TRIES_MAX) throw new Error('the segment was taken away each time');
    }
  }

  async #openSegment(): Promise<OpenSegment> {
    const { openNew, machineMs, segment_bytes_max = SEGMENT_BYTES_MAX } = this.#deps;
    const now_ms = machineMs();
    const known = this.#current;
    const is_old = known !== null && Math.abs(now_ms - known.begun_ms) >= SEGMENT_AGE_MAX_MS;
    if (known !== null && known.bytes < segment_bytes_max && !is_old && !known.is_left) return known;
    await this.#seal();
    const container = newContainer(now_ms);
    const { path: file, fd } = await openNew(container + SUFFIX);
    const { ino } = await statOpen(fd);
    this.#current = { container, path: file, fd, ino, begun_ms: now_ms, bytes: 0, is_left: false };
    return this.#current;
  }

  /** Never closes a file during a write: its number may be another file's by then. */
  async #leave(container: string): Promise<void> {
    if (this.#current?.container !== container) return;
    if (this.#is_writing) this.#current.is_left = true;
    else await this.#seal();
  }

  async #seal(): Promise<void> {
    const segment = this.#current;
    this.#current = null;
    // All that it holds is synced.
    if (segment !== null) await closeFile(segment.fd);
  }

  async #erase(container: string, placed: readonly PlacedBytes[]): Promise<void> {
    const file = this.#pathOf(container);
    for (let tries = 1; tries <= TRIES_MAX; tries++) {
      const fd = await openFile(file, 'r+').catch(nullIfAbsent);
      if (fd === null) return;
      try {
        const before = await statOpen(fd);
        const erased = await this.#eraseRecords(fd, placed);
        if (erased.records > 0) await this.#deps.disk.sync(fd);
        const [after, named] = await Promise.all([statOpen(fd), statFile(file).catch(nullIfAbsent)]);
        if (named !== null && named.ino !== before.ino) continue; // another process has written it anew
        const known = this.#live.get(container);
        const live =
          known?.at_mtime_ms === before.mtimeMs
            ? { records: known.records - erased.records, bytes: known.bytes - erased.bytes }
            : await this.#liveIn(container, fd);
        if (live === null) return;
        this.#live.set(container, { ...live, at_mtime_ms: after.mtimeMs });
        await this.#giveBack(container, live, after.blocks * BLOCK_BYTES);
        return;
      } finally {
        await closeFile(fd);
      }
    }
    throw new Error('the segment was written anew each time');
  }

  /** Frees the disk space that no live bytes of a segment need. */
  async #giveBack(container: string, live: LiveBytes, allocated_bytes: number): Promise<void> {
    if (live.records === 0) await this.#removeIfEmpty(container);
    else if (allocated_bytes > 2 * live.bytes + SPARE_BYTES) await this.#writeAnew(container);
  }

  async #eraseRecords(fd: number, placed: readonly PlacedBytes[]): Promise<LiveBytes> {
    const erased = { records: 0, bytes: 0 };
    for (const one of placed) {
      const found = await bytesAt(fd, one.offset, RECORD_HEADER_BYTES);
      const header = isLive(found, one) ? decodeHeader(found) : null;
      if (header === null) continue;
      await this.#writeErased(fd, { offset: one.offset, header });
      erased.records += 1;
      erased.bytes += RECORD_HEADER_BYTES + one.size_bytes;
    }
    return erased;
  }

  async #writeErased(fd: number, { offset: at, header }: FoundRecord): Promise<void> {
    const parts = [encodeHeader({ ...header, is_erased: true })];
    for (let left = header.size_bytes; left > 0; left -= PIECE_BYTES) parts.push(ZEROS.subarray(0, left));
    await writeAll(this.#deps.disk, fd, { parts, bytes: RECORD_HEADER_BYTES + header.size_bytes, at });
  }

  /** Null for a damaged segment, whose live bytes are unknown. */
  async #liveIn(container: string, fd: number): Promise<LiveBytes | null> {
    const live = { records: 0, bytes: 0 };
    const end = await scanSegment(fd, ({ header: { is_erased, size_bytes } }) => {
      if (is_erased) return;
      live.records += 1;
      live.bytes += RECORD_HEADER_BYTES + size_bytes;
    });
    if (end.why !== 'damaged') return live;
    this.#warnOfDamage(container, end);
    return null;
  }

  #warnOfDamage(container: string, { at: damaged_at }: ScanEnd): void {
    this.#deps.warn(
      { segment: container, damaged_at },
      'a segment of audio is damaged: its file is kept, and what is removed from it is overwritten',
    );
  }

  async #removeIfEmpty(container: string): Promise<void> {
    await this.#leave(container);
    const file = this.#pathOf(container);
    const gone = path.join(this.#deps.directory, container + GONE_SUFFIX);
    await renameFile(file, gone).catch(nullIfAbsent);
    const fd = await openFile(gone, 'r').catch(nullIfAbsent);
    if (fd === null) return;
    let live: LiveBytes | null;
    try {
      live = await this.#liveIn(container, fd);
    } finally {
      await closeFile(fd);
    }
    if (live?.records === 0) {
      await unlinkFile(gone).catch(nullIfAbsent);
      this.#live.delete(container);
      return;
    }
    // Somebody has appended meanwhile.
    await renameFile(gone, file).catch(nullIfAbsent);
    this.#live.delete(container);
  }

  /** One process at a time: what another erases in the file that it has written would be lost with that file. */
  async #writeAnew(container: string): Promise<void> {
    const lock = await this.#deps.openNew(`.${container}-anew.tmp`).catch((error: unknown) => {
      if (codeOf(error) !== 'EEXIST') throw error;
      return null; // somebody else does, and this process looks again when something goes
    });
    if (lock === null) return;
    try {
      await this.#writeAnewAlone(container);
    } finally {
      await closeFile(lock.fd);
      await unlinkFile(lock.path).catch(nullIfAbsent);
    }
  }

  /** Rewrites a segment with few live bytes: with holes that take no disk space, so that every place stays valid. */
  async #writeAnewAlone(container: string): Promise<void> {
    const { disk, directory, directory_sync, openNew } = this.#deps;
    await this.#leave(container);
    const file = this.#pathOf(container);
    const from = await openFile(file, 'r').catch(nullIfAbsent);
    if (from === null) return;
    try {
      const found: FoundRecord[] = [];
      const { why, at: ends } = await scanSegment(from, (record) => found.push(record));
      if (why === 'damaged') return;
      const { path: draft, fd } = await openNew(`.${randomUUID()}.tmp`);
      try {
        const head = encodeSegmentHead(await readCheckedAt(from));
        await writeAll(disk, fd, { parts: [head], bytes: head.length, at: 0 });
        for (const record of withHoles(found)) await copyRecord(disk, { from, to: fd, record });
        await truncateFile(fd, ends);
        await disk.sync(fd);
        await renameFile(draft, file);
        await directory_sync.sync(directory);
        // What others did to the old file meanwhile.
        const was_live = new Set(found.flatMap(({ offset, header }) => (header.is_erased ? [] : [offset])));
        const late: FoundRecord[] = [];
        await scanSegment(from, (record) => {
          const is_live = !record.header.is_erased;
          if (was_live.has(record.offset) !== is_live) late.push(record);
        });
        for (const record of late) {
          if (record.header.is_erased) await this.#writeErased(fd, record);
          else await copyRecord(disk, { from, to: fd, record });
        }
        if (late.length > 0) await disk.sync(fd);
      } finally {
        await closeFile(fd);
        await unlinkFile(draft).catch(nullIfAbsent);
      }
    } finally {
      await closeFile(from);
    }
  }

  async #sweepOne(
    container: string,
    { before_ms, claims }: { before_ms: number; claims: AppendedClaims },
  ): Promise<number> {
    const now_ms = this.#deps.machineMs();
    const fd = await openFile(this.#pathOf(container), 'r+').catch(nullIfAbsent);
    if (fd === null) return 0;
    try {
      const { mtimeMs, blocks } = await statOpen(fd);
      const checked_at_ms = await readCheckedAt(fd);
      if (now_ms - checked_at_ms < CHECK_EVERY_MS && mtimeMs < checked_at_ms + CHECK_WRITE_MS) return 0;
      const of_stream = new Map<string, PlacedRecord[]>();
      let has_young = mtimeMs > before_ms;
      const live = { records: 0, bytes: 0 };
      const end = await scanSegment(fd, ({ offset, header }) => {
        const { is_erased, at_ms, stream_id, source_chunk_ref, size_bytes } = header;
        if (is_erased) return;
        live.records += 1;
        live.bytes += RECORD_HEADER_BYTES + size_bytes;
        if (at_ms > before_ms) {
          has_young = true;
          return;
        }
        const placed = { stream_id, container, offset, size_bytes };
        const one = { source_chunk_ref, place: placeOf(container, offset), placed };
        const others = of_stream.get(stream_id);
        if (others === undefined) of_stream.set(stream_id, [one]);
        else others.push(one);
      });
      if (end.why === 'damaged') this.#warnOfDamage(container, end);
      const unclaimed: PlacedBytes[] = [];
      for (const [stream_id, appended] of of_stream) {
        for (let at = 0; at < appended.length; at += CLAIMS_MAX) {
          const asked = appended.slice(at, at + CLAIMS_MAX);
          const claimed = await claims(stream_id, asked);
          for (const [index, { placed }] of asked.entries()) if (claimed[index] === false) unclaimed.push(placed);
        }
      }
      if (unclaimed.length > 0) await this.#erase(container, unclaimed);
      else if (!has_young) {
        await writeCheckedAt(fd, now_ms);
        if (end.why !== 'damaged') await this.#giveBack(container, live, blocks * BLOCK_BYTES);
      }
      return unclaimed.length;
    } finally {
      await closeFile(fd);
    }
  }
}

type PlacedRecord = { source_chunk_ref: string; place: string; placed: PlacedBytes };

function placeOf(container: string, offset: number): string {
  return `${container}@${offset}`;
}

/** Places of consecutive chunks from `at` on. */
export function placesOf(container: string, at: number, chunks: readonly ChunkBytes[]): string[] {
  let offset = at;
  return chunks.map(({ bytes }) => {
    const place = placeOf(container, offset);
    offset += RECORD_HEADER_BYTES + bytes.length;
    return place;
  });
}

function isLive(bytes: Buffer, { stream_id, size_bytes }: PlacedBytes): boolean {
  const header = bytes.length < RECORD_HEADER_BYTES ? null : decodeHeader(bytes.subarray(0, RECORD_HEADER_BYTES));
  return header !== null && !header.is_erased && header.stream_id === stream_id && header.size_bytes === size_bytes;
}

function takeGroup(waiting: WaitingAppend[]): WaitingAppend[] {
  let [count, bytes, parts] = [0, 0, 0];
  for (const next of waiting) {
    bytes += next.bytes;
    parts += next.chunks.length * 2;
    if (count > 0 && (bytes > GROUP_BYTES_MAX || parts > GROUP_PARTS_MAX)) break;
    count += 1;
  }
  return waiting.splice(0, count);
}

/** The records of a segment with one erased record in place of several in a row. */
function withHoles(found: readonly FoundRecord[]): FoundRecord[] {
  const records: FoundRecord[] = [];
  for (const { offset, header } of found) {
    const last = records.at(-1);
    if (header.is_erased && last?.header.is_erased) last.header.size_bytes = offset + header.size_bytes - last.offset;
    else records.push({ offset, header: { ...header } });
  }
  return records;
}

async function copyRecord(
  disk: Disk,
  { from, to, record }: { from: number; to: number; record: FoundRecord },
): Promise<void> {
  const { offset, header } = record;
  const head = encodeHeader(header);
  await writeAll(disk, to, { parts: [head], bytes: head.length, at: offset });
  if (header.is_erased) return;
  for (let done = 0; done < header.size_bytes; done += PIECE_BYTES) {
    const at = offset + RECORD_HEADER_BYTES + done;
    const bytes = await bytesAt(from, at, Math.min(PIECE_BYTES, header.size_bytes - done));
    await writeAll(disk, to, { parts: [bytes], bytes: bytes.length, at });
  }
}
