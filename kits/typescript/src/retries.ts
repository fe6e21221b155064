import { CallRefused, NoAnswer } from './call.js';

const TRIES_MAX = 30;
const PAUSE_MS = 100;
const PAUSE_MAX_MS = 5_000;
/** Longer than any window of the server's limits. */
const RETRY_AFTER_MAX_S = 120;
const BROKEN = new Set(['ECONNRESET', 'ECONNREFUSED', 'EPIPE', 'ETIMEDOUT']);

export type PatienceOptions = { tries_max?: number; pause_ms?: number; pause_max_ms?: number };

/** Repeats what the server asks to come again with, and what broke on the way; counts how often. */
export class Patience {
  retries = 0;
  readonly #tries_max: number;
  readonly #pause_ms: number;
  readonly #pause_max_ms: number;

  constructor({ tries_max = TRIES_MAX, pause_ms = PAUSE_MS, pause_max_ms = PAUSE_MAX_MS }: PatienceOptions = {}) {
    this.#tries_max = tries_max;
    this.#pause_ms = pause_ms;
    this.#pause_max_ms = pause_max_ms;
  }

  /** `call` must be safe to repeat after its answer was lost. */
  async repeat<T>(call: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    return this.run(call, (error) => isBusy(error) || isBroken(error), signal);
  }

  /** For a call that may not be repeated once it might have been heard: only a refusal to hear it counts. */
  async ask<T>(call: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    return this.run(call, isBusy, signal);
  }

  /** For callers that know themselves what may be repeated. */
  async run<T>(call: () => Promise<T>, willRetry: (error: unknown) => boolean, signal?: AbortSignal): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        return await call();
      } catch (error) {
        if (tries >= this.#tries_max || !willRetry(error) || signal?.aborted) throw error;
        this.retries += 1;
        await pause(this.waitMs(error, tries), signal);
      }
    }
  }

  /** How long to wait before a call that has failed so often is made again, at least as long as was asked for. */
  waitMs(error: unknown, failures: number): number {
    const asked_s = error instanceof CallRefused ? (error.retry_after_s ?? 0) : 0;
    const backoff_ms = Math.min(this.#pause_max_ms, this.#pause_ms * 2 ** Math.min(failures - 1, 20));
    // The jitter keeps a fleet from coming back as one.
    return Math.max(Math.min(asked_s, RETRY_AFTER_MAX_S) * 1_000, backoff_ms) + Math.random() * this.#pause_ms;
  }
}

/** Rests so long, or until the signal; says nothing of which it was. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener('abort', end);
  });
}

/** "Not now". */
function isBusy(error: unknown): boolean {
  return error instanceof CallRefused && (error.status === 429 || error.status === 503);
}

function isBroken(error: unknown): boolean {
  return error instanceof NoAnswer || BROKEN.has((error as { code?: string }).code ?? '');
}
