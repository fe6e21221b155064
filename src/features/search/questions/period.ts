import { Chrono, casual, type ParsedResult } from 'chrono-node/en';
import { LIMITS } from '../../../domain/limits.js';
import { midnightOf, offsetMs } from '../../../engine/time/time_zone.js';

/** When something was, as somebody says it: "last week", "on Monday", "in March". Of the calendar of a time zone. */

/** From its first to its last millisecond. */
export type Period = { from_ms: number; to_ms: number };

export type Day = { year: number; month: number; day: number };
export type PeriodQuery = { now_ms: number; time_zone: string };
/** A period, what else the text says, and from where to where it stands there. */
export type FoundPeriod = { period: Period; rest: string; from: number; to: number };

const CHRONO = new Chrono(casual);
const MINUTE_MS = 60_000;
/** Until then the night that began the day before is not over. */
const NIGHT_ENDS_AT_HOUR = 6;
const WEEK_DAYS = 7;
/** Of a week from Monday on. */
const SATURDAY = 5;

const OF_A_MOMENT = /\b(?:now|seconds?|secs?|minutes?|mins?|hours?|hrs?)\b/;
const UP_TO_NOW = /^(?:past|last)\s+(?:\S+\s+)+(?:of\s+)?(?:days|weeks|months|years)$|^past\s+(?:day|week|month|year)$/;
const PART_OF_TODAY = /^(?:this\s+(?:morning|afternoon|evening|night)|tonight)$/;
const LAST_NIGHT = /^last\s*night/;
const ISO_DAY = /^\d{4}-\d{2}-\d{2}$/;
const NUMBER = /\d/;
const LETTERS = /[a-z]{3}/;
/** A month or a day of the week alone is a word like others, and a name, unless it follows one of these. */
const LEADS = /\b(?:in|on|during|since|from|of|this|last)\s+$/;
const ENDS = /\b(?:before|until|till|after|by|next)\s+$/;
const SINCE = /\bsince\s+$/;
const YEAR = /\b(?:in|during|since)\s+((?:19|20)\d\d)\b/;

/**
 * Times in a text, as the parser gives them. They are looked for in the first `LIMITS.recall_period_chars_max`
 * characters: a text of nothing but dates would take long.
 */
export function timesIn(text: string, { now_ms, time_zone }: PeriodQuery): ParsedResult[] {
  const lower = text.slice(0, LIMITS.recall_period_chars_max).toLowerCase();
  return CHRONO.parse(lower, { instant: new Date(now_ms), timezone: offsetMs(now_ms, time_zone) / MINUTE_MS });
}

/** The period in the past that a text speaks of; null where it clearly speaks of none. `times`: those of the text. */
export function periodIn(text: string, asked: PeriodQuery, times = timesIn(text, asked)): FoundPeriod | null {
  const lower = text.slice(0, LIMITS.recall_period_chars_max).toLowerCase();
  let period: Period | null = null;
  let rest = text;
  let [from, to] = [text.length, 0];
  const take = (found: Period, { index, length }: { index: number; length: number }) => {
    [from, to] = [Math.min(from, index), Math.max(to, index + length)];
    period = {
      from_ms: Math.min(found.from_ms, (period as Period | null)?.from_ms ?? found.from_ms),
      to_ms: Math.max(found.to_ms, (period as Period | null)?.to_ms ?? found.to_ms),
    };
    rest = rest.slice(0, index) + ' '.repeat(length) + rest.slice(index + length);
  };
  for (const result of times) {
    const found = periodOf(result, { lower, ...asked });
    if (found !== null) take(found, { index: result.index, length: result.text.length });
  }
  const year = YEAR.exec(lower);
  if (period === null && year !== null) {
    const number = Number(year[1]);
    const whole = span({ year: number, month: 1, day: 1 }, { year: number + 1, month: 1, day: 1 }, asked.time_zone);
    const is_since = year[0].startsWith('since');
    if (whole.from_ms <= asked.now_ms)
      take(is_since ? { ...whole, to_ms: asked.now_ms } : whole, { index: year.index, length: year[0].length });
  }
  return period === null ? null : { period, rest, from, to };
}

