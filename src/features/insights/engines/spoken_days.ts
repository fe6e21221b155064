import { cardinalAt, ordinalAt } from '../../../domain/search/spoken_numbers.js';
import { dayOf, monthEnd, partsOf, weekdayOf } from './calendar.js';
import { MONTHS, periodAt } from './spoken_periods.js';

/** Days that a sentence names, as English says them: "by Friday", "in a fortnight", "the Monday of that week". */

export type DayMention = {
  /** `NO_DAY` for one that no calendar has. */
  day: number;
  /** Its words. */
  from: number;
  to: number;
  /** A day of the month that was said without a month: another month may be meant. */
  date_alone?: number;
  has_month?: boolean;
  /** Counts where nothing else names a day. */
  is_weak?: boolean;
  /** A part of today, unless a day is named beside it: "end of day". */
  is_part?: boolean;
  weekday?: number;
};

/** Neither ahead nor past: "February 30". */
const NO_DAY = Number.NaN;

/** The day that was named last, and a month that was named without a day. */
export type DayTopic = { day: number | null; month: number | null };
type DayContext = { today: number; topic: DayTopic; is_afternoon: boolean };

const WEEKDAYS = new Map(
  ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'].flatMap((name, at) => [
    [name, at] as const,
    [`${name}'s`, at] as const,
    [`${name}s`, at] as const,
  ]),
);
const PERIOD_PARTS = new Map<string, 'first' | 'middle' | 'last'>([
  ['start', 'first'],
  ['beginning', 'first'],
  ['middle', 'middle'],
  ['mid', 'middle'],
  ['end', 'last'],
]);
const DAY_LONG = /^(?:day|business|play|work|today|working|office|shift)$/;
const PRONOUNS = new Set(['i', 'you', 'he', 'she', 'it', 'we', 'they', 'that', 'this']);
const PARTS_OF_DAY = new Set(['morning', 'afternoon', 'evening', 'night', 'lunchtime', 'noon']);
/** May follow a day of the month; after "the first" anything else is a noun: "the first time". */
const FOLLOWS_DATE = new Set(
  `, . ; ? ! of at in on to from until till is was works after before then and or for as if it we i with so but okay by early that's you he she they
   please latest this next morning afternoon evening through right would suits sounds between because when since`.split(
    /\s+/,
  ),
);
/** Months that are also words count with a day or with one of these before. */
const BEFORE_MONTH = new Set([
  'in',
  'of',
  'by',
  'until',
  'till',
  'before',
  'since',
  'for',
  'now',
  'next',
  'this',
  'last',
  'end',
  'during',
  'early',
  'late',
  'from',
  ',',
]);
const LAST = new Set(['last', 'past', 'previous']);
const SPAN_DAYS = new Map([
  ['day', 1],
  ['days', 1],
  ['week', 7],
  ['weeks', 7],
  ['fortnight', 14],
  ['fortnights', 14],
]);
/** A date with a month that lies back so far is one of the next year. */
const PAST_DAYS_MAX = 60;

/** The month that is named without a day; null for none. */
export function monthAlone(words: readonly string[], mentions: readonly DayMention[]): number | null {
  for (const [at, word] of words.entries()) {
    const month = MONTHS.get(word);
    const is_dated = mentions.some(({ from, to }) => at >= from && at < to);
    if (month !== undefined && !is_dated && BEFORE_MONTH.has(words[at - 1] ?? ',')) return month;
  }
  return null;
}

export function daysIn(words: readonly string[], context: DayContext): DayMention[] {
  const found: DayMention[] = [];
  for (let at = 0; at < words.length; ) {
    const mention = dayAt(words, at, context);
    if (mention === null) {
      at++;
      continue;
    }
    if (!LAST.has(words[mention.from - 1] ?? '')) found.push(mention);
    at = Math.max(mention.to, at + 1);
  }
  return reconciled(found, context);
}

/** A weekday and a date beside it name one day: the date in that month in which it is that weekday. */
function reconciled(found: readonly DayMention[], { today }: DayContext): DayMention[] {
  const dated = found.find(({ date_alone }) => date_alone !== undefined);
  const named = found.find(({ weekday, date_alone }) => weekday !== undefined && date_alone === undefined);
  if (dated?.date_alone === undefined || named?.weekday === undefined) return [...found];
  const day = dateOn(dated.date_alone, named.weekday, today);
  if (day === null) return [...found];
  const both = { ...dated, day, from: Math.min(dated.from, named.from), to: Math.max(dated.to, named.to) };
  return [both, ...found.filter((one) => one !== dated && one !== named)];
}

