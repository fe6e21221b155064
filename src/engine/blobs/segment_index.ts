/**
 * Which blobs lie in a stream's segments, whoever appended them. What is known may be old: another process appends and
 * removes as well. So a record is looked at again whenever it is used, and segments are when one is not found.
 */
import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { LRUCache } from 'lru-cache';
import { DISK, writeAll } from './disk.js';
import { nullIfAbsent } from './file_errors.js';
import { type RecordLocation, SEGMENT_SUFFIX } from './segment_appender.js';
import { CONTENTS_SUFFIX, readContents, writeContents } from './segment_contents.js';
import { decodeHeader, RECORD_HEADER_BYTES, type RecordHeader, STATE_AT, STATES } from './segment_record.js';

const openFile = promisify(fs.open);
const closeFile = promisify(fs.close);
const statFile = promisify(fs.stat);
const statOpen = promisify(fs.fstat);
const readFile = promisify(fs.read);
const readFolder = promisify(fs.readdir) as (directory: string) => Promise<string[]>;
const renameFile = promisify(fs.rename);
const unlinkFile = promisify(fs.unlink);

/** A segment to which nobody appends any more. Whoever did finds its own name gone. */
const CLOSED_SUFFIX = '.closed';
const SEGMENT_FILE = /^([0-9a-f-]{36})\.(?:seg|closed)$/;
/** Records, of all streams together, whose places are remembered. */
const KNOWN_RECORDS_MAX = 200_000; // ours: some forty megabytes
/** A longer stream counts for so many: one that is not remembered is read from the disk for each of its blobs. */
const STREAM_RECORDS_COUNTED = KNOWN_RECORDS_MAX / 4;
/** Read at once where a header is awaited: a page, in which several small records may lie. */
const SCAN_BYTES = 4_096;
/** Erased at once. */
const RUN_BYTES_MAX = 1_048_576;
/** The number of times that a record is looked up again that was gone when it was to be used. */
const TRIES_MAX = 4;

/** Where a scan stopped: at the segment's end, at a record that is not whole, or at what is no header. */
type ScanEnd = { at: number; why: 'end' | 'torn' | 'damaged' };

interface KnownSegment {
  name: string;
  path: string;
  scanned_to: number;
  end: ScanEnd['why'];
  live: Set<KnownRecord>;
}

export interface KnownRecord {
  segment: KnownSegment;
  name: string;
  offset: number;
  size_bytes: number;
  at_ms: number;
  /** Whether this process knows that it is on disk. */
  is_durable: boolean;
}

interface Index {
  segments: Map<string, KnownSegment>;
  /** Live ones, by name, in the order they were found. */
  records: Map<string, KnownRecord[]>;
  dying: KnownRecord[];
  live: number;
}

export type Warn = (details: Record<string, unknown>, text: string) => void;

export class SegmentIndex {
  readonly #warn: Warn;
  readonly #known = new LRUCache<string, Index>({ maxSize: KNOWN_RECORDS_MAX });
  /** One look at a directory after the other. */
  readonly #looks = new Map<string, Promise<unknown>>();

  constructor(warn: Warn) {
    this.#warn = warn;
  }

  /** Reads a part of a blob: `range` says which, of so many bytes. Null when there is no such blob. */
  async read(
    directory: string,
    name: string,
    range: (size_bytes: number) => { start: number; end: number } | null,
  ): Promise<{ size_bytes: number; bytes: Buffer } | null> {
    for (let tries = 1; ; tries++) {
      const record = await this.#find(directory, name);
      if (record === null) return null;
      const bytes = await readRecord(record, range(record.size_bytes));
      if (bytes !== null) return { size_bytes: record.size_bytes, bytes };
      if (tries >= TRIES_MAX) return null;
      await this.#findAgain(directory, record, { afresh: tries === TRIES_MAX - 1 });
    }
  }

