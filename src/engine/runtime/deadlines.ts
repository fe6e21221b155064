/** The longest delay after which a passed deadline is noticed. */
const LOOK_EVERY_MS = 100;

/** A waiting deadline; made by `Deadlines.add`. */
export type Deadline = {
  readonly at: number;
  readonly pass: () => void;
  before: Deadline | null;
  after: Deadline | null;
};

/**
 * Many deadlines of the same length, in the order of their start, which is also that of their end, so one timer checks
 * only the first. A timer for each would cost more than the work that is waited for.
 */
export class Deadlines {
  readonly #within_ms: number;
  #first: Deadline | null = null;
  #last: Deadline | null = null;
  #timer: NodeJS.Timeout | null = null;

  constructor(within_ms: number) {
    this.#within_ms = within_ms;
  }

  /** Calls `pass` once the time has passed, unless the deadline is removed before. */
  add(pass: () => void): Deadline {
    const added: Deadline = { at: performance.now() + this.#within_ms, pass, before: this.#last, after: null };
    if (this.#last === null) this.#first = added;
    else this.#last.after = added;
    this.#last = added;
    this.#timer ??= setInterval(() => this.#look(), Math.min(LOOK_EVERY_MS, this.#within_ms));
    return added;
  }

  remove(deadline: Deadline): void {
    const { before, after } = deadline;
    if (before !== null) before.after = after;
    else if (this.#first === deadline) this.#first = after;
    else return; // removed before
    if (after !== null) after.before = before;
    else this.#last = before;
    deadline.before = null;
    deadline.after = null;
  }

  #look(): void {
    const now = performance.now();
    for (let first = this.#first; first !== null && first.at <= now; first = this.#first) {
      this.remove(first);
      first.pass();
    }
    if (this.#first !== null || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }
}
