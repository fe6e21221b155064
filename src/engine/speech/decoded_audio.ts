import { LRUCache } from 'lru-cache';
import { LIMITS } from '../../domain/limits.js';
import { decoderInput } from '../audio/decoder_input.js';
import type { BlobStore } from '../blobs/blob_store.js';
import { UnnamedFile } from '../blobs/unnamed_file.js';
import { ProcessFailed } from '../process/framed_process.js';
import type { AudioDecoders } from './audio_decoders.js';
import type { CallOptions } from './speech_process.js';

const DECODED_BYTES_MAX = 2 * 1024 ** 3; // ours: decoded audio that a process keeps

type StoredBlob = { key: string; size_bytes: number };
/** `folder`: where the files lie. */
type DecodedAudioDeps = { decoders: AudioDecoders; blobs: BlobStore; folder: string };

/**
 * Samples a second; how long the audio should be; whether decoding goes on when those who asked have what they wanted, since
 * others will want the rest.
 */
type Decoding = { rate: number; length_ms: number; goes_on: boolean };

/**
 * Samples of 16 bit of one channel, as far as they are decoded. `is_cut`: the audio is longer than it should be, and what
 * is more is left out. `read`: bytes between two offsets.
 */
type DecodedBlob = { samples: number; is_cut: boolean; read(from: number, to: number): AsyncGenerator<Buffer> };

const PIECE_BYTES = 256 * 1024;
/** Audio may be so much longer than it should be: recorders round, and encoders put silence around it. */
const LONGER_MS = 5_000;
const LONGER_SHARE = 0.1;
/** So long a decoding goes on that nobody wants: a player asks for another range a moment later. */
const LINGER_MS = 3_000;

/**
 * Decodes blobs and keeps what was used last, within bounds: of all bytes, and of time since the last use. The files have no
 * name on the disk, so that nothing of them outlives the process.
 */
export class DecodedAudio {
  readonly #deps: DecodedAudioDeps;
  readonly #kept = new LRUCache<string, DecodedFile>({
    maxSize: DECODED_BYTES_MAX,
    ttl: LIMITS.decoded_idle_ms,
    updateAgeOnGet: true,
    ttlAutopurge: true,
    sizeCalculation: ({ samples }) => samples * 2 + 1,
    dispose: (file) => file.drop(),
  });
  readonly #under_way = new Map<string, DecodedFile>();

  constructor(deps: DecodedAudioDeps) {
    this.#deps = deps;
  }

  /**
   * Gives the use of a decoded blob: of all of it, or as soon as so many samples are there. Null where the store has no such
   * blob. Throws ProcessFailed where it is not decoded or the signal aborts, NoPlace, BlobStoreUnavailable, and what
   * `use` throws.
   */
  async use<Result>(
    blob: StoredBlob,
    { until = Number.POSITIVE_INFINITY, ...decoding }: Decoding & { until?: number },
    use: (decoded: DecodedBlob) => Promise<Result>,
    call: CallOptions,
  ): Promise<Result | null> {
    const file = await this.#enter(blob, decoding, call);
    if (file === null) return null;
    try {
      await file.reached(until, call.signal);
      return await use({ samples: file.samples, is_cut: file.is_cut, read: (from, to) => file.read(from, to) });
    } finally {
      file.leave();
    }
  }

  /** Bytes of the samples of a decoded blob as they come; as many as there are. Throws as `use`. */
  async *read(
    blob: StoredBlob,
    decoding: Decoding,
    { from, to }: { from: number; to: number },
    call: CallOptions,
  ): AsyncGenerator<Buffer> {
    const file = await this.#enter(blob, decoding, call);
    if (file === null) return;
    try {
      for (let at = from; at < to; ) {
        const end = Math.min(to, at + PIECE_BYTES);
        await file.reached(Math.ceil(end / 2), call.signal);
        const before = at;
        for await (const piece of file.read(at, end)) {
          yield piece;
          at += piece.length;
        }
        if (at === before) return;
      }
    } finally {
      file.leave();
    }
  }

  close(): void {
    for (const file of this.#under_way.values()) file.drop();
    this.#kept.clear();
  }

  /** To be left. Deleted audio is not read again, though it is still kept here. */
  async #enter(blob: StoredBlob, decoding: Decoding, { owner }: CallOptions): Promise<DecodedFile | null> {
    const name = `${blob.key} ${decoding.rate}`;
    if (!(await this.#deps.blobs.has(blob.key))) {
      this.#kept.delete(name);
      return null;
    }
    const under_way = this.#under_way.get(name);
    const found = this.#kept.get(name) ?? (under_way?.stopping.aborted === true ? undefined : under_way);
    const file = found ?? this.#begin(name, { blob, decoding, owner });
    file.enter(decoding.goes_on);
    return file;
  }

  #begin(
    name: string,
    { blob, decoding, owner }: { blob: StoredBlob; decoding: Decoding; owner: string },
  ): DecodedFile {
    const file = new DecodedFile();
    this.#under_way.set(name, file);
    void this.#decode(blob, { ...decoding, owner, file }).finally(() => {
      if (this.#under_way.get(name) === file) this.#under_way.delete(name);
      // One that is larger than all that may be kept goes after this use.
      if (!file.is_whole || !this.#kept.set(name, file).has(name)) file.drop();
    });
    return file;
  }

  /** Never rejects: those who wait for the file hear of it. */
  async #decode(
    { key, size_bytes }: StoredBlob,
    { rate, length_ms, owner, file }: Decoding & { owner: string; file: DecodedFile },
  ): Promise<void> {
    const { decoders, blobs, folder } = this.#deps;
    const read = async (start: number, length: number) => {
      const opened = await blobs.open(key, { start, end: start + length - 1 });
      return opened === null ? Buffer.alloc(0) : Buffer.concat(await opened.stream.toArray());
    };
    try {
      await file.open(folder);
      const length_s = length_ms / 1_000;
      const longer_s = Math.max(LONGER_MS / 1_000, length_s * LONGER_SHARE);
      const options = { rate, length_s, length_s_max: Math.min(LIMITS.decoded_s_max, length_s + longer_s) };
      const onPiece = (piece: Buffer, at: number) => file.write(piece, at);
      const call = { owner, signal: file.stopping, onPiece };
      const { is_cut } = await decoders.decode(() => decoderInput({ size_bytes, read }), options, call);
      file.end({ is_cut: is_cut && options.length_s_max < LIMITS.decoded_s_max });
    } catch (error) {
      file.fail(error);
    }
  }
}

