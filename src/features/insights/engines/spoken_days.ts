import { dateIn, dayOf, monthsAfter, nextWeekday, partsOf, weekdayOf, workdaysAfter } from './calendar.js';
import { type FormGroups, type FormMatch, type FormPlace, matchAt, readEach, spokenForm } from './spoken_forms.js';
import { MONTH, monthOf, PERIOD, periodOf } from './spoken_periods.js';

/** Days that a sentence names, as English says them: "by Friday", "in a fortnight", "the Monday of that week". */

export type DayMention = FormPlace & {
  /** `NO_DAY` for one that no calendar has. */
  day: number;
} & DayMarks;
type DayMarks = {
  /** A day of the month that was said without a month: another month may be meant. */
  date_alone?: number;
  has_month?: boolean;
  /** Counts where nothing else names a day. */
  is_weak?: boolean;
  /** For how long something is done. */
  is_span?: boolean;
  /** A part of today, unless a day is named beside it: "end of day". */
  is_part?: boolean;
  weekday?: number;
};
/** The day that was named last, and a month that was named without a day. */
export type DayTopic = { day: number | null; month: number | null };
export type DayContext = { today: number; minute: number; topic: DayTopic };

/** Neither ahead nor past: "February 30". */
const NO_DAY = Number.NaN;
/** A date with a month that lies back so far is one of the next year. */
const PAST_DAYS_MAX = 60;
/** A date is that weekday in one of so many months. */
const WEEKDAY_MONTHS_MAX = 5;
const NOON = 12 * 60;
const WEEKDAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'];

const WEEKDAY = `(?<weekday>${WEEKDAYS.join('|')})`;
const WITH_WEEKDAY = `(?:${WEEKDAY} (?:, )?)?`;
const DAY_PART = '(?:morning|afternoon|evening|night|lunchtime|noon|arvo|aft)';
const COUNT = '(?<count>\\d{1,2}|an?|a couple of|couple of)';
const SPAN = `${COUNT} (?:(?<work>working|business) )?(?<unit>day|week|fortnight|month|year)s?(?: time)?`;
const NTH = '(?<nth>\\d{1,2})(?:th)';
const DATE = '(?<nth>\\d{1,2})(?:th)?';
const YEAR = '(?: (?:, )?(?<year>20\\d\\d))?';
const MEAL = '(?:school|work|lunch|dinner|class|breakfast|supper|tea)';
const ENDS = '(?= (?:[,.;?!]|at|and|in|so|by|i|we|with|okay)(?: |$)|$)';
/** May follow a day of the month; after "the first" anything else is a noun: "the first time". */
const FOLLOWS_DATE = `(?= (?:[,.;?!]|at|in|on|to|from|until|till|is|was|works|after|before|then|and|or|for|as|if|it|we|i|with|so|but|okay|by|early|that|he|she|they|you|please|latest|this|next|no|${DAY_PART}|through|right|would|suits|sounds|between|because|when|since)(?: |$)|$)`;
/** Neither "I may second that" nor "in May two of them". */
const NOT_MONTH = '(?<!(?:i|you|he|she|it|we|they|that|this) (?=may)|(?:^| )in (?=\\w+ \\d+(?: |$)))';
/** Months that are also words count with a day or with one of these before. */
const MONTH_ALONE = new RegExp(
  `(?:^|[,] |(?:^| )(?:in|of|by|until|till|before|since|for|now|next|this|last|end|during|early|late|from) )${MONTH}(?= |$)`,
  'g',
);
const LAST = /(?:^| )(?:last|past|previous) $/;

type DayReader = (said: FormGroups, context: DayContext, before: string) => number | DayFound | null;
type DayFound = DayMarks & { day: number };
type DayForm = { form: RegExp; read: DayReader };

const dayForm = (source: string, read: DayReader): DayForm => ({ form: spokenForm(source), read });
/** Told by the day that was named before. */
const topicForm = (source: string, read: (topic: number, said: FormGroups) => number): DayForm =>
  dayForm(source, (said, { topic }) => (topic.day === null ? null : read(topic.day, said)));
/** `monday`: that of the week in which it is said. */
const weekdayForm = (
  source: string,
  read: (days: { next: number; monday: number; today: number }) => number,
): DayForm =>
  dayForm(source, (said, { today }) => {
    const weekday = weekdayIn(said);
    const day = read({ next: nextWeekday(weekday, today), monday: today - weekdayOf(today) + weekday, today });
    return { day, weekday };
  });

