import { type PoolBounds, SharedPool } from '../pools/shared_pool.js';
import { ProcessFailed } from '../process/framed_process.js';
import { type CallOptions, SpeechProcess } from './speech_process.js';

/** Bounds of a process that only decodes, as those of `SpeechProcess`. */
type DecoderOptions = Omit<ConstructorParameters<typeof SpeechProcess>[0], 'model_folder'>;

/** Gives the audio from its beginning; it may be read twice. */
type ReadAudio = () => AsyncIterable<Uint8Array>;
/** `length_s`: how long the audio should be; null where nobody said. Longer audio is decoded up to `length_s_max`. */
type DecodeOptions = { length_s: number | null; length_s_max: number };

/** Decoding that is not over by then goes on, from its beginning, among what is long. */
const SHORT_MS_MAX = 3_000;
/** Audio that should be longer is long from the beginning. */
const SHORT_LENGTH_S_MAX = 600;
/** Places of what is short, and of what is long: each is a process while it is taken. */
const SHORT: PoolBounds = {
  places_max: 3,
  share_max: 1,
  waiting_max: 1_024,
  waiting_share_max: 64,
  wait_ms_max: Number.POSITIVE_INFINITY, // a wait ends with whoever asked
};
const LONG: PoolBounds = { ...SHORT, places_max: 2 };

/**
 * Decodes audio in processes that only do that. An account has one place at a time for what is short and one for what is
 * long, so that long files keep neither others nor what is short of the same account waiting.
 */
export class AudioDecoders {
  readonly short = new SharedPool('short_decodes', SHORT);
  readonly long = new SharedPool('long_decodes', LONG);
  readonly #options: DecoderOptions;
  readonly #idle: SpeechProcess[] = [];
  readonly #all = new Set<SpeechProcess>();
  readonly #stopping = new AbortController();

  constructor(options: DecoderOptions) {
    this.#options = options;
  }

  /** Ids of the processes that run. */
  get pids(): number[] {
    return [...this.#all].flatMap(({ pid }) => pid ?? []);
  }

  /**
   * One channel as samples of 16 bits, given to `onPiece` with their place, in samples. Where decoding begins anew, pieces
   * come again. `is_cut`: there was more. Throws ProcessFailed, and NoPlace.
   */
  decode(
    read: ReadAudio,
    { rate, ...options }: DecodeOptions & { rate: number },
    { onPiece, ...call }: CallOptions & { onPiece: (piece: Buffer, at: number) => Promise<void> },
  ): Promise<{ samples: number; is_cut: boolean }> {
    return this.#run(options, call, async (process, signal) => {
      let at = 0;
      const place = async (piece: Buffer) => {
        await onPiece(piece, at);
        at += piece.length / 2;
      };
      const { length_s_max } = options;
      return process.decode(read(), { rate, length_s_max }, { owner: call.owner, signal, onPiece: place });
    });
  }

  /** How many seconds audio lasts; of longer audio `length_s_max`. Throws ProcessFailed, and NoPlace. */
  measure(read: ReadAudio, options: DecodeOptions, call: CallOptions): Promise<number> {
    const { length_s_max } = options;
    return this.#run(options, call, (process, signal) =>
      process.measure(read(), { length_s_max }, { owner: call.owner, signal }),
    );
  }

  /** Ends whatever is under way. */
  async close(): Promise<void> {
    this.#stopping.abort();
    await Promise.all([...this.#all].map((process) => process.close()));
  }

  async #run<T>(
    { length_s }: DecodeOptions,
    { owner, signal: given }: CallOptions,
    work: (process: SpeechProcess, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const signal = AbortSignal.any([given, this.#stopping.signal]);
    if (length_s === null || length_s <= SHORT_LENGTH_S_MAX) {
      const done = await this.short.run(owner, () => this.#shortly(work, signal), { signal });
      if (done !== 'too long') return done.value;
    }
    return this.long.run(owner, () => this.#withProcess((process) => work(process, signal)), { signal });
  }

  async #shortly<T>(
    work: (process: SpeechProcess, signal: AbortSignal) => Promise<T>,
    signal: AbortSignal,
  ): Promise<{ value: T } | 'too long'> {
    const late = AbortSignal.timeout(SHORT_MS_MAX);
    const either = AbortSignal.any([signal, late]);
    try {
      return { value: await this.#withProcess((process) => work(process, either)) };
    } catch (error) {
      const is_late = error instanceof ProcessFailed && error.code === 'STOPPED' && late.aborted;
      if (!is_late || signal.aborted) throw error;
      return 'too long';
    }
  }

  async #withProcess<T>(work: (process: SpeechProcess) => Promise<T>): Promise<T> {
    const process = this.#idle.pop() ?? new SpeechProcess({ ...this.#options, model_folder: null });
    this.#all.add(process);
    try {
      return await work(process);
    } finally {
      this.#idle.push(process);
    }
  }
}
