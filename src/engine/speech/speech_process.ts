import { fileURLToPath } from 'node:url';
import type { SharedPool } from '../pools/shared_pool.js';
import {
  type CommonAnswer,
  FramedProcess,
  type ProcessBounds,
  type ProcessCallOptions,
} from '../process/framed_process.js';
import type { SpeakerSpan } from './speaker_teller.js';
import type { RecognitionOptions, Recognized } from './speech_recognizer.js';

/** The server's side of the process that decodes audio and recognizes speech. It is started when it is first needed. */

/** Audio longer than `length_s_max` is read to there. */
export type RecognizeRequest = { kind: 'recognize'; length_s_max: number } & RecognitionOptions;
/** Samples of 16 bits of one channel at `rate` come back in pieces; of longer audio, `length_s_max` of it. */
export type DecodeRequest = { kind: 'decode'; rate: number; length_s_max: number };
/** Audio longer than `length_s_max` is decoded to there. */
export type MeasureRequest = { kind: 'measure'; length_s_max: number };
/** `count`: of speakers, as a person said. Audio longer than `length_s_max` is read to there. */
export type TellRequest = { kind: 'tell'; count: number; length_s_max: number };
export type ProcessRequest = { kind: 'check' } | RecognizeRequest | DecodeRequest | MeasureRequest | TellRequest;
type SpeechAnswer =
  | { kind: 'checked' }
  | ({ kind: 'recognized' } & Recognized)
  | { kind: 'decoded'; samples: number; is_cut: boolean }
  | { kind: 'measured'; length_s: number }
  | { kind: 'told'; spans: SpeakerSpan[] | null };
export type ProcessAnswer = SpeechAnswer | CommonAnswer;

/**
 * `model_folder`: null for a process that only decodes. `speakers_folder`: of models of voices beside that one.
 * `english_folder`: of the model that recognizes English; null where `model_folder` does. `name`: in messages and metrics.
 */
type SpeechProcessOptions = ProcessBounds & {
  name?: string;
  model_folder: string | null;
  speakers_folder?: string | null;
  english_folder?: string | null;
};

/** The first argument of the process, as JSON. */
export type ModelFolders = [model: string | null, speakers: string | null, english: string | null];

/** `owner`: the account whose audio it is. */
export type CallOptions = Pick<ProcessCallOptions, 'owner' | 'signal'>;
type OnPiece = (bytes: Buffer) => Promise<void>;

/** It lies beside the server, and not in packages of the command line alone. */
export const SPEECH_PROGRAM = fileURLToPath(new URL('./speech_process_main.js', import.meta.url));

export class SpeechProcess {
  readonly #process: FramedProcess<ProcessRequest, SpeechAnswer>;

  constructor({
    name = 'speech',
    model_folder,
    speakers_folder = null,
    english_folder = null,
    ...bounds
  }: SpeechProcessOptions) {
    const folder = JSON.stringify([model_folder, speakers_folder, english_folder] satisfies ModelFolders);
    this.#process = new FramedProcess({ ...bounds, name, program: SPEECH_PROGRAM, folder });
  }

  get pool(): SharedPool {
    return this.#process.pool;
  }

  /** Its id while it runs. */
  get pid(): number | null {
    return this.#process.pid;
  }

  /** The memory that it takes, in bytes; null while it does not run, and where the system does not say. */
  async memory(): Promise<number | null> {
    return this.#process.memory();
  }

  /** Loads the runtime, without the model. Throws ProcessFailed, whose message says why that is not possible. */
  async check(): Promise<void> {
    await this.#process.ask({ request: { kind: 'check' } }, { owner: '', signal: new AbortController().signal });
  }

  /** Throws ProcessFailed. */
  async recognize(audio: Uint8Array, options: Omit<RecognizeRequest, 'kind'>, call: CallOptions): Promise<Recognized> {
    const request = { kind: 'recognize', ...options } as const;
    const answer = await this.#process.ask({ request, audio: [audio] }, { ...call, is_short: options.preview });
    if (answer.kind !== 'recognized') throw new Error(`${answer.kind} is no answer to recognize`);
    return answer;
  }

  /**
   * Throws ProcessFailed. `onPiece` gets the samples in their order; what it throws is thrown here. `is_cut`: there
   * was more.
   */
  async decode(
    audio: AsyncIterable<Uint8Array> | readonly Uint8Array[],
    options: Omit<DecodeRequest, 'kind'>,
    { onPiece, ...call }: CallOptions & { onPiece: OnPiece },
  ): Promise<{ samples: number; is_cut: boolean }> {
    const answer = await this.#process.ask({ request: { kind: 'decode', ...options }, audio, onPiece }, call);
    if (answer.kind !== 'decoded') throw new Error(`${answer.kind} is no answer to decode`);
    return answer;
  }

  /** How many seconds audio lasts. Throws ProcessFailed. */
  async measure(
    audio: AsyncIterable<Uint8Array>,
    options: Omit<MeasureRequest, 'kind'>,
    call: CallOptions,
  ): Promise<number> {
    const answer = await this.#process.ask({ request: { kind: 'measure', ...options }, audio }, call);
    if (answer.kind !== 'measured') throw new Error(`${answer.kind} is no answer to measure`);
    return answer.length_s;
  }

  /** Speech with its speakers, in seconds of the audio; null where it has fewer voices. Throws ProcessFailed. */
  async tell(
    audio: AsyncIterable<Uint8Array>,
    options: Omit<TellRequest, 'kind'>,
    call: CallOptions,
  ): Promise<SpeakerSpan[] | null> {
    const answer = await this.#process.ask({ request: { kind: 'tell', ...options }, audio }, call);
    if (answer.kind !== 'told') throw new Error(`${answer.kind} is no answer to tell`);
    return answer.spans;
  }

  async close(): Promise<void> {
    await this.#process.close();
  }
}