/** The first form that reads a day counts. */
const FORMS: readonly DayForm[] = [
  dayForm(
    `today|tonight|this ${DAY_PART}|(?:right|straight) (?:now|away)|right after (?:this|the|that)`,
    (_, { today }) => today,
  ),
  dayForm('(?:end of )?(?:tomorrow|the morra|the morrow)', (_, { today }) => today + 1),
  dayForm('yesterday', (_, { today }) => today - 1),
  dayForm(`after ${MEAL}|on (?:your|my|the) way`, (_, { today }) => ({ day: today, is_weak: true })),
  dayForm('in the morning', (_, { today, minute }) => (minute < NOON ? null : { day: today + 1, is_weak: true })),

  dayForm(`(?:in|within) (?:(?:about|around|the|next) )*${SPAN}(?! ago)`, (said, { today }) => spanAfter(today, said)),
  dayForm(`${SPAN} (?:from now|from today|today)`, (said, { today }) => spanAfter(today, said)),
  dayForm(`${COUNT} (?<unit>week|fortnight)s? (?:tomorrow|on ${WEEKDAY})`, (said, { today }) =>
    spanAfter(said.weekday === undefined ? today + 1 : nextWeekday(weekdayIn(said), today), said),
  ),
  dayForm(`for (?:the )?(?<count>an?|1[0-4]|[1-9]) (?<unit>day|week|fortnight)s?`, (said, { today }) => ({
    ...{ day: spanAfter(today, said), is_weak: true, is_span: true },
  })),

  topicForm('(?<!the )1th thing(?= (?:[,.;?!]|in|then)(?: |$)|$)', (topic) => topic),
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
  dayForm(`(?:the )?${NTH} of (?:the|this|(?<next>next)) month`, ({ nth, next }, { today }) => {
    const months = [0, 1].map((more) => periodOf({ unit: 'month', next }, today, more));
    const days = months.map(({ first, last }) => (first + Number(nth) - 1 > last ? NO_DAY : first + Number(nth) - 1));
    return days.find((day) => !(day < today)) ?? null;
  }),
  dayForm(`(?:${WEEKDAY} (?:, )?(?:the )?|the |(?<=(?:^| )on ))${NTH}${FOLLOWS_DATE}`, dateAlone),

  weekdayForm(`${WEEKDAY} (?:week|after next)`, ({ next }) => next + 7),
  weekdayForm(`${WEEKDAY} fortnight`, ({ next }) => next + 14),
  weekdayForm(`(?:the )?${WEEKDAY} (?:of )?the week after next`, ({ monday }) => monday + 14),
  weekdayForm(`(?:the )?${WEEKDAY} (?:of )?next week`, ({ monday }) => monday + 7),
  weekdayForm(`(?:the )?${WEEKDAY} (?:of )?this week`, ({ monday }) => monday),
  weekdayForm(`next ${WEEKDAY}`, ({ monday }) => monday + 7),
  weekdayForm(`this ${WEEKDAY}`, ({ next, today }) => (next === today + 7 ? today : next)),
  weekdayForm(WEEKDAY, ({ next }) => next),

  dayForm('(?:this|the|(?<next>next)) weekend', ({ next }, { today }, before) => {
    const saturday = today - weekdayOf(today) + 5;
    const ahead = next === undefined ? 0 : 7;
    return before.endsWith('before ') ? saturday + ahead - 1 : Math.max(saturday, today) + ahead;
  }),
  dayForm('early (?:this|(?<next>next)) (?<unit>week|month)', (said, { today }) => {
    const { first, last } = periodOf(said, today);
    return first > today ? first : last;
  }),
  dayForm('(?:this|(?<next>next)) (?<unit>week|month)', (said, { today }) => periodOf(said, today).last),
  dayForm('the (?<unit>week|month) (?<after_next>after next)', (said, { today }) => periodOf(said, today).last),
];

/** "the day before Monday", "two weeks from Friday", "the Friday before the end of the month" */
const OFFSET = spokenForm(
  `(?:(?<the>the)|${COUNT}) (?:(?<unit>day|week|fortnight|month)s?|(?<part>${DAY_PART})|${WEEKDAY}) (?<side>before|after|from)`,
);
/** "end of day", "close of business on Monday": of that day, or else of today. */
const DAY_END = spokenForm(
  '(?:eod|cob|eob|(?:end|close) of (?:(?:the|this|that|my|your|our) )?(?:(?:working|business|work) )?(?:day|business|play|work|today|working|office|shift))(?: (?:on|,)(?= ))?',
);