type DayForm = (words: readonly string[], at: number, context: DayContext) => DayMention | null;

/** Forms in which another one may stand. */
const OUTER: readonly DayForm[] = [offsetForms, dayEndForms];
const SIMPLE: readonly DayForm[] = [
  todayForms,
  relativeForms,
  topicForms,
  periodForms,
  nthForms,
  dateForms,
  weekdayForms,
  weekForms,
];
const FORMS = [...OUTER, ...SIMPLE];

function dayAt(words: readonly string[], at: number, context: DayContext): DayMention | null {
  return firstOf(FORMS, words, at, context);
}

function simpleDayAt(words: readonly string[], at: number, context: DayContext): DayMention | null {
  return firstOf(SIMPLE, words, at, context);
}

function firstOf(
  forms: readonly DayForm[],
  words: readonly string[],
  at: number,
  context: DayContext,
): DayMention | null {
  for (const form of forms) {
    const found = form(words, at, context);
    if (found !== null) return found;
  }
  return null;
}

function todayForms(words: readonly string[], at: number, { today, is_afternoon }: DayContext): DayMention | null {
  const [word, next, after] = [words[at] ?? '', words[at + 1] ?? '', words[at + 2] ?? ''];
  if (word === 'today' || word === 'tonight') return { day: today, from: at, to: at + 1 };
  if (word === 'tomorrow') return { day: today + 1, from: at, to: at + 1 };
  if (word === 'yesterday') return { day: today - 1, from: at, to: at + 1 };
  if (word === 'day' && next === 'after' && after === 'tomorrow') return { day: today + 2, from: at, to: at + 3 };
  if (word === 'this' && PARTS_OF_DAY.has(next)) return { day: today, from: at, to: at + 2 };
  if ((word === 'right' || word === 'straight') && /^(?:now|away)$/.test(next))
    return { day: today, from: at, to: at + 2 };
  if (word === 'right' && next === 'after' && /^(?:this|the|that)$/.test(after))
    return { day: today, from: at, to: at + 3 };
  if (is_afternoon && word === 'in' && next === 'the' && after === 'morning')
    return { day: today + 1, from: at, to: at + 3, is_weak: true };
  if (word === 'after' && /^(?:school|work|lunch|dinner|class|breakfast|supper)$/.test(next))
    return { day: today, from: at, to: at + 2, is_weak: true };
  if (word === 'on' && /^(?:your|my|the)$/.test(next) && after === 'way') return { day: today, from: at, to: at + 3 };
  return null;
}

