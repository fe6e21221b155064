import { spawn } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { copyFile, open } from 'node:fs/promises';
import { join } from 'node:path';
import { createGunzip } from 'node:zlib';
import { Parser, type ReadEntry } from 'tar';
import { ModelRefused } from './installed_models.js';

/** Unpacks the files of a speech model: plain files alone, below one folder, within bounds. */

const ENTRIES_MAX = 10_000;
const BYTES_MAX = 8 * 1024 * 1024 * 1024;
const TOO_LARGE = `it holds more than ${BYTES_MAX / 1024 ** 3} GiB`;
const PLAIN = new Set(['File', 'OldFile', 'ContiguousFile']);
const SAFE_NAME = /^[A-Za-z0-9][\w.+-]{0,127}$/;
/** The files that models are made of. Samples of audio and scripts are left out. */
const KEPT = /\.(onnx|ort|txt|md|data|weights)$|^(LICEN[CS]E|NOTICE|README)/i;

type Source = AsyncIterable<Uint8Array>;

/**
 * Writes the files of a tar archive, packed by bzip2 or gzip or not at all, into a folder that is there and empty. Files in
 * folders below the archive's first are left out. Throws ModelRefused.
 */
export async function unpackArchive(path: string, folder: string): Promise<void> {
  const unpacking = new Unpacking(folder);
  const { source, ended } = await unpackedOf(path);
  try {
    for await (const piece of source) await unpacking.write(piece as Buffer);
    await ended();
    await unpacking.end();
  } catch (error) {
    if (error instanceof ModelRefused) throw error;
    const { code = '' } = error as NodeJS.ErrnoException;
    if (!/^(Z_|TAR_)/.test(code)) throw error;
    throw new ModelRefused(`The archive is damaged (${(error as Error).message}).`);
  }
}

/** A file that is no archive. */
export async function copyFileTo(path: string, to: string): Promise<void> {
  await copyFile(path, to);
}

class Unpacking {
  readonly #folder: string;
  readonly #parser: Parser;
  readonly #written: Promise<void>[] = [];
  #entries = 0;
  #bytes = 0;
  #bytes_read = 0;
  #has_ended = false;
  #failure: unknown = null;
  #goOn = () => {};

  constructor(folder: string) {
    this.#folder = folder;
    this.#parser = new Parser({ strict: true, onReadEntry: (entry) => this.#take(entry) });
    this.#parser.on('error', (error: unknown) => this.#fail(error));
    this.#parser.on('drain', () => this.#goOn());
    this.#parser.on('eof', () => {
      this.#has_ended = true;
    });
    this.#parser.on('end', () => {
      this.#has_ended = true;
      this.#goOn();
    });
  }

  async write(piece: Buffer): Promise<void> {
    this.#bytes_read += piece.length;
    if (this.#bytes_read > BYTES_MAX) this.#fail(new ModelRefused(`The archive is not taken: ${TOO_LARGE}.`));
    this.#check();
    // The parser would keep what follows the end in memory.
    if (this.#has_ended) return;
    const turn = this.#turn();
    if (!this.#parser.write(piece)) await turn;
    this.#check();
  }

  async end(): Promise<void> {
    const turn = this.#turn();
    this.#parser.end();
    this.#check();
    await turn;
    await Promise.all(this.#written);
    this.#check();
  }

  /** Resolves when the parser goes on, has ended or has failed. */
  #turn(): Promise<void> {
    return new Promise((resolve) => {
      this.#goOn = resolve;
    });
  }

  #take(entry: ReadEntry): void {
    this.#entries += 1;
    this.#bytes += entry.size;
    const problem = problemOf(entry, { entries: this.#entries, bytes: this.#bytes });
    if (problem !== null) this.#fail(new ModelRefused(`The archive is not taken: ${problem}.`));
    const name = this.#failure === null ? keptName(entry) : null;
    if (name === null) entry.resume();
    else
      this.#written.push(
        writeEntry(entry, join(this.#folder, name)).catch((error: unknown) => {
          this.#fail(error);
          entry.resume();
        }),
      );
  }

  #fail(error: unknown): void {
    this.#failure ??= error;
    this.#goOn();
  }

  #check(): void {
    if (this.#failure !== null) throw this.#failure;
  }
}

function problemOf({ path, type }: ReadEntry, { entries, bytes }: { entries: number; bytes: number }): string | null {
  const shown = JSON.stringify(path.slice(0, 100));
  if (entries > ENTRIES_MAX) return `it has more than ${ENTRIES_MAX} files`;
  if (bytes > BYTES_MAX) return TOO_LARGE;
  if (type !== 'Directory' && !PLAIN.has(type)) return `${shown} is neither a file nor a folder`;
  if (path.startsWith('/') || /\\|^[A-Za-z]:/.test(path) || path.split('/').includes('..'))
    return `${shown} leads out of its folder`;
  return null;
}

/** The name of a file of the model; null for all else. */
function keptName({ path, type }: ReadEntry): string | null {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  const name = parts.at(-1) ?? '';
  return PLAIN.has(type) && parts.length <= 2 && SAFE_NAME.test(name) && KEPT.test(name) ? name : null;
}

async function writeEntry(entry: ReadEntry, path: string): Promise<void> {
  const file = await open(path, 'wx', 0o644).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'EEXIST'
      ? new ModelRefused(`The archive is not taken: it has two files ${path.split('/').at(-1)}.`)
      : error;
  });
  try {
    for await (const piece of entry) await file.write(piece as Buffer);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** The bytes of the tar file. `ended` throws where the archive was not whole. */
async function unpackedOf(path: string): Promise<{ source: Source; ended: () => Promise<void> }> {
  const file = await open(path, 'r');
  const head = Buffer.alloc(3);
  await file.read(head, 0, 3, 0).finally(() => file.close());
  if (head.toString('latin1') === 'BZh') return bzip2(path);
  const packed = createReadStream(path);
  if (head[0] !== 0x1f || head[1] !== 0x8b) return { source: packed, ended: async () => {} };
  const unpacked = createGunzip();
  packed.on('error', (error) => unpacked.destroy(error)).pipe(unpacked);
  return { source: unpacked, ended: async () => {} };
}

/** By the system's program: no package of npm that is kept up does it. */
function bzip2(path: string): { source: Source; ended: () => Promise<void> } {
  const child = spawn('bzip2', ['-dc', path], { stdio: ['ignore', 'pipe', 'ignore'] });
  const closed = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  closed.catch(() => {});
  const ended = async () => {
    const code = await closed.catch(() => {
      throw new ModelRefused(
        'The program bzip2 is not installed. Install it, or unpack the archive and pack it by gzip for --from.',
      );
    });
    if (code !== 0) throw new ModelRefused('The archive is damaged (bzip2 does not unpack it).');
  };
  return { source: child.stdout, ended };
}
