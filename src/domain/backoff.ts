/** The wait after a first failure, how it grows with each further one, and its upper bound. */
export type BackoffRule = { first_ms: number; max_ms: number; factor?: number };

/** The wait after a number of failures in a row, counted from 1; ms. */
export function backoffAfter(failures: number, { first_ms, max_ms, factor = 2 }: BackoffRule): number {
  return Math.min(max_ms, first_ms * factor ** (failures - 1));
}