  /** After a record was not where it was known to be. */
  async #findAgain(directory: string, record: KnownRecord, { afresh }: { afresh: boolean }): Promise<void> {
    const { path } = record.segment;
    const index = await this.refresh(directory, { afresh });
    // Its segment was not renamed, so it was erased. What was read afresh has not got it.
    if (!afresh && record.segment.path === path) drop(index, record);
  }

  async has(directory: string, name: string): Promise<boolean> {
    return (await this.read(directory, name, () => null)) !== null;
  }

  /** Whether these bytes are known to be on disk under this name, put since `since_ms`. */
  async isDurable(
    directory: string,
    { header, parts, since_ms }: { header: RecordHeader; parts: Buffer[]; since_ms: number },
  ): Promise<boolean> {
    const known = newest(this.#known.get(directory)?.records.get(header.name));
    if (known === null || !known.is_durable || known.size_bytes !== header.size_bytes) return false;
    if (known.at_ms < since_ms || known.at_ms > header.at_ms) return false;
    const bytes = await readRecord(known, wholeOf(known.size_bytes));
    return bytes?.equals(Buffer.concat(parts)) ?? false;
  }

  /** The newest live record of a name, as far as is known; segments are looked through when none is. */
  async #find(directory: string, name: string): Promise<KnownRecord | null> {
    const known = newest(this.#known.get(directory)?.records.get(name));
    return known ?? newest((await this.refresh(directory)).records.get(name));
  }

  /** Notes that a directory was made just now, so that nothing is in it. */
  begin(directory: string): void {
    this.#remember(directory, emptyIndex());
  }

  /** Notes what this process has just appended, where all else is known. */
  note(directory: string, { segment: name, offset }: RecordLocation, header: RecordHeader): void {
    const index = this.#known.get(directory);
    if (index === undefined) return;
    let segment = index.segments.get(name);
    if (segment === undefined && offset === 0) {
      segment = knownSegment(directory, name + SEGMENT_SUFFIX);
      index.segments.set(name, segment);
    }
    // Otherwise the next look finds it.
    if (segment === undefined || segment.scanned_to < offset) return;
    const { size_bytes, at_ms } = header;
    add(index, { segment, name: header.name, offset, size_bytes, at_ms, is_durable: true });
    segment.scanned_to = Math.max(segment.scanned_to, offset + RECORD_HEADER_BYTES + size_bytes);
    this.#remember(directory, index);
  }

  forget(directory: string): void {
    this.#known.delete(directory);
  }

  /** Forgets all that lies in directories below one. */
  forgetBelow(directory: string): void {
    for (const known of this.#known.keys()) {
      if (known.startsWith(`${directory}${path.sep}`)) this.#known.delete(known);
    }
  }

  /** All live records of a name, the newest last, as the disk has them. */
  async all(directory: string, name: string): Promise<KnownRecord[]> {
    const index = await this.refresh(directory);
    const live: KnownRecord[] = [];
    for (const record of index.records.get(name)?.slice() ?? []) {
      if ((await readRecord(record, null)) === null) drop(index, record);
      else live.push(record);
    }
    return live.sort((a, b) => a.at_ms - b.at_ms);
  }

  /** Names that have a live record, read from the disk, a segment's at a time; a name may come twice. */
  async *names(directory: string): AsyncGenerator<string[]> {
    for (const file of await segmentFiles(directory)) {
      const names: string[] = [];
      await visitSegment(path.join(directory, file), 0, (_, { name, state }) => {
        if (state === 'live') names.push(name);
      });
      yield names;
    }
  }

  /** Erases all records of some names. */
  async eraseNames(directory: string, names: ReadonlySet<string>): Promise<void> {
    const { records } = await this.refresh(directory);
    await this.erase(
      directory,
      [...names].flatMap((name) => records.get(name) ?? []),
    );
  }

  /**
   * Overwrites records' bytes, and removes segments that have no other; resolves when they are gone from the disk. False
   * when somebody else has done so, for all of them.
   */
  async erase(directory: string, records: readonly KnownRecord[]): Promise<boolean> {
    let were_live = false;
    for (const of_segment of bySegment(records)) {
      const [{ segment: known }] = of_segment;
      const fd = await openSegment(known.path, 'r+');
      if (fd !== null && (await eraseRecords(fd, of_segment))) were_live = true;
      const index = this.#known.get(directory);
      if (index === undefined) continue;
      for (const record of of_segment) drop(index, record);
      const segment = index.segments.get(known.name);
      // A segment that was forgotten meanwhile is left to the sweep.
      if (segment !== undefined && (await isEmpty(index, segment))) await this.#removeIfEmpty(directory, segment);
    }
    return were_live;
  }

  /**
   * Finishes what crashes cut off: erases what was being erased, and records behind which a newer one of their name
   * lies; removes segments without a live record. Only what is older than `before_ms`. Resolves with how many records
   * there were. Segments left alone since then get their contents beside them.
   */
  async sweep(directory: string, before_ms: number): Promise<number> {
    const index = emptyIndex();
    for (const file of await segmentFiles(directory)) {
      const segment = knownSegment(directory, file);
      index.segments.set(segment.name, segment);
      await this.#scanFurther(index, segment, { before_ms });
    }
    const left = [...index.dying];
    for (const records of index.records.values()) {
      if (records.length > 1) left.push(...[...records].sort((a, b) => a.at_ms - b.at_ms).slice(0, -1));
    }
    const old = left.filter(({ at_ms }) => at_ms <= before_ms);
    await this.erase(directory, old);
    for (const record of old) drop(index, record);
    for (const segment of index.segments.values()) {
      if (segment.live.size > 0) continue;
      const stats = await statFile(segment.path).catch(nullIfAbsent);
      if (stats !== null && stats.mtimeMs <= before_ms) await this.#removeIfEmpty(directory, segment);
    }
    for (const file of await contentsFiles(directory)) {
      if (!index.segments.has(nameOf(file))) await unlinkFile(path.join(directory, file)).catch(nullIfAbsent);
    }
    return old.length;
  }

  /** Looks for what others have appended or removed. */
  refresh(directory: string, { afresh = false } = {}): Promise<Index> {
    const look = async () => {
      const index = (afresh ? undefined : this.#known.get(directory)) ?? emptyIndex();
      await this.#look(directory, index);
      this.#remember(directory, index);
      return index;
    };
    const run = (this.#looks.get(directory) ?? Promise.resolve()).then(look, look);
    this.#looks.set(directory, run);
    const done = () => {
      if (this.#looks.get(directory) === run) this.#looks.delete(directory);
    };
    run.then(done, done);
    return run;
  }

  async #look(directory: string, index: Index): Promise<void> {
    const files = await segmentFiles(directory);
    const names = new Set(files.map(nameOf));
    for (const segment of index.segments.values()) if (!names.has(segment.name)) dropSegment(index, segment);
    for (const file of files) {
      const name = nameOf(file);
      const segment = index.segments.get(name) ?? knownSegment(directory, file);
      segment.path = path.join(directory, file);
      index.segments.set(name, segment);
      await this.#scanFurther(index, segment);
    }
  }

  async #scanFurther(index: Index, segment: KnownSegment, { before_ms = 0 } = {}): Promise<void> {
    const end = await visitSegment(
      segment.path,
      segment.scanned_to,
      (offset, { name, size_bytes, at_ms, state }) => {
        const record = { segment, name, offset, size_bytes, at_ms, is_durable: false };
        if (state === 'live') add(index, record);
        else if (state === 'dying') index.dying.push(record);
      },
      before_ms,
    );
    if (end === null) return dropSegment(index, segment);
    if (end.why === 'damaged' && segment.end !== 'damaged') this.#warnOfDamage(segment, end.at);
    segment.end = end.why;
    segment.scanned_to = Math.max(segment.scanned_to, end.at);
  }

  #warnOfDamage(segment: KnownSegment, at: number): void {
    this.#warn(
      { segment: path.basename(segment.path), stream: path.basename(path.dirname(segment.path)), damaged_at: at },
      'a segment of audio is damaged: what lies behind is not found, and kept as it is until its stream is removed',
    );
  }

  /**
   * Whoever appends to a segment looks, after each write, whether its name is still there. So it is renamed first and
   * read then: either what was written is seen here, or that the name is gone is seen there.
   */
  async #removeIfEmpty(directory: string, segment: KnownSegment): Promise<void> {
    const closed = path.join(directory, segment.name + CLOSED_SUFFIX);
    if (segment.path !== closed) {
      try {
        await renameFile(segment.path, closed);
      } catch (error) {
        nullIfAbsent(error);
        return;
      }
      segment.path = closed;
    }
    const fd = await openSegment(closed);
    if (fd === null) return;
    try {
      let is_empty = true;
      const { why } = await scan(fd, 0, (_, { state }) => {
        if (state !== 'dead') is_empty = false;
      });
      if (!is_empty || why === 'damaged') return;
    } finally {
      await closeFile(fd);
    }
    await unlinkFile(contentsOf(closed)).catch(nullIfAbsent);
    await unlinkFile(closed).catch(nullIfAbsent);
    const index = this.#known.get(directory);
    if (index?.segments.get(segment.name) === segment) dropSegment(index, segment);
  }

  #remember(directory: string, index: Index): void {
    // The cache would count the same object by its former size.
    this.#known.delete(directory);
    this.#known.set(directory, index, { size: Math.min(1 + index.live + index.dying.length, STREAM_RECORDS_COUNTED) });
  }
}

