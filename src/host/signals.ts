/**
 * Signals that end no program of ours, from its first moment on. Node itself would end at SIGHUP and SIGUSR2, and open
 * a debugger at SIGUSR1.
 */
const SIGNALS = ['SIGHUP', 'SIGUSR1', 'SIGUSR2'] as const;

export type KeptSignal = (typeof SIGNALS)[number];

/** Keeps signals until somebody handles them. */
export class KeptSignals {
  readonly #early: KeptSignal[] = [];
  #handle: (signal: KeptSignal) => unknown = (signal) => this.#early.push(signal);

  constructor() {
    for (const signal of SIGNALS) process.on(signal, () => this.#handle(signal));
  }

  /** Passes each signal to `handler` from now on, beginning with those that came before. */
  handle(handler: (signal: KeptSignal) => void): void {
    this.#handle = handler;
    for (const signal of this.#early.splice(0)) handler(signal);
  }
}
