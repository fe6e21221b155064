import { dateIn, dayOf, monthsAfter, nextWeekday, partsOf, weekdayOf, workdaysAfter } from './calendar.js';
import { countOf, type FormGroups, type FormPlace, readAll, readAt, spokenForm } from './spoken_forms.js';
import { MONTH, monthOf, PERIOD, periodOf, type SpokenPeriod } from './spoken_periods.js';

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

/** Of a day that counts where nothing else names one, of any other, and of one that is told by the day named before. */
export const [WEAK, PLAIN] = [1, 2];
const TOLD = 1.5;
/** Of a form that says nothing here, and of a day that is neither ahead nor past: "February 30". */
const [NOTHING, NO_DAY] = [Number.NaN, Number.NEGATIVE_INFINITY];
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
/** Later on the day on which it is said. */
const LATER = `(?:before|after|at|by|till|until) (?:lunch|dinner|breakfast|supper|tea|smoko)|(?:before|after) (?:school|work|class|this)|on (?:your|my|the) (?:way|break)|(?:before|when|once|soon as) (?:i|we|you|he|she|they) (?:leave|go|lock up|close|finish|stop|hang up|get (?:in|home|back))s?`;
const ENDS = '(?= (?:[,.;?!]|at|and|in|so|by|i|we|with|okay)(?: |$)|$)';
/** May follow a day of the month; after "the first" anything else is a noun: "the first time". */
const FOLLOWS_DATE = `(?:(?<=(?:^| )on the (?:2\\d|3[01])th)|(?= (?:[,.;?!]|at|in|on|to|from|until|till|is|was|works|after|before|then|and|or|for|as|if|it|we|i|with|so|but|okay|by|early|that|he|she|they|you|please|latest|this|next|no|${DAY_PART}|through|right|would|suits|sounds|between|because|when|since)(?: |$)|$))`;
/** Neither "I may second that" nor "in May two of them". */
const NOT_MONTH = '(?<!(?:i|you|he|she|it|we|they|that|this) (?=may)|(?:^| )in (?=\\w+ \\d+(?: |$)))';
/** Months that are also words count with a day, or after one of these. */
const MONTH_ALONE = new RegExp(
  `(?:^|[,] |(?<!\\dth )(?:^| )(?:the|in|of|by|until|till|before|since|for|now|next|this|last|end|during|early|late|from) )${MONTH}(?! (?:the )?\\d| (?:i|we|you|he|she|they|it) )(?= |$)`,
);
const LAST = /(?:^| )(?:last|past|previous) $/;

type TextContext = DayContext & { text: string };
/** `next`: the next such weekday. `own`: that of the week in which it is said. `told`: the day that was named before. */
type DayQuery = TextContext & {
  said: FormGroups;
  to: number;
  weekday: number;
  next: number;
  own: number;
  told: number;
};
type DayFound = Partial<DayMention> & { day: number };

const dayForm = (source: string, read: (query: DayQuery) => number | DayFound, worth = PLAIN) =>
  spokenForm<SpokenDay & { to?: number }, TextContext>(source, (said, context, to) => {
    const { today, topic } = context;
    const weekday = WEEKDAYS.indexOf(said.weekday ?? '');
    const own = today - weekdayOf(today) + weekday;
    const query = { said, to, weekday, own, next: nextWeekday(weekday, today), told: topic.day ?? NOTHING };
    const found = read({ ...context, ...query });
    const value = typeof found === 'number' ? { day: found } : found;
    return Number.isNaN(value.day) ? null : { worth, ...(weekday < 0 ? {} : { weekday }), ...value };
  });