function knownSegment(directory: string, file: string): KnownSegment {
  return { name: nameOf(file), path: path.join(directory, file), scanned_to: 0, end: 'end', live: new Set() };
}

function emptyIndex(): Index {
  return { segments: new Map(), records: new Map(), dying: [], live: 0 };
}

function wholeOf(size_bytes: number): { start: number; end: number } | null {
  return size_bytes === 0 ? null : { start: 0, end: size_bytes - 1 };
}

function newest(records: KnownRecord[] | undefined): KnownRecord | null {
  let found: KnownRecord | null = null;
  for (const record of records ?? []) if (found === null || record.at_ms >= found.at_ms) found = record;
  return found;
}

function add(index: Index, record: KnownRecord): void {
  const { segment, name, offset } = record;
  const records = index.records.get(name);
  const twin = records?.find((known) => known.segment === segment && known.offset === offset);
  if (twin !== undefined) {
    twin.is_durable ||= record.is_durable;
    return;
  }
  if (records === undefined) index.records.set(name, [record]);
  else records.push(record);
  segment.live.add(record);
  index.live += 1;
}

function drop(index: Index, record: KnownRecord): void {
  const isIt = ({ segment, offset }: KnownRecord) => segment.name === record.segment.name && offset === record.offset;
  index.dying = index.dying.filter((known) => !isIt(known));
  const records = index.records.get(record.name);
  const at = records?.findIndex(isIt) ?? -1;
  if (records === undefined || at < 0) return;
  const [dropped] = records.splice(at, 1);
  if (records.length === 0) index.records.delete(record.name);
  if (dropped !== undefined) dropped.segment.live.delete(dropped);
  index.live -= 1;
}

