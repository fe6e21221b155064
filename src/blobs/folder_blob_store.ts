/**
 * Blobs as files. A file is written under a temporary name, synced, renamed, and its directory synced before `put`
 * resolves. The temporary name lies in the same directory: a rename across directories takes one lock for the whole
 * file system, which measured up to 1.3 times slower with 32 uploads in flight.
 */
import { createHash, randomUUID } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { partsOf } from './arriving_parts.js';
import {
  type BlobStore,
  checkExpectation,
  checkKey,
  checkPrefix,
  isKey,
  isPart,
  OWNER_NAME,
  resolveRange,
  SMALL_BLOB_BYTES_MAX,
} from './blob_store.js';
import { DirectorySync } from './directory_sync.js';

// Handles of fs.promises cost up to a tenth more CPU for an upload of 64 KiB.
const openFile = promisify(fs.open);
const writeFile = promisify(fs.write);
const writeParts = promisify(fs.writev);
const syncFile = promisify(fs.fdatasync);
const closeFile = promisify(fs.close);
const renameFile = promisify(fs.rename);
const unlinkFile = promisify(fs.unlink);

/** Pieces of a large body are gathered up to this size before they are written. */
const PIECE_BYTES = 262_144;
const KNOWN_DIRECTORIES_MAX = 10_000;
/** How often a put makes its directory again when somebody removes it meanwhile. */
const DIRECTORY_TRIES_MAX = 3;
const TEMPORARY_NAME = /^\.[A-Za-z0-9_-]+\.tmp$/;

export interface FolderBlobStoreOptions {
  /** The machine's wall clock, which also stamps files; never the clock that tests move. */
  machineMs?: () => number;
}

interface TemporaryFile {
  path: string;
  fd: number;
}

/** A store in `folder`, which is made when it isn't there. Processes may share a folder. */
export async function openFolderBlobStore(folder: string, options: FolderBlobStoreOptions = {}): Promise<BlobStore> {
  const machineMs = options.machineMs ?? Date.now;
  const root = path.resolve(folder);
  const directory_sync = new DirectorySync();
  /** Directories whose own name is durable; a Set in order of use. */
  const known_directories = new Set<string>();

  await fs.promises.mkdir(root, { recursive: true, mode: 0o700 });
  await directory_sync.sync(path.dirname(root));

  async function makeDirectory(directory: string): Promise<void> {
    if (directory === root || known_directories.has(directory)) return;
    const parent = path.dirname(directory);
    await makeDirectory(parent);
    try {
      await fs.promises.mkdir(directory, { mode: 0o700 });
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
    }
    // Also when it was there: whoever made it may not have synced it yet.
    await directory_sync.sync(parent);
    if (known_directories.size >= KNOWN_DIRECTORIES_MAX) {
      for (const oldest of known_directories) {
        known_directories.delete(oldest);
        break;
      }
    }
    known_directories.add(directory);
  }

  function forgetDirectory(directory: string): void {
    for (const known of known_directories) {
      if (known === directory || known.startsWith(`${directory}${path.sep}`)) known_directories.delete(known);
    }
  }

  async function openTemporary(directory: string): Promise<TemporaryFile> {
    for (let tries = 1; ; tries++) {
      try {
        await makeDirectory(directory);
        const file = path.join(directory, `.${randomUUID()}.tmp`);
        return { path: file, fd: await openFile(file, 'wx', 0o600) };
      } catch (error) {
        if (codeOf(error) !== 'ENOENT' || tries >= DIRECTORY_TRIES_MAX) throw error;
        // A removal of the whole partition may have taken the parent as well.
        forgetDirectory(path.dirname(directory));
      }
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
        file ??= await openTemporary(directory);
        await writeAll(file.fd, { parts: piece, bytes: piece_bytes });
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

        const written: TemporaryFile = await writePiece();
        await syncFile(written.fd);
        await renameFile(written.path, name);
        file = null;
        await Promise.all([closeFile(written.fd), directory_sync.sync(directory)]);
        return { ok: true };
      } finally {
        if (!is_at_end) await parts.return?.();
        if (file !== null) await discard(file);
      }
    },

    async open(key, range = {}) {
      checkKey(key);
      const handle = await fs.promises.open(path.join(root, key), 'r').catch(nullIfAbsent);
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
    },

    async has(key) {
      checkKey(key);
      const stats = await fs.promises.stat(path.join(root, key)).catch(nullIfAbsent);
      return stats?.isFile() ?? false;
    },

    // Removals are not synced: one that a power cut undoes is found again by the sweep of orphans.
    async remove(key) {
      checkKey(key);
      try {
        await unlinkFile(path.join(root, key));
        return true;
      } catch (error) {
        if (isAbsence(error)) return false;
        throw error;
      }
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

    // Taken aside before it is looked at: a put may replace it at any moment, and what that one put must not be removed.
    async removeOlder(key, age_ms) {
      checkKey(key);
      const name = path.join(root, key);
      const directory = path.dirname(name);
      try {
        if (machineMs() - (await fs.promises.stat(name)).mtimeMs < age_ms) return 'young';
        const aside = path.join(directory, `.${randomUUID()}.tmp`);
        await renameFile(name, aside);
        const is_young = machineMs() - (await fs.promises.stat(aside)).mtimeMs < age_ms;
        if (is_young) await fs.promises.link(aside, name).catch(unlessThere);
        await unlinkFile(aside);
        if (is_young) return 'young';
      } catch (error) {
        if (isAbsence(error)) return 'absent';
        throw error;
      }
      // The folder of a stream that is gone goes with the last of its bytes; any other has more in it.
      forgetDirectory(directory);
      await fs.promises.rmdir(directory).catch(() => {});
      return 'removed';
    },

    async removeFolder(prefix) {
      checkPrefix(prefix);
      const directory = path.join(root, prefix);
      forgetDirectory(directory);
      await fs.promises.rm(directory, { recursive: true, force: true, maxRetries: 3 });
    },

    async *list(prefix) {
      if (prefix !== undefined) checkPrefix(prefix);
      for await (const file of filesBelow(prefix === undefined ? root : path.join(root, prefix))) {
        const key = path.relative(root, file).split(path.sep).join('/');
        if (isKey(key)) yield key;
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
      return removed;
    },

    async close() {},
  };
}

/** Writes parts as they came, without a copy of them in one. A write may be short, on a full disk above all. */
async function writeAll(fd: number, { parts, bytes }: { parts: Buffer[]; bytes: number }): Promise<void> {
  const { bytesWritten } = await writeParts(fd, parts);
  if (bytesWritten === bytes) return;
  const whole = Buffer.concat(parts, bytes);
  for (let at = bytesWritten; at < bytes; ) {
    at += (await writeFile(fd, whole, at, bytes - at, null)).bytesWritten;
  }
}

async function discard(file: TemporaryFile): Promise<void> {
  await closeFile(file.fd);
  await unlinkFile(file.path).catch((error) => {
    if (!isAbsence(error)) throw error;
  });
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
