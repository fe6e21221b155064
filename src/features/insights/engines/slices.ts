import { setImmediate } from 'node:timers/promises';

/** Work is interrupted after so many ms, so that other requests are answered. */
const SLICE_MS_MAX = 5;

/** Long work in slices: `pause` gives the event loop a turn where the present slice has lasted long enough. */
export class Slices {
  #began_at = performance.now();

  async pause(): Promise<void> {
    if (performance.now() - this.#began_at < SLICE_MS_MAX) return;
    await setImmediate();
    this.#began_at = performance.now();
  }
}
