/** The time in the name of a file, such as `2026-11-29 10-15-00.m4a`, `20261129_101500.wav` and `New Recording 2026-11-29.m4a`. */

const DATE = '(?<year>20\\d\\d)(?<mark>[-_.]?)(?<month>\\d\\d)\\k<mark>(?<day>\\d\\d)';
const CLOCK = '(?<hour>\\d\\d)(?<colon>[-_.:h]?)(?<minute>\\d\\d)(?:\\k<colon>(?<second>\\d\\d))?';
const FORM = new RegExp(
  `(?<!\\d)${DATE}(?:(?:[ _-]{1,3}|T| at )${CLOCK}(?![\\d])(?:(?<zulu>Z)| ?(?<half>[AP])\\.?M)?)?(?!\\d)`,
  'i',
);
const MINUTE_MS = 60_000;
const HALF_DAY_MS = 12 * 3_600_000;

/** `is_day`: the name has no time of day, and `ms` is noon. */
export type NameTime = { ms: number; is_day: boolean };

/** The first time in a name, in the zone of `utc_offset_min`; null without one. */
export function nameTime(name: string, utc_offset_min: number): NameTime | null {
  const found = FORM.exec(name)?.groups;
  if (found === undefined) return null;
  const { year, month, day, hour, minute, second = '00', zulu, half } = found as Record<string, string | undefined>;
  const midnight_ms = dateMs(Number(year), Number(month), Number(day));
  if (midnight_ms === null) return null;
  const offset_ms = (zulu === undefined ? utc_offset_min : 0) * MINUTE_MS;
  const clock_ms = hour === undefined ? null : clockMs(hourOf(Number(hour), half), Number(minute), Number(second));
  if (clock_ms === null) return { ms: midnight_ms + HALF_DAY_MS - utc_offset_min * MINUTE_MS, is_day: true };
  return { ms: midnight_ms + clock_ms - offset_ms, is_day: false };
}

/** Null for a day that no calendar has. */
function dateMs(year: number, month: number, day: number): number | null {
  const ms = Date.UTC(year, month - 1, day);
  const read = new Date(ms);
  return read.getUTCMonth() === month - 1 && read.getUTCDate() === day ? ms : null;
}

function hourOf(hour: number, half: string | undefined): number {
  if (half === undefined) return hour;
  if (hour < 1 || hour > 12) return Number.NaN;
  return (hour % 12) + (half.toUpperCase() === 'P' ? 12 : 0);
}

function clockMs(hour: number, minute: number, second: number): number | null {
  return hour <= 23 && minute <= 59 && second <= 59 ? ((hour * 60 + minute) * 60 + second) * 1_000 : null;
}
