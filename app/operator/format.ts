/** Numbers and times in words. */

const MINUTE_S = 60;
const HOUR_S = 3600;

/** Such as `12 s`, `5 min`, `3 h`, `2 d`. */
export function span(seconds: number): string {
  const s = Math.max(0, seconds);
  if (s < MINUTE_S) return `${Math.round(s)} s`;
  if (s < HOUR_S) return `${Math.round(s / MINUTE_S)} min`;
  return s < 48 * HOUR_S ? `${Math.round(s / HOUR_S)} h` : `${Math.round(s / HOUR_S / 24)} d`;
}

/** The ms by which the server's clock, which dates everything here, is ahead of this browser's. */
let ahead_ms = 0;

/** `now`: what the server says. */
export function followClock(now: string): void {
  ahead_ms = Date.parse(now) - Date.now();
}

/** The server's time. */
export function serverNow(): number {
  return Date.now() + ahead_ms;
}

/** The time since then, as `5 min ago`. */
export function ago(time: string | null): string {
  return time === null ? 'never' : `${span((serverNow() - Date.parse(time)) / 1000)} ago`;
}

export function clockTime(time: string | number | null): string {
  return time === null ? '–' : new Date(time).toLocaleTimeString([], { hour12: false });
}

export function dateTime(time: string | number): string {
  return new Date(time)
    .toISOString()
    .replace('T', ' ')
    .replace(/\.\d+Z$/, ' UTC');
}

/** Three digits. */
export function digits(value: number): string {
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (size >= 100) return Math.round(value).toLocaleString('en');
  return String(Number(value.toPrecision(size < 1 ? 2 : 3)));
}

export function bytes(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${digits(value)} ${units[unit]}`;
}

/** Milliseconds, in the unit that reads best. */
export function duration(ms: number): string {
  if (ms >= 1000) return ms >= 60_000 ? span(ms / 1000) : `${digits(ms / 1000)} s`;
  return `${digits(ms)} ms`;
}

/** Words of a value of a chart, by its unit. */
export const UNITS = {
  per_s: (value: number) => `${digits(value)}/s`,
  ms: duration,
  s: span,
  bytes,
  bytes_per_s: (value: number) => `${bytes(value)}/s`,
  count: digits,
  share: (value: number) => `${digits(value * 100)} %`,
} satisfies Record<string, (value: number) => string>;
