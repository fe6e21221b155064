import { cardinalAt } from '../../../domain/search/spoken_numbers.js';

/** Times of day that a sentence names: "at nine", "half past eleven", "ten past nine", "by 5 pm". */

/** `minute`: since midnight. */
export type TimeMention = {
  minute: number;
  from: number;
  to: number;
  /** Whether it says which half of the day it means. */
  is_exact: boolean;
  /** "In two hours": so many minutes from now; `minute` is none then. */
  ahead_min?: number;
};

/** Before an hour that is a number alone. */
const BEFORE_HOUR = new Set([
  'at',
  'by',
  'before',
  'around',
  'until',
  'till',
  'from',
  'about',
  'say',
  'to',
  'it',
  'after',
]);
/** May follow an hour: anything else is what is counted, such as "at four percent". */
const FOLLOWS_HOUR = new Set(
  `, . ; ? ! in on tomorrow today tonight next this sharp the please then okay for so and or if with to latest at because i we you it monday tuesday wednesday thursday
   friday saturday sunday that but when instead until till is works`.split(/\s+/),
);
const NOON = 12 * 60;
const HOURS = /^(?:hours?|hrs?|h)$/;
const MINUTES = /^(?:minutes?|mins?)$/;
const DAYS = /^(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday|tomorrow|today|tonight)$/;
/** Without a word for it, hours before this one are of the afternoon. */
const AFTERNOON_BEFORE = 7;

export function timesIn(words: readonly string[]): TimeMention[] {
  const found: TimeMention[] = [];
  for (let at = 0; at < words.length; ) {
    const mention = timeAt(words, at);
    if (mention === null) at++;
    else {
      found.push(mention);
      at = mention.to;
    }
  }
  return found;
}

function timeAt(words: readonly string[], at: number): TimeMention | null {
  const word = words[at] ?? '';
  if (word === 'noon' || word === 'midday') return { minute: NOON, from: at, to: at + 1, is_exact: true };
  if (word === 'midnight') return { minute: 24 * 60 - 1, from: at, to: at + 1, is_exact: true };
  const digits = /^(\d{1,2})[:.h](\d{2})$/.exec(word);
  if (digits !== null)
    return clock(Number(digits[1]), Number(digits[2]), { words, from: at, to: at + 1, is_exact: true });
  const joined = /^(\d{1,2})(am|pm)$/.exec(word);
  if (joined !== null) return clock(Number(joined[1]), 0, { words, from: at, to: at, is_exact: false });
  return aheadForms(words, at) ?? pastForms(words, at) ?? hourForms(words, at);
}

/** "in two hours", "in half an hour", "within the hour", "an hour and a half from now", "in twenty minutes" */
function aheadForms(words: readonly string[], at: number): TimeMention | null {
  const is_in = words[at] === 'in' || words[at] === 'within';
  let place = is_in ? at + 1 : at;
  while (is_in && /^(?:about|around|the|next|just|another)$/.test(words[place] ?? '')) place++;
  const is_the_hour = words[at] === 'within' && words[place - 1] === 'the' && HOURS.test(words[place] ?? '');
  const span = is_the_hour ? { minutes: 60, to: place + 1 } : spanAt(words, place);
  if (span === null || words[span.to] === 'ago') return null;
  const is_from_now = words[span.to] === 'from' && words[span.to + 1] === 'now';
  if (!is_in && !is_from_now) return null;
  return { minute: 0, ahead_min: span.minutes, from: at, to: is_from_now ? span.to + 2 : span.to, is_exact: true };
}

/** A span of hours or minutes. */
function spanAt(words: readonly string[], at: number): { minutes: number; to: number } | null {
  const start = words[at] === 'a' ? at + 1 : at;
  const part = /^(half|quarter|three)$/.exec(words[start] ?? '')?.[1];
  const quarters = part === 'three' && words[start + 1] === 'quarters' ? start + 1 : start;
  const of_an = words[quarters + 1] === 'of' ? quarters + 2 : quarters + 1;
  if (part !== undefined && /^(?:an|hour)$/.test(words[of_an] ?? '')) {
    const to = words[of_an] === 'an' ? of_an + 2 : of_an + 1;
    const minutes = part === 'half' ? 30 : part === 'quarter' ? 15 : quarters > start ? 45 : null;
    return minutes !== null && HOURS.test(words[to - 1] ?? '') ? { minutes, to } : null;
  }
  const is_couple = words[start] === 'couple' && words[start + 1] === 'of';
  const number = is_couple
    ? { value: 2, to: start + 2 }
    : /^an?$/.test(words[at] ?? '')
      ? { value: 1, to: at + 1 }
      : cardinalAt(words, at);
  if (number === null) return null;
  const hasHalf = (from: number) => words[from] === 'and' && words[from + 1] === 'a' && words[from + 2] === 'half';
  const half_before = hasHalf(number.to);
  const unit_at = half_before ? number.to + 3 : number.to;
  const unit = words[unit_at] ?? '';
  const unit_min = HOURS.test(unit) ? 60 : MINUTES.test(unit) ? 1 : null;
  if (unit_min === null) return null;
  const half_after = hasHalf(unit_at + 1);
  const minutes = (number.value + (half_before || half_after ? 0.5 : 0)) * unit_min;
  return { minutes: Math.round(minutes), to: half_after ? unit_at + 4 : unit_at + 1 };
}