/** The month that is named without a day; null for none. */
export function monthAlone(text: string, mentions: readonly DayMention[]): number | null {
  for (const found of text.matchAll(MONTH_ALONE)) {
    const to = found.index + found[0].length;
    if (!mentions.some((one) => to > one.from && to <= one.to)) return monthOf(found.groups?.month ?? '');
  }
  return null;
}

export function daysIn(text: string, context: DayContext): DayMention[] {
  const found = readEach(text, (at) => dayAt(text, at, context));
  return reconciled(
    found.filter(({ from }) => !LAST.test(text.slice(0, from))),
    context,
  );
}

/** A weekday and a date beside it name one day: the date in that month in which it is that weekday. */
function reconciled(found: DayMention[], { today }: DayContext): DayMention[] {
  const dated = found.find(({ date_alone }) => date_alone !== undefined);
  const named = found.find(({ weekday, date_alone }) => weekday !== undefined && date_alone === undefined);
  if (dated?.date_alone === undefined || named?.weekday === undefined) return found;
  const day = dateOnWeekday(dated.date_alone, named.weekday, today);
  if (day === null) return found;
  const both = { ...dated, day, from: Math.min(dated.from, named.from), to: Math.max(dated.to, named.to) };
  return [both, ...found.filter((one) => one !== dated && one !== named)].sort((a, b) => a.from - b.from);
}

function dayAt(text: string, at: number, context: DayContext): DayMention | null {
  const offset = matchAt(OFFSET, text, at);
  const far = offset === null ? null : offsetDay(offset, dayAt(text, offset.to + 1, context));
  if (far !== null) return far;
  const end = matchAt(DAY_END, text, at);
  if (end !== null) {
    const named = dayAt(text, end.to + 1, context);
    const is_day = named !== null && named.is_weak !== true && named.is_part !== true;
    return is_day ? { ...named, from: at } : { day: context.today, from: at, to: end.to, is_part: true };
  }
  for (const { form, read } of FORMS) {
    const match = matchAt(form, text, at);
    const found = match === null ? null : read(match.said, context, text.slice(0, at));
    if (match === null || found === null) continue;
    return { ...(typeof found === 'number' ? { day: found } : found), from: at, to: match.to };
  }
  return null;
}

function offsetDay({ said, from }: FormMatch, base: DayMention | null): DayMention | null {
  if (base === null || base.is_part === true || base.is_weak === true) return null;
  const is_the = said.the !== undefined;
  if (is_the ? said.side === 'from' : said.unit === undefined) return null;
  const is_before = said.side === 'before';
  const place = { from, to: base.to };
  if (said.weekday !== undefined)
    return { ...place, day: nextWeekday(weekdayIn(said), is_before ? base.day - 8 : base.day) };
  return { ...place, day: spanAfter(base.day, { unit: 'day', ...said }, is_before ? -1 : 1) };
}

function weekdayIn({ weekday }: FormGroups): number {
  return WEEKDAYS.indexOf(weekday ?? '');
}

function spanAfter(day: number, { count, unit, work }: FormGroups, side: 1 | -1 = 1): number {
  const number = side * (/couple/.test(count ?? '') ? 2 : Number(/\d+/.exec(count ?? '')?.[0] ?? 1));
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
function dateInMonth(said: FormGroups, { today }: DayContext): DayFound {
  const [month, date] = [monthOf(said.month ?? ''), Number(said.nth)];
  const { year } = partsOf(today);
  const is_past = today - dayOf(year, month, date) > PAST_DAYS_MAX;
  const day = dateIn(Number(said.year ?? (is_past ? year + 1 : year)), month, date) ?? NO_DAY;
  return { day, has_month: true };
}

/** "the tenth": the next such day, in the month that is spoken of where there is one. */
function dateAlone(said: FormGroups, { today, topic }: DayContext): DayFound | null {
  const date = Number(said.nth);
  const on_weekday = said.weekday === undefined ? null : dateOnWeekday(date, weekdayIn(said), today);
  const { year, month } = partsOf(today);
  const ahead = topic.month === null ? 0 : (topic.month - month + 12) % 12;
  const days = [0, 1, 2].map((more) => dateIn(year, month + ahead + more, date));
  const day = on_weekday ?? days.find((one) => one !== null && one >= today) ?? null;
  return day === null ? null : { day, date_alone: date };
}

/** The next month in which that day is that weekday; null where none of the next has it. */
function dateOnWeekday(date: number, weekday: number, today: number): number | null {
  const { year, month } = partsOf(today);
  const days = Array.from({ length: WEEKDAY_MONTHS_MAX }, (_, ahead) => dateIn(year, month + ahead, date));
  return days.find((day) => day !== null && day >= today && weekdayOf(day) === weekday) ?? null;
}
