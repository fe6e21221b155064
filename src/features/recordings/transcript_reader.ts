import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { TranscriptFile } from '../../domain/transcript_files/transcript_file.js';

const PROGRAM = fileURLToPath(new URL('./transcript_reader_main.js', import.meta.url));
const MS_MAX = 20_000;
const HEAP_MB = 256;
const TOO_MUCH = 'takes too much time or memory to read';

/** Threads that wait for the next file: to start one takes longer than most files take. */
const IDLE_MAX = 2;
const IDLE_MS = 10_000;
/** A thread that has read more is ended, and its memory goes with it. */
const KEPT_AFTER_BYTES_MAX = 1024 * 1024;

/** `why` completes "The transcript …". */
export type TranscriptRead = { ok: true; file: TranscriptFile } | { ok: false; why: string };

/** Reads transcripts that other programs made, each in a thread of its own, within bounds of time and memory. */
export class TranscriptReaders {
  readonly #idle = new Map<Worker, NodeJS.Timeout>();
  #is_closed = false;

  /** Rejects when the signal aborts. */
  async read(bytes: Uint8Array, signal: AbortSignal): Promise<TranscriptRead> {
    signal.throwIfAborted();
    const worker = this.#taken();
    let is_kept = false;
    try {
      const answer = await answerOf(worker, bytes, signal);
      is_kept = answer !== null && bytes.length <= KEPT_AFTER_BYTES_MAX;
      return answer ?? { ok: false, why: TOO_MUCH };
    } finally {
      if (is_kept) this.#keep(worker);
      else await worker.terminate();
    }
  }

  async close(): Promise<void> {
    this.#is_closed = true;
    await Promise.all([...this.#idle.keys()].map((worker) => this.#end(worker)));
  }

  #taken(): Worker {
    const [idle] = this.#idle.keys();
    if (idle === undefined) return new Worker(PROGRAM, { resourceLimits: { maxOldGenerationSizeMb: HEAP_MB } });
    clearTimeout(this.#idle.get(idle));
    this.#idle.delete(idle);
    idle.removeAllListeners('error').ref();
    return idle;
  }

  #keep(worker: Worker): void {
    // All listeners would be those of the port as well, which the thread would not hear from then on.
    worker.removeAllListeners('message').removeAllListeners('error').unref();
    const end = () => void this.#end(worker);
    worker.once('error', end);
    this.#idle.set(worker, setTimeout(end, IDLE_MS).unref());
    if (this.#is_closed || this.#idle.size > IDLE_MAX) end();
  }

  async #end(worker: Worker): Promise<void> {
    clearTimeout(this.#idle.get(worker));
    this.#idle.delete(worker);
    await worker.terminate();
  }
}

/** The answer of a thread; null where it takes too long or too much memory. */
function answerOf(worker: Worker, bytes: Uint8Array, signal: AbortSignal): Promise<TranscriptRead | null> {
  const late = AbortSignal.any([signal, AbortSignal.timeout(MS_MAX)]);
  return new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') resolve(null);
      else reject(error);
    });
    late.addEventListener('abort', () => (signal.aborted ? reject(signal.reason) : resolve(null)));
    worker.postMessage(bytes);
  });
}
