/** A part of a timeline in ms: the start is included, the end is not. */
export type Interval = [from_ms: number, to_ms: number];

/** Adds an interval to sorted ones that do not touch. Beyond `max`, those with the smallest gap become one. */
export function addInterval(intervals: readonly Interval[], [from, to]: Interval, max: number): Interval[] {
  const before = intervals.filter(([, end]) => end < from);
  const after = intervals.filter(([start]) => start > to);
  const touched = intervals.slice(before.length, intervals.length - after.length);
  const joined: Interval = [Math.min(from, touched[0]?.[0] ?? from), Math.max(to, touched.at(-1)?.[1] ?? to)];
  const all = [...before, joined, ...after];
  while (all.length > max) joinNearest(all);
  return all;
}

/** The parts of an interval outside these, which are sorted and do not touch. */
function outside([from, to]: Interval, intervals: readonly Interval[]): Interval[] {
  const left: Interval[] = [];
  let at = from;
  for (const [start, end] of intervals) {
    if (end <= at) continue;
    if (start >= to) break;
    if (start > at) left.push([at, start]);
    at = Math.max(at, end);
  }
  if (at < to) left.push([at, to]);
  return left;
}

/** The parts of the first intervals that lie in none of the second. */
export function subtract(intervals: readonly Interval[], taken: readonly Interval[]): Interval[] {
  return intervals.flatMap((interval) => outside(interval, taken));
}

/** The ms that two intervals share. */
export function shared([a_from, a_to]: Interval, [b_from, b_to]: Interval): number {
  return Math.max(0, Math.min(a_to, b_to) - Math.max(a_from, b_from));
}

function joinNearest(intervals: Interval[]): void {
  let [nearest, gap_ms] = [1, Number.POSITIVE_INFINITY];
  for (let at = 1; at < intervals.length; at++) {
    const between_ms = (intervals[at] as Interval)[0] - (intervals[at - 1] as Interval)[1];
    if (between_ms < gap_ms) [nearest, gap_ms] = [at, between_ms];
  }
  const [first, second] = [intervals[nearest - 1] as Interval, intervals[nearest] as Interval];
  intervals.splice(nearest - 1, 2, [first[0], second[1]]);
}
