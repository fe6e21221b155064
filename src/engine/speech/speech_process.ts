import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { NoPlace, type PoolBounds, SharedPool } from '../pools/shared_pool.js';
import { type AudioFrame, readFrames, writeFrame } from './frames.js';
import type { RecognitionOptions, Recognized } from './speech_recognizer.js';

/** The server's side of the process that decodes audio and recognizes speech. It is started when it is first needed. */

/** Audio longer than `length_s_max` is read to there. */
export type RecognizeRequest = { kind: 'recognize'; length_s_max: number } & RecognitionOptions;
/** Samples of 16 bits of one channel at `rate` come back in pieces; of longer audio, `length_s_max` of it. */
export type DecodeRequest = { kind: 'decode'; rate: number; length_s_max: number };
/** Audio longer than `length_s_max` is decoded to there. */
export type MeasureRequest = { kind: 'measure'; length_s_max: number };
export type ProcessRequest = { kind: 'check' } | RecognizeRequest | DecodeRequest | MeasureRequest;
export type RequestFrame = ProcessRequest | { kind: 'piece' } | { kind: 'end' };
export type ProcessAnswer =
  | { kind: 'checked' }
  | ({ kind: 'recognized' } & Recognized)
  | { kind: 'piece' }
  | { kind: 'decoded'; samples: number; is_cut: boolean }
  | { kind: 'measured'; length_s: number }
  | { kind: 'failed'; code: 'NOT_DECODED' | 'FAILED'; message: string };

/** `NOT_DECODED`: no decoder takes the audio. The message is a sentence. */
export class SpeechProcessFailed extends Error {
  override name = 'SpeechProcessFailed';
  readonly code: 'NOT_DECODED' | 'FAILED' | 'EXITED' | 'TIMEOUT' | 'STOPPED';

  constructor(code: SpeechProcessFailed['code'], message: string) {
    super(message);
    this.code = code;
  }
}

type SpeechProcessOptions = {
  /** Null: it only decodes. */
  model_folder: string | null;
  /** Without a request for so long it ends. */
  idle_ms: number;
  /** Without a sign of progress for so long it is killed. */
  silence_ms_max: number;
  /** With more memory than this it is killed; with more than half of it, it ends after the request. */
  memory_bytes_max: number;
  /** Its niceness, as `os.setPriority` takes it. */
  priority: number;
};

/** `owner`: the account whose audio it is. */
export type CallOptions = { owner: string; signal: AbortSignal };
type ProcessCall = {
  request: ProcessRequest;
  audio: AsyncIterable<Uint8Array> | readonly Uint8Array[];
  signal: AbortSignal;
  onPiece: (bytes: Buffer) => Promise<void>;
};
type Child = ChildProcessByStdio<Writable, Readable, null>;
type Running = { child: Child; answers: AsyncGenerator<AudioFrame<ProcessAnswer>> };

const PROGRAM = fileURLToPath(new URL('./speech_process_main.js', import.meta.url));
/** The environment variables that the process gets: the rest may be secret. */
const ENVIRONMENT = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'TZ', 'LD_LIBRARY_PATH', 'DYLD_LIBRARY_PATH'];
/** One call at a time, so that a crash is the fault of one. */
const CALLS: PoolBounds = {
  places_max: 1,
  share_max: 1,
  waiting_max: 1_024,
  waiting_share_max: 64,
  wait_ms_max: Number.POSITIVE_INFINITY, // those that wait are workers, which have bounds of their own
};
const PIECE_BYTES = 1024 * 1024;
const ANSWER_BYTES_MAX = 64 * 1024 * 1024;
const MEMORY_EVERY_MS = 500;
const PAGE_BYTES = 4_096;
const HEAP_MB = 512;

export class SpeechProcess {
  readonly #options: SpeechProcessOptions;
  readonly pool = new SharedPool('speech', CALLS);
  readonly #stopping = new AbortController();
  #running: Running | null = null;
  #idle: NodeJS.Timeout | undefined;

  constructor(options: SpeechProcessOptions) {
    this.#options = options;
  }

  /** Its id while it runs. */
  get pid(): number | null {
    return this.#running?.child.pid ?? null;
  }

  /** Loads the runtime, without the model. Throws SpeechProcessFailed, whose message says why that is not possible. */
  async check(): Promise<void> {
    await this.#ask({ request: { kind: 'check' } }, { owner: '', signal: this.#stopping.signal });
  }

  /** Throws SpeechProcessFailed. */
  async recognize(audio: Uint8Array, options: Omit<RecognizeRequest, 'kind'>, call: CallOptions): Promise<Recognized> {
    const answer = await this.#ask({ request: { kind: 'recognize', ...options }, audio: [audio] }, call);
    if (answer.kind !== 'recognized') throw new Error(`${answer.kind} is no answer to recognize`);
    return answer;
  }

  /**
   * Throws SpeechProcessFailed. `onPiece` gets the samples in their order; what it throws is thrown here. `is_cut`: there
   * was more.
   */
  async decode(
    audio: AsyncIterable<Uint8Array> | readonly Uint8Array[],
    options: Omit<DecodeRequest, 'kind'>,
    { onPiece, ...call }: CallOptions & Pick<ProcessCall, 'onPiece'>,
  ): Promise<{ samples: number; is_cut: boolean }> {
    const answer = await this.#ask({ request: { kind: 'decode', ...options }, audio, onPiece }, call);
    if (answer.kind !== 'decoded') throw new Error(`${answer.kind} is no answer to decode`);
    return answer;
  }

