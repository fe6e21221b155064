const TICK_MS = 500;
/** Node's timers may fire so much before their time. */
const EARLY_MAX_MS = 2;

/** `at_tick`: its next turn. */
type Periodic = { ticks: number; at_tick: number; work: () => void };

const shared = new Set<Periodic>();
let timer: NodeJS.Timeout | null = null;
/** The tick that the timer is set for. */
let set_for = Number.POSITIVE_INFINITY;
let is_sharing = true;

/** Where one process stands for several, each of which may end by itself, all work has timers of its own. */
export function shareTimer(on: boolean): void {
  is_sharing = on;
}

/**
 * Calls `work` every `ms` milliseconds until what this gives is called; keeps no process alive. Work at multiples of half a
 * second shares one timer, which sleeps until the first of it is due. Its turns are multiples of its interval on the clock
 * that all processes of a machine share: an idle process pays for each time it wakes, and what processes ask of Redis
 * at the same time shares a write to the disk. The first call comes at most `ms` later.
 */
export function every(ms: number, work: () => void): () => void {
  if (!is_sharing || ms % TICK_MS !== 0) {
    const own = setInterval(work, ms);
    own.unref();
    return () => clearInterval(own);
  }
  const ticks = ms / TICK_MS;
  const periodic = { ticks, at_tick: turnAfter(tickAt(machineMs()), ticks), work };
  shared.add(periodic);
  setTimer();
  return () => {
    shared.delete(periodic);
    setTimer();
  };
}

/** Milliseconds of a clock that all processes of a machine share and nobody sets. */
function machineMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

function tickAt(ms: number): number {
  return Math.floor(ms / TICK_MS);
}

function turnAfter(tick: number, ticks: number): number {
  return (Math.floor(tick / ticks) + 1) * ticks;
}

function setTimer(): void {
  let first = Number.POSITIVE_INFINITY;
  for (const { at_tick } of shared) first = Math.min(first, at_tick);
  if (first === set_for) return;
  set_for = first;
  if (timer !== null) clearTimeout(timer);
  timer = first === Number.POSITIVE_INFINITY ? null : setTimeout(wake, first * TICK_MS - machineMs());
  timer?.unref();
}

/** Does what is due; of several turns that were missed, the last. */
function wake(): void {
  const tick = tickAt(machineMs() + EARLY_MAX_MS);
  const due = [...shared].filter(({ at_tick }) => at_tick <= tick);
  for (const periodic of due) periodic.at_tick = turnAfter(tick, periodic.ticks);
  set_for = Number.POSITIVE_INFINITY;
  setTimer();
  for (const periodic of due) if (shared.has(periodic)) periodic.work();
}