/** "half past eleven", "quarter to nine", "ten past nine" */
function pastForms(words: readonly string[], at: number): TimeMention | null {
  const word = words[at] ?? '';
  let place = at;
  let minutes: number;
  if (word === 'half') [minutes, place] = [30, at + 1];
  else if (word === 'quarter') [minutes, place] = [15, at + 1];
  else {
    const number = cardinalAt(words, at);
    if (number === null || number.value < 1 || number.value > 29) return null;
    [minutes, place] = [number.value, number.to];
    if (words[place] === 'minutes') place++;
  }
  const which = words[place] ?? '';
  // "half eight" is half past eight.
  const half_hour = word === 'half' ? cardinalAt(words, place) : null;
  if (
    half_hour !== null &&
    half_hour.value >= 1 &&
    half_hour.value <= 12 &&
    (BEFORE_HOUR.has(words[at - 1] ?? '') || DAYS.test(words[at - 1] ?? ''))
  )
    return clock(half_hour.value, 30, { words, from: at, to: half_hour.to, is_exact: false });
  if (which !== 'past' && which !== 'to') return null;
  // "from five to eight" is a span.
  if (which === 'to' && words[at - 1] === 'from') return null;
  if (which === 'to' && word !== 'quarter' && minutes % 5 !== 0) return null;
  const hour = cardinalAt(words, place + 1);
  if (hour === null || hour.value < 1 || hour.value > 12) return null;
  const in_words = { words, from: at, to: hour.to, is_exact: false };
  if (which === 'past') return clock(hour.value, minutes, in_words);
  const ends = hour.to >= words.length || FOLLOWS_HOUR.has(words[hour.to] ?? '');
  return ends ? clock(hour.value, -minutes, in_words) : null;
}

/** "at nine", "nine o'clock", "by 5 pm", "at nine thirty" */
function hourForms(words: readonly string[], at: number): TimeMention | null {
  const hour = cardinalAt(words, at);
  if (hour === null || hour.value > 24) return null;
  const minutes = cardinalAt(words, hour.to);
  const next = words[hour.to] ?? '';
  if (next === "o'clock" || /^(?:am|pm)$/.test(next))
    return clock(hour.value, 0, { words, from: at, to: hour.to, is_exact: false });
  const before = words[at - 1] ?? '';
  const after_hour = words.slice(hour.to, hour.to + 3).join(' ');
  if (/^in the (?:morning|afternoon|evening)$/.test(after_hour) && hour.value >= 1 && hour.value <= 12)
    return clock(hour.value, 0, { words, from: at, to: hour.to, is_exact: false });
  const day_before = DAYS.test(before) || (before === ',' && DAYS.test(words[at - 2] ?? ''));
  const is_pair =
    day_before && minutes !== null && minutes.value >= 10 && minutes.value < 60 && hour.value >= 1 && hour.value <= 12;
  const is_made = before === 'that' && words[at - 2] === 'make';
  if (!BEFORE_HOUR.has(before) && !is_made && !is_pair) return null;
  if (before === 'it' && words[at - 2] !== 'make') return null;
  if (before === 'to' && !/^(?:from|it|that)$/.test(words[at - 3] ?? words[at - 2] ?? '')) return null;
  const has_minutes = minutes !== null && minutes.value >= 5 && minutes.value < 60 && hour.value <= 24;
  const to = has_minutes ? minutes.to : hour.to;
  if (to < words.length && !FOLLOWS_HOUR.has(words[to] ?? '')) return null;
  if (hour.value < 1) return null;
  return clock(hour.value, has_minutes ? minutes.value : 0, { words, from: at, to, is_exact: hour.value > 12 });
}

type ClockWords = { words: readonly string[]; from: number; to: number; is_exact: boolean };

/** The half of the day is what the sentence says, or else the one in which people meet. */
function clock(hour: number, minutes: number, { words, from, to, is_exact }: ClockWords): TimeMention | null {
  if (hour > 24 || minutes >= 60) return null;
  const after = words.slice(to, to + 4).join(' ');
  let end = words[to] === "o'clock" ? to + 1 : to;
  const half = /^(?:\d+)?(am|pm)$/.exec(words[end] ?? '');
  if (half !== null) end++;
  let half_of_day: 'am' | 'pm' | null = (half?.[1] as 'am' | 'pm' | undefined) ?? null;
  if (half_of_day === null && /in the (?:afternoon|evening)/.test(after)) half_of_day = 'pm';
  if (half_of_day === null && /in the morning/.test(after)) half_of_day = 'am';
  let is_named = false;
  if (half_of_day === null && !is_exact) {
    const rest = words.join(' ');
    is_named = /\b(?:every|each|daily|mornings?)\b/.test(rest);
    if (/\b(?:afternoons?|evenings?|tonight|nights?|after lunch|dinner)\b/.test(rest) && hour < 12) half_of_day = 'pm';
    else if (/\b(?:mornings?|breakfast|early)\b/.test(rest) && hour > 4) half_of_day = 'am';
    else half_of_day = hour < AFTERNOON_BEFORE || hour === 12 ? 'pm' : 'am';
  }
  const plain = half_of_day === null ? hour : (hour % 12) + (half_of_day === 'pm' ? 12 : 0);
  const minute = plain * 60 + minutes;
  const is_told = is_exact || is_named || half !== null || /in the (?:morning|afternoon|evening)/.test(after);
  return minute < 0 || minute >= 24 * 60 ? null : { minute, from, to: Math.max(end, from + 1), is_exact: is_told };
}
