import { type FileHandle, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { randomBytes } from '../random/random.js';

const PIECE_BYTES = 256 * 1024;

/** A file without a name on the disk, so that nothing of it outlives the process. */
export class UnnamedFile {
  readonly #file: FileHandle;

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  static async open(folder: string): Promise<UnnamedFile> {
    const path = join(folder, `.unnamed-${Buffer.from(randomBytes(8)).toString('hex')}`);
    const file = await open(path, 'wx+', 0o600);
    await unlink(path);
    return new UnnamedFile(file);
  }

  async write(piece: Uint8Array, at: number): Promise<void> {
    for (let done = 0; done < piece.length; )
      done += (await this.#file.write(piece, done, piece.length - done, at + done)).bytesWritten;
  }

  /** Bytes between two offsets; fewer where the file ends before. */
  async *read(from: number, to: number): AsyncGenerator<Buffer> {
    for (let at = from; at < to; ) {
      const { bytesRead, buffer } = await this.#file.read(
        Buffer.alloc(Math.min(PIECE_BYTES, to - at)),
        0,
        undefined,
        at,
      );
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
      at += bytesRead;
    }
  }

  async close(): Promise<void> {
    await this.#file.close();
  }
}
