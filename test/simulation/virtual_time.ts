import { AsyncLocalStorage } from 'node:async_hooks';
import type { SeededRandom } from '../../src/engine/random/seeded_random.js';

type Due = { at_ms: number; order: number; run: () => void; dropped: boolean };

/** Every function of the global object by which code waits. */
const NAMES = ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'setImmediate', 'clearImmediate'] as const;
const realImmediate = globalThis.setImmediate;
const realNanoseconds = process.hrtime.bigint;
/** Turns of nact begin within this; it mixes their order. */
const IMMEDIATE_MAX_MS = 0.05;

/** The timers of one simulated process that keep it alive no longer than it is. Its machine started `ahead_ms` before the run. */
export type ProcessTimers = { readonly ahead_ms: number; readonly timers: Set<VirtualTimer> };

/** A timer of virtual time, as code that uses timers expects it. */
class VirtualTimer {
  due: Due | null = null;
  readonly process: ProcessTimers | null;
  constructor(process: ProcessTimers | null) {
    this.process = process;
  }
  /** It ends with its process. */
  unref(): this {
    this.process?.timers.add(this);
    return this;
  }
  ref(): this {
    return this;
  }
}

/**
 * Time that passes only from one thing due to the next. While it is in force it stands in for the timers and the clock of
 * the global object, so that the runtime, its workers and nact wait by it without knowing; their immediates run in an order drawn
 * from the seed. Nothing else in a run waits for anything real, which makes the run a function of its seed.
 */
export class VirtualTime {
  readonly #random: SeededRandom;
  readonly #heap: Due[] = [];
  readonly #real = new Map<string, unknown>();
  #scheduled = 0;
  #steps = 0;
  /** Milliseconds since the run began; no jump of the clock moves it. */
  elapsed_ms = 0;
  /** The process whose code is running. */
  readonly #process = new AsyncLocalStorage<ProcessTimers>();

  constructor(random: SeededRandom) {
    this.#random = random;
  }

  get steps(): number {
    return this.#steps;
  }

  /** Runs a function after so many virtual milliseconds. */
  after(delay_ms: number, run: () => void): Due {
    const at_ms = this.elapsed_ms + Math.max(0, delay_ms);
    const due: Due = { at_ms, order: this.#scheduled++, run, dropped: false };
    const heap = this.#heap;
    let at = heap.push(due) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(due, heap[parent] as Due)) break;
      heap[at] = heap[parent] as Due;
      at = parent;
    }
    heap[at] = due;
    return due;
  }

  pause(ms: number): Promise<void> {
    return new Promise((resolve) => this.after(ms, resolve));
  }

  /** Lets time pass until the condition holds (true) or the time is over (false). */
  async runUntil(isDone: () => boolean, max_ms: number): Promise<boolean> {
    const until_ms = this.elapsed_ms + max_ms;
    await settled();
    while (!isDone()) {
      const due = this.#heap[0];
      if (due === undefined || due.at_ms > until_ms) {
        this.elapsed_ms = until_ms;
        return false;
      }
      this.#takeFirst();
      if (due.dropped) continue;
      this.elapsed_ms = due.at_ms;
      this.#steps += 1;
      due.run();
      await settled();
    }
    return true;
  }

  /** Puts virtual timers in the place of the global ones. */
  enter(): void {
    const start = (run: () => void, delay_ms: number, every: boolean): VirtualTimer => {
      const owner = this.#process.getStore() ?? null;
      const timer = new VirtualTimer(owner);
      const fire = () => {
        if (every) timer.due = this.after(delay_ms, fire);
        else owner?.timers.delete(timer);
        if (owner === null) run();
        else this.within(owner, run);
      };
      timer.due = this.after(delay_ms, fire);
      return timer;
    };
    const replacements: Record<(typeof NAMES)[number], unknown> = {
      setTimeout: (run: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) =>
        start(() => run(...args), ms, false),
      setInterval: (run: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) =>
        start(() => run(...args), ms, true),
      setImmediate: (run: (...args: unknown[]) => void, ...args: unknown[]) =>
        start(() => run(...args), this.#random.fraction() * IMMEDIATE_MAX_MS, false),
      clearTimeout: (timer: unknown) => this.#clear('clearTimeout', timer),
      clearInterval: (timer: unknown) => this.#clear('clearInterval', timer),
      clearImmediate: (timer: unknown) => this.#clear('clearImmediate', timer),
    };
    for (const name of NAMES) {
      this.#real.set(name, globalThis[name]);
      Object.assign(globalThis, { [name]: replacements[name] });
    }
    performance.now = () => this.elapsed_ms;
    process.hrtime.bigint = () =>
      BigInt(Math.round((this.elapsed_ms + (this.#process.getStore()?.ahead_ms ?? 0)) * 1e6));
  }

  /** Gives the global timers back. */
  leave(): void {
    for (const [name, real] of this.#real) Object.assign(globalThis, { [name]: real });
    this.#real.clear();
    Reflect.deleteProperty(performance, 'now'); // its prototype's comes to light again
    process.hrtime.bigint = realNanoseconds;
  }

  /** Timers for a process on a machine of its own. */
  newProcess(): ProcessTimers {
    return { ahead_ms: this.#random.fraction() * 60_000, timers: new Set() };
  }

  /** Runs the code of a process. */
  within<T>(process: ProcessTimers, run: () => T): T {
    return this.#process.run(process, run);
  }

  /** The process crashes. */
  end({ timers }: ProcessTimers): void {
    for (const { due } of timers) if (due !== null) due.dropped = true;
  }

  /** What did not come from here is a timer from before the run. */
  #clear(name: (typeof NAMES)[number], timer: unknown): void {
    if (timer instanceof VirtualTimer) {
      timer.process?.timers.delete(timer);
      if (timer.due !== null) timer.due.dropped = true;
    } else if (timer !== undefined && timer !== null) (this.#real.get(name) as (timer: unknown) => void)(timer);
  }

  #takeFirst(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let at = 0;
    for (;;) {
      let child = at * 2 + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1] as Due, heap[child] as Due)) child += 1;
      if (!isBefore(heap[child] as Due, last)) break;
      heap[at] = heap[child] as Due;
      at = child;
    }
    heap[at] = last;
  }
}

function isBefore(a: Due, b: Due): boolean {
  return a.at_ms < b.at_ms || (a.at_ms === b.at_ms && a.order < b.order);
}

/** All promises that can go on have gone on: the real event loop comes round only when none is left. */
function settled(): Promise<void> {
  return new Promise((resolve) => realImmediate(resolve));
}