/** The first form that says a day counts. */
const FORMS = [
  // "the day before Monday", "two weeks from Friday", "the Friday before the end of the month"
  dayForm(
    `(?:(?<the>the)|${COUNT}) (?:(?<unit>day|week|fortnight|month)s?|${DAY_PART}|${WEEKDAY}) (?<side>before|after|from)`,
    dayBeside,
  ),
  // "close of business on Monday" is on that day, or else it is today.
  dayForm(
    '(?:eod|cob|eob|(?:end|close) of (?:(?:the|this|that|my|your|our) )?(?:(?:working|business|work) )?(?:day|business|play|work|today|working|office|shift))(?: (?:on|,)(?= ))?',
    (query) => {
      const named = dayAt(query.to + 1, query);
      return named !== null && named.worth > WEAK ? named : { day: query.today, worth: WEAK };
    },
  ),
  dayForm('today week', ({ today }) => today + 7),
  dayForm('tomorrow week', ({ today }) => today + 8),
  dayForm('yesterday', ({ today }) => today - 1),
  dayForm(`today|tonight|this ${DAY_PART}|(?:right|straight) (?:now|away)`, ({ today }) => today),
  dayForm('right after (?:this|the|that)', ({ today }) => today),
  dayForm('(?:end of )?(?:tomorrow|the morra|the morrow)', ({ today }) => today + 1),
  dayForm(LATER, ({ today }) => today, WEAK),
  dayForm('1th thing in the morning', nextMorning),
  dayForm('in the morning', (query) => (isMorning(query) ? NOTHING : nextMorning(query)), WEAK),
  dayForm('(?<!the )1th thing(?= (?:[,.;?!]|in|then)(?: |$)|$)', ({ told }) => told, TOLD),
  dayForm('(?<!the )1th thing(?= [,.;?!]|$)', (query) => (isMorning(query) ? NOTHING : nextMorning(query)), WEAK),

  dayForm(`(?:in|within|give (?:me|us|it|him|her|them)) (?:(?:about|around|the|next) )*${SPAN}(?! ago)`, spanAhead),
  dayForm(`${SPAN} (?:from now|from today|today)`, spanAhead),
  dayForm(`${COUNT} (?<unit>week|fortnight)s? tomorrow`, ({ today, said }) => spanAfter(today + 1, said)),
  dayForm(`${COUNT} (?<unit>week|fortnight)s? on ${WEEKDAY}`, ({ next, said }) => spanAfter(next, said)),
  dayForm(`for (?:the )?(?<count>an?|1[0-4]|[1-9]) (?<unit>day|week|fortnight)s?`, (query) => ({
    ...{ day: spanAhead(query), worth: WEAK, is_span: true },
  })),

  dayForm(`that (?:day|${DAY_PART})|the same day|(?<=(?:by|before|until|till) )then`, ({ told }) => told, TOLD),
  dayForm('the following day', ({ told }) => told + 1, TOLD),
  dayForm(`the (?:day|night|evening|afternoon) before${ENDS}`, ({ told }) => told - 1, TOLD),
  dayForm(`the (?:day|night|evening|afternoon) after${ENDS}`, ({ told }) => told + 1, TOLD),
  dayForm(`the week before${ENDS}`, ({ told }) => told - 7, TOLD),
  dayForm(`the week after${ENDS}`, ({ told }) => told + 7, TOLD),
  dayForm(`the ${WEEKDAY} before`, ({ told, weekday }) => nextWeekday(weekday, told - 8), TOLD),
  dayForm(
    `the (?:following )?${WEEKDAY}(?:(?<=following \\S+)| after)`,
    ({ told, weekday }) => nextWeekday(weekday, told),
    TOLD,
  ),
  dayForm(`the ${WEEKDAY} (?:of|in) that week`, ({ told, weekday }) => told - weekdayOf(told) + weekday, TOLD),

  dayForm('(?<unit>week|month|quarter|year) end', ({ said, today }) => periodOf(said, today).last),
  dayForm(`(?:the )?end of ${PERIOD}`, (query) => ofPeriod('last', query)),
  dayForm(`(?:the )?(?:start|beginning) of ${PERIOD}`, (query) => ofPeriod('first', query)),
  dayForm(`(?:(?:the )?middle of|mid) ${PERIOD}`, (query) => ofPeriod('middle', query)),
  dayForm(
    `(?:the )?(?:${NTH}|last) (?:(?<work>working|business) )?(?:${WEEKDAY}|day|(?<workday>weekday)) (?:of|in) ${PERIOD}`,
    nthDay,
  ),

  dayForm(`${WITH_WEEKDAY}${NOT_MONTH}${MONTH} (?:the )?${DATE}${YEAR}`, dateInMonth),
  dayForm(`${WITH_WEEKDAY}(?:the )?${DATE} (?:of )?${MONTH}${YEAR}`, dateInMonth),
  dayForm(`(?:the )?${NTH} of (?:the|this|(?<next>next)) (?<unit>month)`, nthDay),
  dayForm(
    `(?:${WEEKDAY} (?:, )?(?:the )?|the |(?<=(?:^| )on )|(?<=^)(?=\\d\\d|[4-9]))${NTH}${FOLLOWS_DATE}`,
    dateAlone,
  ),

  dayForm(`${WEEKDAY} (?:week|after next)`, ({ next }) => next + 7),
  dayForm(`${WEEKDAY} fortnight`, ({ next }) => next + 14),
  dayForm(`(?:the )?${WEEKDAY} (?:of )?the week after next`, ({ own }) => own + 14),
  dayForm(`(?:the )?${WEEKDAY} (?:of )?next week`, ({ own }) => own + 7),
  dayForm(`(?:the )?${WEEKDAY} (?:of )?this week`, ({ own }) => own),
  dayForm(`next ${WEEKDAY}`, ({ own }) => own + 7),
  dayForm(`this ${WEEKDAY}`, ({ next, today }) => (next === today + 7 ? today : next)),
  dayForm(WEEKDAY, ({ next }) => next),

  dayForm(
    '(?<=before )(?:this|the|(?<next>next)) (?<unit>weekend)',
    ({ said, today }) => periodOf(said, today).first - 1,
  ),
  dayForm('(?:this|the|(?<next>next)) (?<unit>weekend)', ({ said, today }) => periodOf(said, today).last),
  dayForm('early (?<next>next) (?<unit>week|month)', ({ said, today }) => periodOf(said, today).first),
  dayForm('(?:this|(?<next>next)) (?<unit>week|month)', ({ said, today }) => periodOf(said, today).last),
  dayForm('the (?<unit>week|month) (?<after_next>after next)', ({ said, today }) => periodOf(said, today).last),
];

