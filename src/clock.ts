import type { Redis } from 'ioredis';

const SYNC_EVERY_MS = 10_000;
const TEST_SYNC_EVERY_MS = 500;
const OFFSET_KEY = 'spool:clock_offset_ms';
/** Asked of whoever has that key: nodes of a cluster have clocks of their own, and all processes must ask the same. */
const TIME = "return redis.call('TIME')";
/** A clock of Redis that jumps by more than this is believed only when it stays so for a while. */
const JUMP_MS = 5_000;
const JUMP_SYNCS = 6;

/**
 * The only clock (design section 11). Its base is Redis' own time, carried on by this machine's monotonic clock, so
 * that processes agree and a jumping wall clock fires nothing. With TEST_CLOCK an offset that lies in Redis is added.
 */
export class Clock {
  readonly #redis: Redis;
  readonly #movable: boolean;
  #base_ms = Date.now() - performance.now();
  #offset_ms = 0;
  #jumps = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(redis: Redis, { movable }: { movable: boolean }) {
    this.#redis = redis;
    this.#movable = movable;
  }

  /** Milliseconds since 1970. */
  now = (): number => Math.floor(this.#base_ms + performance.now() + this.#offset_ms);

  /** The same without what TEST_CLOCK added: for what others judge by their own clocks, such as our TLS certificate. */
  unmoved = (): number => Math.floor(this.#base_ms + performance.now());

  /** Measures Redis' time now and then again at intervals. */
  async start(): Promise<void> {
    await this.#sync();
    this.#timer = setInterval(
      () => void this.#sync().catch(() => {}),
      this.#movable ? TEST_SYNC_EVERY_MS : SYNC_EVERY_MS,
    );
    this.#timer.unref();
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
  }

  /** Moves the time forward for every process on this Redis. Only where TEST_CLOCK is on. */
  async advance(ms: number): Promise<void> {
    if (!this.#movable) throw new Error('the clock can only be moved with TEST_CLOCK=1');
    this.#offset_ms = await this.#redis.incrby(OFFSET_KEY, ms);
  }

  async #sync(): Promise<void> {
    const before = performance.now();
    const [[seconds, micros], offset] = await Promise.all([
      this.#redis.eval(TIME, 1, OFFSET_KEY) as Promise<[number | string, number | string]>,
      this.#movable ? this.#redis.get(OFFSET_KEY) : null,
    ]);
    const after = performance.now();
    const base_ms = Number(seconds) * 1000 + Number(micros) / 1000 - (before + after) / 2;
    const drift_ms = base_ms - this.#base_ms;
    this.#jumps = Math.abs(drift_ms) > JUMP_MS ? this.#jumps + 1 : 0;
    if (this.#timer === null || this.#jumps === 0 || this.#jumps >= JUMP_SYNCS) {
      this.#base_ms = base_ms;
      this.#jumps = 0;
    }
    // An answer from before `advance` may be read after it: the offset only grows.
    if (this.#movable) this.#offset_ms = Math.max(this.#offset_ms, Number(offset ?? 0));
  }
}
