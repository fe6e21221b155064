import type { Redis } from 'ioredis';
import { keysOf } from './partitions.js';
import { storeCall } from './redis_calls.js';
import { mastersOf } from './redis_connection.js';

const SCAN_COUNT = 1_000;
/** Sweeps belong to no partition; their keys lie in the first. */
const KEYS = keysOf(0);
const STREAM_KEY = /:e:stream:([0-9a-f-]{36})$/;

/** Which process sweeps what next, and what it needs of storage for that. Two at the same thing would do no harm. */
export class SweepSchedule {
  readonly #redis: Redis;

  constructor(redis: Redis) {
    this.#redis = redis;
  }

  /** Sees to it that each of these is due some day; those that wait already keep their time. */
  async schedule(sweeps: { name: string; at_ms: number }[]): Promise<void> {
    await storeCall(this.#redis.zadd(KEYS.sweeps, 'NX', ...sweeps.flatMap(({ name, at_ms }) => [at_ms, name])));
  }

  /** Takes some that are due: nobody else has them until they are scheduled again. */
  async take({ now_ms, limit }: { now_ms: number; limit: number }): Promise<string[]> {
    const due = await storeCall(this.#redis.zrangebyscore(KEYS.sweeps, '-inf', now_ms, 'LIMIT', 0, limit));
    const taken = await storeCall(Promise.all(due.map((name) => this.#redis.zrem(KEYS.sweeps, name))));
    return due.filter((_, index) => taken[index] === 1);
  }

  /** The name under which this storage owns its audio; `draft` if it had none yet. */
  async owner(draft: string): Promise<string> {
    await storeCall(this.#redis.setnx(KEYS.audioOwner, draft));
    return (await storeCall(this.#redis.get(KEYS.audioOwner))) ?? draft;
  }

  /** Ids of all streams, in no order, some perhaps twice. Goes through all keys, a few at a time. */
  async *streamIds(): AsyncIterable<string> {
    for (const master of mastersOf(this.#redis)) {
      let cursor = '0';
      do {
        const [next, names] = await storeCall(master.scan(cursor, 'MATCH', '*:e:stream:*', 'COUNT', SCAN_COUNT));
        for (const name of names) {
          const id = STREAM_KEY.exec(name)?.[1];
          if (id !== undefined) yield id;
        }
        cursor = next;
      } while (cursor !== '0');
    }
  }
}