/** The month that is named without a day; null for none. */
export function monthAlone(text: string): number | null {
  const month = MONTH_ALONE.exec(text)?.groups?.month;
  return month === undefined ? null : monthOf(month);
}

export function daysIn(text: string, context: DayContext): DayMention[] {
  const found = readAll(FORMS, text, { ...context, text }).filter(({ from }) => !LAST.test(text.slice(0, from)));
  return reconciled(found, context);
}

function dayAt(at: number, context: TextContext): DayMention | null {
  return readAt(FORMS, context.text, { at, context });
}

/** A weekday and a date beside it name one day: the date in that month in which it is that weekday. */
function reconciled(found: DayMention[], { today }: DayContext): DayMention[] {
  const dated = found.find(({ date_alone }) => date_alone !== undefined);
  const named = found.find(
    ({ weekday, date_alone, has_month }) => weekday !== undefined && date_alone === undefined && has_month !== true,
  );
  if (dated?.date_alone === undefined || named?.weekday === undefined) return found;
  const day = nextDate(dated.date_alone, { today, weekday: named.weekday });
  if (day === null) return found;
  const both = { ...dated, day, from: Math.min(dated.from, named.from), to: Math.max(dated.to, named.to) };
  return [both, ...found.filter((one) => one !== dated && one !== named)].sort((a, b) => a.from - b.from);
}

