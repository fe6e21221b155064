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
import { partsOf } from './arriving_parts.js';
import {
  type BlobExpectation,
  type BlobStore,
  checkExpectation,
  checkKey,
  checkPrefix,
  isPart,
  OWNER_NAME,
  resolveRange,
  SMALL_BLOB_BYTES_MAX,
} from './blob_store.js';
import { DirectorySync } from './directory_sync.js';
import { DISK, type Disk, writeAll } from './disk.js';
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
/** How often a put makes its directory again when somebody removes it meanwhile. */
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

interface TemporaryFile {
  path: string;
  fd: number;
  written_bytes: number;
}

/** A store in `folder`, which is made when it isn't there. Processes may share a folder. */
export async function openFolderBlobStore(folder: string, options: FolderBlobStoreOptions = {}): Promise<BlobStore> {
  const machineMs = options.machineMs ?? Date.now;
  const root = path.resolve(folder);
  const directory_sync = new DirectorySync();
  const disk = { ...DISK, ...options.disk };
  /** Directories whose own name is durable, in the order they came to be known, and whether blobs may lie there as files. */
  const known_directories = new Map<string, { has_files: boolean }>();
  const index = new SegmentIndex(options.warn ?? (() => {}));
  const appender = new SegmentAppender({
    disk,
    directory_sync,
    openNew,
    segment_bytes_max: options.segment_bytes_max,
    open_files_max: options.open_files_max,
  });

  await fs.promises.mkdir(root, { recursive: true, mode: 0o700 });
  await directory_sync.sync(path.dirname(root));

  async function makeDirectory(directory: string): Promise<void> {
    if (directory === root || known_directories.has(directory)) return;
    const parent = path.dirname(directory);
    await makeDirectory(parent);
    let has_files = false;
    try {
      await fs.promises.mkdir(directory, { mode: 0o700 });
      if (parent !== root) index.begin(directory);
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
      if (parent !== root) has_files = (await fs.promises.readdir(directory)).some(isPart);
    }
    // Also when it was there: whoever made it may not have synced it yet.
    await directory_sync.sync(parent);
    if (known_directories.size >= KNOWN_DIRECTORIES_MAX) {
      for (const oldest of known_directories.keys()) {
        known_directories.delete(oldest);
        break;
      }
    }
    known_directories.set(directory, { has_files });
  }

  function forgetDirectory(directory: string): void {
    for (const known of known_directories.keys()) {
      if (known === directory || known.startsWith(`${directory}${path.sep}`)) known_directories.delete(known);
    }
  }

  async function openNew(directory: string, name: string): Promise<{ path: string; fd: number }> {
    for (let tries = 1; ; tries++) {
      try {
        await makeDirectory(directory);
        const file = path.join(directory, name);
        return { path: file, fd: await openFile(file, 'wx', 0o600) };
      } catch (error) {
        if (codeOf(error) !== 'ENOENT' || tries >= DIRECTORY_TRIES_MAX) throw error;
        // A removal of the whole partition may have taken the parent as well.
        forgetDirectory(path.dirname(directory));
      }
    }
  }

  /** What a directory, of a stream or a partition, was known to hold is gone, or is going. */
  function forgetFolder(directory: string): void {
    forgetDirectory(directory);
    for (const part of [appender, index]) {
      if (path.dirname(directory) === root) part.forgetBelow(directory);
      else part.forget(directory);
    }
  }

  /** Puts a small blob whose bytes are all there. */
  async function append(name: string, parts: Buffer[], { size_bytes, sha256_hex }: BlobExpectation): Promise<void> {
    const directory = path.dirname(name);
    const at_ms = machineMs();
    const header: RecordHeader = { name: path.basename(name), at_ms, size_bytes, sha256_hex, state: 'live' };
    // Not known any more, or another process puts files there: then it is tried.
    const hasFiles = () => known_directories.get(directory)?.has_files ?? true;
    if (!hasFiles() && (await index.isDurable(directory, { header, parts, since_ms: at_ms - SAME_PUT_MS }))) return;
    const place = await appender.append(directory, [encodeHeader(header), ...parts]);
    index.note(directory, place, header);
    if (hasFiles()) await unlinkFile(name).catch(nullIfAbsent);
  }

  // Taken aside before it is looked at: a put may replace it at any moment, and what that one put must not be removed.
  async function removeOlderFile(name: string, age_ms: number): Promise<'removed' | 'young' | 'absent'> {
    try {
      if (machineMs() - (await fs.promises.stat(name)).mtimeMs < age_ms) return 'young';
      const aside = path.join(path.dirname(name), `.${randomUUID()}.tmp`);
      await renameFile(name, aside);
      const is_young = machineMs() - (await fs.promises.stat(aside)).mtimeMs < age_ms;
      if (is_young) await fs.promises.link(aside, name).catch(unlessThere);
      await unlinkFile(aside);
      return is_young ? 'young' : 'removed';
    } catch (error) {
      if (isAbsence(error)) return 'absent';
      throw error;
    }
  }

  return {
    async put(key, stream, expected) {
      checkKey(key);
      checkExpectation(expected);
      const { size_bytes } = expected;
      const name = path.join(root, key);
      const directory = path.dirname(name);
      const hash = createHash('sha256');
      const parts = partsOf(stream);
      let is_at_end = false;
      let seen_bytes = 0;
      let piece: Buffer[] = [];
      let piece_bytes = 0;
      let file: TemporaryFile | null = null;

      const writePiece = async () => {
        file ??= { ...(await openNew(directory, `.${randomUUID()}.tmp`)), written_bytes: 0 };
        if (piece_bytes > 0)
          await writeAll(disk, file.fd, { parts: piece, bytes: piece_bytes, at: file.written_bytes });
        file.written_bytes += piece_bytes;
        piece = [];
        piece_bytes = 0;
        return file;
      };

      try {
        for (;;) {
          let part: IteratorResult<Buffer>;
          try {
            part = await parts.next();
          } catch {
            is_at_end = true;
            return { ok: false, reason: 'aborted' };
          }
          if (part.done === true) break;
          seen_bytes += part.value.length;
          if (seen_bytes > size_bytes) return { ok: false, reason: 'size' };
          hash.update(part.value);
          piece.push(part.value);
          piece_bytes += part.value.length;
          if (size_bytes > SMALL_BLOB_BYTES_MAX && piece_bytes >= PIECE_BYTES) await writePiece();
        }
        is_at_end = true;
        if (seen_bytes !== size_bytes) return { ok: false, reason: 'size' };
        if (hash.digest('hex') !== expected.sha256_hex.toLowerCase()) return { ok: false, reason: 'checksum' };

        if (size_bytes <= RECORD_BLOB_BYTES_MAX) {
          await append(name, piece, expected);
          return { ok: true };
        }
        const written: TemporaryFile = await writePiece();
        await disk.sync(written.fd);
        await renameFile(written.path, name);
        file = null;
        const known = known_directories.get(directory);
        if (known !== undefined) known.has_files = true;
        await Promise.all([closeFile(written.fd), directory_sync.sync(directory)]);
        return { ok: true };
      } finally {
        if (!is_at_end) await parts.return?.();
        if (file !== null) await discard(file);
      }
    },

    async open(key, range = {}) {
      checkKey(key);
      const name = path.join(root, key);
      const handle = await fs.promises.open(name, 'r').catch(nullIfAbsent);
      if (handle === null) {
        const found = await index.read(path.dirname(name), path.basename(name), (size) => resolveRange(size, range));
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
    },

    async has(key) {
      checkKey(key);
      const name = path.join(root, key);
      const stats = await fs.promises.stat(name).catch(nullIfAbsent);
      return stats?.isFile() || index.has(path.dirname(name), path.basename(name));
    },

    // Removals of files are not synced: one that a power cut undoes is found again by the sweep of orphans.
    async remove(key) {
      checkKey(key);
      const name = path.join(root, key);
      let is_removed = (await unlinkFile(name).catch(nullIfAbsent)) !== null;
      for (const record of await index.all(path.dirname(name), path.basename(name))) {
        if (await index.erase(path.dirname(name), record)) is_removed = true;
      }
      return is_removed;
    },

    async partitions() {
      const entries = await fs.promises.readdir(root, { withFileTypes: true });
      return entries.flatMap((entry) => (entry.isDirectory() && isPart(entry.name) ? [entry.name] : []));
    },

    async claim(name) {
      const file = path.join(root, OWNER_NAME);
      const draft = path.join(root, `.${randomUUID()}.tmp`);
      const read = () => fs.promises.readFile(file, 'utf8').catch(nullIfAbsent);
      const owner = await read();
      if (owner !== null) return owner.trim();
      await fs.promises.writeFile(draft, `${name}\n`, { mode: 0o600, flush: true });
      await fs.promises.link(draft, file).catch(unlessThere);
      await unlinkFile(draft);
      await directory_sync.sync(root);
      return ((await read()) ?? name).trim();
    },

    async removeOlder(key, age_ms) {
      checkKey(key);
      const name = path.join(root, key);
      const directory = path.dirname(name);
      const records = await index.all(directory, path.basename(name));
      const newest = records.at(-1);
      if (newest !== undefined && machineMs() - newest.at_ms < age_ms) return 'young';
      const file = await removeOlderFile(name, age_ms);
      if (file === 'young') return 'young';
      // What is put meanwhile lies elsewhere.
      let is_removed = file === 'removed';
      for (const record of records) if (await index.erase(directory, record)) is_removed = true;
      if (!is_removed) return 'absent';
      // The folder of a stream that is gone goes with the last of its bytes; any other has more in it.
      await fs.promises.rmdir(directory).then(
        () => forgetFolder(directory),
        () => {},
      );
      return 'removed';
    },

    async removeFolder(prefix) {
      checkPrefix(prefix);
      const directory = path.join(root, prefix);
      forgetFolder(directory);
      await fs.promises.rm(directory, { recursive: true, force: true, maxRetries: 3 });
      // Again: what was put meanwhile may be gone as well.
      forgetFolder(directory);
    },

    async *list(prefix) {
      if (prefix !== undefined) checkPrefix(prefix);
      for await (const directory of streamFolders(root, prefix)) {
        const folder = path.relative(root, directory).split(path.sep).join('/');
        const listed = new Set<string>();
        for await (const names of blobNames(directory)) {
          for (const name of names) {
            if (listed.has(name)) continue;
            listed.add(name);
            yield `${folder}/${name}`;
          }
        }
      }
    },

    async sweepTemporary(older_than_ms, prefix) {
      if (prefix !== undefined) checkPrefix(prefix);
      const before_ms = machineMs() - older_than_ms;
      let removed = 0;
      for await (const file of filesBelow(prefix === undefined ? root : path.join(root, prefix))) {
        if (!TEMPORARY_NAME.test(path.basename(file))) continue;
        try {
          if ((await fs.promises.stat(file)).mtimeMs > before_ms) continue;
          await unlinkFile(file);
          removed += 1;
        } catch (error) {
          if (!isAbsence(error)) throw error; // Its put has ended meanwhile.
        }
      }
      for await (const directory of streamFolders(root, prefix)) removed += await index.sweep(directory, before_ms);
      return removed;
    },

    async close() {
      await appender.close();
    },
  };

  async function* blobNames(directory: string): AsyncGenerator<string[]> {
    const entries = await fs.promises.opendir(directory).catch(nullIfAbsent);
    if (entries === null) return;
    for await (const entry of entries) if (entry.isFile() && isPart(entry.name)) yield [entry.name];
    yield* index.names(directory);
  }
}

async function discard(file: TemporaryFile): Promise<void> {
  await closeFile(file.fd);
  await unlinkFile(file.path).catch((error) => {
    if (!isAbsence(error)) throw error;
  });
}

/** Folders of streams below a prefix of keys, or all. */
async function* streamFolders(root: string, prefix: string | undefined): AsyncGenerator<string> {
  if (prefix?.includes('/')) return yield path.join(root, prefix);
  const partitions = prefix === undefined ? foldersIn(root) : [path.join(root, prefix)];
  for await (const partition of partitions) yield* foldersIn(partition);
}

async function* foldersIn(directory: string): AsyncGenerator<string> {
  const entries = await fs.promises.opendir(directory).catch(nullIfAbsent);
  if (entries === null) return;
  for await (const entry of entries)
    if (entry.isDirectory() && isPart(entry.name)) yield path.join(directory, entry.name);
}

/** All files. Directories that go meanwhile are passed over. */
async function* filesBelow(directory: string): AsyncGenerator<string> {
  const entries = await fs.promises.opendir(directory).catch(nullIfAbsent);
  if (entries === null) return;
  for await (const entry of entries) {
    const found = path.join(directory, entry.name);
    if (entry.isDirectory()) yield* filesBelow(found);
    else if (entry.isFile()) yield found;
  }
}

function nullIfAbsent(error: unknown): null {
  if (!isAbsence(error)) throw error;
  return null;
}

function unlessThere(error: unknown): void {
  if (codeOf(error) !== 'EEXIST') throw error;
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}

function isAbsence(error: unknown): boolean {
  return codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR';
}
