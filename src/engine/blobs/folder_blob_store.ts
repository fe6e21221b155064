/**
 * Blobs as files in a folder for each stream or account, and the bytes of small chunks in segments.
 *
 * A file is written under a temporary name, synced, renamed, and its directory synced before `put` resolves. The
 * temporary name lies in the same directory: a rename across directories takes one lock for the whole file system,
 * which measured up to 1.3 times slower with 32 uploads in flight.
 */
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { verified } from './arriving_body.js';
import { type PlacedBytes, placedBytes } from './blob_keys.js';
import {
  type AppendedClaims,
  type ArrivingBytes,
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
  resolveRange,
  SMALL_BLOB_BYTES_MAX,
} from './blob_store.js';
import { DirectorySync } from './directory_sync.js';
import { DISK, type Disk, writeAll } from './disk.js';
import { codeOf, isAbsence, nullIfAbsent, unlessThere } from './file_errors.js';
import { filesBelow, streamFolders } from './folder_walks.js';
import type { ChunkBytes } from './segment_record.js';
import { Segments, type Warn } from './segments.js';

// Handles of fs.promises cost up to a tenth more CPU for an upload of 64 KiB.
const openFile = promisify(fs.open);
const closeFile = promisify(fs.close);
const renameFile = promisify(fs.rename);
const unlinkFile = promisify(fs.unlink);

/** Pieces of a large body are gathered up to this size before they are written. */
const PIECE_BYTES = 262_144;
const KNOWN_DIRECTORIES_MAX = 10_000;
/** The number of times that a put makes its directory again if it is removed meanwhile. */
const DIRECTORY_TRIES_MAX = 3;
/** The folder of the segments: no partition has this name. */
const SEGMENTS = 'segments';
const TEMPORARY_NAME = /^\.[A-Za-z0-9_-]+\.tmp$/;

export interface FolderBlobStoreOptions {
  /** The machine's wall clock, which also stamps files; never the clock that tests move. */
  machineMs?: () => number;
  /** Called for damaged segments. */
  warn?: Warn;
  /** Replaces the file system in tests, which also use smaller bounds. */
  disk?: Partial<Disk>;
  segment_bytes_max?: number;
}

/** Opens a store in `folder`, which is made if it does not exist. Processes may share a folder. */
export async function openFolderBlobStore(folder: string, options: FolderBlobStoreOptions = {}): Promise<BlobStore> {
  const store = new FolderBlobStore(path.resolve(folder), options);
  await store.begin();
  return store;
}

class FolderBlobStore implements BlobStore {
  readonly #root: string;
  readonly #machineMs: () => number;
  readonly #disk: Disk;
  readonly #directory_sync = new DirectorySync();
  /** Directories whose own name is durable, in the order in which they became known. */
  readonly #known = new Set<string>();
  readonly #segments: Segments;

