import { ordinalAt } from '../../../domain/search/spoken_numbers.js';
import { dayOf, monthEnd, partsOf, weekdayOf } from './calendar.js';

/** Weeks, months, quarters and years that a sentence names: "next week", "the quarter", "March". */

/** `middle`: of a week its Wednesday, of a month its fifteenth. */
export type Period = { first: number; middle: number; last: number; to: number };

export const MONTHS = new Map(
  'january february march april may june july august september october november december'
    .split(' ')
    .flatMap((name, at) => [[name, at] as const, [name.slice(0, 3), at] as const]),
);
MONTHS.set('sept', 8);
const FRIDAY = 4;
const WEEK = 7;

/** The period that begins at a word; null for none. `ahead`: so many periods later, where it says none itself. */
export function periodAt(words: readonly string[], at: number, today: number, ahead = 0): Period | null {
  const which = words[at] ?? '';
  const place = /^(?:the|this|that|next|coming)$/.test(which) ? at + 1 : at;
  const is_next = which === 'next' || words[place] === 'next';
  const from = words[place] === 'next' ? place + 1 : place;
  const unit = (words[from] ?? '').replace(/'s?$/u, '');
  const is_after_next = words[from + 1] === 'after' && words[from + 2] === 'next';
  const more = ahead + (is_after_next ? 2 : is_next ? 1 : 0);
  const period = periodOf(unit, today, more) ?? quarterAt(words, from, today);
  return period === null ? null : { to: is_after_next ? from + 3 : from + 1, ...period };
}

function periodOf(unit: string, today: number, ahead: number): Omit<Period, 'to'> | null {
  const { year, month } = partsOf(today);
  const monday = today - weekdayOf(today) + WEEK * ahead;
  switch (unit) {
    case 'week':
      return { first: monday, middle: monday + 2, last: weekEnd(today) + WEEK * ahead };
    case 'weekend':
      return { first: monday + 5, middle: monday + 5, last: monday + 6 };
    case 'month':
      return monthOf(year, month + ahead);
    case 'quarter':
      return quarterOf(year, Math.floor(month / 3) + ahead);
    case 'year':
      return {
        first: dayOf(year + ahead, 0, 1),
        middle: dayOf(year + ahead, 5, 30),
        last: dayOf(year + ahead, 11, 31),
      };
    default: {
      const named = MONTHS.get(unit);
      return named === undefined ? null : monthOf(year + ahead + (named < month ? 1 : 0), named);
    }
  }
}

/** "Q1", "the first quarter": the next that is not over. */
function quarterAt(words: readonly string[], at: number, today: number): Period | null {
  const short = /^q([1-4])$/u.exec(words[at] ?? '');
  const number = ordinalAt(words, at);
  const is_long = number !== null && number.value <= 4 && words[number.to] === 'quarter';
  if (short === null && !is_long) return null;
  const which = Number(short?.[1] ?? number?.value) - 1;
  const { year, month } = partsOf(today);
  const found = quarterOf(Math.floor(month / 3) > which ? year + 1 : year, which);
  return { ...found, to: is_long ? number.to + 1 : at + 1 };
}

function monthOf(year: number, month: number): Omit<Period, 'to'> {
  return { first: dayOf(year, month, 1), middle: dayOf(year, month, 15), last: monthEnd(year, month) };
}

function quarterOf(year: number, quarter: number): Omit<Period, 'to'> {
  const month = quarter * 3;
  return { first: dayOf(year, month, 1), middle: dayOf(year, month + 1, 15), last: monthEnd(year, month + 2) };
}

/** Friday, or what is left of a weekend. */
function weekEnd(today: number): number {
  const weekday = weekdayOf(today);
  return weekday <= FRIDAY ? today - weekday + FRIDAY : today - weekday + 6;
}
