import { createHash } from 'node:crypto';
import { writeWav } from '../../src/engine/audio/wav.js';
import type { SeededRandom } from '../../src/engine/random/seeded_random.js';
import { speak, type Utterance } from '../speech/audible_script.js';

/** The audio of recorders: WAV files of 8 bit samples, whose rate follows from the size that a chunk shall have. */

const POOL_BYTES = 1 << 20;
const HEADER_BYTES = 44;
const PROMISES_EVERY = 2;

export type RecordedChunk = {
  source_chunk_ref: string;
  sequence: number;
  start_ms: number;
  end_ms: number;
  size_bytes: number;
  sha256: string;
  /** The utterance in it, at ms of the timeline. */
  says: Utterance | null;
  /** The bytes, made anew each time: a fleet's backlog does not fit into memory. */
  bytes(): Buffer;
};

/** Noise from which all chunks are cut; each begins with its own reference, so that no two are alike. */
export class AudioSource {
  readonly #pool: Buffer;
  readonly #fmt: Buffer;
  readonly #samples: number;
  readonly #format: { frames_per_second: number; frame_bytes: number };
  readonly #speech: boolean;
  readonly chunk_ms: number;

  /** `speech`: something is said in each chunk that a scripted engine hears. */
  constructor(
    random: SeededRandom,
    { chunk_ms, chunk_bytes, speech }: { chunk_ms: number; chunk_bytes: number; speech: boolean },
  ) {
    this.#speech = speech;
    this.chunk_ms = chunk_ms;
    this.#pool = Buffer.from(random.bytes(POOL_BYTES));
    const frames_per_second = Math.max(1, Math.round(((chunk_bytes - HEADER_BYTES) * 1_000) / chunk_ms));
    this.#format = { frames_per_second, frame_bytes: 1 };
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
    const utterance = this.#speech ? this.#utterance(source_chunk_ref, sequence) : null;
    const bytes = () => {
      const samples = Buffer.from(this.#pool.subarray(offset, offset + this.#samples));
      samples.write(source_chunk_ref.slice(0, this.#samples), 'latin1');
      if (utterance !== null) speak(samples, this.#format, [utterance]);
      return writeWav({ fmt: this.#fmt }, samples);
    };
    const made = bytes();
    const sha256 = createHash('sha256').update(made).digest('hex');
    const end_ms = start_ms + this.chunk_ms;
    const says = utterance === null ? null : at(utterance, start_ms);
    return { source_chunk_ref, sequence, start_ms, end_ms, size_bytes: made.length, sha256, says, bytes };
  }

  /** Named by the chunk, which no other has; it begins behind the chunk's own reference. Some are promises. */
  #utterance(source_chunk_ref: string, sequence: number): Utterance {
    const [start_ms, end_ms] = [Math.round(this.chunk_ms * 0.1), Math.round(this.chunk_ms * 0.9)];
    const says = sequence % PROMISES_EVERY === 0 ? 'I will see to' : 'This is all of';
    return { text: `${says} ${source_chunk_ref}.`, start_ms, end_ms };
  }
}

function at(utterance: Utterance, from_ms: number): Utterance {
  return { ...utterance, start_ms: utterance.start_ms + from_ms, end_ms: utterance.end_ms + from_ms };
}
