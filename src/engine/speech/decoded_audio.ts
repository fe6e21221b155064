import { type FileHandle, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { LRUCache } from 'lru-cache';
import { LIMITS } from '../../domain/limits.js';
import { mp4InOrder } from '../audio/mp4_order.js';
import type { BlobStore } from '../blobs/blob_store.js';
import { randomBytes } from '../random/random.js';
import type { SpeechProcess } from './speech_process.js';

/** Samples of 16 bit of one channel; `read`: bytes between two offsets. */
type StoredBlob = { key: string; size_bytes: number };
type DecodedBlob = { samples: number; read(from: number, to: number): AsyncGenerator<Buffer> };

/** `second_decoder`: for what is urgent while the first one is busy. `folder`: where the files lie. */
type DecodedAudioDeps = { decoder: SpeechProcess; second_decoder: SpeechProcess; blobs: BlobStore; folder: string };
/** `urgent`: somebody waits to listen. */
type Decoding = { rate: number; urgent: boolean };
type Kept = { file: FileHandle; samples: number; users: number; is_dropped: boolean };

const PIECE_BYTES = 256 * 1024;
const NEVER = new AbortController().signal;

/**
 * Decodes blobs and keeps what was used last, within bounds: of all bytes, and of time since the last use. The files have no
 * name on the disk, so that nothing of them outlives the process.
 */
export class DecodedAudio {
  readonly #deps: DecodedAudioDeps;
  readonly #kept = new LRUCache<string, Kept>({
    maxSize: LIMITS.decoded_bytes_max,
    ttl: LIMITS.decoded_idle_ms,
    updateAgeOnGet: true,
    ttlAutopurge: true,
    sizeCalculation: ({ samples }) => samples * 2 + 1,
    dispose: (kept) => {
      kept.is_dropped = true;
      closeUnused(kept);
    },
  });
  readonly #under_way = new Map<string, Promise<Kept>>();

  constructor(deps: DecodedAudioDeps) {
    this.#deps = deps;
  }

  /**
   * Gives the use of a decoded blob. Null where the store has no such blob. Throws SpeechProcessFailed where it is not
   * decoded, BlobStoreUnavailable, and what `use` throws.
   */
  async use<Result>(
    blob: StoredBlob,
    decoding: Decoding,
    use: (decoded: DecodedBlob) => Promise<Result>,
  ): Promise<Result | null> {
    const kept = await this.#acquire(blob, decoding);
    if (kept === null) return null;
    try {
      return await use({ samples: kept.samples, read: (from, to) => readFile(kept.file, from, to) });
    } finally {
      release(kept);
    }
  }

  /** Bytes of the samples of a decoded blob; as many as there are. Throws as `use`. */
  async *read(
    blob: StoredBlob,
    decoding: Decoding,
    { from, to }: { from: number; to: number },
  ): AsyncGenerator<Buffer> {
    const kept = await this.#acquire(blob, decoding);
    if (kept === null) return;
    try {
      yield* readFile(kept.file, from, to);
    } finally {
      release(kept);
    }
  }

  close(): void {
    this.#kept.clear();
  }

  /** To be released. Deleted audio is not read again, though it is still kept here. */
  async #acquire(blob: StoredBlob, decoding: Decoding): Promise<Kept | null> {
    const name = `${blob.key} ${decoding.rate}`;
    if (!(await this.#deps.blobs.has(blob.key))) {
      this.#kept.delete(name);
      return null;
    }
    const kept = this.#kept.get(name) ?? (await this.#decodeOnce(name, blob, decoding));
    kept.users += 1;
    // One that is larger than all that may be kept goes after this use.
    if (this.#kept.get(name) !== kept) kept.is_dropped = !this.#kept.set(name, kept).has(name);
    return kept;
  }

  #decodeOnce(name: string, blob: StoredBlob, decoding: Decoding): Promise<Kept> {
    const running = this.#under_way.get(name);
    if (running !== undefined) return running;
    const started = this.#decode(blob, decoding).finally(() => this.#under_way.delete(name));
    this.#under_way.set(name, started);
    return started;
  }

  async #decode({ key, size_bytes }: StoredBlob, { rate, urgent }: Decoding): Promise<Kept> {
    const { decoder: first, second_decoder, blobs, folder } = this.#deps;
    const decoder = urgent && first.is_busy ? second_decoder : first;
    const file = await nameless(folder);
    const read = async (start: number, length: number) => {
      const opened = await blobs.open(key, { start, end: start + length - 1 });
      return opened === null ? Buffer.alloc(0) : Buffer.concat(await opened.stream.toArray());
    };
    try {
      const options = { rate, length_s_max: LIMITS.decoded_s_max };
      const onPiece = async (piece: Buffer) => void (await file.write(piece));
      const { samples } = await decoder.decode(mp4InOrder({ size_bytes, read }), options, { signal: NEVER, onPiece });
      return { file, samples, users: 0, is_dropped: false };
    } catch (error) {
      await file.close();
      throw error;
    }
  }
}

async function nameless(folder: string): Promise<FileHandle> {
  const path = join(folder, `.decoded-${Buffer.from(randomBytes(8)).toString('hex')}`);
  const file = await open(path, 'wx+', 0o600);
  await unlink(path);
  return file;
}

function release(kept: Kept): void {
  kept.users -= 1;
  closeUnused(kept);
}

function closeUnused(kept: Kept): void {
  if (kept.is_dropped && kept.users === 0) void kept.file.close().catch(() => {});
}

async function* readFile(file: FileHandle, from: number, to: number): AsyncGenerator<Buffer> {
  for (let at = from; at < to; ) {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(Math.min(PIECE_BYTES, to - at)), 0, undefined, at);
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
    at += bytesRead;
  }
}
