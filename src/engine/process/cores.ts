import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

/** The CPU quota of a container, as version 2 of cgroups gives it: µs of each so many, or `max`. */
const QUOTA_FILE = '/sys/fs/cgroup/cpu.max';

/** The number of cores that this process may use: those it may run on, and no more than its container pays for. */
export function usableCores(): number {
  return Math.max(1, Math.min(availableParallelism(), Math.ceil(quota())));
}

function quota(): number {
  try {
    const [quota_us, period_us] = readFileSync(QUOTA_FILE, 'utf8').trim().split(' ').map(Number);
    const cores = (quota_us ?? Number.NaN) / (period_us ?? Number.NaN);
    return Number.isFinite(cores) ? cores : Number.POSITIVE_INFINITY;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
