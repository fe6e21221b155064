import type { ParsedResult } from 'chrono-node/en';
import { LIMITS } from '../../../domain/limits.js';
import { wordsIn } from '../../../domain/search/words.js';
import { isQuestionStopWord } from '../index/stop_words.js';
import { type Day, type FoundPeriod, type Period, type PeriodQuery, periodIn, timesIn } from './period.js';

/**
 * The times of a question. One binds what is found where it says when something was said, as in "what did we say last
 * week". Any other belongs to what was talked about, as in "lunch on Thursday", and is searched as words.
 */

/** A day that a question mentions, and its place in the question. `year`: null without one. */
export type MentionedDay = Omit<Day, 'year'> & { year: number | null; from: number; to: number };

/** `period`: the binding period. `rest`: the question without it. `near`: a past period that does not bind. */
export type AskedTime = { period: Period | null; rest: string; near: Period | null; days: MentionedDay[] };

const BASE_VERBS =
  'say|tell|talk|speak|discuss|mention|promise|agree|decide|ask|record|hear|note|announce|suggest|propose|offer|commit|complain|report|explain';
/** Verbs of saying, in the past: alone, or after an auxiliary verb of the past. */
const SAID = new RegExp(
  String.raw`\b(?:said|told|talked|spoke|spoken|discussed|mentioned|promised|agreed|decided|asked|recorded|heard|noted|announced|suggested|proposed|offered|committed|complained|reported|explained)\b|\b(?:did|didn't|have|has|had|haven't|hasn't|was|were)\b(?:\s+(?!to\b)[\p{L}'’-]+){1,4}?\s+(?:${BASE_VERBS})\b`,
  'gu',
);
/** Times that need no verb of saying if the question has nothing else. */
const ALONE = /\b(?:today|tonight|this)\b|\d{4}/;
/** A place in time or space behind a verb of saying, and what leads a time. */
const OCCASION =
  /\b(?:in|at|during|on)\s+(?:the|our|that|a|my)\s+(?:last\s+)?(?:meeting|call|conversation|chat|appointment|visit|stand-?up|lunch|dinner|session|talk|interview)\b|\b(?:on|in|during)\s+the\s+$/g;
/** A past that no plan can mean. */
const PAST = /\b(?:last|past|previous|yesterday|ago|earlier)\b/;
/** Words behind a verb of saying with which the subject begins: a time behind them may belong to it. */
const SUBJECT = /\b(?:that|whether|if|about|for|to|of|by|until|till|regarding|concerning|the)\b/;
/** Day and month in numbers. */
const NUMBERS = /(?<![\d.])(\d{1,2})\.\s?(\d{1,2})\.(?:\s?(\d{4}))?(?![\d])/g;
const [MONTHS, DAYS] = [12, 31];

export function askedTime(text: string, asked: PeriodQuery): AskedTime {
  const times = timesIn(text, asked);
  const found = periodIn(text, asked, times);
  const days = daysIn(text, times);
  if (found === null) return { period: null, rest: text, near: null, days };
  if (!binds(text.toLowerCase(), found))
    return { period: null, rest: text, near: PAST.test(spoken(text, found)) ? found.period : null, days };
  const { period, rest, from, to } = found;
  return { period, rest, near: null, days: days.filter((day) => day.to <= from || day.from >= to) };
}

function spoken(text: string, { from, to }: FoundPeriod): string {
  return text.slice(from, to).toLowerCase();
}

function binds(lower: string, found: FoundPeriod): boolean {
  const time = spoken(lower, found);
  const is_past = PAST.test(time) || /\bsince\s+$/.test(lower.slice(0, found.from));
  // A question of nothing else: what was said then.
  const is_all = wordsIn(found.rest).every(({ word }) => isQuestionStopWord(word));
  if (is_all && (is_past || (time === lower.trim() && ALONE.test(time)))) return true;
  for (const { index, 0: verb } of lower.matchAll(SAID)) {
    if (is_past || index >= found.to) return true;
    const between = lower.slice(index + verb.length, found.from).replaceAll(OCCASION, ' ');
    if (index < found.from && !SUBJECT.test(between)) return true;
  }
  return false;
}

function daysIn(text: string, times: readonly ParsedResult[]): MentionedDay[] {
  const days: MentionedDay[] = [];
  for (const {
    start,
    index,
    text: { length },
  } of times) {
    if (!start.isCertain('month') || !start.isCertain('day')) continue;
    const [month, day] = [start.get('month'), start.get('day')];
    if (month === null || day === null) continue;
    days.push({
      year: start.isCertain('year') ? start.get('year') : null,
      month,
      day,
      from: index,
      to: index + length,
    });
  }
  for (const match of text.slice(0, LIMITS.recall_period_chars_max).matchAll(NUMBERS)) {
    const [day, month] = [Number(match[1]), Number(match[2])];
    const [from, to] = [match.index, match.index + match[0].length];
    if (month < 1 || month > MONTHS || day < 1 || day > DAYS) continue;
    if (days.some((one) => one.from < to && from < one.to)) continue;
    days.push({ year: match[3] === undefined ? null : Number(match[3]), month, day, from, to });
  }
  return days;
}
