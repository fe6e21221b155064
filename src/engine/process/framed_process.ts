import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import type { Readable, Writable } from 'node:stream';
import { NoPlace, type PoolBounds, SharedPool } from '../pools/shared_pool.js';
import { type PipeFrame, readFrames, writeFrame } from './frames.js';

/** The server's side of a process that works on one request at a time. It is started when it is first needed. */

/** Frames of a request beside its first one. */
export type FurtherFrame = { kind: 'piece' } | { kind: 'end' };
/** An answer that every such process has: parts of one that follows, and a failure. */
export type CommonAnswer = { kind: 'piece' } | { kind: 'failed'; code: 'NOT_DECODED' | 'FAILED'; message: string };

/** `NOT_DECODED`: no decoder takes the audio. The message is a sentence. */
export class ProcessFailed extends Error {
  override name = 'ProcessFailed';
  readonly code: 'NOT_DECODED' | 'FAILED' | 'EXITED' | 'TIMEOUT' | 'STOPPED';

  constructor(code: ProcessFailed['code'], message: string) {
    super(message);
    this.code = code;
  }
}

/** Bounds of a process. */
export type ProcessBounds = {
  /** Without a request for so long it ends. */
  idle_ms: number;
  /** Without a sign of progress for so long it is killed. */
  silence_ms_max: number;
  /** With more memory than this it is killed; with more than half of it, it ends after the request. */
  memory_bytes_max: number;
  /** Its niceness, as `os.setPriority` takes it. */
  priority: number;
};

type FramedProcessOptions = ProcessBounds & {
  /** Its name in messages and metrics. */
  name: string;
  /** The file that it runs. It gets the folder and the priority as arguments. */
  program: string;
  /** The folder of its model; empty for none. */
  folder: string;
};

/**
 * `owner`: the account that asks. `is_short`: before all that is not. `leaves`: ends the wait for a place, and nothing that
 * has begun.
 */
export type ProcessCallOptions = { owner: string; signal: AbortSignal; is_short?: boolean; leaves?: AbortSignal };
type ProcessCall<Request> = {
  request: Request;
  audio: AsyncIterable<Uint8Array> | readonly Uint8Array[];
  signal: AbortSignal;
  onPiece: (bytes: Buffer) => Promise<void>;
};
type Child = ChildProcessByStdio<Writable, Readable, null>;
type Running<Answer> = { child: Child; answers: AsyncGenerator<PipeFrame<Answer | CommonAnswer>> };

/** The environment variables that the process gets: the rest may be secret. */
const ENVIRONMENT = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'TZ', 'LD_LIBRARY_PATH', 'DYLD_LIBRARY_PATH'];
/** One call at a time, so that a crash is the fault of one. */
const CALLS: PoolBounds = {
  places_max: 1,
  share_max: 1,
  waiting_max: 1_024,
  waiting_share_max: 64,
  wait_ms_max: Number.POSITIVE_INFINITY, // those that wait are workers or questions, which have bounds of their own
};
const PIECE_BYTES = 1024 * 1024;
const ANSWER_BYTES_MAX = 64 * 1024 * 1024;
const MEMORY_EVERY_MS = 500;
const PAGE_BYTES = 4_096;
const HEAP_MB = 512;

export class FramedProcess<Request extends object, Answer extends { kind: string }> {
  readonly #options: FramedProcessOptions;
  readonly pool: SharedPool;
  readonly #stopping = new AbortController();
  #running: Running<Answer> | null = null;
  #idle: NodeJS.Timeout | undefined;

  constructor(options: FramedProcessOptions) {
    this.#options = options;
    this.pool = new SharedPool(options.name, CALLS);
  }

  /** Its id while it runs. */
  get pid(): number | null {
    return this.#running?.child.pid ?? null;
  }

  /** The memory that it takes, in bytes; null while it does not run, and where the system does not say. */
  async memory(): Promise<number | null> {
    return this.#running === null ? null : (await memoryOf(this.#running.child)) || null;
  }