  constructor(root: string, options: FolderBlobStoreOptions) {
    this.#root = root;
    this.#machineMs = options.machineMs ?? Date.now;
    this.#disk = { ...DISK, ...options.disk };
    const directory = path.join(root, SEGMENTS);
    this.#segments = new Segments({
      directory,
      openNew: (name) => this.#openNew(directory, name),
      directory_sync: this.#directory_sync,
      disk: this.#disk,
      machineMs: this.#machineMs,
      warn: options.warn ?? (() => {}),
      segment_bytes_max: options.segment_bytes_max,
    });
  }

  async begin(): Promise<void> {
    await fs.promises.mkdir(this.#root, { recursive: true, mode: 0o700 });
    await this.#directory_sync.sync(path.dirname(this.#root));
  }

  async put(key: string, stream: ArrivingBytes, expected: BlobExpectation): Promise<PutResult> {
    checkKey(key);
    checkExpectation(expected);
    const name = path.join(this.#root, key);
    const directory = path.dirname(name);
    let file: NewFile | null = null;
    try {
      let piece: Buffer[] = [];
      let piece_bytes = 0;
      const write = async () => {
        file ??= { ...(await this.#openNew(directory, `.${randomUUID()}.tmp`)), bytes: 0 };
        await writeAll(this.#disk, file.fd, { parts: piece, bytes: piece_bytes, at: file.bytes });
        file.bytes += piece_bytes;
        [piece, piece_bytes] = [[], 0];
        return file;
      };
      for await (const part of verified(stream, expected)) {
        if ('reason' in part) return { ok: false, reason: part.reason };
        piece.push(part.bytes);
        piece_bytes += part.bytes.length;
        if (piece_bytes >= PIECE_BYTES && expected.size_bytes > SMALL_BLOB_BYTES_MAX) await write();
      }
      const { path: temporary, fd } = await write();
      await this.#disk.sync(fd);
      await renameFile(temporary, name);
      file = null;
      await Promise.all([closeFile(fd), this.#directory_sync.sync(directory)]);
      return { ok: true };
    } finally {
      await discard(file);
    }
  }

  append(chunks: readonly ChunkBytes[]): Promise<string[]> {
    return this.#segments.append(chunks);
  }

  async open(key: string, range: ByteRange = {}): Promise<OpenBlob | null> {
    const placed = placedBytes(key);
    if (placed !== null) {
      const { size_bytes } = placed;
      const asked = resolveRange(size_bytes, range);
      if (asked === null) return (await this.has(key)) ? { size_bytes, stream: Readable.from([]) } : null;
      const bytes = await this.#segments.read(placed, asked);
      return bytes && { size_bytes, stream: Readable.from([bytes], { objectMode: false }) };
    }
    checkKey(key);
    const handle = await fs.promises.open(path.join(this.#root, key), 'r').catch(nullIfAbsent);
    if (handle === null) return null;
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
    const placed = placedBytes(key);
    if (placed !== null) return this.#segments.has(placed);
    checkKey(key);
    const stats = await fs.promises.stat(path.join(this.#root, key)).catch(nullIfAbsent);
    return stats?.isFile() ?? false;
  }

  // Removals of files are not synced: one that a power cut undoes is found again by the sweep.
  async remove(keys: readonly string[]): Promise<void> {
    const appended: PlacedBytes[] = [];
    for (const key of keys) {
      const placed = placedBytes(key);
      if (placed !== null) appended.push(placed);
      else checkKey(key);
    }
    if (appended.length > 0) await this.#segments.erase(appended);
    for (const key of keys)
      if (placedBytes(key) === null) await unlinkFile(path.join(this.#root, key)).catch(nullIfAbsent);
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

  // Taken aside before it is looked at: a put may replace it at any moment, and what that one put must not be removed.
  async removeOlder(key: string, age_ms: number): Promise<'removed' | 'young' | 'absent'> {
    checkKey(key);
    const name = path.join(this.#root, key);
    const directory = path.dirname(name);
    try {
      if (this.#machineMs() - (await fs.promises.stat(name)).mtimeMs < age_ms) return 'young';
      const aside = path.join(directory, `.${randomUUID()}.tmp`);
      await renameFile(name, aside);
      const is_young = this.#machineMs() - (await fs.promises.stat(aside)).mtimeMs < age_ms;
      if (is_young) await fs.promises.link(aside, name).catch(unlessThere);
      await unlinkFile(aside);
      if (is_young) return 'young';
    } catch (error) {
      nullIfAbsent(error);
      return 'absent';
    }
    // The folder of a stream that is gone goes with the last of its bytes; any other has more in it.
    await fs.promises.rmdir(directory).then(
      () => this.#forgetDirectory(directory),
      () => {},
    );
    return 'removed';
  }

  async removeFolder(prefix: string): Promise<void> {
    checkPrefix(prefix);
    const directory = path.join(this.#root, prefix);
    this.#forgetDirectory(directory);
    await fs.promises.rm(directory, { recursive: true, force: true, maxRetries: 3 });
    // Again: what was put meanwhile may be gone as well.
    this.#forgetDirectory(directory);
  }

  async *list(prefix?: string): AsyncGenerator<string> {
    if (prefix !== undefined) checkPrefix(prefix);
    for await (const directory of streamFolders(this.#root, prefix)) {
      const folder = path.relative(this.#root, directory).split(path.sep).join('/');
      const entries = await fs.promises.opendir(directory).catch(nullIfAbsent);
      if (entries === null) continue;
      for await (const entry of entries) if (entry.isFile() && isPart(entry.name)) yield `${folder}/${entry.name}`;
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
    return removed;
  }

  async *sweepAppended(older_than_ms: number, claims: AppendedClaims): AsyncGenerator<number> {
    await this.sweepTemporary(older_than_ms, SEGMENTS);
    yield* this.#segments.sweep(this.#machineMs() - older_than_ms, claims);
  }

  async close(): Promise<void> {
    await this.#segments.close();
  }

  async #makeDirectory(directory: string): Promise<void> {
    if (directory === this.#root || this.#known.has(directory)) return;
    const parent = path.dirname(directory);
    await this.#makeDirectory(parent);
    await fs.promises.mkdir(directory, { mode: 0o700 }).catch(unlessThere);
    // Also when it was there: whoever made it may not have synced it yet.
    await this.#directory_sync.sync(parent);
    if (this.#known.size >= KNOWN_DIRECTORIES_MAX) {
      for (const oldest of this.#known) {
        this.#known.delete(oldest);
        break;
      }
    }
    this.#known.add(directory);
  }

  #forgetDirectory(directory: string): void {
    for (const known of this.#known) {
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
}

type NewFile = { path: string; fd: number; bytes: number };

/** Discards a file that got no name. */
async function discard(file: NewFile | null): Promise<void> {
  if (file === null) return;
  await closeFile(file.fd);
  await unlinkFile(file.path).catch(nullIfAbsent);
}
