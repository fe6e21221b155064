import { LIMITS } from '../domain/limits.js';
import type { Metrics } from '../runtime/metrics.js';

/** A request's place in its account's line. */
export type Admission = 'at once' | 'full' | Promise<void>;

type Line = { under_way: number; waiting: { begin: () => void; bytes: number }[]; waiting_bytes: number };
type Lines = Map<string, Line>;

/**
 * Lets the requests of one account begin a few at a time, each after those before it, so that an account that floods a
 * process waits for itself and hardly makes others wait. Those with a large body have a line of their own, one at a time.
 * Kept by this process alone.
 */
export class AccountConcurrencyLimiter {
  readonly #small: Lines = new Map();
  readonly #large: Lines = new Map();
  readonly #metrics: Metrics;

  constructor(metrics: Metrics) {
    this.#metrics = metrics;
  }

  /** `full` refuses; whoever else entered, or waited for its turn, must `leave` with the same `bytes`, those of its body. */
  enter(account_id: string, bytes: number): Admission {
    const [lines, at_once_max] = this.#linesFor(bytes);
    const line = lines.get(account_id);
    if (line === undefined) {
      lines.set(account_id, { under_way: 1, waiting: [], waiting_bytes: 0 });
      return 'at once';
    }
    if (line.under_way < at_once_max) {
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

  leave(account_id: string, bytes: number): void {
    const [lines] = this.#linesFor(bytes);
    const line = lines.get(account_id) as Line;
    const next = line.waiting.shift();
    if (next !== undefined) {
      line.waiting_bytes -= next.bytes;
      this.#metrics.requests_waiting.dec();
      // Not at once: what others sent meanwhile is read first.
      setImmediate(next.begin);
    } else if (--line.under_way === 0) lines.delete(account_id);
  }

  #linesFor(bytes: number): [Lines, at_once_max: number] {
    return bytes > LIMITS.json_body_bytes_max
      ? [this.#large, LIMITS.account_large_requests_at_once_max]
      : [this.#small, LIMITS.account_requests_at_once_max];
  }
}
