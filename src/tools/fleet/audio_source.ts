import { createHash } from 'node:crypto';
import { writeWav } from '../../audio/wav.js';
import type { SeededRandom } from '../../seeded_random.js';

/** What recorders record: WAV files of 8 bit samples, whose rate follows from the size that a chunk shall have. */

const POOL_BYTES = 1 << 20;
const HEADER_BYTES = 44;

export type RecordedChunk = {
  source_chunk_ref: string;
  sequence: number;
  start_ms: number;
  end_ms: number;
  size_bytes: number;
  sha256: string;
  /** The bytes, made anew each time: a fleet's backlog does not fit into memory. */
  bytes(): Buffer;
};

/** Noise from which all chunks are cut; each begins with its own reference, so that no two are alike. */
export class AudioSource {
  readonly #pool: Buffer;
  readonly #fmt: Buffer;
  readonly #samples: number;
  readonly chunk_ms: number;

  constructor(random: SeededRandom, { chunk_ms, chunk_bytes }: { chunk_ms: number; chunk_bytes: number }) {
    this.chunk_ms = chunk_ms;
    this.#pool = Buffer.from(random.bytes(POOL_BYTES));
    const frames_per_second = Math.max(1, Math.round(((chunk_bytes - HEADER_BYTES) * 1_000) / chunk_ms));
    this.#samples = Math.round((frames_per_second * chunk_ms) / 1_000);
    this.#fmt = Buffer.alloc(16);
    this.#fmt.writeUInt16LE(1, 0); // plain samples
    this.#fmt.writeUInt16LE(1, 2); // one channel
    this.#fmt.writeUInt32LE(frames_per_second, 4);
    this.#fmt.writeUInt32LE(frames_per_second, 8);
    this.#fmt.writeUInt16LE(1, 12); // bytes a frame
    this.#fmt.writeUInt16LE(8, 14); // bits a sample
  }

  chunk(
    random: SeededRandom,
    { sequence, source_chunk_ref }: { sequence: number; source_chunk_ref: string },
  ): RecordedChunk {
    const offset = random.below(POOL_BYTES - this.#samples);
    const start_ms = sequence * this.chunk_ms;
    const bytes = () => {
      const samples = Buffer.from(this.#pool.subarray(offset, offset + this.#samples));
      samples.write(source_chunk_ref.slice(0, this.#samples), 'latin1');
      return writeWav({ fmt: this.#fmt }, samples);
    };
    const made = bytes();
    const sha256 = createHash('sha256').update(made).digest('hex');
    const end_ms = start_ms + this.chunk_ms;
    return { source_chunk_ref, sequence, start_ms, end_ms, size_bytes: made.length, sha256, bytes };
  }
}
