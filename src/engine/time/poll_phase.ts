/**
 * Waits until the event loop has read everything that had arrived. Data read in one poll phase is handled in any order,
 * so a request can be parsed before earlier data on another connection.
 */
export class PollPhase {
  #over: Promise<void> | null = null;
  #is_over = false;

  /** True until the next poll phase, for code that continues because `over` has resolved. */
  get is_over(): boolean {
    return this.#is_over;
  }

  /** Resolves at the end of a poll phase; all callers meanwhile share it. */
  over(): Promise<void> {
    this.#over ??= new Promise((resolve) => {
      setImmediate(() => {
        this.#over = null;
        this.#is_over = true;
        resolve();
      });
      // Between two immediates all promises go on that can.
      setImmediate(() => {
        this.#is_over = false;
      });
    });
    return this.#over;
  }
}
