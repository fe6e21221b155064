import { performance } from 'node:perf_hooks';
import { setImmediate } from 'node:timers/promises';

const SLICE_MS = 5; // ours: of long work, until it lets the event loop go on

/** Splits long work into slices: between two slices the event loop does other waiting work. */
export class Slices {
  #began = performance.now();

  /** Waits if the present slice has used up its time. */
  async pause(): Promise<void> {
    if (performance.now() - this.#began < SLICE_MS) return;
    await setImmediate();
    this.#began = performance.now();
  }
}
