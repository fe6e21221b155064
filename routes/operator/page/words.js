/** Numbers and times in words. */

const MINUTE_S = 60;
const HOUR_S = 3600;

/**
 * Such as `12 s`, `5 min`, `3 h`, `2 d`.
 * @param {number} seconds
 */
export function span(seconds) {
  const s = Math.max(0, seconds);
  if (s < MINUTE_S) return `${Math.round(s)} s`;
  if (s < HOUR_S) return `${Math.round(s / MINUTE_S)} min`;
  return s < 48 * HOUR_S ? `${Math.round(s / HOUR_S)} h` : `${Math.round(s / HOUR_S / 24)} d`;
}

/** How far the server's clock, by which everything there happens, is ahead of this browser's. */
let ahead_ms = 0;

/** @param {string} now what the server says */
export function followClock(now) {
  ahead_ms = Date.parse(now) - Date.now();
}

/** The server's time. */
export function serverNow() {
  return Date.now() + ahead_ms;
}

/**
 * How long ago, as `5 min ago`.
 * @param {string | null} time
 */
export function ago(time) {
  return time === null ? 'never' : `${span((serverNow() - Date.parse(time)) / 1000)} ago`;
}

/** @param {string | number | null} time */
export function clockTime(time) {
  return time === null ? '–' : new Date(time).toLocaleTimeString([], { hour12: false });
}

/** @param {string | number} time */
export function dateTime(time) {
  return new Date(time)
    .toISOString()
    .replace('T', ' ')
    .replace(/\.\d+Z$/, ' UTC');
}

/**
 * Three digits.
 * @param {number} value
 */
export function digits(value) {
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (size >= 100) return Math.round(value).toLocaleString('en');
  return String(Number(value.toPrecision(size < 1 ? 2 : 3)));
}

/** @param {number} bytes */
export function bytes(bytes) {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${digits(value)} ${units[unit]}`;
}

/**
 * Milliseconds, in the unit that reads best.
 * @param {number} ms
 */
export function duration(ms) {
  if (ms >= 1000) return ms >= 60_000 ? span(ms / 1000) : `${digits(ms / 1000)} s`;
  return `${digits(ms)} ms`;
}

/** @type {Record<string, (value: number) => string>} */
export const UNITS = {
  per_s: (value) => `${digits(value)}/s`,
  ms: duration,
  s: (value) => span(value),
  bytes,
  bytes_per_s: (value) => `${bytes(value)}/s`,
  count: digits,
  share: (value) => `${digits(value * 100)} %`,
};
