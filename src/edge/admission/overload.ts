import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import type { Metrics } from '../../engine/metrics/metrics.js';
import { randomFraction } from '../../engine/random/random.js';
import { every } from '../../engine/time/periodic_timer.js';

const BUSY_LOOK_EVERY_MS = 500;
const IDLE_LOOK_EVERY_MS = 2_000;
/** Resolution of the delay: how long the timer of node itself takes when nothing delays it. */
const RESOLUTION_MS = 100;
/**
 * While the loop is busy for a smaller share of the time, its delay is not measured, which takes ten wake-ups a second, and
 * looks are rarer.
 */
const BUSY_SHARE = 0.1;
const BYTES_PER_MB = 1024 * 1024;
/** The share of the heap or the container that a process may use. */
const MEMORY_SHARE_MAX = 0.9;
const RETRY_AFTER_S = 10;

/** The present level of refusing: nothing, requests that can wait, or all but health and operators. */
export type Shedding = 'nothing' | 'first' | 'all';

/** The priority of a request: `critical` ones are refused only at `all`. */
export type Priority = 'normal' | 'critical';

/** Each load as a multiple of its limit: refusing begins at 1. */
export type Load = { delay: number; memory: number };
export type LoadName = keyof Load;

/**
 * The load at which each level begins, and at which it ends: low enough that the waiting requests do not start it
 * again.
 */
const STEPS: Record<LoadName, { first: number; all: number; over: number }> = {
  delay: { first: 1, all: 2, over: 0.5 },
  // A heap that is full to the brim costs seconds of collecting, so the second step lies close to the first.
  memory: { first: 1, all: 1.05, over: 0.95 },
};
const DEPTH: Record<Shedding, number> = { nothing: 0, first: 1, all: 2 };

/** The level of refusing at one load; refusing continues until the load falls below `over`. */
export function sheddingFor(name: LoadName, load: number, until_now: Shedding): Shedding {
  const { first, all, over } = STEPS[name];
  if (load >= all) return 'all';
  if (load >= first) return 'first';
  return load >= over && until_now !== 'nothing' ? 'first' : 'nothing';
}

/**
 * The seconds after which a caller should retry: around `base_s`, from half of it to half more, so that a fleet spreads
 * out.
 */
export function spreadRetryAfter(base_s: number = RETRY_AFTER_S): number {
  return Math.max(1, Math.round(base_s * (0.5 + randomFraction())));
}

export type OverloadSettings = {
  /** Mean delay of the event loop, in milliseconds; 0 turns the check off. */
  delay_ms: number;
  /** Resident memory, in MB; null derives it from the container and V8. */
  memory_mb: number | null;
};

/**
 * Whether this process is overloaded. It measures twice a second while it is busy, otherwise every two seconds; a
 * request only reads the result (2 ns of about 45,000 that the cheapest request takes).
 */
export class Overload {
  readonly #settings: OverloadSettings;
  readonly #metrics: Metrics;
  readonly #histogram: IntervalHistogram;
  readonly #resident_bytes_max: number;
  readonly #states: Record<LoadName, Shedding> = { delay: 'nothing', memory: 'nothing' };
  #stopTicking: (() => void) | null = null;
  #look_every_ms = 0;
  #looked_at_ms = performance.now();
  #utilization = performance.eventLoopUtilization();
  #worst_before_ms = 0;
  /** The longest delay since the last call of `takeLongestDelay`. */
  #longest_ms = 0;
  #cause: LoadName | null = null;
  #last_resident_bytes = 0;
  /** The present level of refusing. */
  shedding: Shedding = 'nothing';

