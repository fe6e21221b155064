/**
 * Blobs in a folder for each stream: up to 256 KiB as records of a segment to which they are appended, larger ones as
 * files. Where a name is both, the file counts.
 *
 * A file is written under a temporary name, synced, renamed, and its directory synced before `put` resolves. The
 * temporary name lies in the same directory: a rename across directories takes one lock for the whole file system,
 * which measured up to 1.3 times slower with 32 uploads in flight.
 */
import { createHash, randomUUID } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import {
  type BlobExpectation,
  type BlobStore,
  type ByteRange,
  checkExpectation,
  checkKey,
  checkPrefix,
  isPart,
  type OpenBlob,
  OWNER_NAME,
  type PutResult,
  partsOf,
  resolveRange,
  SMALL_BLOB_BYTES_MAX,
  type WholeBlob,
} from './blob_store.js';
import { DirectorySync } from './directory_sync.js';
import { DISK, type Disk, writeAll } from './disk.js';
import { codeOf, isAbsence, nullIfAbsent, unlessThere } from './file_errors.js';
import { filesBelow, streamFolders } from './folder_walks.js';
import { SegmentAppender } from './segment_appender.js';
import { SegmentIndex, type Warn } from './segment_index.js';
import { encodeHeader, RECORD_BLOB_BYTES_MAX, type RecordHeader } from './segment_record.js';

// Handles of fs.promises cost up to a tenth more CPU for an upload of 64 KiB.
const openFile = promisify(fs.open);
const closeFile = promisify(fs.close);
const renameFile = promisify(fs.rename);
const unlinkFile = promisify(fs.unlink);

/** Pieces of a large body are gathered up to this size before they are written. */
const PIECE_BYTES = 262_144;
const KNOWN_DIRECTORIES_MAX = 10_000;
/** The number of times that a put makes its directory again when somebody removes it meanwhile. */
const DIRECTORY_TRIES_MAX = 3;
/** The same bytes put again within this time are the ones that lie there: retries add nothing. */
const SAME_PUT_MS = 10 * 60_000; // ours: far below the age at which what nobody claims is removed
const TEMPORARY_NAME = /^\.[A-Za-z0-9_-]+\.tmp$/;

export interface FolderBlobStoreOptions {
  /** The machine's wall clock, which also stamps files; never the clock that tests move. */
  machineMs?: () => number;
  /** Hears of segments that are damaged. */
  warn?: Warn;
  /** Stands in for the file system in tests, which have smaller bounds as well. */
  disk?: Partial<Disk>;
  segment_bytes_max?: number;
  open_files_max?: number;
}

/** A store in `folder`, which is made when it isn't there. Processes may share a folder. */
export async function openFolderBlobStore(folder: string, options: FolderBlobStoreOptions = {}): Promise<BlobStore> {
  const store = new FolderBlobStore(path.resolve(folder), options);
  await store.begin();
  return store;
}

/** `name`: the path that it would have as a file. */
type SmallBlob = BlobExpectation & { name: string; parts: Buffer[] };

class FolderBlobStore implements BlobStore {
  readonly #root: string;
  readonly #machineMs: () => number;
  readonly #disk: Disk;
  readonly #directory_sync = new DirectorySync();
  /** Directories whose own name is durable, in the order they came to be known, and whether blobs may lie there as files. */
  readonly #known = new Map<string, { has_files: boolean }>();
  readonly #index: SegmentIndex;
  readonly #appender: SegmentAppender;

