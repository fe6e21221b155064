/** The wall clock and the page's own are compared: a difference that grows by more is a sleep, or a clock that was set. */
const JUMP_MS = 1_000;

/**
 * Milliseconds that never go back and go on while the machine sleeps, when some browsers' `performance.now` stands still.
 * A wall clock that is set back changes nothing.
 */
export class SteadyClock {
  readonly #wall: () => number;
  readonly #page: () => number;
  #apart_ms: number;
  #slept_ms = 0;

  constructor(wall = Date.now, page = () => performance.now()) {
    this.#wall = wall;
    this.#page = page;
    this.#apart_ms = wall() - page();
  }

  now(): number {
    const page_ms = this.#page();
    const apart_ms = this.#wall() - page_ms;
    const jump_ms = apart_ms - this.#apart_ms;
    if (Math.abs(jump_ms) > JUMP_MS) {
      this.#apart_ms = apart_ms;
      this.#slept_ms += Math.max(0, jump_ms);
    }
    return page_ms + this.#slept_ms;
  }
}
