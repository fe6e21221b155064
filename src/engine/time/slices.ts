import { performance } from 'node:perf_hooks';
import { setImmediate } from 'node:timers/promises';
import { LIMITS } from '../../domain/limits.js';

/** Long work in slices: between two of them the event loop does what waits. */
export class Slices {
  #began = performance.now();

  /** Waits where the present slice has taken as long as one may. */
  async pause(): Promise<void> {
    if (performance.now() - this.#began < LIMITS.slice_ms) return;
    await setImmediate();
    this.#began = performance.now();
  }
}