function dayBeside(query: DayQuery): DayFound {
  const { said, weekday, to } = query;
  const base = dayAt(to + 1, query);
  const is_form = said.the === undefined ? said.unit !== undefined : said.side !== 'from';
  if (base === null || base.worth === WEAK || !is_form) return { day: NOTHING };
  const is_before = said.side === 'before';
  if (weekday >= 0) return { day: nextWeekday(weekday, is_before ? base.day - 8 : base.day), to: base.to };
  return { day: spanAfter(base.day, { ...said, unit: said.unit ?? 'day' }, is_before ? -1 : 1), to: base.to };
}

const isMorning = ({ minute }: DayQuery) => minute > NIGHT_ENDS && minute < NOON;

function nextMorning({ today, minute }: DayQuery): number {
  return minute > NIGHT_ENDS ? today + 1 : today;
}

function spanAhead({ said, today }: DayQuery): number {
  return spanAfter(today, said);
}

function spanAfter(day: number, { count, unit, work }: FormGroups, side: 1 | -1 = 1): number {
  const number = side * countOf(count);
  if (work !== undefined) return workdaysAfter(day, number);
  if (unit === 'month' || unit === 'year') return monthsAfter(day, unit === 'year' ? 12 * number : number);
  return day + number * (unit === 'week' ? 7 : unit === 'fortnight' ? 14 : 1);
}

/** Of a month that has begun the beginning of the next one is meant. */
function ofPeriod(side: keyof SpokenPeriod, { said, today }: DayQuery): number {
  const day = periodOf(said, today)[side];
  return day < today ? periodOf(said, today, 1)[side] : day;
}

/** "the first Monday of December", "the last Friday of next month", "the first working day of the quarter" */
function nthDay({ said, weekday, today }: DayQuery): number {
  const is_workday = said.work !== undefined || said.workday !== undefined;
  const isOne = (day: number) => (weekday < 0 ? !is_workday || weekdayOf(day) < 5 : weekdayOf(day) === weekday);
  const [day = NO_DAY] = [0, 1].flatMap((more) => {
    const { first, last } = periodOf(said, today, more);
    const days = Array.from({ length: last - first + 1 }, (_, at) => first + at).filter(isOne);
    const day = (said.nth === undefined ? days.at(-1) : days[Number(said.nth) - 1]) ?? NO_DAY;
    return day >= today || day === NO_DAY ? day : [];
  });
  return day;
}

/** That day of this year, or of the next one where it is long past. */
function dateInMonth({ said, today }: DayQuery): DayFound {
  const [month, date] = [monthOf(said.month ?? ''), Number(said.nth)];
  const { year } = partsOf(today);
  const is_past = today - dayOf(year, month, date) > PAST_DAYS_MAX;
  return { day: dateIn(Number(said.year ?? (is_past ? year + 1 : year)), month, date) ?? NO_DAY, has_month: true };
}

/** "the tenth": the day that is spoken of, or the next such day in the month that is spoken of, or from today on. */
function dateAlone({ said, weekday, today, told, topic }: DayQuery): DayFound {
  const date = Number(said.nth);
  const is_told = told >= today && partsOf(told).date === date;
  const ahead = topic.month === null ? 0 : (topic.month - partsOf(today).month + 12) % 12;
  const on_weekday = weekday < 0 ? null : nextDate(date, { today, weekday });
  return { day: on_weekday ?? (is_told ? told : nextDate(date, { today, ahead })) ?? NOTHING, date_alone: date };
}

/** The next such day from so many months ahead on, if asked for on that weekday; null where no month has it. */
function nextDate(date: number, { today, weekday, ahead = 0 }: { today: number; weekday?: number; ahead?: number }) {
  const { year, month } = partsOf(today);
  const days = Array.from({ length: DATE_MONTHS_MAX }, (_, more) => dateIn(year, month + ahead + more, date) ?? NO_DAY);
  return days.find((day) => day >= today && (weekday === undefined || weekdayOf(day) === weekday)) ?? null;
}