/** "in three days", "within a week", "two weeks from now", "a week on Monday" */
function relativeForms(words: readonly string[], at: number, { today }: DayContext): DayMention | null {
  const is_in = /^(?:in|within|for)$/.test(words[at] ?? '');
  if (
    words[at] === 'for' &&
    !/^(?:\d+|a|the|two|three|four|five|six|seven|eight|ten|fourteen)$/.test(words[at + 1] ?? '')
  )
    return null;
  let place = is_in ? at + 1 : at;
  if (/^(?:about|around|the)$/.test(words[place] ?? '')) place++;
  if (is_in && words[place] === 'next' && cardinalAt(words, place + 1) !== null) place++;
  const next = words[place] ?? '';
  const is_couple = next === 'a' && words[place + 1] === 'couple' && words[place + 2] === 'of';
  const number = is_couple
    ? { value: 2, to: place + 3 }
    : next === 'a' || next === 'next'
      ? { value: 1, to: place + 1 }
      : cardinalAt(words, place);
  if (number === null) return null;
  const is_working = /^(?:working|business)$/.test(words[number.to] ?? '');
  const unit_at = is_working ? number.to + 1 : number.to;
  const unit = words[unit_at]?.replace(/'(?:s|)$/, '') ?? '';
  const to = unit_at + 1;
  const is_from_now = /^from (?:now|today)$/.test(words.slice(to, to + 2).join(' '));
  if (unit === 'month' || unit === 'months') {
    if (words[at] !== 'in' && words[at] !== 'within' && !is_from_now) return null;
    const { year, month, date } = partsOf(today);
    const day = Math.min(dayOf(year, month + number.value, date), monthEnd(year, month + number.value));
    return { day, from: at, to };
  }
  if (unit === 'year' || unit === 'years') {
    if (words[at] !== 'in' && words[at] !== 'within' && !is_from_now) return null;
    const { year, month, date } = partsOf(today);
    return {
      day: Math.min(dayOf(year + number.value, month, date), monthEnd(year + number.value, month)),
      from: at,
      to,
    };
  }
  const days = SPAN_DAYS.get(unit);
  if (days === undefined) return null;
  const ahead = is_working ? workingDaysAhead(today, number.value) : today + number.value * days;
  if (words[to] === 'today') return { day: ahead, from: at, to: to + 1 };
  if (days >= 7 && words[to] === 'tomorrow') return { day: ahead + 1, from: at, to: to + 1 };
  if (is_from_now) return { day: ahead, from: at, to: to + 2 };
  if (words[to] === 'from' && words[to + 1] === 'tomorrow') return { day: ahead + 1, from: at, to: to + 2 };
  if (days >= 7 && words[to] === 'on' && WEEKDAYS.has(words[to + 1] ?? '')) {
    const weekday = WEEKDAYS.get(words[to + 1] ?? '') as number;
    return { day: nextWeekday(weekday, today) + days * number.value, from: at, to: to + 2 };
  }
  if (!is_in || next === 'next' || words[to] === 'ago') return null;
  // "for two weeks" ends then.
  return words[at] === 'for' ? { day: ahead, from: at, to, is_weak: true } : { day: ahead, from: at, to };
}

/** Days that are told by the one that was named before: "that morning", "the night before", "the Monday of that week". */
function topicForms(words: readonly string[], at: number, { topic }: DayContext): DayMention | null {
  if (topic.day === null) return null;
  const [word, next, after] = [words[at] ?? '', words[at + 1] ?? '', words[at + 2] ?? ''];
  if (word === 'first' && next === 'thing' && words[at - 1] !== 'the' && /^(?:[,.;?!]|in|then)?$/.test(after))
    return { day: topic.day, from: at, to: at + 2 };
  if (word === 'that' && (next === 'day' || PARTS_OF_DAY.has(next))) return { day: topic.day, from: at, to: at + 2 };
  if (word === 'the' && next === 'same' && after === 'day') return { day: topic.day, from: at, to: at + 3 };
  if (/^(?:by|before|until|till)$/.test(word) && next === 'then') return { day: topic.day, from: at + 1, to: at + 2 };
  if (word !== 'the') return null;
  if (next === 'following' && after === 'day') return { day: topic.day + 1, from: at, to: at + 3 };
  const following = next === 'following' ? WEEKDAYS.get(after) : undefined;
  if (following !== undefined) return { day: nextWeekday(following, topic.day), from: at, to: at + 3 };
  const weekday = WEEKDAYS.get(next);
  const tail = words.slice(at + 2, at + 5).join(' ');
  const ends = (to: number) => /^(?:[,.;?!]|at|and|in|so|by|i|we|with|okay)?$/.test(words[to] ?? '');
  if (weekday !== undefined) {
    if (/^(?:of|in) that week$/.test(tail))
      return { day: topic.day - weekdayOf(topic.day) + weekday, from: at, to: at + 5 };
    if (after === 'before') return { day: nextWeekday(weekday, topic.day - 8), from: at, to: at + 3 };
    if (after === 'after') return { day: nextWeekday(weekday, topic.day), from: at, to: at + 3 };
  }
  const is_day = next === 'day' || next === 'night' || next === 'evening' || next === 'afternoon';
  if (is_day && after === 'before' && ends(at + 3)) return { day: topic.day - 1, from: at, to: at + 3 };
  if (next === 'day' && after === 'after' && ends(at + 3)) return { day: topic.day + 1, from: at, to: at + 3 };
  if (next === 'week' && after === 'before' && ends(at + 3)) return { day: topic.day - 7, from: at, to: at + 3 };
  if (next === 'week' && after === 'after' && ends(at + 3)) return { day: topic.day + 7, from: at, to: at + 3 };
  return null;
}

/** "end of day", "close of business on Monday", "the end of the working day": of that day, or else of today. */
function dayEndForms(words: readonly string[], at: number, context: DayContext): DayMention | null {
  const short = /^(?:eod|cob|eob)$/.test(words[at] ?? '');
  const is_end = (words[at] === 'end' || words[at] === 'close') && words[at + 1] === 'of';
  if (!short && !is_end) return null;
  let to = short ? at + 1 : at + 2;
  if (is_end) {
    while (
      /^(?:the|this|that|my|your|our|working|business|work)$/.test(words[to] ?? '') &&
      DAY_LONG.test(words[to + 1] ?? '')
    )
      to++;
    if (!DAY_LONG.test(words[to] ?? '')) return null;
    to++;
  }
  const place = /^(?:on|,)$/.test(words[to] ?? '') ? to + 1 : to;
  const named = simpleDayAt(words, place, context);
  if (named !== null && named.is_weak !== true) return { ...named, from: at };
  return { day: context.today, from: at, to, is_part: true };
}

/** "the end of the week", "end of the quarter", "the beginning of March", "mid December", "year end" */
function periodForms(words: readonly string[], at: number, { today }: DayContext): DayMention | null {
  const word = words[at] ?? '';
  if (words[at + 1] === 'end' && /^(?:week|month|quarter|year)$/.test(word.replace(/'s$/, ''))) {
    const period = periodAt(words, at, today);
    return period === null ? null : { day: period.last, from: at, to: at + 2 };
  }
  const part = PERIOD_PARTS.get(word);
  const has_of = words[at + 1] === 'of';
  if (part === undefined || !(has_of || word === 'mid')) return null;
  const place = has_of ? at + 2 : at + 1;
  if (part === 'last' && words[place] === 'tomorrow') return { day: today + 1, from: at, to: place + 1 };
  const period = periodAt(words, place, today);
  if (period === null) return null;
  // Of a month that has begun the beginning of the next one is meant.
  const next = period[part] < today ? periodAt(words, place, today, 1) : null;
  return { day: (next ?? period)[part], from: at, to: period.to };
}

/** "the first Monday of December", "the last Friday of next month", "the first day of the quarter" */
function nthForms(words: readonly string[], at: number, { today }: DayContext): DayMention | null {
  const place = words[at] === 'the' ? at + 1 : at;
  const is_last = words[place] === 'last';
  const number = is_last ? { value: 1, to: place + 1 } : ordinalAt(words, place);
  if (number === null || number.value < 1 || number.value > 5) return null;
  const is_working = /^(?:working|business)$/.test(words[number.to] ?? '');
  const unit_at = is_working ? number.to + 1 : number.to;
  const unit = words[unit_at] ?? '';
  const weekday = WEEKDAYS.get(unit);
  const isOne = (day: number) =>
    unit === 'day'
      ? !is_working || weekdayOf(day) < 5
      : unit === 'weekday'
        ? weekdayOf(day) < 5
        : weekdayOf(day) === weekday;
  if ((weekday === undefined && unit !== 'day' && unit !== 'weekday') || !/^(?:of|in)$/.test(words[unit_at + 1] ?? ''))
    return null;
  for (const ahead of [0, 1]) {
    const period = periodAt(words, unit_at + 2, today, ahead);
    if (period === null) return null;
    const days = Array.from({ length: period.last - period.first + 1 }, (_, more) => period.first + more).filter(isOne);
    const day = is_last ? days.at(-1) : days[number.value - 1];
    const mention = { from: at, to: period.to };
    if (day === undefined) return { ...mention, day: NO_DAY };
    if (day >= today) return { ...mention, day };
  }
  return null;
}

/** "the day before Monday", "a week before the thirtieth", "two days after the tenth", "the Friday before the end of the month" */
function offsetForms(words: readonly string[], at: number, context: DayContext): DayMention | null {
  const is_the = words[at] === 'the';
  const weekday = is_the ? WEEKDAYS.get(words[at + 1] ?? '') : undefined;
  const number =
    is_the || words[at] === 'a' || words[at] === 'one'
      ? { value: 1, to: at + 1 }
      : words[at] === 'couple' && words[at + 1] === 'of'
        ? { value: 2, to: at + 2 }
        : cardinalAt(words, at);
  if (number === null) return null;
  const unit = words[number.to] ?? '';
  const days = SPAN_DAYS.get(unit) ?? (is_the && PARTS_OF_DAY.has(unit) ? 1 : undefined);
  const side = words[number.to + 1] ?? '';
  if (side !== 'before' && side !== 'after' && !(side === 'from' && !is_the)) return null;
  if (days === undefined && weekday === undefined) return null;
  const base =
    simpleDayAt(words, number.to + 2, context) ??
    dayEndForms(words, number.to + 2, context) ??
    endAt(words, number.to + 2, context);
  if (base === null || base.is_part === true || base.is_weak === true) return null;
  const { to } = base;
  if (weekday !== undefined)
    return { day: nextWeekday(weekday, side === 'before' ? base.day - 8 : base.day), from: at, to };
  const span = (days as number) * number.value;
  return { day: base.day + (side === 'before' ? -span : span), from: at, to };
}

function endAt(words: readonly string[], at: number, context: DayContext): DayMention | null {
  return periodForms(words, words[at] === 'the' ? at + 1 : at, context);
}

/** "December seventh", "the seventh of December", "7 December", "Saturday the twentieth", "the tenth" */
function dateForms(words: readonly string[], at: number, { today, topic }: DayContext): DayMention | null {
  const weekday = WEEKDAYS.get(words[at] ?? '');
  let place = weekday === undefined ? at : at + 1;
  if (weekday !== undefined && words[place] === ',') place++;
  const month = MONTHS.get(words[place] ?? '');
  if (month !== undefined) {
    // "I may second that"
    if (words[place] === 'may' && PRONOUNS.has(words[place - 1] ?? '')) return null;
    const start = words[place + 1] === 'the' ? place + 2 : place + 1;
    const date = ordinalAt(words, start) ?? (/^\d{1,2}$/.test(words[start] ?? '') ? cardinalAt(words, start) : null);
    return date === null ? null : dated(date.value, month, { from: at, to: date.to, today, words });
  }
  const has_the = words[place] === 'the';
  if (has_the) place++;
  const date = ordinalAt(words, place) ?? (/^\d{1,2}$/.test(words[place] ?? '') ? cardinalAt(words, place) : null);
  if (date === null || date.value < 1) return null;
  const named = MONTHS.get(words[words[date.to] === 'of' ? date.to + 1 : date.to] ?? '');
  const to = words[date.to] === 'of' ? date.to + 2 : date.to + 1;
  if (named !== undefined) return dated(date.value, named, { from: at, to, today, words });
  if (date.value > 31) return null;
  if (words[date.to] === 'of' && ordinalAt(words, place) !== null) return dayOfMonth(date, words, { from: at, today });
  const is_ordinal = ordinalAt(words, place) !== null;
  const follows = date.to >= words.length || FOLLOWS_DATE.has(words[date.to] ?? '');
  if (!is_ordinal || !(has_the || weekday !== undefined || words[at - 1] === 'on') || !follows) return null;
  const on_weekday = weekday === undefined ? null : dateOn(date.value, weekday, today);
  const day = on_weekday ?? dateAlone(date.value, today, topic.month);
  return day === null ? null : { day, from: at, to: date.to, date_alone: date.value };
}

/** "Friday", "next Tuesday", "Wednesday next week", "this Friday" */
function weekdayForms(words: readonly string[], at: number, { today }: DayContext): DayMention | null {
  const which = words[at] ?? '';
  const has_which = which === 'next' || which === 'this' || which === 'coming';
  const place = has_which ? at + 1 : at;
  const weekday = WEEKDAYS.get(words[place] ?? '');
  if (weekday === undefined) return null;
  // "on Tuesdays" is a habit.
  if (words[place]?.endsWith('days') === true) return null;
  const after = words[place + 1] === 'of' ? place + 2 : place + 1;
  const tail = words.slice(after, after + 2).join(' ');
  if (tail === 'after next') return { day: nextWeekday(weekday, today) + 7, from: at, to: place + 3, weekday };
  const monday = today - weekdayOf(today);
  if (tail === 'next week') return { day: monday + 7 + weekday, from: at, to: after + 2, weekday };
  if (tail === 'this week') return { day: monday + weekday, from: at, to: after + 2, weekday };
  if (tail.startsWith('week')) return { day: nextWeekday(weekday, today) + 7, from: at, to: place + 2, weekday };
  if (words.slice(after, after + 4).join(' ') === 'the week after next')
    return { day: monday + 14 + weekday, from: at, to: after + 4, weekday };
  const day =
    which === 'next'
      ? monday + 7 + weekday
      : which === 'this' && weekdayOf(today) === weekday
        ? today
        : nextWeekday(weekday, today);
  return { day, from: at, to: place + 1, weekday };
}

/** "this week", "next week", "the weekend", "this month" */
function weekForms(words: readonly string[], at: number, { today }: DayContext): DayMention | null {
  const [which, unit] = [words[at] ?? '', words[at + 1] ?? ''];
  if (which !== 'this' && which !== 'next' && which !== 'the') return null;
  const ahead = which === 'next' ? 7 : 0;
  const to = at + 2;
  if (unit === 'weekend') {
    const saturday = today - weekdayOf(today) + 5;
    const is_before = words[at - 1] === 'before';
    return { day: is_before ? saturday + ahead - 1 : Math.max(saturday, today) + ahead, from: at, to };
  }
  const is_after_next = words[to] === 'after' && words[to + 1] === 'next';
  if (which === 'the' && !is_after_next) return null;
  const period = periodAt(words, at, today);
  if (period === null || !/^(?:week|month)$/.test(unit)) return null;
  const is_early =
    words[at - 1] === 'early' || /(?:start|beginning) of$/.test(words.slice(Math.max(0, at - 2), at).join(' '));
  const is_first = is_early && period.first > today;
  return { day: is_first ? period.first : period.last, from: at, to: period.to };
}

/** The first such day after that one. */
function nextWeekday(weekday: number, day: number): number {
  return day + (((weekday - weekdayOf(day) + 6) % 7) + 1);
}

/** "the fifteenth of next month", "the first of the month" */
function dayOfMonth(
  { value, to }: { value: number; to: number },
  words: readonly string[],
  { from, today }: { from: number; today: number },
): DayMention | null {
  for (const ahead of [0, 1]) {
    const month = periodAt(words, to + 1, today, ahead);
    if (month === null || words[month.to - 1] !== 'month') return null;
    const day = month.first + value - 1;
    if (day > month.last) return { day: NO_DAY, from, to: month.to };
    if (day >= today) return { day, from, to: month.to };
  }
  return null;
}

/** With a month: the last of them where that is a little past, and else the next; in the year that follows, where one does. */
function dated(
  date: number,
  month: number,
  { from, to, today, words }: Pick<DayMention, 'from' | 'to'> & { today: number; words: readonly string[] },
): DayMention {
  const year_at = words[to] === ',' ? to + 1 : to;
  const named = /^20\d\d$/.test(words[year_at] ?? '') ? Number(words[year_at]) : null;
  const { year } = partsOf(today);
  const dayIn = (one: number) => (partsOf(dayOf(one, month, date)).date === date ? dayOf(one, month, date) : NO_DAY);
  const is_past = today - dayOf(year, month, date) > PAST_DAYS_MAX;
  const day = dayIn(named ?? (is_past ? year + 1 : year));
  return { day, from, to: named === null ? to : year_at + 1, has_month: true };
}

function workingDaysAhead(today: number, count: number): number {
  let day = today;
  for (let left = Math.min(count, 100); left > 0; ) {
    day += 1;
    if (weekdayOf(day) < 5) left -= 1;
  }
  return day;
}

/** The next month in which that day is that weekday; null where none of the next twelve has it. */
function dateOn(date: number, weekday: number, today: number): number | null {
  const { year, month } = partsOf(today);
  for (let ahead = 0; ahead < 12; ahead++) {
    const day = dayOf(year, month + ahead, date);
    if (partsOf(day).date === date && day >= today && weekdayOf(day) === weekday) return ahead <= 4 ? day : null;
  }
  return null;
}

/** The next such day, in the month that is spoken of where there is one. */
function dateAlone(date: number, today: number, topic_month: number | null): number | null {
  const { year, month } = partsOf(today);
  const ahead = topic_month === null ? 0 : (topic_month - month + 12) % 12;
  for (let more = ahead; more < ahead + 3; more++) {
    const day = dayOf(year, month + more, date);
    if (partsOf(day).date === date && day >= today) return day;
  }
  return null;
}