  constructor(root: string, options: FolderBlobStoreOptions) {
    this.#root = root;
    this.#machineMs = options.machineMs ?? Date.now;
    this.#disk = { ...DISK, ...options.disk };
    this.#index = new SegmentIndex(options.warn ?? (() => {}));
    this.#appender = new SegmentAppender({
      disk: this.#disk,
      directory_sync: this.#directory_sync,
      openNew: (directory, name) => this.#openNew(directory, name),
      segment_bytes_max: options.segment_bytes_max,
      open_files_max: options.open_files_max,
    });
  }

  async begin(): Promise<void> {
    await fs.promises.mkdir(this.#root, { recursive: true, mode: 0o700 });
    await this.#directory_sync.sync(path.dirname(this.#root));
  }

  async put(key: string, stream: Readable | AsyncIterable<Buffer>, expected: BlobExpectation): Promise<PutResult> {
    checkKey(key);
    checkExpectation(expected);
    const name = path.join(this.#root, key);
    const directory = path.dirname(name);
    const body = new ArrivingBody(this.#disk, () => this.#openNew(directory, `.${randomUUID()}.tmp`));
    try {
      const reason = await body.take(partsOf(stream), expected);
      if (reason !== null) return { ok: false, reason };
      if (expected.size_bytes <= RECORD_BLOB_BYTES_MAX) {
        await this.#append(directory, [{ name, parts: body.piece, ...expected }]);
        return { ok: true, parts: body.piece };
      }
      const fd = await body.moveTo(name);
      const known = this.#known.get(directory);
      if (known !== undefined) known.has_files = true;
      await Promise.all([closeFile(fd), this.#directory_sync.sync(directory)]);
      return { ok: true };
    } finally {
      await body.discard();
    }
  }

  async putAll(blobs: readonly WholeBlob[]): Promise<void> {
    const of_directory = new Map<string, SmallBlob[]>();
    const large: WholeBlob[] = [];
    for (const blob of blobs) {
      const { key, bytes, sha256_hex } = blob;
      checkKey(key);
      checkExpectation({ size_bytes: bytes.length, sha256_hex });
      if (bytes.length > RECORD_BLOB_BYTES_MAX) {
        large.push(blob);
        continue;
      }
      const name = path.join(this.#root, key);
      const directory = path.dirname(name);
      const small = of_directory.get(directory);
      const one = { name, parts: [bytes], size_bytes: bytes.length, sha256_hex };
      if (small === undefined) of_directory.set(directory, [one]);
      else small.push(one);
    }
    const puts = [...of_directory].map(([directory, small]) => this.#append(directory, small));
    const files = large.map(({ key, bytes, sha256_hex }) =>
      this.put(key, piecesOf(bytes), { size_bytes: bytes.length, sha256_hex }),
    );
    for (const put of await Promise.all([...puts, ...files]))
      if (put !== undefined && !put.ok) throw new Error(`a blob in memory was refused: ${put.reason}`);
  }

  async open(key: string, range: ByteRange = {}): Promise<OpenBlob | null> {
    checkKey(key);
    const name = path.join(this.#root, key);
    const handle = await fs.promises.open(name, 'r').catch(nullIfAbsent);
    if (handle === null) {
      const found = await this.#index.read(path.dirname(name), path.basename(name), (size) =>
        resolveRange(size, range),
      );
      if (found === null) return null;
      const parts = found.bytes.length === 0 ? [] : [found.bytes];
      return { size_bytes: found.size_bytes, stream: Readable.from(parts, { objectMode: false }) };
    }
    try {
      const { size: size_bytes } = await handle.stat();
      const bytes = resolveRange(size_bytes, range);
      if (bytes !== null) return { size_bytes, stream: handle.createReadStream(bytes) };
      await handle.close();
      return { size_bytes, stream: Readable.from([]) };
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  async has(key: string): Promise<boolean> {
    checkKey(key);
    const name = path.join(this.#root, key);
    const stats = await fs.promises.stat(name).catch(nullIfAbsent);
    return stats?.isFile() || this.#index.has(path.dirname(name), path.basename(name));
  }

  // Removals of files are not synced: one that a power cut undoes is found again by the sweep of orphans.
  async remove(keys: readonly string[]): Promise<void> {
    const folders = new Map<string, Set<string>>();
    for (const key of keys) {
      checkKey(key);
      const directory = path.join(this.#root, path.dirname(key));
      const names = folders.get(directory) ?? new Set();
      folders.set(directory, names.add(path.basename(key)));
    }
    for (const [directory, names] of folders) {
      const files = (await fs.promises.readdir(directory).catch(nullIfAbsent)) ?? [];
      for (const name of files) if (names.has(name)) await unlinkFile(path.join(directory, name)).catch(nullIfAbsent);
      await this.#index.eraseNames(directory, names);
    }
  }

  async partitions(): Promise<string[]> {
    const entries = await fs.promises.readdir(this.#root, { withFileTypes: true });
    return entries.flatMap((entry) => (entry.isDirectory() && isPart(entry.name) ? [entry.name] : []));
  }

  async claim(name: string): Promise<string> {
    const file = path.join(this.#root, OWNER_NAME);
    const draft = path.join(this.#root, `.${randomUUID()}.tmp`);
    const read = () => fs.promises.readFile(file, 'utf8').catch(nullIfAbsent);
    const owner = await read();
    if (owner !== null) return owner.trim();
    await fs.promises.writeFile(draft, `${name}\n`, { mode: 0o600, flush: true });
    await fs.promises.link(draft, file).catch(unlessThere);
    await unlinkFile(draft);
    await this.#directory_sync.sync(this.#root);
    return ((await read()) ?? name).trim();
  }

  async removeOlder(key: string, age_ms: number): Promise<'removed' | 'young' | 'absent'> {
    checkKey(key);
    const name = path.join(this.#root, key);
    const directory = path.dirname(name);
    const records = await this.#index.all(directory, path.basename(name));
    const newest = records.at(-1);
    if (newest !== undefined && this.#machineMs() - newest.at_ms < age_ms) return 'young';
    const file = await this.#removeOlderFile(name, age_ms);
    if (file === 'young') return 'young';
    // What is put meanwhile lies elsewhere.
    let is_removed = file === 'removed';
    if (await this.#index.erase(directory, records)) is_removed = true;
    if (!is_removed) return 'absent';
    // The folder of a stream that is gone goes with the last of its bytes; any other has more in it.
    await fs.promises.rmdir(directory).then(
      () => this.#forgetFolder(directory),
      () => {},
    );
    return 'removed';
  }

  async removeFolder(prefix: string): Promise<void> {
    checkPrefix(prefix);
    const directory = path.join(this.#root, prefix);
    this.#forgetFolder(directory);
    await fs.promises.rm(directory, { recursive: true, force: true, maxRetries: 3 });
    // Again: what was put meanwhile may be gone as well.
    this.#forgetFolder(directory);
  }

  async *list(prefix?: string): AsyncGenerator<string> {
    if (prefix !== undefined) checkPrefix(prefix);
    for await (const directory of streamFolders(this.#root, prefix)) {
      const folder = path.relative(this.#root, directory).split(path.sep).join('/');
      const listed = new Set<string>();
      for await (const names of this.#blobNames(directory)) {
        for (const name of names) {
          if (listed.has(name)) continue;
          listed.add(name);
          yield `${folder}/${name}`;
        }
      }
    }
  }

  async sweepTemporary(older_than_ms: number, prefix?: string): Promise<number> {
    if (prefix !== undefined) checkPrefix(prefix);
    const before_ms = this.#machineMs() - older_than_ms;
    let removed = 0;
    for await (const file of filesBelow(prefix === undefined ? this.#root : path.join(this.#root, prefix))) {
      if (!TEMPORARY_NAME.test(path.basename(file))) continue;
      try {
        if ((await fs.promises.stat(file)).mtimeMs > before_ms) continue;
        await unlinkFile(file);
        removed += 1;
      } catch (error) {
        if (!isAbsence(error)) throw error; // Its put has ended meanwhile.
      }
    }
    for await (const directory of streamFolders(this.#root, prefix))
      removed += await this.#index.sweep(directory, before_ms);
    return removed;
  }

  async close(): Promise<void> {
    await this.#appender.close();
  }

  async #makeDirectory(directory: string): Promise<void> {
    if (directory === this.#root || this.#known.has(directory)) return;
    const parent = path.dirname(directory);
    await this.#makeDirectory(parent);
    let has_files = false;
    try {
      await fs.promises.mkdir(directory, { mode: 0o700 });
      if (parent !== this.#root) this.#index.begin(directory);
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
      if (parent !== this.#root) has_files = (await fs.promises.readdir(directory)).some(isPart);
    }
    // Also when it was there: whoever made it may not have synced it yet.
    await this.#directory_sync.sync(parent);
    if (this.#known.size >= KNOWN_DIRECTORIES_MAX) {
      for (const oldest of this.#known.keys()) {
        this.#known.delete(oldest);
        break;
      }
    }
    this.#known.set(directory, { has_files });
  }

  #forgetDirectory(directory: string): void {
    for (const known of this.#known.keys()) {
      if (known === directory || known.startsWith(`${directory}${path.sep}`)) this.#known.delete(known);
    }
  }

  async #openNew(directory: string, name: string): Promise<{ path: string; fd: number }> {
    for (let tries = 1; ; tries++) {
      try {
        await this.#makeDirectory(directory);
        const file = path.join(directory, name);
        return { path: file, fd: await openFile(file, 'wx', 0o600) };
      } catch (error) {
        if (codeOf(error) !== 'ENOENT' || tries >= DIRECTORY_TRIES_MAX) throw error;
        // A removal of the whole partition may have taken the parent as well.
        this.#forgetDirectory(path.dirname(directory));
      }
    }
  }

  /** Forgets the contents of a directory, of a stream or a partition, that is removed or about to be. */
  #forgetFolder(directory: string): void {
    this.#forgetDirectory(directory);
    for (const part of [this.#appender, this.#index]) {
      if (path.dirname(directory) === this.#root) part.forgetBelow(directory);
      else part.forget(directory);
    }
  }

  /** Puts small blobs of one directory whose bytes are all there, with one sync. */
  async #append(directory: string, blobs: readonly SmallBlob[]): Promise<void> {
    const at_ms = this.#machineMs();
    // Not known any more, or another process puts files there: then it is tried.
    const hasFiles = () => this.#known.get(directory)?.has_files ?? true;
    const records: { header: RecordHeader; parts: Buffer[] }[] = [];
    for (const { name, parts, size_bytes, sha256_hex } of blobs) {
      const header: RecordHeader = { name: path.basename(name), at_ms, size_bytes, sha256_hex, state: 'live' };
      const since_ms = at_ms - SAME_PUT_MS;
      if (!hasFiles() && (await this.#index.isDurable(directory, { header, parts, since_ms }))) continue;
      records.push({ header, parts });
    }
    if (records.length === 0) return;
    const places = await this.#appender.append(
      directory,
      records.map(({ header, parts }) => [encodeHeader(header), ...parts]),
    );
    for (const [index, place] of places.entries())
      this.#index.note(directory, place, (records[index] as (typeof records)[number]).header);
    if (hasFiles()) for (const { name } of blobs) await unlinkFile(name).catch(nullIfAbsent);
  }

  // Taken aside before it is looked at: a put may replace it at any moment, and what that one put must not be removed.
  async #removeOlderFile(name: string, age_ms: number): Promise<'removed' | 'young' | 'absent'> {
    try {
      if (this.#machineMs() - (await fs.promises.stat(name)).mtimeMs < age_ms) return 'young';
      const aside = path.join(path.dirname(name), `.${randomUUID()}.tmp`);
      await renameFile(name, aside);
      const is_young = this.#machineMs() - (await fs.promises.stat(aside)).mtimeMs < age_ms;
      if (is_young) await fs.promises.link(aside, name).catch(unlessThere);
      await unlinkFile(aside);
      return is_young ? 'young' : 'removed';
    } catch (error) {
      if (isAbsence(error)) return 'absent';
      throw error;
    }
  }

  async *#blobNames(directory: string): AsyncGenerator<string[]> {
    const entries = await fs.promises.opendir(directory).catch(nullIfAbsent);
    if (entries === null) return;
    for await (const entry of entries) if (entry.isFile() && isPart(entry.name)) yield [entry.name];
    yield* this.#index.names(directory);
  }
}

async function* piecesOf(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}

/** A body as it comes: a piece in memory, and what went before it in a file that has no lasting name yet. */
class ArrivingBody {
  readonly #disk: Disk;
  readonly #openFile: () => Promise<{ path: string; fd: number }>;
  /** The bytes in memory. */
  piece: Buffer[] = [];
  #piece_bytes = 0;
  #file: { path: string; fd: number; written_bytes: number } | null = null;

  constructor(disk: Disk, open: () => Promise<{ path: string; fd: number }>) {
    this.#disk = disk;
    this.#openFile = open;
  }

  /** Takes all of it; null when it is as announced. */
  async take(
    parts: AsyncIterator<Buffer>,
    { size_bytes, sha256_hex }: BlobExpectation,
  ): Promise<'size' | 'checksum' | 'aborted' | null> {
    const hash = createHash('sha256');
    let is_at_end = false;
    let seen_bytes = 0;
    try {
      for (;;) {
        let part: IteratorResult<Buffer>;
        try {
          part = await parts.next();
        } catch {
          is_at_end = true;
          return 'aborted';
        }
        if (part.done === true) break;
        seen_bytes += part.value.length;
        if (seen_bytes > size_bytes) return 'size';
        hash.update(part.value);
        this.piece.push(part.value);
        this.#piece_bytes += part.value.length;
        if (size_bytes > SMALL_BLOB_BYTES_MAX && this.#piece_bytes >= PIECE_BYTES) await this.#write();
      }
      is_at_end = true;
      if (seen_bytes !== size_bytes) return 'size';
      return hash.digest('hex') === sha256_hex.toLowerCase() ? null : 'checksum';
    } finally {
      if (!is_at_end) await parts.return?.();
    }
  }

  /** Makes the whole of it durable under its name; gives the file, which is the caller's to close. */
  async moveTo(name: string): Promise<number> {
    const { path: temporary, fd } = await this.#write();
    await this.#disk.sync(fd);
    await renameFile(temporary, name);
    this.#file = null;
    return fd;
  }

  /** Lets go of a file that got no name. */
  async discard(): Promise<void> {
    if (this.#file === null) return;
    await closeFile(this.#file.fd);
    await unlinkFile(this.#file.path).catch(nullIfAbsent);
  }

  async #write(): Promise<{ path: string; fd: number }> {
    this.#file ??= { ...(await this.#openFile()), written_bytes: 0 };
    const { fd, written_bytes: at } = this.#file;
    const bytes = this.#piece_bytes;
    if (bytes > 0) await writeAll(this.#disk, fd, { parts: this.piece, bytes, at });
    this.#file.written_bytes += bytes;
    this.piece = [];
    this.#piece_bytes = 0;
    return this.#file;
  }
}
