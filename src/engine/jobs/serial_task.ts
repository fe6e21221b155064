/**
 * Runs a task one at a time, on request. Requests during a run share the next run: the present one may have passed what
 * fell due since it began.
 */
export class SerialTask<Result> {
  readonly #begin: () => Promise<Result>;
  #present: Promise<Result> | null = null;
  #next: Promise<Result> | null = null;

  constructor(begin: () => Promise<Result>) {
    this.#begin = begin;
  }

  /** Resolves when no run is in progress and none is waiting. Never rejects. */
  async stop(): Promise<void> {
    while (this.#present !== null) await (this.#next ?? this.#present).catch(() => {});
  }

  get is_running(): boolean {
    return this.#present !== null;
  }

  /** Runs once, from the time of the call on. */
  runOnce(): Promise<Result> {
    if (this.#present === null) return this.#beginOne();
    const start = () => {
      this.#next = null;
      return this.#beginOne();
    };
    this.#next ??= this.#present.then(start, start);
    return this.#next;
  }

  #beginOne(): Promise<Result> {
    const present = this.#begin().finally(() => {
      this.#present = null;
    });
    this.#present = present;
    return present;
  }
}
