import { beginOf, DAY_MS, dateOf, HOUR_MS } from '../../domain/dates.js';
import { PureMemo } from '../../domain/pure_memo.js';

/** Days and hours by the clocks of a place. */

const TIME_ZONES_CACHED_MAX = 100; // ours: of what knows their clocks

/** The clocks of a named time zone, or if none is named, clocks ahead of UTC by this number of minutes. */
export type LocalClock = { time_zone: string | null; utc_offset_min: number };

const MINUTE_MS = 60_000;
const HALF_YEAR_MS = 182 * 24 * 60 * MINUTE_MS;
const NOON_MS = 12 * HOUR_MS;

/** True for the name of a time zone, such as Europe/Vienna. */
export function isTimeZone(name: string): boolean {
  try {
    return /^[a-z]/i.test(name) && new Intl.DateTimeFormat('en', { timeZone: name }) !== null;
  } catch {
    return false;
  }
}

/** The date at that place, as `2026-12-07`. */
export function dateAt(at_ms: number, clock: LocalClock): string {
  return dateOf(at_ms + aheadMs(at_ms, clock));
}

/** Noon of a date at that place, in ms. */
export function noonOf(date: string, clock: LocalClock): number {
  return momentThere(beginOf(date) + NOON_MS, clock);
}

/** The beginning of a day at that place, and of the next one, in ms. */
export function dayBounds(date: string, clock: LocalClock): { from_ms: number; until_ms: number } {
  return { from_ms: momentThere(beginOf(date), clock), until_ms: momentThere(beginOf(date) + DAY_MS, clock) };
}

/** The beginning of a day at that place: its first midnight, or the moment of the skip if clocks skip midnight. */
export function midnightOf(
  { year, month, day }: { year: number; month: number; day: number },
  time_zone: string,
): number {
  return momentThere(Date.UTC(year, month - 1, day), { time_zone, utc_offset_min: 0 });
}

/** The ms by which the clocks of a zone are ahead of UTC at a time. */
export function offsetMs(at_ms: number, time_zone: string): number {
  const parts = CLOCKS.of(time_zone).formatToParts(at_ms);
  const of = (type: string) => Number(parts.find((part) => part.type === type)?.value);
  const there = Date.UTC(of('year'), of('month') - 1, of('day'), of('hour'), of('minute'), of('second'));
  return there - Math.floor(at_ms / 1_000) * 1_000;
}

/**
 * The first moment at which clocks of the place show what clocks of UTC show at `there`; the moment of the skip if they
 * skip that.
 */
export function momentThere(there: number, clock: LocalClock): number {
  const [before, after] = [there - DAY_MS, there + DAY_MS].map((at_ms) => there - aheadMs(at_ms, clock)) as [
    number,
    number,
  ];
  const found = [before, after].filter((at_ms) => at_ms + aheadMs(at_ms, clock) === there);
  return found.length === 0 ? before : Math.min(...found);
}

/** The ms by which clocks of the place are ahead of UTC at a time. */
export function aheadMs(at_ms: number, { time_zone, utc_offset_min }: LocalClock): number {
  return time_zone === null ? utc_offset_min * MINUTE_MS : offsetMs(at_ms, time_zone);
}

/** Whether clocks of a zone may be ahead of UTC by this offset about that time, in summer or in winter. */
export function mayBeAhead(at_ms: number, { time_zone, utc_offset_min }: LocalClock): boolean {
  const half_years = [at_ms, at_ms + HALF_YEAR_MS];
  return half_years.some((ms) => aheadMs(ms, { time_zone, utc_offset_min }) === utc_offset_min * MINUTE_MS);
}

/** Making one takes as long as a hundred uses of it. */
const CLOCKS = new PureMemo(
  TIME_ZONES_CACHED_MAX,
  (timeZone: string) =>
    new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    }),
);
