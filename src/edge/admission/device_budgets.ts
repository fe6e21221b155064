import { LIMITS } from '../../domain/limits.js';
import { type Refusal, refuse } from '../../domain/refusals.js';
import type { Metrics } from '../../engine/metrics/metrics.js';
import { RecentlyUsed } from '../../engine/pools/recently_used.js';
import { spreadRetryAfter } from './overload.js';

const MINUTE_MS = 60_000;
/** The number of recently active devices that are kept; a forgotten device begins with a full bucket. */
const BUCKETS_MAX = 100_000;
/** A second is worth many requests; the bucket fills within it. */
const BUSY_RETRY_AFTER_S = 2;

type Bucket = { tokens: number; at_ms: number };

/**
 * The budget of one device in one process: requests as a bucket that holds a minute's worth and fills as steadily as a
 * minute's worth comes, and uploads at once. Kept by this process alone.
 */
export class DeviceBudgets {
  readonly #requests_per_minute: number;
  readonly #on: boolean;
  readonly #monotonic_ms: () => number;
  readonly #buckets = new RecentlyUsed<Bucket>(BUCKETS_MAX);
  readonly #uploads = new Map<string, number>();

  constructor(requests_per_minute: number, options: { on: boolean; monotonic_ms?: () => number }) {
    this.#requests_per_minute = requests_per_minute;
    this.#on = options.on;
    this.#monotonic_ms = options.monotonic_ms ?? (() => performance.now());
  }

  /** Counts a request of a certificate; false if it exceeds the budget. */
  takeRequest(fingerprint: string): boolean {
    if (!this.#on) return true;
    const at_ms = this.#monotonic_ms();
    const most = this.#requests_per_minute;
    const bucket = this.#buckets.get(fingerprint) ?? { tokens: most, at_ms };
    bucket.tokens = Math.min(most, bucket.tokens + ((at_ms - bucket.at_ms) * most) / MINUTE_MS);
    bucket.at_ms = at_ms;
    this.#buckets.set(fingerprint, bucket);
    if (bucket.tokens < 1) return false;
    bucket.tokens -= 1;
    return true;
  }

  /** Begins an upload and returns the function that ends it; null if too many are in progress. */
  beginUpload(device_id: string): (() => void) | null {
    const under_way = this.#uploads.get(device_id) ?? 0;
    if (this.#on && under_way >= LIMITS.device_uploads_in_flight_max) return null;
    this.#uploads.set(device_id, under_way + 1);
    let ended = false;
    return () => {
      if (ended) return;
      ended = true;
      const left = (this.#uploads.get(device_id) ?? 1) - 1;
      if (left === 0) this.#uploads.delete(device_id);
      else this.#uploads.set(device_id, left);
    };
  }
}

/** The refusal of a device over its budget; counted. */
export function overBudget(
  metrics: Pick<Metrics, 'overload_refusals'>,
  cause: 'device_requests' | 'device_uploads',
): Refusal {
  metrics.overload_refusals.inc({ listener: 'device', cause });
  const what = cause === 'device_requests' ? 'requests' : 'uploads at once';
  const retry_after_s = spreadRetryAfter(BUSY_RETRY_AFTER_S);
  return refuse('TOO_MANY_REQUESTS', `Too many ${what} from this device; wait ${retry_after_s} seconds.`, {
    retry_after_s,
    extra: { reason: cause },
  });
}
