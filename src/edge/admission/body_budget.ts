import { LIMITS } from '../../domain/limits.js';

/** The bodies with chunks that this process has in memory, by their announced sizes. They are counted before they are read. */
export class BodyBudget {
  #bytes = 0;

  /** Counts a body and gives what ends it; null when there is no room. One is always taken where there is no other. */
  begin(bytes: number): (() => void) | null {
    if (this.#bytes > 0 && this.#bytes + bytes > LIMITS.bodies_bytes_max) return null;
    this.#bytes += bytes;
    let ended = false;
    return () => {
      if (ended) return;
      ended = true;
      this.#bytes -= bytes;
    };
  }
}
