import type { Redis } from 'ioredis';
import type { Logger } from 'pino';
import { every } from './periodic_timer.js';

const SYNC_EVERY_MS = 10_000;
const TEST_SYNC_EVERY_MS = 500;
const OFFSET_KEY = 'spool:clock_offset_ms';
/**
 * The key whose node is asked: nodes of a cluster have clocks of their own, and all processes must ask the same one.
 */
const TIME = "return redis.call('TIME')";
/** A jump of Redis' clock beyond this is accepted only if it lasts for a while. */
const JUMP_MS = 5_000;
const JUMP_SYNCS = 6;
/** The clocks of two synchronised machines are never this far apart. */
const APART_MS = 5 * 60_000;
/** The certain time that some process saw last: while clocks disagree, time continues from it. */
const CERTAIN_KEY = 'spool:certain_ms';
const NOTE_EVERY_MS = 60_000;

/**
 * The only clock (docs/architecture.md, "Time"). Its base is Redis' own time, carried on by this machine's monotonic
 * clock, so that processes agree and a jumping wall clock fires nothing. With TEST_CLOCK an offset that lies in Redis
 * is added.
 *
 * What can't be undone goes by `certain`. It is the same time as long as this machine's clock agrees with Redis'; where
 * they differ by minutes it is the time that was really lived through, held between the two (docs/operators.md).
 */
export class Clock {
  readonly #redis: Redis;
  readonly #movable: boolean;
  #base_ms = Date.now() - performance.now();
  #offset_ms = 0;
  #jumps = 0;
  #stopTicking: (() => void) | null = null;
  readonly #log: Pick<Logger, 'error' | 'info'> | null;
  readonly #machineMs: () => number;
  /** The certain time less the monotonic clock; null before the first measurement. */
  #certain_base_ms: number | null = null;
  #noted_at_ms = Number.NEGATIVE_INFINITY;
  #is_apart = false;

  constructor(
    redis: Redis,
    parts: { movable: boolean; log?: Pick<Logger, 'error' | 'info'>; machineMs?: () => number },
  ) {
    this.#redis = redis;
    this.#movable = parts.movable;
    this.#log = parts.log ?? null;
    this.#machineMs = parts.machineMs ?? Date.now;
  }

  /** Milliseconds since 1970. */
  now = (): number => Math.floor(this.#base_ms + performance.now() + this.#offset_ms);

  /**
   * The time without the offset of TEST_CLOCK: for checks that others make by their own clocks, such as our TLS
   * certificate.
   */
  unmoved = (): number => Math.floor(this.#base_ms + performance.now());

  /** A time that has certainly come: for final destruction. */
  certain = (): number => {
    const ran_ms = performance.now();
    const [redis_ms, machine_ms] = [this.#base_ms + ran_ms, this.#machineMs()];
    let certain_ms = redis_ms;
    if (Math.abs(redis_ms - machine_ms) > APART_MS) {
      const [low_ms, high_ms] = [Math.min(redis_ms, machine_ms), Math.max(redis_ms, machine_ms)];
      const lived_ms = this.#certain_base_ms === null ? low_ms : this.#certain_base_ms + ran_ms;
      certain_ms = Math.min(high_ms, Math.max(low_ms, lived_ms));
    }
    this.#certain_base_ms = certain_ms - ran_ms;
    return Math.floor(certain_ms + this.#offset_ms);
  };

  /**
   * The ms by which Redis' clock is ahead of this machine's (below 0: behind), if that is too much; 0 while they agree.
   */
  get apart_ms(): number {
    const ahead_ms = this.unmoved() - this.#machineMs();
    return Math.abs(ahead_ms) > APART_MS ? ahead_ms : 0;
  }

  /** Measures Redis' time at once, and then again at intervals. */
  async start(): Promise<void> {
    const noted_ms = Number(await this.#redis.get(CERTAIN_KEY));
    if (noted_ms > 0) this.#certain_base_ms = noted_ms - performance.now();
    await this.#sync();
    this.#stopTicking = every(
      this.#movable ? TEST_SYNC_EVERY_MS : SYNC_EVERY_MS,
      () => void this.#sync().catch(() => {}),
    );
  }

  stop(): void {
    this.#stopTicking?.();
  }

  /** Moves the time forward for every process on this Redis. Works only with TEST_CLOCK. */
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
    // Redis read its clock at some time between the two: how the answer travelled must not set the clock back.
    const open_ms = (after - before) / 2;
    const apart_ms = Number(seconds) * 1000 + Number(micros) / 1000 - (before + after) / 2 - this.#base_ms;
    const drift_ms = Math.sign(apart_ms) * Math.max(0, Math.abs(apart_ms) - open_ms);
    this.#jumps = Math.abs(drift_ms) > JUMP_MS ? this.#jumps + 1 : 0;
    if (this.#stopTicking === null || this.#jumps === 0 || this.#jumps >= JUMP_SYNCS) {
      this.#base_ms += drift_ms;
      this.#jumps = 0;
    }
    // An answer from before `advance` may be read after it: the offset only grows.
    if (this.#movable) this.#offset_ms = Math.max(this.#offset_ms, Number(offset ?? 0));
    await this.#noteCertain();
  }

  async #noteCertain(): Promise<void> {
    const certain_ms = this.certain() - this.#offset_ms;
    const { apart_ms } = this;
    if (apart_ms !== 0 && !this.#is_apart)
      this.#log?.error({ apart_ms }, "Redis' clock and this machine's disagree: nothing is erased by either alone");
    if (apart_ms === 0 && this.#is_apart) this.#log?.info("Redis' clock and this machine's agree again");
    this.#is_apart = apart_ms !== 0;
    if (performance.now() < this.#noted_at_ms + NOTE_EVERY_MS) return;
    this.#noted_at_ms = performance.now();
    // A Redis that takes no writes for now says so elsewhere; the time is noted with the next look.
    await this.#redis.set(CERTAIN_KEY, Math.floor(certain_ms)).catch(() => {});
  }
}
