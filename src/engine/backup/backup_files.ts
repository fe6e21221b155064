import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, opendir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** A file of a backup; `sha256` in hex. */
export type BackupFile = { path: string; bytes: number; sha256: string };

/** Where a file comes from and where it goes; `bytes` is how much of it, all when not given. */
type Copy = { from: string; to: string; bytes?: number };

/** Copies a file for its owner alone, onto disk, and hashes it on the way. Fails where `to` exists. */
export async function copyFile({ from, to, bytes }: Copy): Promise<{ bytes: number; sha256: string }> {
  await mkdir(dirname(to), { recursive: true, mode: 0o700 });
  const hash = createHash('sha256');
  let copied = 0;
  const watched = new Transform({
    transform(part: Buffer, _encoding, done) {
      hash.update(part);
      copied += part.length;
      done(null, part);
    },
  });
  const target = createWriteStream(to, { flags: 'wx', mode: 0o600, flush: true });
  if (bytes === 0) await pipeline([], watched, target);
  else await pipeline(createReadStream(from, bytes === undefined ? {} : { end: bytes - 1 }), watched, target);
  if (bytes !== undefined && copied !== bytes) throw new Error(`${from} became shorter while it was copied`);
  return { bytes: copied, sha256: hash.digest('hex') };
}

export async function hashFile(path: string): Promise<{ bytes: number; sha256: string }> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const part of createReadStream(path)) {
    hash.update(part as Buffer);
    bytes += (part as Buffer).length;
  }
  return { bytes, sha256: hash.digest('hex') };
}

/** Paths of the files in a folder, relative to it. What is no file and no folder (sockets, links) is left out. */
export async function* filesIn(folder: string, under = ''): AsyncGenerator<string> {
  const entries = await opendir(join(folder, under)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []; // gone since its parent was read, or never there
    throw error;
  });
  for await (const entry of entries) {
    const path = join(under, entry.name);
    if (entry.isDirectory()) yield* filesIn(folder, path);
    else if (entry.isFile()) yield path;
  }
}