/** The samples of one blob, while they are decoded and afterwards. */
class DecodedFile {
  readonly #stopping = new AbortController();
  readonly #waiting = new Set<() => void>();
  #file: UnnamedFile | null = null;
  #users = 0;
  #goes_on = false;
  #is_dropped = false;
  #failure: { error: unknown } | null = null;
  #lingering: NodeJS.Timeout | undefined;
  samples = 0;
  is_whole = false;
  is_cut = false;

  /** Aborts when nobody wants it any more. */
  get stopping(): AbortSignal {
    return this.#stopping.signal;
  }

  enter(goes_on: boolean): void {
    clearTimeout(this.#lingering);
    this.#users += 1;
    this.#goes_on ||= goes_on;
  }

  leave(): void {
    this.#users -= 1;
    if (this.#users > 0) return;
    this.#closeUnused();
    if (!this.is_whole && !this.#goes_on) this.#lingering = setTimeout(() => this.#stopping.abort(), LINGER_MS).unref();
  }

  /** Nobody comes any more; it is closed with its last user. */
  drop(): void {
    this.#is_dropped = true;
    this.#stopping.abort();
    this.#closeUnused();
  }

  async open(folder: string): Promise<void> {
    this.#file = await UnnamedFile.open(folder);
  }

  async write(piece: Buffer, at: number): Promise<void> {
    await this.#file?.write(piece, at * 2);
    this.samples = Math.max(this.samples, at + piece.length / 2);
    this.#wake();
  }

  end({ is_cut }: { is_cut: boolean }): void {
    this.is_whole = true;
    this.is_cut = is_cut;
    this.#wake();
  }

  fail(error: unknown): void {
    this.#failure = { error };
    this.#wake();
  }

  /** Resolves when so many samples are there, or all of them. Throws as `DecodedAudio.use`. */
  async reached(samples: number, signal: AbortSignal): Promise<void> {
    while (!this.is_whole && this.samples < samples) {
      if (this.#failure !== null) throw this.#failure.error;
      if (signal.aborted) throw new ProcessFailed('STOPPED', 'Nobody waits for the audio any more.');
      await new Promise<void>((resolve) => {
        const wake = () => {
          this.#waiting.delete(wake);
          signal.removeEventListener('abort', wake);
          resolve();
        };
        this.#waiting.add(wake);
        signal.addEventListener('abort', wake);
      });
    }
  }

  read(from: number, to: number): AsyncGenerator<Buffer> {
    return (this.#file as UnnamedFile).read(from, to);
  }

  #wake(): void {
    for (const wake of [...this.#waiting]) wake();
  }

  #closeUnused(): void {
    if (this.#is_dropped && this.#users === 0) void this.#file?.close().catch(() => {});
  }
}
