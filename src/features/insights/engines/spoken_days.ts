import { dateIn, dayOf, monthsAfter, nextWeekday, partsOf, weekdayOf, workdaysAfter } from './calendar.js';
import {
  countOf,
  type FormGroups,
  type FormPlace,
  readAt,
  readEach,
  type SpokenForm,
  spokenForm,
} from './spoken_forms.js';
import { MONTH, monthOf, PERIOD, periodOf } from './spoken_periods.js';

/** Days that a sentence names, as English says them: "by Friday", "in a fortnight", "the Monday of that week". */

type SpokenDay = {
  /** `NO_DAY` for one that no calendar has. */
  day: number;
  /** How well it says when something is due. */
  worth: number;
  /** A day of the month that was said without a month: another month may be meant. */
  date_alone?: number;
  has_month?: boolean;
  weekday?: number;
  /** For how long something is done. */
  is_span?: boolean;
};
export type DayMention = SpokenDay & FormPlace;
/** The day that was named last, and the month. */
type DayContext = { today: number; minute: number; topic: { day: number | null; month: number | null } };

/** Of a day that counts where nothing else names one, one that is told by the day before, and any other. */
export const [WEAK, PLAIN] = [1, 2];
const TOLD = 1.5;
/** Neither ahead nor past: "February 30". */
const NO_DAY = Number.NaN;
/** A date with a month that lies back so far is one of the next year. */
const PAST_DAYS_MAX = 60;
/** A date is looked for in so many months. */
const DATE_MONTHS_MAX = 5;
const NOON = 12 * 60;
const NIGHT_ENDS = 5 * 60;
const WEEKDAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'];

const WEEKDAY = `(?<weekday>${WEEKDAYS.join('|')})`;
const WITH_WEEKDAY = `(?:${WEEKDAY} (?:, )?)?`;
const DAY_PART = '(?:morning|afternoon|evening|night|lunchtime|noon|arvo|aft)';
const COUNT = '(?<count>\\d{1,2}|an?|a couple of|couple of)';
const SPAN = `${COUNT} (?:(?<work>working|business) )?(?<unit>day|week|fortnight|month|year)s?(?: time)?`;
const NTH = '(?<nth>\\d{1,2})(?:th)';
const DATE = '(?<nth>\\d{1,2})(?:th)?';
const YEAR = '(?: (?:, )?(?<year>20\\d\\d))?';
const MEAL = '(?:lunch|dinner|breakfast|supper|tea|smoko)';
/** Later on the day on which it is said. */
const LATER = [
  `(?:before|after|at|by|till|until) ${MEAL}|(?:before|after) (?:school|work|class|this)`,
  '(?:before|when|once|soon as) (?:i|we|you|he|she|they) (?:leave|go|lock up|close|finish|stop|hang up|get (?:in|home|back))s?',
  'on (?:your|my|the) (?:way|break)',
];
const ENDS = '(?= (?:[,.;?!]|at|and|in|so|by|i|we|with|okay)(?: |$)|$)';
/** May follow a day of the month; after "the first" anything else is a noun: "the first time". */
const FOLLOWS_DATE = `(?= (?:[,.;?!]|at|in|on|to|from|until|till|is|was|works|after|before|then|and|or|for|as|if|it|we|i|with|so|but|okay|by|early|that|he|she|they|you|please|latest|this|next|no|${DAY_PART}|through|right|would|suits|sounds|between|because|when|since)(?: |$)|$)`;
/** Neither "I may second that" nor "in May two of them". */
const NOT_MONTH = '(?<!(?:i|you|he|she|it|we|they|that|this) (?=may)|(?:^| )in (?=\\w+ \\d+(?: |$)))';
/** Months that are also words count with a day or with one of these before. */
const MONTH_ALONE = new RegExp(
  `(?:^|[,] |(?<!\\dth )(?:^| )(?:the|in|of|by|until|till|before|since|for|now|next|this|last|end|during|early|late|from) )${MONTH}(?! (?:the )?\\d| (?:i|we|you|he|she|they|it) )(?= |$)`,
);
const LAST = /(?:^| )(?:last|past|previous) $/;

type TextContext = DayContext & { text: string };
type DayReader<Found> = (said: FormGroups, context: TextContext, to: number) => Found | null;
type DayForm = SpokenForm<SpokenDay & { to?: number }, TextContext>;

