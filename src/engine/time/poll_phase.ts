/**
 * Waits for the event loop to have taken in all that had arrived. What is read in one poll phase is handled in any order,
 * so a request can be parsed before what came earlier on another connection.
 */
export class PollPhase {
  #over: Promise<void> | null = null;
  #is_over = false;

  /** True until the next poll phase, for what goes on because `over` has resolved. */
  get is_over(): boolean {
    return this.#is_over;
  }

  /** Resolves at the end of a poll phase; all that wait meanwhile share it. */
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