  constructor(settings: OverloadSettings, metrics: Metrics) {
    this.#settings = settings;
    this.#metrics = metrics;
    const { memory_mb } = settings;
    this.#resident_bytes_max = memory_mb === null ? containerBytes() * MEMORY_SHARE_MAX : memory_mb * BYTES_PER_MB;
    this.#histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  }

  start(): void {
    this.#histogram.enable();
    this.#looked_at_ms = performance.now();
    this.#lookEvery(BUSY_LOOK_EVERY_MS);
  }

  stop(): void {
    this.#stopTicking?.();
    this.#look_every_ms = 0;
    this.#histogram.disable();
  }

  /** The longest delay of the event loop since this was asked last, but for one in a hundred. */
  takeLongestDelay(): number {
    const longest_ms = this.#longest_ms;
    this.#longest_ms = 0;
    return longest_ms;
  }

  /** The cause for which a request is refused, or null if it is accepted. */
  causeAgainst(priority: Priority): LoadName | null {
    if (this.shedding === 'nothing' || (this.shedding === 'first' && priority === 'critical')) return null;
    return this.#cause;
  }

  /** Applies a load until the next measurement. */
  take(load: Load): void {
    for (const name of ['delay', 'memory'] as const) {
      this.#states[name] = sheddingFor(name, load[name], this.#states[name]);
    }
    const { delay, memory } = this.#states;
    this.#cause = DEPTH[memory] > DEPTH[delay] ? 'memory' : 'delay';
    this.shedding = this.#states[this.#cause];
    this.#metrics.overload_shedding.set(DEPTH[this.shedding]);
  }

  #measure(): Load {
    const now_ms = performance.now();
    // When nothing at all ran, the histogram is empty and this look is late.
    const late_ms = now_ms - this.#looked_at_ms - this.#look_every_ms;
    this.#looked_at_ms = now_ms;
    const is_empty = this.#histogram.count === 0;
    const mean_ms = is_empty ? 0 : this.#histogram.mean / 1e6 - RESOLUTION_MS;
    const p99_ms = is_empty ? 0 : this.#histogram.percentile(99) / 1e6 - RESOLUTION_MS;
    this.#histogram.reset();
    this.#lookCloserWhileBusy();
    this.#longest_ms = Math.max(this.#longest_ms, p99_ms, late_ms);
    const worst_ms = Math.max(mean_ms, late_ms);
    // One stall is no overload: a collection of garbage, or a machine that slept. It takes two looks in a row.
    const steady_ms = Math.min(worst_ms, this.#worst_before_ms);
    this.#worst_before_ms = worst_ms;
    const { delay_ms } = this.#settings;
    const { used_heap_size, heap_size_limit } = getHeapStatistics();
    return {
      delay: delay_ms === 0 ? 0 : steady_ms / delay_ms,
      memory: Math.max(
        this.residentBytes() / this.#resident_bytes_max,
        used_heap_size / (heap_size_limit * MEMORY_SHARE_MAX),
      ),
    };
  }

  /**
   * Resident memory of this process. Keeps the last value if no file can be opened, which the reading needs: timers
   * call this, where an error would end the process.
   */
  residentBytes(): number {
    try {
      this.#last_resident_bytes = process.memoryUsage.rss();
    } catch {
      // EMFILE, ENFILE
    }
    return this.#last_resident_bytes;
  }

  #lookEvery(ms: number): void {
    if (ms === this.#look_every_ms) return;
    this.#look_every_ms = ms;
    this.#stopTicking?.();
    this.#stopTicking = every(ms, () => this.take(this.#measure()));
  }

  #lookCloserWhileBusy(): void {
    const before = this.#utilization;
    this.#utilization = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(this.#utilization, before);
    const is_busy = utilization > BUSY_SHARE;
    if (is_busy) this.#histogram.enable();
    else this.#histogram.disable();
    this.#lookEvery(is_busy ? BUSY_LOOK_EVERY_MS : IDLE_LOOK_EVERY_MS);
  }
}

/** The memory limit of the container; infinite without one. */
function containerBytes(): number {
  const bytes = process.constrainedMemory();
  return bytes === undefined || bytes === 0 ? Number.POSITIVE_INFINITY : bytes;
}