  /** Throws ProcessFailed, and NoPlace. */
  async ask(
    asked: Pick<ProcessCall<Request>, 'request'> & Partial<ProcessCall<Request>>,
    { owner, signal: given, is_short = false, leaves }: ProcessCallOptions,
  ): Promise<Answer> {
    const signal = AbortSignal.any([given, this.#stopping.signal]);
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
      const waits = leaves === undefined ? signal : AbortSignal.any([signal, leaves]);
      return await this.pool.run(owner, run, { is_short, signal: waits });
    } catch (error) {
      throw signal.aborted && error instanceof NoPlace ? stopped() : error;
    }
  }

  async close(): Promise<void> {
    this.#stopping.abort();
    this.#end();
  }

  async #run({ request, audio, signal, onPiece }: ProcessCall<Request>): Promise<Answer> {
    const { name, silence_ms_max, memory_bytes_max } = this.#options;
    const running = this.#running ?? this.#start();
    const { child } = running;
    const killed = new AbortController();
    const kill = (why: ProcessFailed) => {
      killed.abort(why);
      child.kill('SIGKILL');
    };
    const silence = setTimeout(
      () => kill(new ProcessFailed('TIMEOUT', `The ${name} process did not answer in time.`)),
      silence_ms_max,
    );
    const memory = setInterval(async () => {
      if ((await memoryOf(child)) > memory_bytes_max)
        kill(new ProcessFailed('EXITED', `The ${name} process took more memory than it may.`));
    }, MEMORY_EVERY_MS);
    const onAbort = () => kill(stopped());
    signal.addEventListener('abort', onAbort);
    const onProgress = () => void silence.refresh();
    try {
      // A broken pipe is the end of the process, of which the answer tells.
      const sent = send(child.stdin, { request, audio, onProgress }).catch((error: unknown) => {
        if (!isBrokenPipe(error)) throw error;
      });
      const [answer] = await Promise.all([this.#answerOf(running, { onPiece, onProgress }), sent]);
      if ((await memoryOf(child)) > memory_bytes_max / 2) this.#end();
      return answer;
    } catch (error) {
      const is_answer = error instanceof ProcessFailed && (error.code === 'NOT_DECODED' || error.code === 'FAILED');
      // It may be in the middle of anything: the next call gets a new one.
      if (!is_answer) this.#end();
      throw killed.signal.aborted ? killed.signal.reason : error;
    } finally {
      clearTimeout(silence);
      clearInterval(memory);
      signal.removeEventListener('abort', onAbort);
    }
  }

  async #answerOf(
    { answers }: Running<Answer>,
    { onPiece, onProgress }: Pick<ProcessCall<Request>, 'onPiece'> & { onProgress: () => void },
  ): Promise<Answer> {
    const { name } = this.#options;
    for (;;) {
      const { done, value } = await answers.next().catch((error: Error) => {
        throw new ProcessFailed('FAILED', `The ${name} process gave no answer: ${error.message}.`);
      });
      if (done === true) throw new ProcessFailed('EXITED', `The ${name} process ended unexpectedly.`);
      onProgress();
      const { said, bytes } = value;
      if (isFailed(said)) throw new ProcessFailed(said.code, said.message);
      if (said.kind !== 'piece') return said as Answer;
      await onPiece(bytes);
    }
  }

  #start(): Running<Answer> {
    const known = ENVIRONMENT.flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value] as const];
    });
    const { program, folder, priority } = this.#options;
    const args = [`--max-old-space-size=${HEAP_MB}`, program, folder, String(priority)];
    const env = Object.fromEntries(known);
    const child = spawn(process.execPath, args, { env, stdio: ['pipe', 'pipe', 'ignore'] });
    for (const one of [child, child.stdin, child.stdout]) one.on('error', () => {});
    const running = { child, answers: readFrames<Answer | CommonAnswer>(child.stdout, ANSWER_BYTES_MAX) };
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

function isFailed(said: { kind: string }): said is Extract<CommonAnswer, { kind: 'failed' }> {
  return said.kind === 'failed';
}

async function send(
  pipe: Writable,
  {
    request,
    audio,
    onProgress,
  }: Pick<ProcessCall<object>, 'request' | 'audio'> & {
    onProgress: () => void;
  },
): Promise<void> {
  await writeFrame(pipe, request);
  for await (const bytes of audio)
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
      await writeFrame(pipe, { kind: 'piece' } satisfies FurtherFrame, bytes.subarray(at, at + PIECE_BYTES));
      onProgress();
    }
  await writeFrame(pipe, { kind: 'end' } satisfies FurtherFrame);
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

function stopped(): ProcessFailed {
  return new ProcessFailed('STOPPED', 'The server stopped meanwhile.');
}
