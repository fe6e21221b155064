/**
 * Runs a task one at a time, whenever somebody asks. Whoever asks during a run gets the next one, which all of them share:
 * the present run may have passed what fell due since it began.
 */
export class SerialTask<Found> {
  readonly #begin: () => Promise<Found>;
  #present: Promise<Found> | null = null;
  #next: Promise<Found> | null = null;

  constructor(begin: () => Promise<Found>) {
    this.#begin = begin;
  }

  /** Resolves when no run is in progress and none follows. Never rejects. */
  async stop(): Promise<void> {
    while (this.#present !== null) await (this.#next ?? this.#present).catch(() => {});
  }

  get is_running(): boolean {
    return this.#present !== null;
  }

  /** Finds all that is due at the time of the call. */
  runOnce(): Promise<Found> {
    if (this.#present === null) return this.#beginOne();
    const start = () => {
      this.#next = null;
      return this.#beginOne();
    };
    this.#next ??= this.#present.then(start, start);
    return this.#next;
  }

  #beginOne(): Promise<Found> {
    const present = this.#begin().finally(() => {
      this.#present = null;
    });
    this.#present = present;
    return present;
  }
}