  /** How many seconds audio lasts. Throws SpeechProcessFailed. */
  async measure(
    audio: AsyncIterable<Uint8Array>,
    options: Omit<MeasureRequest, 'kind'>,
    call: CallOptions,
  ): Promise<number> {
    const answer = await this.#ask({ request: { kind: 'measure', ...options }, audio }, call);
    if (answer.kind !== 'measured') throw new Error(`${answer.kind} is no answer to measure`);
    return answer.length_s;
  }

  async close(): Promise<void> {
    this.#stopping.abort();
    this.#end();
  }

  async #ask(
    asked: Pick<ProcessCall, 'request'> & Partial<ProcessCall>,
    { owner, signal: given }: CallOptions,
  ): Promise<ProcessAnswer> {
    const signal = AbortSignal.any([given, this.#stopping.signal]);
    const is_short = asked.request.kind === 'recognize' && asked.request.preview;
    const run = async () => {
      if (signal.aborted) throw stopped();
      clearTimeout(this.#idle);
      try {
        return await this.#run({ audio: [], onPiece: async () => {}, ...asked, signal });
      } finally {
        this.#idle = setTimeout(() => this.#end(), this.#options.idle_ms).unref();
      }
    };
    try {
      return await this.pool.run(owner, run, { is_short, signal });
    } catch (error) {
      throw signal.aborted && error instanceof NoPlace ? stopped() : error;
    }
  }

  async #run({ request, audio, signal, onPiece }: ProcessCall): Promise<ProcessAnswer> {
    const { silence_ms_max, memory_bytes_max } = this.#options;
    const running = this.#running ?? this.#start();
    const { child } = running;
    const killed = new AbortController();
    const kill = (why: SpeechProcessFailed) => {
      killed.abort(why);
      child.kill('SIGKILL');
    };
    const silence = setTimeout(
      () => kill(new SpeechProcessFailed('TIMEOUT', 'The speech process did not answer in time.')),
      silence_ms_max,
    );
    const memory = setInterval(async () => {
      if ((await memoryOf(child)) > memory_bytes_max)
        kill(new SpeechProcessFailed('EXITED', 'The speech process took more memory than it may.'));
    }, MEMORY_EVERY_MS);
    const onAbort = () => kill(stopped());
    signal.addEventListener('abort', onAbort);
    const onProgress = () => void silence.refresh();
    try {
      // A broken pipe is the end of the process, of which the answer tells.
      const sent = send(child.stdin, { request, audio, onProgress }).catch((error: unknown) => {
        if (!isBrokenPipe(error)) throw error;
      });
      const [answer] = await Promise.all([answerOf(running, { onPiece, onProgress }), sent]);
      if (answer.kind === 'failed') throw new SpeechProcessFailed(answer.code, answer.message);
      if ((await memoryOf(child)) > memory_bytes_max / 2) this.#end();
      return answer;
    } catch (error) {
      const is_answer =
        error instanceof SpeechProcessFailed && (error.code === 'NOT_DECODED' || error.code === 'FAILED');
      // It may be in the middle of anything: the next call gets a new one.
      if (!is_answer) this.#end();
      throw killed.signal.aborted ? killed.signal.reason : error;
    } finally {
      clearTimeout(silence);
      clearInterval(memory);
      signal.removeEventListener('abort', onAbort);
    }
  }

  #start(): Running {
    const known = ENVIRONMENT.flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value] as const];
    });
    const { model_folder, priority } = this.#options;
    const args = [`--max-old-space-size=${HEAP_MB}`, PROGRAM, model_folder ?? '', String(priority)];
    const env = Object.fromEntries(known);
    const child = spawn(process.execPath, args, { env, stdio: ['pipe', 'pipe', 'ignore'] });
    for (const one of [child, child.stdin, child.stdout]) one.on('error', () => {});
    const running = { child, answers: readFrames<ProcessAnswer>(child.stdout, ANSWER_BYTES_MAX) };
    child.once('exit', () => {
      if (this.#running === running) this.#running = null;
    });
    this.#running = running;
    return running;
  }

  #end(): void {
    clearTimeout(this.#idle);
    this.#running?.child.kill('SIGKILL');
    this.#running = null;
  }
}

async function answerOf(
  { answers }: Running,
  { onPiece, onProgress }: { onPiece: ProcessCall['onPiece']; onProgress: () => void },
): Promise<ProcessAnswer> {
  for (;;) {
    const { done, value } = await answers.next().catch((error: Error) => {
      throw new SpeechProcessFailed('FAILED', `The speech process gave no answer: ${error.message}.`);
    });
    if (done === true) throw new SpeechProcessFailed('EXITED', 'The speech process ended unexpectedly.');
    onProgress();
    if (value.said.kind !== 'piece') return value.said;
    await onPiece(value.bytes);
  }
}

async function send(
  pipe: Writable,
  { request, audio, onProgress }: Pick<ProcessCall, 'request' | 'audio'> & { onProgress: () => void },
): Promise<void> {
  await writeFrame(pipe, request satisfies RequestFrame);
  for await (const bytes of audio)
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
      await writeFrame(pipe, { kind: 'piece' } satisfies RequestFrame, bytes.subarray(at, at + PIECE_BYTES));
      onProgress();
    }
  await writeFrame(pipe, { kind: 'end' } satisfies RequestFrame);
}

/** Resident bytes of the process; 0 where the system does not say. */
async function memoryOf({ pid }: Child): Promise<number> {
  const text = await readFile(`/proc/${pid}/statm`, 'utf8').catch(() => '');
  return Number(text.split(' ')[1] ?? 0) * PAGE_BYTES;
}

function isBrokenPipe(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'EPIPE' || code === 'ERR_STREAM_DESTROYED' || code === 'ECONNRESET';
}

function stopped(): SpeechProcessFailed {
  return new SpeechProcessFailed('STOPPED', 'The server stopped meanwhile.');
}
