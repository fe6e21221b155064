/**
 * Looks at what is due, one after the other. Whoever asks while one is under way gets the next, which all of them share:
 * the present one may have passed what fell due since it began.
 */
export class Looks<Found> {
  readonly #begin: () => Promise<Found>;
  #present: Promise<Found> | null = null;
  #next: Promise<Found> | null = null;

  constructor(begin: () => Promise<Found>) {
    this.#begin = begin;
  }

  get under_way(): boolean {
    return this.#present !== null;
  }

  /** Finds all that is due at the time of the call. */
  look(): Promise<Found> {
    if (this.#present === null) return this.#start();
    const start = () => {
      this.#next = null;
      return this.#start();
    };
    this.#next ??= this.#present.then(start, start);
    return this.#next;
  }

  /** Resolves when none is under way and none is to follow. Never rejects. */
  async idle(): Promise<void> {
    while (this.#present !== null) await (this.#next ?? this.#present).catch(() => {});
  }

  #start(): Promise<Found> {
    const present = this.#begin().finally(() => {
      this.#present = null;
    });
    this.#present = present;
    return present;
  }
}
