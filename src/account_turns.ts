import type { Metrics } from './runtime/metrics.js';
import { LIMITS } from './vocabulary/limits.js';

/** A request's place in its account's line. */
export type Entrance = 'at once' | 'full' | Promise<void>;

type Line = { under_way: number; waiting: { begin: () => void; bytes: number }[]; waiting_bytes: number };

/**
 * Lets the requests of one account begin a few at a time, each after those before it, so that an account that floods a
 * process waits for itself and hardly makes others wait. Kept by this process alone.
 */
export class AccountTurns {
  readonly #lines = new Map<string, Line>();
  readonly #metrics: Metrics;

  constructor(metrics: Metrics) {
    this.#metrics = metrics;
  }

  /** `full` refuses; whoever else entered, or waited for its turn, must `leave`. `bytes` is what the request holds. */
  enter(account_id: string, bytes: number): Entrance {
    const line = this.#lines.get(account_id);
    if (line === undefined) {
      this.#lines.set(account_id, { under_way: 1, waiting: [], waiting_bytes: 0 });
      return 'at once';
    }
    if (line.under_way < LIMITS.account_requests_at_once_max) {
      line.under_way += 1;
      return 'at once';
    }
    if (line.waiting.length >= LIMITS.account_requests_waiting_max) return 'full';
    if (line.waiting_bytes + bytes > LIMITS.account_bytes_waiting_max) return 'full';
    line.waiting_bytes += bytes;
    this.#metrics.requests_waiting.inc();
    return new Promise((begin) => {
      line.waiting.push({ begin, bytes });
    });
  }

  leave(account_id: string): void {
    const line = this.#lines.get(account_id) as Line;
    const next = line.waiting.shift();
    if (next !== undefined) {
      line.waiting_bytes -= next.bytes;
      this.#metrics.requests_waiting.dec();
      // Not at once: what others sent meanwhile is read first.
      setImmediate(next.begin);
    } else if (--line.under_way === 0) this.#lines.delete(account_id);
  }
}
