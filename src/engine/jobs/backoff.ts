import { backoffAfter } from '../../domain/backoff.js';

type Retry = { again_at_ms: number; failures: number };

/**
 * Remembers failed items and the time until which each is skipped: twice as long after each failure, up to a bound.
 * Workers that take the first few due items skip them meanwhile, so that they delay nothing else. Beyond `kept_max` the
 * oldest is forgotten, and tried again at once.
 */
export class Backoff {
  readonly #waiting = new Map<string, Retry>();
  readonly #first_ms: number;
  readonly #max_ms: number;
  readonly #kept_max: number;

  constructor({ first_ms, max_ms, kept_max }: { first_ms: number; max_ms: number; kept_max: number }) {
    this.#first_ms = first_ms;
    this.#max_ms = max_ms;
    this.#kept_max = kept_max;
  }

  failed(name: string, now_ms: number): void {
    const failures = (this.#waiting.get(name)?.failures ?? 0) + 1;
    const wait_ms = backoffAfter(failures, { first_ms: this.#first_ms, max_ms: this.#max_ms });
    this.#waiting.delete(name);
    this.#waiting.set(name, { again_at_ms: now_ms + wait_ms, failures });
    // The first are those that failed longest ago: what was not tried for so long is no longer due.
    for (const [oldest, { again_at_ms }] of this.#waiting) {
      if (this.#waiting.size <= this.#kept_max && now_ms < again_at_ms + 2 * this.#max_ms) break;
      this.#waiting.delete(oldest);
    }
  }

  succeeded(name: string): void {
    this.#waiting.delete(name);
  }

  isWaiting(name: string, now_ms: number): boolean {
    const found = this.#waiting.get(name);
    // A clock that went back must not keep it for longer than was meant.
    return found !== undefined && now_ms < found.again_at_ms && found.again_at_ms <= now_ms + this.#max_ms;
  }
}
