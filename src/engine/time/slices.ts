import { performance } from 'node:perf_hooks';
import { setImmediate } from 'node:timers/promises';

const SLICE_MS = 5; // ours: of long work, until it lets the event loop go on

/** Long work in slices: between two of them the event loop does what waits. */
export class Slices {
  #began = performance.now();

  /** Waits where the present slice has taken as long as one may. */
  async pause(): Promise<void> {
    if (performance.now() - this.#began < SLICE_MS) return;
    await setImmediate();
    this.#began = performance.now();
  }
}
