import { Chrono, casual } from 'chrono-node/en';
import { DAY_MS, dateOf } from '../../../domain/dates.js';
import { partsOf, type SpokenClock, spokenClocks } from './calendar.js';
import type { Sentence } from './sentences.js';
import { type DayMention, type DayTopic, daysIn, monthAlone } from './spoken_days.js';
import { plainSpeech } from './spoken_forms.js';
import { type TimeMention, timesIn } from './spoken_times.js';
import { standing } from './taken_back.js';

/** When something is due, as the sentences about it say. A day without a time is a day. */

export type SpokenDue = { due_at: string | null; due_date: string | null };
type SpokenMoment = { day: number; minute: number | null };
type DatedSentence = {
  /** In the plain form. */
  text: string;
  clock: SpokenClock;
  days: DayMention[];
  times: TimeMention[];
  /** The day of which was spoken before. */
  topic_day: number | null;
};

const CHRONO = new Chrono(casual);
const NOON = 12 * 60;
const DAY_MIN = 24 * 60;
/** For so many sentences a day stays what is spoken of. */
const TOPIC_SENTENCES_MAX = 30;
const MONTH_SENTENCES_MAX = 12;
/** So soon after a date, a day without a month is one of the same month. */
const SAME_MONTH_SENTENCES_MAX = 3;
/** A time alone is one of the day that was named so few sentences before. */
const TIME_TOPIC_SENTENCES_MAX = 8;
/** The preposition before a day or time, and words that may stand between. */
const PREPOSITION = /(\S+)(?: (?:the|about|around|early|late|this))* $/;
/** A day after one of these is what is spoken of, not when something is due. */
const NOT_DUE = new Set(['since', 'from', 'of', 'than', 'after', 'about']);
const DEADLINE = new Set(['by', 'before', 'until', 'till', 'end']);
const BOUND = new Set(['from', 'until', 'till', 'after', 'to']);

/** The days and times of a conversation, sentence by sentence in its order. */
export class SpokenDates {
  readonly #clockOf: (said: Pick<Sentence, 'at_ms' | 'utc_offset_min'>) => SpokenClock;
  readonly #dated = new Map<number, DatedSentence>();
  #topic: { day: number; place: number; has_month: boolean } | null = null;
  #month: { month: number; place: number } | null = null;

  constructor(time_zone: string | null) {
    this.#clockOf = spokenClocks(time_zone);
  }

  /** Reads a sentence; those before it have been read. */
  read(sentence: Sentence): void {
    const { place } = sentence;
    const text = plainSpeech(sentence.text);
    const clock = this.#clockOf(sentence);
    const topic = this.#topicAt(place);
    const said_days = daysIn(text, { today: clock.today, minute: clock.minute, topic });
    const said_times = timesIn(text).filter(({ from, to }) => !said_days.some((day) => from < day.to && to > day.from));
    const days = standing(text, said_days, said_times);
    const times = standing(text, said_times, said_days);
    const is_near = this.#topic !== null && place - this.#topic.place <= TIME_TOPIC_SENTENCES_MAX;
    if (days.length > 0 || times.length > 0 || /\d/.test(text))
      this.#dated.set(place, { text, clock, days, times, topic_day: is_near ? topic.day : null });
    const ahead = days.findLast(({ day, is_weak }) => day > clock.today && is_weak !== true);
    if (ahead !== undefined) this.#topic = { day: ahead.day, place, has_month: ahead.has_month === true };
    const month = monthAlone(text, days);
    if (month !== null) this.#month = { month, place };
  }