const dayForm = (source: string, read: DayReader<number | (Partial<DayMention> & { day: number })>): DayForm =>
  spokenForm(source, (said, context, to) => {
    const found = read(said, context, to);
    return found === null ? null : { worth: PLAIN, ...(typeof found === 'number' ? { day: found } : found) };
  });
const weakForm = (source: string, read: DayReader<number>): DayForm =>
  spokenForm(source, (said, context, to) => {
    const day = read(said, context, to);
    return day === null ? null : { day, worth: WEAK };
  });
const topicForm = (source: string, read: (topic: number, said: FormGroups) => number): DayForm =>
  spokenForm(source, (said, { topic }) => (topic.day === null ? null : { day: read(topic.day, said), worth: TOLD }));
/** `monday`: that of the week in which it is said. */
const weekdayForm = (source: string, read: (days: { next: number; own: number; today: number }) => number): DayForm =>
  spokenForm(source, (said, { today }) => {
    const weekday = weekdayIn(said);
    const own = today - weekdayOf(today) + weekday;
    return { day: read({ next: nextWeekday(weekday, today), own, today }), worth: PLAIN, weekday };
  });

/** The first form that says a day counts. */
const FORMS: readonly DayForm[] = [
  // "the day before Monday", "two weeks from Friday", "the Friday before the end of the month"
  dayForm(
    `(?:(?<the>the)|${COUNT}) (?:(?<unit>day|week|fortnight|month)s?|${DAY_PART}|${WEEKDAY}) (?<side>before|after|from)`,
    dayBeside,
  ),
  // "close of business on Monday" is on that day, or else it is today.
  dayForm(
    '(?:eod|cob|eob|(?:end|close) of (?:(?:the|this|that|my|your|our) )?(?:(?:working|business|work) )?(?:day|business|play|work|today|working|office|shift))(?: (?:on|,)(?= ))?',
    (_, context, to) => {
      const named = dayAt(to + 1, context);
      return named !== null && named.worth > WEAK ? named : { day: context.today, worth: WEAK };
    },
  ),
  dayForm('(?:today|(?<tomorrow>tomorrow)) week', (said, { today }) => today + (said.tomorrow === undefined ? 7 : 8)),
  dayForm('yesterday', (_, { today }) => today - 1),
  dayForm(
    `today|tonight|this ${DAY_PART}|(?:right|straight) (?:now|away)|right after (?:this|the|that)`,
    (_, { today }) => today,
  ),
  dayForm('(?:end of )?(?:tomorrow|the morra|the morrow)', (_, { today }) => today + 1),
  weakForm(LATER.join('|'), (_, { today }) => today),
  dayForm('1th thing in the morning', (_, { today, minute }) => (minute > NIGHT_ENDS ? today + 1 : today)),
  weakForm('in the morning', (_, { today, minute }) =>
    minute >= NOON ? today + 1 : minute <= NIGHT_ENDS ? today : null,
  ),
  topicForm('(?<!the )1th thing(?= (?:[,.;?!]|in|then)(?: |$)|$)', (topic) => topic),
  weakForm('(?<!the )1th thing(?= [,.;?!]|$)', (_, { today, minute }) => (minute >= NOON ? today + 1 : null)),

  dayForm(
    `(?:in|within|give (?:me|us|it|him|her|them)) (?:(?:about|around|the|next) )*${SPAN}(?! ago)`,
    (said, { today }) => spanAfter(today, said),
  ),
  dayForm(`${SPAN} (?:from now|from today|today)`, (said, { today }) => spanAfter(today, said)),
  dayForm(`${COUNT} (?<unit>week|fortnight)s? (?:tomorrow|on ${WEEKDAY})`, (said, { today }) =>
    spanAfter(said.weekday === undefined ? today + 1 : nextWeekday(weekdayIn(said), today), said),
  ),
  dayForm(`for (?:the )?(?<count>an?|1[0-4]|[1-9]) (?<unit>day|week|fortnight)s?`, (said, { today }) => ({
    ...{ day: spanAfter(today, said), worth: WEAK, is_span: true },
  })),

  topicForm(`that (?:day|${DAY_PART})|the same day|(?<=(?:by|before|until|till) )then`, (topic) => topic),
  topicForm('the following day', (topic) => topic + 1),
  topicForm(`the following ${WEEKDAY}`, (topic, said) => nextWeekday(weekdayIn(said), topic)),
  topicForm(`the ${WEEKDAY} (?:of|in) that week`, (topic, said) => topic - weekdayOf(topic) + weekdayIn(said)),
  topicForm(`the ${WEEKDAY} before`, (topic, said) => nextWeekday(weekdayIn(said), topic - 8)),
  topicForm(`the ${WEEKDAY} after`, (topic, said) => nextWeekday(weekdayIn(said), topic)),
  topicForm(`the (?:day|night|evening|afternoon|(?<week>week)) (?:before|(?<after>after))${ENDS}`, (topic, said) => {
    const days = said.week === undefined ? 1 : 7;
    return said.after === undefined ? topic - days : topic + days;
  }),

  dayForm('(?<unit>week|month|quarter|year) end', (said, { today }) => periodOf(said, today).last),
  dayForm(`(?:the )?(?:(?<part>start|beginning|middle|end) of|mid) ${PERIOD}`, (said, { today }) => {
    const side = said.part === 'end' ? 'last' : /^(?:start|begin)/.test(said.part ?? '') ? 'first' : 'middle';
    const day = periodOf(said, today)[side];
    // Of a month that has begun the beginning of the next one is meant.
    return day < today ? periodOf(said, today, 1)[side] : day;
  }),
  dayForm(
    `(?:the )?(?:${NTH}|last) (?:(?<work>working|business) )?(?:${WEEKDAY}|day|(?<workday>weekday)) (?:of|in) ${PERIOD}`,
    nthDay,
  ),

  dayForm(`${WITH_WEEKDAY}${NOT_MONTH}${MONTH} (?:the )?${DATE}${YEAR}`, dateInMonth),
  dayForm(`${WITH_WEEKDAY}(?:the )?${DATE} (?:of )?${MONTH}${YEAR}`, dateInMonth),
  dayForm(`(?:the )?${NTH} of (?:the|this|(?<next>next)) (?<unit>month)`, nthDay),
  dayForm(
    `(?:${WEEKDAY} (?:, )?(?:the )?|the |(?<=(?:^| )on )|(?<=^)(?=\\d\\d|[4-9]))${NTH}(?:${FOLLOWS_DATE}|(?<=(?:^| )on the (?:2\\d|3[01])th))`,
    dateAlone,
  ),

  weekdayForm(`${WEEKDAY} (?:week|after next)`, ({ next }) => next + 7),
  weekdayForm(`${WEEKDAY} fortnight`, ({ next }) => next + 14),
  weekdayForm(`(?:the )?${WEEKDAY} (?:of )?the week after next`, ({ own }) => own + 14),
  weekdayForm(`(?:the )?${WEEKDAY} (?:of )?next week`, ({ own }) => own + 7),
  weekdayForm(`(?:the )?${WEEKDAY} (?:of )?this week`, ({ own }) => own),
  weekdayForm(`next ${WEEKDAY}`, ({ own }) => own + 7),
  weekdayForm(`this ${WEEKDAY}`, ({ next, today }) => (next === today + 7 ? today : next)),
  weekdayForm(WEEKDAY, ({ next }) => next),

  dayForm(
    '(?<=before )(?:this|the|(?<next>next)) (?<unit>weekend)',
    (said, { today }) => periodOf(said, today).first - 1,
  ),
  dayForm('(?:this|the|(?<next>next)) (?<unit>weekend)', (said, { today }) => periodOf(said, today).last),
  dayForm('(?<early>early )?(?:this|(?<next>next)) (?<unit>week|month)', (said, { today }) => {
    const { first, last } = periodOf(said, today);
    return said.early !== undefined && first > today ? first : last;
  }),
  dayForm('the (?<unit>week|month) (?<after_next>after next)', (said, { today }) => periodOf(said, today).last),
];

