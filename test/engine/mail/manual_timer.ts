import type { MailTimer } from '../../../src/engine/mail/mail_sender.js';

/** A timer whose time passes only when told. */
export function createManualTimer() {
  let now_ms = 0;
  const waiting = new Set<{ at_ms: number; run: () => void }>();
  const timer: MailTimer = {
    after(delay_ms, run) {
      const entry = { at_ms: now_ms + delay_ms, run };
      waiting.add(entry);
      return () => waiting.delete(entry);
    },
  };
  return {
    timer,
    waiting: () => waiting.size,
    /** Runs what falls due on the way, in order, also what that starts. */
    pass(by_ms: number): void {
      const until_ms = now_ms + by_ms;
      for (;;) {
        const next = [...waiting].sort((a, b) => a.at_ms - b.at_ms)[0];
        if (next === undefined || next.at_ms > until_ms) break;
        now_ms = next.at_ms;
        waiting.delete(next);
        next.run();
      }
      now_ms = until_ms;
    },
  };
}

/** Resolves when `holds` does; rejects after ten seconds. */
export async function until(holds: () => boolean, what: string): Promise<void> {
  const deadline_ms = performance.now() + 10_000;
  while (!holds()) {
    if (performance.now() > deadline_ms) throw new Error(`waited in vain until ${what}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
