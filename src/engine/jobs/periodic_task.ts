import { every } from '../time/periodic_timer.js';

/**
 * Runs a task one at a time: at intervals, once it is started, and whenever somebody asks. Whoever asks during a run gets
 * the next one, which all of them share: the present run may have passed what fell due since it began.
 */
export class PeriodicTask<Found> {
  readonly #begin: () => Promise<Found>;
  readonly #every_ms: number | null;
  #stopTicking: (() => void) | null = null;
  #present: Promise<Found> | null = null;
  #next: Promise<Found> | null = null;

  /** Without an interval it runs only when somebody asks. */
  constructor(begin: () => Promise<Found>, every_ms: number | null = null) {
    this.#begin = begin;
    this.#every_ms = every_ms;
  }

  /** From now on runs at intervals; a failed run is repeated by the next. */
  start(): void {
    if (this.#every_ms === null) return;
    this.#stopTicking = every(this.#every_ms, () => {
      if (this.#present === null) this.#beginOne().catch(() => {});
    });
  }

  /** No longer runs at intervals; resolves when no run is in progress and none follows. Never rejects. */
  async stop(): Promise<void> {
    this.#stopTicking?.();
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
