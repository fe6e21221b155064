/** Freed places are handed out together after so long, several to one endpoint. */
const SERVE_AFTER_MS = 5;

export interface Queued {
  /** Starts if there is a place for it; false leaves it in the queue. */
  tryStart(): boolean;
}

/** Endpoints that have something to do, each once, in turn; who finds no place keeps its own in the queue. */
export class ReadyQueue {
  readonly #waiting: Queued[] = [];
  #timer: NodeJS.Timeout | null = null;

  add(one: Queued): void {
    this.#waiting.push(one);
    if (this.#waiting.length === 1) this.#serve();
    else this.serveSoon();
  }

  /** To be called when a place may have come free. */
  serveSoon(): void {
    if (this.#waiting.length === 0) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      this.#serve();
    }, SERVE_AFTER_MS);
  }

  #serve(): void {
    for (let left = this.#waiting.length; left > 0; left--) {
      const one = this.#waiting.shift() as Queued;
      if (!one.tryStart()) this.#waiting.push(one);
    }
  }
}