function dropSegment(index: Index, segment: KnownSegment): void {
  for (const record of segment.live) drop(index, record);
  index.dying = index.dying.filter((record) => record.segment !== segment);
  index.segments.delete(segment.name);
}

/** Whether nothing that is known of a segment is still in use: others may have erased it. */
async function isEmpty(index: Index, segment: KnownSegment): Promise<boolean> {
  for (const record of segment.live) {
    if ((await readRecord(record, null)) !== null) return false;
    drop(index, record);
  }
  return true;
}

type Visit = (offset: number, header: RecordHeader) => void;

/**
 * Visits the records of a segment from an offset on, in the file of its contents where that counts. One that was
 * changed before `before_ms` gets that file. Null when the segment is gone.
 */
async function visitSegment(file: string, from: number, visit: Visit, before_ms = 0): Promise<ScanEnd | null> {
  // Before anything is read: what changes from now on moves its time.
  const stats = await statFile(file).catch(nullIfAbsent);
  if (stats !== null && from > 0 && stats.size === from) return { at: from, why: 'end' };
  if (stats !== null && from === 0) {
    const headers = await readContents(contentsOf(file), stats);
    if (headers !== null) return visitContents(headers, visit);
  }
  const fd = await openSegment(file);
  if (fd === null) return null;
  const headers: Buffer[] = [];
  try {
    const end = await scan(fd, from, (offset, header, bytes) => {
      if (before_ms > 0) headers.push(Buffer.from(bytes));
      visit(offset, header);
    });
    // A full disk must not stop the sweep that may free some of it: another writes them.
    const is_left_alone = stats !== null && from === 0 && stats.size === end.at && stats.mtimeMs <= before_ms;
    if (is_left_alone && end.why === 'end') await writeContents(contentsOf(file), headers, stats).catch(() => {});
    return end;
  } finally {
    await closeFile(fd);
  }
}