function periodOf(result: ParsedResult, { lower, now_ms, time_zone }: PeriodQuery & { lower: string }): Period | null {
  const text = result.text.trim();
  const before = lower.slice(0, result.index);
  if (OF_A_MOMENT.test(text) || ENDS.test(before)) return null;
  const unit = unitOf(result, { text, before, lower });
  if (unit === null) return null;
  const [begin, end] = daysOf(result, { text, now_ms, time_zone });
  const [from, to] = bounds(unit, begin, end);
  let period = span(from, to, time_zone);
  // Nothing is recorded that is still to come: it is the one before.
  const back = backOf(result);
  if (period.from_ms > now_ms && back !== null) period = span(back(from), back(to), time_zone);
  if (period.from_ms > now_ms) return null;
  return UP_TO_NOW.test(text) || SINCE.test(before) ? { ...period, to_ms: now_ms } : period;
}

/** The first and the last of its days. */
function daysOf({ start, end }: ParsedResult, { text, ...asked }: PeriodQuery & { text: string }): [Day, Day] {
  const { hour, ...day } = nowAt(asked);
  if (LAST_NIGHT.test(text)) return [addDays(day, -1), hour < NIGHT_ENDS_AT_HOUR ? day : addDays(day, -1)];
  // It counts weeks from Sunday on.
  const begin = text.startsWith('this week') ? day : dayOf(start);
  return [begin, end == null ? begin : dayOf(end)];
}

type Unit = 'day' | 'weekend' | 'week' | 'month' | 'year';

/** The length of the period that the text names; null where it may name something else. */
function unitOf(
  { start }: ParsedResult,
  { text, before, lower }: { text: string; before: string; lower: string },
): Unit | null {
  if (PART_OF_TODAY.test(text) || UP_TO_NOW.test(text)) return 'day';
  for (const unit of ['weekend', 'week', 'month', 'year'] as const)
    if (new RegExp(`\\b${unit}s?\\b`).test(text)) return unit;
  const is_led = LEADS.test(before) || /^(?:on|last|this)\s/.test(text) || text === lower.trim();
  if (start.isCertain('weekday') && !start.isCertain('day')) return is_led ? 'day' : null;
  if (start.isCertain('month') && !start.isCertain('day'))
    return (is_led && !/\sof$/.test(text)) || NUMBER.test(text) ? 'month' : null;
  if (!start.isCertain('day')) return null;
  // Which of two numbers is the month, nobody knows.
  return LETTERS.test(text) || ISO_DAY.test(text) ? 'day' : null;
}

/** The year or the week before, where nobody said which. */
function backOf({ start }: ParsedResult): ((day: Day) => Day) | null {
  if (start.isCertain('year')) return null;
  if (start.isCertain('month')) return (day) => ({ ...day, year: day.year - 1 });
  return start.isCertain('weekday') ? (day) => addDays(day, -WEEK_DAYS) : null;
}

/** Its first day, and the first after it. */
function bounds(unit: Unit, begin: Day, end: Day): [Day, Day] {
  switch (unit) {
    case 'day':
      return [begin, addDays(end, 1)];
    case 'weekend':
      return [addDays(mondayOf(begin), SATURDAY), addDays(mondayOf(begin), WEEK_DAYS)];
    case 'week':
      return [mondayOf(begin), addDays(mondayOf(end), WEEK_DAYS)];
    case 'month':
      return [{ ...begin, day: 1 }, normal({ ...end, month: end.month + 1, day: 1 })];
    case 'year':
      return [
        { ...begin, month: 1, day: 1 },
        { year: end.year + 1, month: 1, day: 1 },
      ];
  }
}

function dayOf(components: ParsedResult['start']): Day {
  const [year, month, day] = (['year', 'month', 'day'] as const).map((name) => components.get(name) ?? 1);
  return { year: year as number, month: month as number, day: day as number };
}

function nowAt({ now_ms, time_zone }: PeriodQuery): Day & { hour: number } {
  const there = new Date(now_ms + offsetMs(now_ms, time_zone));
  const [year, month, day] = [there.getUTCFullYear(), there.getUTCMonth() + 1, there.getUTCDate()];
  return { year, month, day, hour: there.getUTCHours() };
}

function mondayOf(day: Day): Day {
  const date = new Date(Date.UTC(day.year, day.month - 1, day.day));
  return addDays(day, -((date.getUTCDay() + WEEK_DAYS - 1) % WEEK_DAYS));
}

function addDays(day: Day, days: number): Day {
  return normal({ ...day, day: day.day + days });
}

/** Of a month or day that is beyond its end. */
function normal({ year, month, day }: Day): Day {
  const date = new Date(Date.UTC(year, month - 1, day));
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() };
}

function span(from: Day, to: Day, time_zone: string): Period {
  return { from_ms: midnightOf(from, time_zone), to_ms: midnightOf(to, time_zone) - 1 };
}
