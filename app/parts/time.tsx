import { dateText, dayOf, daysBetween, numberText } from '../language/formats.js';
import { say } from '../language/say.js';

/** Times in the words and the zone of whoever reads. */

const FORMATS = {
  time: { hour: 'numeric', minute: '2-digit' },
  date: { day: 'numeric', month: 'long', year: 'numeric' },
  moment: { day: 'numeric', month: 'short', year: 'numeric', hour: 'numeric', minute: '2-digit' },
} as const satisfies Record<string, Intl.DateTimeFormatOptions>;

export type TimeStyle = keyof typeof FORMATS;

export function timeText(at: string | number, style: TimeStyle): string {
  return dateText(at, FORMATS[style]);
}

export function Time({ at, style = 'moment' }: { at: string; style?: TimeStyle }) {
  return (
    <time dateTime={at} title={style === 'moment' ? undefined : timeText(at, 'moment')}>
      {timeText(at, style)}
    </time>
  );
}

/** A day of the calendar, such as 2026-01-31, in words. */
export function dayText(day: string, now_ms = Date.now()): string {
  const today = dayOf(now_ms);
  const days = daysBetween(day, today);
  if (days === 0) return say('Today');
  if (days === 1) return say('Yesterday');
  const is_this_year = day.slice(0, 4) === today.slice(0, 4);
  return dateText(`${day}T12:00:00Z`, {
    ...{ timeZone: 'UTC', weekday: 'long', day: 'numeric', month: 'long' },
    ...(is_this_year ? {} : { year: 'numeric' }),
  });
}

/** Such as 12 s, 4 min or 1 h 4 min. */
export function durationText(ms: number): string {
  const seconds = Math.round(ms / 1_000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  const [h, m] = [Math.floor(minutes / 60), minutes % 60];
  if (h === 0) return `${m} min`;
  return m === 0 ? `${h} h` : `${h} h ${m} min`;
}

/** The same for those who hear it. */
export function spokenDuration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  const parts = [
    [Math.floor(seconds / 3_600), 'hour'],
    [Math.floor(seconds / 60) % 60, 'minute'],
    [seconds % 60, 'second'],
  ] as const;
  const worded = (count: number, unit: string) => numberText(count, { style: 'unit', unit, unitDisplay: 'long' });
  const said = parts.filter(([count]) => count > 0).map(([count, unit]) => worded(count, unit));
  return said.length === 0 ? worded(0, 'second') : said.join(' ');
}