function visitContents(headers: RecordHeader[], visit: Visit): ScanEnd {
  let at = 0;
  for (const header of headers) {
    visit(at, header);
    at += RECORD_HEADER_BYTES + header.size_bytes;
  }
  return { at, why: 'end' };
}

/** Visits the records of a segment from an offset on; resolves with where and why it stopped. */
async function scan(
  fd: number,
  from: number,
  visit: (offset: number, header: RecordHeader, bytes: Buffer) => void,
): Promise<ScanEnd> {
  const { size: size_bytes } = await statOpen(fd);
  const window = Buffer.allocUnsafe(SCAN_BYTES);
  let [window_at, window_bytes] = [0, 0];
  for (let at = from; ; ) {
    if (at === size_bytes) return { at, why: 'end' };
    if (at + RECORD_HEADER_BYTES > size_bytes) return { at, why: 'torn' };
    if (at < window_at || at + RECORD_HEADER_BYTES > window_at + window_bytes) {
      window_at = at;
      window_bytes = await readAt(fd, window.subarray(0, Math.min(SCAN_BYTES, size_bytes - at)), at);
      if (window_bytes < RECORD_HEADER_BYTES) return { at, why: 'torn' };
    }
    const bytes = window.subarray(at - window_at, at - window_at + RECORD_HEADER_BYTES);
    const header = decodeHeader(bytes);
    // Zeros: the file was made longer before a crash, what was to be there had not come.
    if (header === null) return { at, why: bytes.every((byte) => byte === 0) ? 'torn' : 'damaged' };
    const next = at + RECORD_HEADER_BYTES + header.size_bytes;
    if (next > size_bytes) return { at, why: 'torn' };
    visit(at, header, bytes);
    at = next;
  }
}

/** The bytes, or null when they are not there any more. Read before the state is: bytes that are overwritten are dying. */
async function readRecord(record: KnownRecord, range: { start: number; end: number } | null): Promise<Buffer | null> {
  const { segment, offset } = record;
  const fd = await openSegment(segment.path);
  if (fd === null) return null;
  try {
    const bytes = Buffer.allocUnsafe(range === null ? 0 : range.end - range.start + 1);
    const at = offset + RECORD_HEADER_BYTES + (range?.start ?? 0);
    if ((await readAt(fd, bytes, at)) < bytes.length) return null;
    const header = await readHeader(fd, offset);
    return isAsKnown(header, record) && header.state === 'live' ? bytes : null;
  } finally {
    await closeFile(fd);
  }
}

/** Whether any was live. One that was erased before is passed over. Closes the file. */
async function eraseRecords(fd: number, records: readonly KnownRecord[]): Promise<boolean> {
  try {
    const states: RecordHeader['state'][] = [];
    for (const run of runsOf(records)) states.push(...(await eraseRun(fd, run)));
    if (states.length > 0) await DISK.sync(fd);
    return states.includes('live');
  } finally {
    await closeFile(fd);
  }
}

/**
 * Erases records that lie one behind the other; gives the states they had, of those that were not erased before. Writes
 * go from front to back: no bytes are gone whose header still says that they live. A record that a crash leaves `dying` is
 * finished by the sweep.
 */
