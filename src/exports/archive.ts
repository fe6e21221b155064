import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { ZipFile } from 'yazl';

/** What became of a file in an archive. */
export type Added = { bytes: number; sha256: string };

export type Entry = {
  path: string;
  from: AsyncIterable<Uint8Array>;
  /** What is compressed already is only stored. */
  compress: boolean;
};

/** A ZIP that is written as it is read: of what it holds no more is in memory than the names. */
export class Archive {
  readonly #zip = new ZipFile();
  readonly #made_at: Date;
  #adding: Readable | null = null;
  #fault: Error | null = null;

  constructor(made_at_ms: number) {
    this.#made_at = new Date(made_at_ms);
    this.#zip.outputStream.on('error', () => {}); // whoever reads it hears of that
    this.#zip.on('error', (error) => this.destroy(error instanceof Error ? error : new Error(String(error))));
  }

  /** Its bytes; it is for whoever reads them to read on. */
  get bytes(): AsyncIterable<Buffer> {
    return this.#zip.outputStream as unknown as AsyncIterable<Buffer>;
  }

  /** Resolves when all of it was taken up. One at a time. */
  async add({ path, from, compress }: Entry): Promise<Added> {
    if (this.#fault !== null) throw this.#fault;
    const hash = createHash('sha256');
    let bytes = 0;
    const counted = async function* () {
      for await (const piece of from) {
        hash.update(piece);
        bytes += piece.length;
        yield piece;
      }
    };
    const source = Readable.from(counted(), { objectMode: false });
    this.#adding = source;
    await new Promise<void>((resolve, reject) => {
      source.once('end', resolve).once('error', reject);
      this.#zip.addReadStream(source, path, { compress, mtime: this.#made_at, mode: 0o100600 });
    });
    this.#adding = null;
    return { bytes, sha256: hash.digest('hex') };
  }

  end(): void {
    this.#zip.end();
  }

  /** Nobody gets any more of it: whoever adds and whoever reads hears why. */
  destroy(fault: Error): void {
    this.#fault ??= fault;
    this.#adding?.destroy(fault);
    (this.#zip.outputStream as Readable).destroy(fault);
  }
}
