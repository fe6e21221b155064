/** Days of the calendar, as `2026-12-07`. */

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;

/** Whether a text is a day of the calendar. */
export function isDate(text: string): boolean {
  const [, year = 0, month = 0, day = 0] = (DATE.exec(text) ?? []).map(Number);
  const at = new Date(Date.UTC(year, month - 1, day));
  return year > 0 && at.getUTCFullYear() === year && at.getUTCMonth() === month - 1 && at.getUTCDate() === day;
}

/** The day at a time, in UTC. */
export function dateOf(at_ms: number): string {
  return new Date(at_ms).toISOString().slice(0, 10);
}

/** The day that is this many days after a day, or before it if `days` is negative. */
export function dateAfter(date: string, days: number): string {
  return dateOf(beginOf(date) + days * DAY_MS);
}

/** The time at which a day begins in UTC, ms. */
export function beginOf(date: string): number {
  return Date.parse(`${date}T00:00:00Z`);
}