/** The month that is named without a day; null for none. */
export function monthAlone(text: string): number | null {
  const month = MONTH_ALONE.exec(text)?.groups?.month;
  return month === undefined ? null : monthOf(month);
}

export function daysIn(text: string, context: DayContext): DayMention[] {
  const found = readEach(text, (at) => dayAt(at, { ...context, text }));
  return reconciled(
    found.filter(({ from }) => !LAST.test(text.slice(0, from))),
    context,
  );
}

function dayAt(at: number, context: TextContext): DayMention | null {
  return readAt(FORMS, context.text, { at, context });
}

/** A weekday and a date beside it name one day: the date in that month in which it is that weekday. */
function reconciled(found: DayMention[], { today }: DayContext): DayMention[] {
  const dated = found.find(({ date_alone }) => date_alone !== undefined);
  const named = found.find(({ weekday, date_alone }) => weekday !== undefined && date_alone === undefined);
  if (dated?.date_alone === undefined || named?.weekday === undefined) return found;
  const day = nextDate(dated.date_alone, { today, weekday: named.weekday });
  if (day === null) return found;
  const both = { ...dated, day, from: Math.min(dated.from, named.from), to: Math.max(dated.to, named.to) };
  return [both, ...found.filter((one) => one !== dated && one !== named)].sort((a, b) => a.from - b.from);
}