async function eraseRun(fd: number, run: readonly KnownRecord[]): Promise<RecordHeader['state'][]> {
  const from = run[0]?.offset ?? 0;
  const bytes = Buffer.alloc(run.reduce((sum, record) => sum + lengthOf(record), 0));
  await readAt(fd, bytes, from);
  const headers = run.map(({ offset }) => bytes.subarray(offset - from, offset - from + RECORD_HEADER_BYTES));
  const states = run.flatMap((record, nth) => {
    const header = decodeHeader(headers[nth] as Buffer);
    return isAsKnown(header, record) && header.state !== 'dead' ? [header.state] : [];
  });
  if (states.length < run.length) {
    if (run.length === 1) return [];
    return (await Promise.all(run.map((record) => eraseRun(fd, [record])))).flat();
  }
  for (const { offset, size_bytes } of run) {
    const at = offset - from + RECORD_HEADER_BYTES;
    bytes.fill(0, at, at + size_bytes);
  }
  for (const state of ['dying', 'dead'] as const) {
    for (const header of headers) header.writeUInt8(STATES[state], STATE_AT);
    await writeAt(fd, bytes, from);
  }
  return states;
}

/** By where they lie: such as follow one another, as many as may be read and written at once. */
function runsOf(records: readonly KnownRecord[]): KnownRecord[][] {
  const runs: KnownRecord[][] = [];
  let [end, left] = [-1, 0];
  for (const record of [...records].sort((a, b) => a.offset - b.offset)) {
    const length = lengthOf(record);
    if (record.offset === end && length <= left) runs.at(-1)?.push(record);
    else {
      runs.push([record]);
      left = RUN_BYTES_MAX;
    }
    end = record.offset + length;
    left -= length;
  }
  return runs;
}

function lengthOf({ size_bytes }: KnownRecord): number {
  return RECORD_HEADER_BYTES + size_bytes;
}

function isAsKnown(header: RecordHeader | null, { name, size_bytes }: KnownRecord): header is RecordHeader {
  return header?.name === name && header.size_bytes === size_bytes;
}

function bySegment(records: readonly KnownRecord[]): [KnownRecord, ...KnownRecord[]][] {
  const lists = new Map<string, [KnownRecord, ...KnownRecord[]]>();
  for (const record of records) {
    const list = lists.get(record.segment.name);
    if (list === undefined) lists.set(record.segment.name, [record]);
    else list.push(record);
  }
  return [...lists.values()];
}

function writeAt(fd: number, bytes: Buffer, at: number): Promise<void> {
  return writeAll(DISK, fd, { parts: [bytes], bytes: bytes.length, at });
}

async function readHeader(fd: number, offset: number): Promise<RecordHeader | null> {
  const bytes = Buffer.allocUnsafe(RECORD_HEADER_BYTES);
  return (await readAt(fd, bytes, offset)) < RECORD_HEADER_BYTES ? null : decodeHeader(bytes);
}

async function segmentFiles(directory: string): Promise<string[]> {
  return ((await readFolder(directory).catch(nullIfAbsent)) ?? []).filter((file) => SEGMENT_FILE.test(file));
}

async function contentsFiles(directory: string): Promise<string[]> {
  return ((await readFolder(directory).catch(nullIfAbsent)) ?? []).filter((file) => file.endsWith(CONTENTS_SUFFIX));
}

/** The name of a segment to which nobody appends any more; null for a file that is not an open segment. */
export function closedName(file: string): string | null {
  return file.endsWith(SEGMENT_SUFFIX) ? file.slice(0, -SEGMENT_SUFFIX.length) + CLOSED_SUFFIX : null;
}

function contentsOf(file: string): string {
  return file.replace(/\.(?:seg|closed)$/, CONTENTS_SUFFIX);
}

function nameOf(file: string): string {
  return file.slice(0, file.indexOf('.'));
}

/** Null when it is gone. One that was closed since its name was read is found as well. */
async function openSegment(file: string, flags: 'r' | 'r+' = 'r'): Promise<number | null> {
  for (const name of [file, closedName(file) ?? file]) {
    try {
      return await openFile(name, flags);
    } catch (error) {
      nullIfAbsent(error);
    }
  }
  return null;
}

/** Fewer bytes than asked for only at the end of the file. */
async function readAt(fd: number, bytes: Buffer, at: number): Promise<number> {
  let read = 0;
  while (read < bytes.length) {
    const { bytesRead } = await readFile(fd, bytes, read, bytes.length - read, at + read);
    if (bytesRead === 0) break;
    read += bytesRead;
  }
  return read;
}
