/**
 * Signals that end no program of ours, from its first moment on: what comes before somebody handles them is kept. Node itself
 * would end at SIGHUP and SIGUSR2, and open a debugger at SIGUSR1.
 */
const SIGNALS = ['SIGHUP', 'SIGUSR1', 'SIGUSR2'] as const;

export type KeptSignal = (typeof SIGNALS)[number];

const early: KeptSignal[] = [];
let handle = (signal: KeptSignal): unknown => early.push(signal);
for (const signal of SIGNALS) process.on(signal, () => handle(signal));

/** From now on `handler` gets each, those that came before first. */
export function handleSignals(handler: (signal: KeptSignal) => void): void {
  handle = handler;
  for (const signal of early.splice(0)) handler(signal);
}
