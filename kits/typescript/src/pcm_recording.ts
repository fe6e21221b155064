import { frameBytes, type PcmFormat } from './pcm.js';
import type { StreamQueue } from './stream_queue.js';

const CHUNK_BYTES_MAX = 16 * 1024 * 1024;
const SECOND_MS = 1_000;

/** One recording of plain samples under way: cuts them into chunks, each on disk before the next begins. */
export class PcmRecording {
  readonly source_stream_ref: string;
  readonly #stream: StreamQueue;
  readonly #format: PcmFormat;
  readonly #chunk_frames: number;
  readonly #added: (bytes: number) => Promise<void>;
  /** Samples of the chunk that is not full yet. */
  #pieces: Uint8Array[] = [];
  #bytes = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor(
    stream: StreamQueue,
    { format, chunk_ms, added }: { format: PcmFormat; chunk_ms: number; added: (bytes: number) => Promise<void> },
  ) {
    this.#stream = stream;
    this.#format = format;
    this.#added = added;
    this.#chunk_frames = Math.round((format.sample_rate_hz * chunk_ms) / SECOND_MS);
    this.source_stream_ref = stream.head.source_stream_ref;
    const bytes = this.#chunk_frames * frameBytes(format);
    if (!(chunk_ms >= 1 && this.#chunk_frames >= 1 && bytes <= CHUNK_BYTES_MAX))
      throw new RangeError(`chunk_ms makes chunks of ${bytes} bytes; they may have ${CHUNK_BYTES_MAX}`);
  }

  /** How many frames are on disk. A recording that continues begins with the frame behind these. */
  get frames(): number {
    return this.#stream.last?.end_frame ?? 0;
  }

  get is_ended(): boolean {
    return this.#stream.end_ms !== null;
  }

  /** Takes samples; resolves once each chunk that they fill is on disk. What fills none yet would be lost with the program. */
  write(samples: Uint8Array): Promise<void> {
    const own = Uint8Array.from(samples);
    return this.#inTurn(() => this.#take(own));
  }

  /** The rest becomes the last chunk, and the stream ends there. */
  end(): Promise<void> {
    return this.#inTurn(async () => {
      const whole = this.#bytes - (this.#bytes % frameBytes(this.#format));
      if (whole > 0) await this.#queue(whole);
      await this.#stream.end(this.#stream.last?.source_end_ms ?? 0);
      await this.#added(0);
    });
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => {});
    return done;
  }

  async #take(samples: Uint8Array): Promise<void> {
    if (this.is_ended) throw new Error('The recording has ended.');
    this.#pieces.push(samples);
    this.#bytes += samples.length;
    const chunk_bytes = this.#chunk_frames * frameBytes(this.#format);
    while (this.#bytes >= chunk_bytes) await this.#queue(chunk_bytes);
  }

  async #queue(bytes: number): Promise<void> {
    const all = Buffer.concat(this.#pieces);
    const first = this.frames;
    const end_frame = first + bytes / frameBytes(this.#format);
    const start_ms = this.#stream.last?.source_end_ms ?? 0;
    const { codec, sample_rate_hz, channels } = this.#format;
    const of = {
      ...{
        source_start_ms: start_ms,
        publication_start_ms: start_ms,
        codec,
        container: 'raw',
        sample_rate_hz,
        channels,
      },
      // A last chunk shorter than a millisecond still has to end after it began.
      source_end_ms: Math.max(start_ms + 1, Math.round((end_frame * SECOND_MS) / sample_rate_hz)),
      end_frame,
    };
    await this.#stream.add(of, all.subarray(0, bytes));
    this.#pieces = [all.subarray(bytes)];
    this.#bytes -= bytes;
    await this.#added(bytes);
  }
}
