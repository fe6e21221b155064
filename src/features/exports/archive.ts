import { createHash } from 'node:crypto';
import { PassThrough, pipeline, Readable } from 'node:stream';
import { crc32, createDeflateRaw } from 'node:zlib';
import {
  type DosTime,
  dataDescriptor,
  directoryRecord,
  dosTime,
  endOfDirectory,
  localHeader,
  type ZipEntry,
} from './zip_records.js';

/** The size and the hash of a file in an archive. */
export type Added = { bytes: number; sha256: string };

export type Entry = {
  path: string;
  from: AsyncIterable<Uint8Array>;
  /** False for a file that is compressed already: it is stored as it is. */
  compress: boolean;
};

/** The size of the pieces of the directory. */
const DIRECTORY_PIECE_BYTES = 256 * 1024;

/** A ZIP that is written while it is read: only its directory is held in memory. */
export class Archive {
  readonly #at: DosTime;
  readonly #out = new PassThrough();
  readonly #directory: Buffer[] = [];
  #records: Buffer[] = [];
  #records_bytes = 0;
  #entries = 0;
  #offset = 0;
  #adding: Readable | null = null;
  #fault: Error | null = null;
  /** Called when there is room for more, or never will be. */
  #goOn: () => void = () => {};

  constructor(made_at_ms: number) {
    this.#at = dosTime(made_at_ms);
    this.#out.on('error', () => {}); // whoever reads it hears of that
    this.#out.on('drain', () => this.#goOn());
    this.#out.on('close', () => {
      if (!this.#out.writableFinished) this.destroy(new Error('nobody reads the archive any more'));
      this.#goOn();
    });
  }

  /** The archive's bytes; it is written only as fast as they are read. */
  get bytes(): AsyncIterable<Buffer> {
    return this.#out;
  }

  /** Resolves when the whole file was written. One file at a time. */
  async add({ path, from, compress }: Entry): Promise<Added> {
    const [hash, name] = [createHash('sha256'), Buffer.from(path)];
    const entry: ZipEntry = {
      name,
      is_compressed: compress,
      crc32: 0,
      bytes: 0,
      packed_bytes: 0,
      offset: this.#offset,
    };
    await this.#write(localHeader(entry, this.#at));
    const noted = Readable.from(
      (async function* () {
        for await (const piece of from) {
          hash.update(piece);
          entry.crc32 = crc32(piece, entry.crc32);
          entry.bytes += piece.length;
          yield piece;
        }
      })(),
      { objectMode: false },
    );
    this.#adding = noted;
    // What breaks the one breaks the other, and whoever reads it hears why.
    for await (const piece of compress ? pipeline(noted, createDeflateRaw(), () => {}) : noted) {
      entry.packed_bytes += piece.length;
      await this.#write(piece);
    }
    this.#adding = null;
    await this.#write(dataDescriptor(entry));
    this.#note(directoryRecord(entry, this.#at));
    return { bytes: entry.bytes, sha256: hash.digest('hex') };
  }

  async end(): Promise<void> {
    const [entries, offset] = [this.#entries, this.#offset];
    for (const piece of [...this.#directory, ...this.#records]) await this.#write(piece);
    await this.#write(endOfDirectory({ entries, offset, bytes: this.#offset - offset }));
    this.#out.end();
  }

  /** Ends the archive: adding and reading fail with this fault. */
  destroy(fault: Error): void {
    this.#fault ??= fault;
    this.#adding?.destroy(fault);
    this.#out.destroy(fault);
  }

  async #write(bytes: Buffer): Promise<void> {
    if (this.#fault !== null) throw this.#fault;
    this.#offset += bytes.length;
    if (this.#out.write(bytes)) return;
    await new Promise<void>((resolve) => {
      this.#goOn = resolve;
    });
    if (this.#fault !== null) throw this.#fault;
  }

  #note(record: Buffer): void {
    this.#entries += 1;
    this.#records.push(record);
    this.#records_bytes += record.length;
    if (this.#records_bytes < DIRECTORY_PIECE_BYTES) return;
    this.#directory.push(Buffer.concat(this.#records));
    [this.#records, this.#records_bytes] = [[], 0];
  }
}