function dayBeside(said: FormGroups, context: TextContext, to: number): { day: number; to: number } | null {
  const base = dayAt(to + 1, context);
  if (base === null || base.worth === WEAK) return null;
  if (said.the === undefined ? said.unit === undefined : said.side === 'from') return null;
  const side = said.side === 'before' ? -1 : 1;
  const day =
    said.weekday === undefined
      ? spanAfter(base.day, { ...said, unit: said.unit ?? 'day' }, side)
      : nextWeekday(weekdayIn(said), side < 0 ? base.day - 8 : base.day);
  return { day, to: base.to };
}

function weekdayIn({ weekday }: FormGroups): number {
  return WEEKDAYS.indexOf(weekday ?? '');
}

function spanAfter(day: number, { count, unit, work }: FormGroups, side: 1 | -1 = 1): number {
  const number = side * countOf(count);
  if (work !== undefined) return workdaysAfter(day, number);
  if (unit === 'month' || unit === 'year') return monthsAfter(day, unit === 'year' ? 12 * number : number);
  return day + number * (unit === 'week' ? 7 : unit === 'fortnight' ? 14 : 1);
}

/** "the first Monday of December", "the last Friday of next month", "the first working day of the quarter" */
function nthDay(said: FormGroups, { today }: DayContext): number | null {
  const weekday = said.weekday === undefined ? null : weekdayIn(said);
  const is_workday = said.work !== undefined || said.workday !== undefined;
  const isOne = (day: number) => (weekday === null ? !is_workday || weekdayOf(day) < 5 : weekdayOf(day) === weekday);
  for (const more of [0, 1]) {
    const { first, last } = periodOf(said, today, more);
    const days = Array.from({ length: last - first + 1 }, (_, at) => first + at).filter(isOne);
    const day = said.nth === undefined ? days.at(-1) : days[Number(said.nth) - 1];
    if (day === undefined) return NO_DAY;
    if (day >= today) return day;
  }
  return null;
}

/** That day of this year, or of the next one where it is long past. */
function dateInMonth(said: FormGroups, { today }: DayContext): Omit<SpokenDay, 'worth'> {
  const [month, date] = [monthOf(said.month ?? ''), Number(said.nth)];
  const { year } = partsOf(today);
  const is_past = today - dayOf(year, month, date) > PAST_DAYS_MAX;
  return { day: dateIn(Number(said.year ?? (is_past ? year + 1 : year)), month, date) ?? NO_DAY, has_month: true };
}

/** "the tenth": the day that is spoken of, or the next such day in the month that is spoken of, or from today on. */
function dateAlone(said: FormGroups, { today, topic }: DayContext): Omit<SpokenDay, 'worth'> | null {
  const date = Number(said.nth);
  const is_topic = topic.day !== null && topic.day >= today && partsOf(topic.day).date === date;
  const ahead = topic.month === null ? 0 : (topic.month - partsOf(today).month + 12) % 12;
  const on_weekday = said.weekday === undefined ? null : nextDate(date, { today, weekday: weekdayIn(said) });
  const day = on_weekday ?? (is_topic ? topic.day : nextDate(date, { today, ahead }));
  return day === null ? null : { day, date_alone: date };
}

/** The next such day that is that weekday, if one is asked for, so many months ahead; null where none of the next has it. */
function nextDate(date: number, { today, weekday, ahead = 0 }: { today: number; weekday?: number; ahead?: number }) {
  const { year, month } = partsOf(today);
  const days = Array.from({ length: DATE_MONTHS_MAX }, (_, more) => dateIn(year, month + ahead + more, date) ?? NO_DAY);
  return days.find((day) => day >= today && (weekday === undefined || weekdayOf(day) === weekday)) ?? null;
}
