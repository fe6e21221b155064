/** Times in the words and the zone of whoever reads. */

const DAY_MS = 24 * 3_600_000;

const FORMATS = {
  time: { hour: 'numeric', minute: '2-digit' },
  date: { day: 'numeric', month: 'long', year: 'numeric' },
  moment: { day: 'numeric', month: 'short', year: 'numeric', hour: 'numeric', minute: '2-digit' },
} as const satisfies Record<string, Intl.DateTimeFormatOptions>;

export type TimeStyle = keyof typeof FORMATS;

const formats = new Map<string, Intl.DateTimeFormat>();

export function timeText(at: string | number, style: TimeStyle): string {
  const kept = formats.get(style) ?? new Intl.DateTimeFormat(undefined, FORMATS[style]);
  formats.set(style, kept);
  return kept.format(new Date(at));
}

export function Time({ at, style = 'moment' }: { at: string; style?: TimeStyle }) {
  return (
    <time dateTime={at} title={style === 'moment' ? undefined : timeText(at, 'moment')}>
      {timeText(at, style)}
    </time>
  );
}

/** The local day that a moment is of, such as 2026-01-31. */
export function dayOf(at: string): string {
  const date = new Date(at);
  const two = (part: number) => String(part).padStart(2, '0');
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

export function dayText(day: string, now = new Date()): string {
  const date = new Date(`${day}T12:00:00`);
  const days = Math.round((new Date(`${dayOf(now.toISOString())}T12:00:00`).getTime() - date.getTime()) / DAY_MS);
  if (days === 0) return 'Today';
  if (days === 1) return 'Yesterday';
  const is_this_year = date.getFullYear() === now.getFullYear();
  return new Intl.DateTimeFormat(undefined, {
    ...{ weekday: 'long', day: 'numeric', month: 'long' },
    ...(is_this_year ? {} : { year: 'numeric' }),
  }).format(date);
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
  const said = parts.filter(([count]) => count > 0).map(([count, unit]) => `${count} ${unit}${count === 1 ? '' : 's'}`);
  return said.length === 0 ? '0 seconds' : said.join(' ');
}

/** As a field for date and time has it, in local time. */
export function localText(at: string): string {
  const date = new Date(at);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
