import { DAY_MS } from '../../../domain/dates.js';
import { aheadMs, momentThere } from '../../../engine/time/time_zone.js';

/** Days as numbers, from 1 January 1970 on, and the day and minute at which something was said. */

export type SpokenClock = {
  /** The day on which it was said, and the minutes since midnight. */
  today: number;
  minute: number;
  momentOf: (day: number, minute: number) => number;
};
type SpokenMinute = { at_ms: number; utc_offset_min: number };

const MINUTE_MS = 60_000;
/** Clocks are changed on a quarter of an hour. */
const QUARTER_MS = 15 * MINUTE_MS;

export const dayOf = (year: number, month: number, date: number): number => Date.UTC(year, month, date) / DAY_MS;

/** Monday is 0. */
export const weekdayOf = (day: number): number => (day + 3) % 7;

export function partsOf(day: number): { year: number; month: number; date: number } {
  const at = new Date(day * DAY_MS);
  return { year: at.getUTCFullYear(), month: at.getUTCMonth(), date: at.getUTCDate() };
}

/** The last day of that month, of which 12 and more lie in the years after. */
export const monthEnd = (year: number, month: number): number => dayOf(year, month + 1, 1) - 1;

/** The first such day after that one. */
export const nextWeekday = (weekday: number, day: number): number => day + (((weekday - weekdayOf(day) + 6) % 7) + 1);

/** That day of a month; null where the month has no such day. */
export function dateIn(year: number, month: number, date: number): number | null {
  const day = dayOf(year, month, date);
  return partsOf(day).date === date ? day : null;
}

/** The day so many months later, or the last one of a shorter month. */
export function monthsAfter(day: number, months: number): number {
  const { year, month, date } = partsOf(day);
  return Math.min(dayOf(year, month + months, date), monthEnd(year, month + months));
}

/** The day so many working days later; of 100 days at most. */
export function workdaysAfter(day: number, count: number): number {
  let at = day;
  for (let left = Math.min(count, 100); left > 0; ) if (weekdayOf(++at) < 5) left--;
  return at;
}

/** Gives the clocks by which something was said: those of a zone, or else those of the recording. */
export function spokenClocks(time_zone: string | null): (said: SpokenMinute) => SpokenClock {
  const known = new Map<number, number>();
  return ({ at_ms, utc_offset_min }) => {
    const clock = { time_zone, utc_offset_min };
    const quarter = Math.floor(at_ms / QUARTER_MS);
    const ahead_ms = (time_zone === null ? undefined : known.get(quarter)) ?? aheadMs(at_ms, clock);
    known.set(quarter, ahead_ms);
    const local_ms = at_ms + ahead_ms;
    const today = Math.floor(local_ms / DAY_MS);
    return {
      today,
      minute: Math.floor((local_ms - today * DAY_MS) / MINUTE_MS),
      momentOf: (day, minute) => momentThere(day * DAY_MS + minute * MINUTE_MS, clock),
    };
  };
}
