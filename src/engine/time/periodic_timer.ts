const TICK_MS = 500;
/** Node's timers may fire this much early. */
const EARLY_MAX_MS = 2;

/**
 * Calls `work` every `ms` milliseconds until the returned function is called; keeps no process alive. The first call
 * comes at most `ms` later. Intervals that are multiples of half a second are aligned to the clock that all processes
 * of a machine share: a process pays for each wake-up, and wakes once for all due work; requests of processes to Redis
 * at the same time share a write to the disk. Of several missed calls, only the last is made up for.
 */
export function every(ms: number, work: () => void): () => void {
  if (ms % TICK_MS !== 0) {
    const own = setInterval(work, ms);
    own.unref();
    return () => clearInterval(own);
  }
  let timer: NodeJS.Timeout;
  const wait = () => {
    const now_ms = machineMs();
    const turn = Math.floor((now_ms + EARLY_MAX_MS) / ms) + 1;
    timer = setTimeout(wake, turn * ms - now_ms);
    timer.unref();
  };
  const wake = () => {
    wait();
    work();
  };
  wait();
  return () => clearTimeout(timer);
}

/** Milliseconds of a clock that all processes of a machine share and nobody sets. */
function machineMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
