import type { Redis } from 'ioredis';
import type { ServerKeys } from '../secrets/server_keys.js';

const KEY_PREFIX = 'spool:rate:';
const PURPOSE = 'rate of a network';
const HASH_BYTES = 16;

/** The count of an open window of time, and the time until it closes. */
export type CountedWindow = { count: number; left_ms: number };

/** Counts that all processes on one Redis share: in windows that open with the first count. */
export class SharedWindows {
  readonly #redis: Pick<Redis, 'multi'>;
  readonly #keys: Pick<ServerKeys, 'keyedHash'>;

  constructor(redis: Pick<Redis, 'multi'>, keys: Pick<ServerKeys, 'keyedHash'>) {
    this.#redis = redis;
    this.#keys = keys;
  }

  /** Counts one; null where Redis does not answer. */
  async count(name: string, network: string, window_ms: number): Promise<CountedWindow | null> {
    // What Redis writes to its file does not say who asked.
    const hash = Buffer.from(this.#keys.keyedHash(PURPOSE, name, network).mac).subarray(0, HASH_BYTES);
    const key = KEY_PREFIX + hash.toString('base64url');
    const answers = await this.#redis
      .multi()
      .set(key, 0, 'PX', window_ms, 'NX')
      .incr(key)
      .pttl(key)
      .exec()
      .catch(() => null);
    const [count, left_ms] = (answers ?? []).slice(1).map(([error, value]) => (error === null ? Number(value) : null));
    return typeof count === 'number' && typeof left_ms === 'number' ? { count, left_ms: Math.max(0, left_ms) } : null;
  }
}
