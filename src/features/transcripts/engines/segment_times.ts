/**
 * Times of what was heard, as engines give them: mostly seconds of the file, of some engines in smaller units, of others
 * none or nonsense. Whatever comes, each text gets a place in the file.
 */

export type Timed = { start?: number | undefined; end?: number | undefined; text: string };
/** `guessed`: no credible time says where it begins. */
export type SegmentSpan = { start_s: number; end_s: number; guessed: boolean };

/** Nobody speaks so fast: text that would have to has other times. */
export const CHARS_PER_SECOND_MAX = 40;
/** Engines that hear 30 s at a time may say times up to so far behind the end. */
const BEYOND_S = 30;
const SMALLER_UNITS_S = [1e-3, 1e-6, 1e-9];
/** The seconds by which end times in smaller units may lie behind the file's end. */
const BEYOND_OF_SMALLER_S = 2;

/** The unit of the times, in seconds; null where they fit none. The median decides: single times may be odd. */
export function unitOf(said: readonly Timed[], length_s: number): number | null {
  const times = said.flatMap(({ start, end }) => [start, end]).filter((time) => time !== undefined);
  const sorted = times.filter(Number.isFinite).sort((a, b) => a - b);
  const middle = sorted[Math.floor(sorted.length / 2)];
  if (middle === undefined || middle <= length_s + BEYOND_S) return 1;
  const span = (sorted.at(-1) as number) - (sorted[0] as number);
  const chars = said.reduce((sum, { text }) => sum + text.length, 0);
  const fits = (unit_s: number) =>
    middle * unit_s <= length_s + BEYOND_OF_SMALLER_S && span * unit_s >= chars / CHARS_PER_SECOND_MAX;
  return SMALLER_UNITS_S.find(fits) ?? null;
}

type Within = { unit_s: number | null; from_s: number; to_s: number; length_s: number };

/** Places in the order of the text. What has no time lies between its neighbours, with a share by its letters. */
export function placesOf(said: readonly Timed[], { unit_s, from_s, to_s, length_s }: Within): SegmentSpan[] {
  const secondsOf = (time: number | undefined): number | null => {
    const seconds = time === undefined || unit_s === null ? Number.NaN : time * unit_s;
    const is_near = seconds >= -BEYOND_S && seconds <= length_s + BEYOND_S;
    return is_near ? Math.min(length_s, Math.max(0, seconds)) : null;
  };
  let letters = 0;
  // Two moments of each text, and how many letters come before each.
  const moments = said.flatMap(({ start, end, text }) => {
    const begins = { at: letters, s: secondsOf(start) };
    letters += Math.max(1, text.length);
    return [begins, { at: letters, s: secondsOf(end) }];
  });
  const known = [
    { at: 0, s: from_s, index: -1 },
    ...moments.flatMap(({ at, s }, index) => (s === null ? [] : [{ at, s, index }])),
    { at: letters, s: to_s, index: moments.length },
  ];
  let next = 1;
  const times = moments.map(({ at, s }, index) => {
    while ((known[next]?.index ?? index) < index) next += 1;
    if (s !== null) return s;
    const [before, after] = [known[next - 1], known[next]] as [(typeof known)[number], (typeof known)[number]];
    const share = after.at === before.at ? 1 : (at - before.at) / (after.at - before.at);
    // Where the next one is earlier, the times are in no order.
    const until_s = after.s < before.s ? Math.max(before.s, to_s) : after.s;
    return before.s + share * (until_s - before.s);
  });
  return said.map((_, index): SegmentSpan => {
    const [start_s, end_s] = times.slice(index * 2, index * 2 + 2) as [number, number];
    return { start_s, end_s: Math.max(start_s, end_s), guessed: moments[index * 2]?.s === null };
  });
}
