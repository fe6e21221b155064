import type { Redis } from 'ioredis';
import { keysOf } from './partitions.js';
import { callFunction, storeCall } from './redis_calls.js';

/** Sweeps belong to no partition; their keys lie in the first. */
const KEYS = keysOf(0);

/** The due times of all audio sweeps, and the name under which this storage owns its audio. */
export class AudioSweeps {
  readonly #redis: Redis;

  constructor(redis: Redis) {
    this.#redis = redis;
  }

  /** Schedules these sweeps; those that have a time keep it. */
  async schedule(sweeps: { name: string; at_ms: number }[]): Promise<void> {
    await storeCall(this.#redis.zadd(KEYS.sweeps, 'NX', ...sweeps.flatMap(({ name, at_ms }) => [at_ms, name])));
  }

  /** Moves a due sweep into the future; false if it is not due. */
  async lease(name: string, { now_ms, again_ms }: { now_ms: number; again_ms: number }): Promise<boolean> {
    const args = [now_ms, again_ms, '', name];
    const leased = await callFunction(this.#redis, () => this.#redis.fcall('spool_lease_v2', 1, KEYS.sweeps, ...args));
    return (leased as string[]).length > 0;
  }

  async postpone(name: string, at_ms: number): Promise<void> {
    await storeCall(this.#redis.zadd(KEYS.sweeps, at_ms, name));
  }

  /** The name under which this storage owns its audio; `draft` if it had none yet. */
  async owner(draft: string): Promise<string> {
    await storeCall(this.#redis.setnx(KEYS.audioOwner, draft));
    return (await storeCall(this.#redis.get(KEYS.audioOwner))) ?? draft;
  }
}