  #topicAt(place: number): DayTopic {
    const isNear = (one: { place: number } | null, sentences: number) => one !== null && place - one.place <= sentences;
    const day = isNear(this.#topic, TOPIC_SENTENCES_MAX) ? (this.#topic?.day ?? null) : null;
    const is_later = (this.#month?.place ?? -1) >= (this.#topic?.has_month === true ? this.#topic.place : -1);
    const named = is_later && isNear(this.#month, MONTH_SENTENCES_MAX) ? (this.#month?.month ?? null) : null;
    // "The fourth of July?" "Better the eleventh."
    const is_same = this.#topic?.has_month === true && isNear(this.#topic, SAME_MONTH_SENTENCES_MAX);
    const same = day !== null && is_same ? partsOf(day).month : null;
    return { day, month: named ?? same };
  }

  hasDay({ place }: Sentence): boolean {
    return (this.#dated.get(place)?.days.length ?? 0) > 0;
  }

  hasTime({ place }: Sentence): boolean {
    return (this.#dated.get(place)?.times.length ?? 0) > 0;
  }

  /**
   * When a matter is due of which these sentences speak, the most telling one first. `same_day`: others, which may say
   * the time where they name the same day.
   */
  due(sentences: readonly Sentence[], same_day: readonly Sentence[] = []): SpokenDue | null {
    const [first] = sentences;
    if (first === undefined) return null;
    let day: number | null = null;
    let minute: number | null = null;
    for (const [at, sentence] of sentences.entries()) {
      const dated = this.#dated.get(sentence.place);
      // For how long something is done is no day of something else.
      if (
        at > 0 &&
        !/^do (?:that|it|this)\b/i.test(sentence.text) &&
        dated?.days.every(({ is_weak }) => is_weak === true) === true &&
        dated.days.length > 0
      )
        continue;
      const own = dated === undefined ? null : (momentIn(dated) ?? chronoMoment(sentence, dated));
      if (dated === undefined || own === null) continue;
      // One may say the day and another one the time.
      const is_time_of_day = day !== null && (dated.days.length === 0 || own.day === day);
      day ??= own.day;
      if (is_time_of_day || day === own.day) minute ??= own.minute;
      if (minute !== null) break;
    }
    for (const { place } of minute === null ? same_day : []) {
      const dated = this.#dated.get(place);
      const own = dated === undefined || dated.days.length === 0 ? null : momentIn(dated);
      if (own !== null && own.day === day) minute ??= own.minute;
    }
    return day === null ? null : dueOf({ day, minute }, this.#clockOf(first));
  }
}

function dueOf({ day, minute }: SpokenMoment, clock: SpokenClock): SpokenDue {
  return minute === null
    ? { due_at: null, due_date: dateOf(day * DAY_MS) }
    : { due_at: new Date(clock.momentOf(day, minute)).toISOString(), due_date: null };
}

function momentIn({ text, clock, days, times, topic_day }: DatedSentence): SpokenMoment | null {
  const preposition = ({ from }: DayMention | TimeMention) => {
    // "No later than Friday" is a deadline.
    const before = text.slice(0, from).replace(/later than $/, 'by ');
    return PREPOSITION.exec(before)?.[1] ?? '';
  };
  const span = times.find(({ ahead_min }) => ahead_min !== undefined);
  if (span?.ahead_min !== undefined && days.every(({ day }) => day === clock.today)) {
    const minute = clock.minute + span.ahead_min;
    return { day: clock.today + Math.floor(minute / DAY_MIN), minute: minute % DAY_MIN };
  }
  const whole = days.filter(({ is_part }) => is_part !== true);
  const ahead = (whole.length > 0 ? whole : days).filter(
    (one) => one.day >= clock.today && !NOT_DUE.has(preposition(one)),
  );
  // "from Monday to Friday"
  const single = ahead.filter(
    (one) => preposition(one) !== 'to' || days.every((other) => preposition(other) !== 'from'),
  );
  const day =
    single.find((one) => DEADLINE.has(preposition(one)) || /^(?:the )?end /.test(text.slice(one.from, one.to))) ??
    single.find(({ is_weak }) => is_weak !== true) ??
    single[0];
  const clocked = times.filter(({ ahead_min }) => ahead_min === undefined);
  const time = clocked.find((one) => !BOUND.has(/(\S+) $/.exec(text.slice(0, one.from))?.[1] ?? '')) ?? clocked[0];
  if (day !== undefined) return { day: day.day, minute: time === undefined ? null : minuteOn(day.day, time, clock) };
  if (time === undefined || days.length > 0) return null;
  if (topic_day !== null && topic_day >= clock.today)
    return { day: topic_day, minute: minuteOn(topic_day, time, clock) };
  const minute = minuteOn(clock.today, time, clock);
  return {
    day: minute > clock.minute ? clock.today : clock.today + 1,
    minute: minute > clock.minute ? minute : time.minute,
  };
}

/** "At seven", said in the afternoon of that day, is this evening. */
function minuteOn(day: number, { minute, is_exact }: TimeMention, clock: SpokenClock): number {
  const is_evening =
    day === clock.today && !is_exact && minute < NOON && minute <= clock.minute && minute + NOON > clock.minute;
  return is_evening ? minute + NOON : minute;
}

/** Other forms of dates with digits, such as 7/12/2027. */
function chronoMoment({ text, at_ms }: Sentence, { clock, days, times }: DatedSentence): SpokenMoment | null {
  if (days.length > 0 || times.length > 0 || !/\d/.test(text)) return null;
  const offset_min =
    Math.round((clock.momentOf(clock.today, clock.minute) - clock.today * DAY_MS) / -60_000) + clock.minute;
  const [found] = CHRONO.parse(text, { instant: new Date(at_ms), timezone: offset_min }, { forwardDate: true });
  const start = found?.start;
  if (start === undefined || !start.isCertain('day') || !start.isCertain('month')) return null;
  const day = Date.UTC(start.get('year') ?? 1970, (start.get('month') ?? 1) - 1, start.get('day') ?? 1) / DAY_MS;
  if (!(day >= clock.today) || partsOf(day).date !== start.get('day')) return null;
  return { day, minute: start.isCertain('hour') ? (start.get('hour') ?? 0) * 60 + (start.get('minute') ?? 0) : null };
}
