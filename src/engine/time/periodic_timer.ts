const TICK_MS = 500;

type Periodic = { ticks: number; work: () => void };

const shared = new Set<Periodic>();
let timer: NodeJS.Timeout | null = null;
let count = 0;
let is_sharing = true;

/** Where one process stands for several, each of which may end by itself, all work has timers of its own. */
export function shareTimer(on: boolean): void {
  is_sharing = on;
}

/**
 * Calls `work` every `ms` milliseconds until what this gives is called; keeps no process alive. Work at multiples of half a
 * second shares one timer: each wake-up of an idle process takes about 200 µs, and what is asked of Redis goes out
 * together. Its first call comes at most `ms` later.
 */
export function every(ms: number, work: () => void): () => void {
  if (!is_sharing || ms % TICK_MS !== 0) {
    const own = setInterval(work, ms);
    own.unref();
    return () => clearInterval(own);
  }
  const periodic = { ticks: ms / TICK_MS, work };
  shared.add(periodic);
  if (timer === null) {
    timer = setInterval(tick, TICK_MS);
    timer.unref();
  }
  return () => {
    shared.delete(periodic);
    if (shared.size > 0 || timer === null) return;
    clearInterval(timer);
    timer = null;
  };
}

function tick(): void {
  count += 1;
  for (const { ticks, work } of shared) if (count % ticks === 0) work();
}
