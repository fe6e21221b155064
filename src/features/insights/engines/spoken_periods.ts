import { dayOf, monthEnd, partsOf, weekdayOf } from './calendar.js';
import type { FormGroups } from './spoken_forms.js';

/** Weeks, months, quarters and years that a sentence names: "next week", "the quarter", "March". */

/** `middle`: of a week its Wednesday, of a month its fifteenth. */
export type SpokenPeriod = { first: number; middle: number; last: number };

const NAMES = 'january february march april may june july august september october november december'.split(' ');
export const MONTH = `(?<month>${NAMES.join('|')}|sept|${NAMES.map((name) => name.slice(0, 3)).join('|')})`;
export const PERIOD = `(?:(?:the|this|that|coming) )?(?<next>next )?(?:(?<unit>week|weekend|month|quarter|year)|${MONTH}(?: (?<year>20\\d\\d))?|q(?<q>[1-4])|(?<quarter>[1-4])th quarter)(?<after_next> after next)?`;
const WEEK = 7;
const [FRIDAY, SUNDAY] = [4, 6];

/** The number of a month, January as 0. */
export function monthOf(name: string): number {
  return NAMES.findIndex((one) => one.startsWith(name.slice(0, 3)));
}

/** The period that `PERIOD` has found. `more`: so many periods later. */
export function periodOf(said: FormGroups, today: number, more = 0): SpokenPeriod {
  const { year, month } = partsOf(today);
  const ahead = more + (said.after_next !== undefined ? 2 : said.next !== undefined ? 1 : 0);
  if (said.month !== undefined) {
    const named = monthOf(said.month);
    return monthsOf(Number(said.year ?? year + (named < month ? 1 : 0)) + ahead, named, 1);
  }
  const number = said.q ?? said.quarter;
  const current = Math.floor(month / 3);
  // The first quarter, named in the second one, is that of the next year.
  if (number !== undefined) return monthsOf(Number(number) <= current ? year + 1 : year, 3 * Number(number) - 3, 3);
  const monday = today - weekdayOf(today) + WEEK * ahead;
  switch (said.unit) {
    case 'week':
      return { first: monday, middle: monday + 2, last: weekEnd(today) + WEEK * ahead };
    case 'weekend':
      return { first: monday + 5, middle: monday + 5, last: monday + SUNDAY };
    case 'month':
      return monthsOf(year, month + ahead, 1);
    case 'quarter':
      return monthsOf(year, 3 * (current + ahead), 3);
    default:
      return { ...monthsOf(year + ahead, 0, 12), middle: dayOf(year + ahead, 5, 30) };
  }
}

function monthsOf(year: number, month: number, count: number): SpokenPeriod {
  const middle = dayOf(year, month + Math.floor(count / 2), 15);
  return { first: dayOf(year, month, 1), middle, last: monthEnd(year, month + count - 1) };
}

/** Friday, or what is left of a weekend; on a Sunday that of the week that follows. */
function weekEnd(today: number): number {
  const weekday = weekdayOf(today);
  if (weekday <= FRIDAY) return today - weekday + FRIDAY;
  return weekday === SUNDAY ? today + FRIDAY + 1 : today - weekday + SUNDAY;
}
