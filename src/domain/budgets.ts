/** The number of uses in a window of time, which begins with the first use. */
export type Spent = { began_ms: number; count: number };

/** Spends one use of a budget of `max` in a window of `window_ms`. Returns the new count, or the seconds to wait. */
export function spend(
  before: Spent | null | undefined,
  { max, window_ms }: { max: number; window_ms: number },
  now_ms: number,
): Spent | { wait_s: number } {
  if (before == null || now_ms >= before.began_ms + window_ms) return { began_ms: now_ms, count: 1 };
  if (before.count >= max) return { wait_s: Math.ceil((before.began_ms + window_ms - now_ms) / 1_000) };
  return { ...before, count: before.count + 1 };
}
