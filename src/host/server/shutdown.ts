import type { Logger } from 'pino';

/** Stops all started parts, the last first, each once, even if some fail to stop. */
export class Shutdown {
  readonly #log: Pick<Logger, 'warn'>;
  readonly #stops: (() => Promise<unknown> | unknown)[] = [];
  #running: Promise<void> | null = null;

  constructor(log: Pick<Logger, 'warn'>) {
    this.#log = log;
  }

  /** To be called as soon as a part was started: a start that fails later stops it too. */
  add(stop: () => Promise<unknown> | unknown): void {
    this.#stops.push(stop);
  }

  /** May be called twice. */
  run(): Promise<void> {
    this.#running ??= this.#stopAll();
    return this.#running;
  }

  async #stopAll(): Promise<void> {
    for (const stop of this.#stops.reverse()) {
      try {
        await stop();
      } catch (error) {
        this.#log.warn({ err: error }, 'stopping went wrong');
      }
    }
  }
}
