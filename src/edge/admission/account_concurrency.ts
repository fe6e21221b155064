import { LIMITS } from '../../domain/limits.js';
import type { Metrics } from '../../engine/metrics/metrics.js';

/** Whether a request may begin: now, when the promise resolves, or not at all. */
export type Admission = 'at once' | 'full' | Promise<void>;

type Queue = { running: number; waiting: { begin: () => void; bytes: number }[]; waiting_bytes: number };
type Queues = Map<string, Queue>;

/**
 * Lets the requests of one account begin a few at a time, each after those before it, so that an account that floods a
 * process waits for itself and hardly makes others wait. Those with a large body have a queue of their own, one at a time.
 * Kept by this process alone.
 */
export class AccountConcurrencyLimiter {
  readonly #small: Queues = new Map();
  readonly #large: Queues = new Map();
  readonly #metrics: Metrics;

  constructor(metrics: Metrics) {
    this.#metrics = metrics;
  }

  /** `full` refuses; whoever else entered, or waited for its turn, must `leave` with the same `bytes`, those of its body. */
  enter(account_id: string, bytes: number): Admission {
    const [queues, at_once_max] = this.#queuesFor(bytes);
    const queue = queues.get(account_id);
    if (queue === undefined) {
      queues.set(account_id, { running: 1, waiting: [], waiting_bytes: 0 });
      return 'at once';
    }
    if (queue.running < at_once_max) {
      queue.running += 1;
      return 'at once';
    }
    if (queue.waiting.length >= LIMITS.account_requests_waiting_max) return 'full';
    if (queue.waiting_bytes + bytes > LIMITS.account_bytes_waiting_max) return 'full';
    queue.waiting_bytes += bytes;
    this.#metrics.requests_waiting.inc();
    return new Promise((begin) => {
      queue.waiting.push({ begin, bytes });
    });
  }

  leave(account_id: string, bytes: number): void {
    const [queues] = this.#queuesFor(bytes);
    const queue = queues.get(account_id) as Queue;
    const next = queue.waiting.shift();
    if (next !== undefined) {
      queue.waiting_bytes -= next.bytes;
      this.#metrics.requests_waiting.dec();
      // Not at once: what others sent meanwhile is read first.
      setImmediate(next.begin);
    } else if (--queue.running === 0) queues.delete(account_id);
  }

  #queuesFor(bytes: number): [Queues, at_once_max: number] {
    return bytes > LIMITS.json_body_bytes_max
      ? [this.#large, LIMITS.account_large_requests_at_once_max]
      : [this.#small, LIMITS.account_requests_at_once_max];
  }
}
