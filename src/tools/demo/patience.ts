import { setTimeout as delay } from 'node:timers/promises';
import { CallRefused } from '../../../kits/typescript/src/http_call.js';

const TRIES_MAX = 30;
const PAUSE_MS = 100;
const PAUSE_MAX_MS = 5_000;
/** Longer than any window of the server's limits. */
const RETRY_AFTER_MAX_S = 120;
const BROKEN = new Set(['ECONNRESET', 'ECONNREFUSED', 'EPIPE', 'ETIMEDOUT']);

/** Repeats what the server asks to come again with, and what broke on the way; counts how often. */
export class Patience {
  retries = 0;

  /** `call` must be safe to repeat after its answer was lost. */
  async repeat<T>(call: () => Promise<T>): Promise<T> {
    return this.#run(call, isBroken);
  }

  /** For a call that may not be repeated once it might have been heard: only a refusal to hear it counts. */
  async ask<T>(call: () => Promise<T>): Promise<T> {
    return this.#run(call, () => false);
  }

  async #run<T>(call: () => Promise<T>, willRetry: (error: unknown) => boolean): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        return await call();
      } catch (error) {
        const busy = error instanceof CallRefused && (error.status === 429 || error.status === 503);
        if (tries >= TRIES_MAX || !(busy || willRetry(error))) throw error;
        this.retries += 1;
        const asked_s = error instanceof CallRefused ? (error.retry_after_s ?? 0) : 0;
        const backoff_ms = Math.min(PAUSE_MAX_MS, PAUSE_MS * 2 ** (tries - 1));
        const asked_ms = Number.isFinite(asked_s) ? Math.min(asked_s, RETRY_AFTER_MAX_S) * 1000 : 0;
        // At least what was asked for; the jitter keeps a fleet from coming back as one.
        await delay(Math.max(asked_ms, backoff_ms) + Math.random() * PAUSE_MS);
      }
    }
  }
}

function isBroken(error: unknown): boolean {
  return BROKEN.has((error as NodeJS.ErrnoException).code ?? '');
}
