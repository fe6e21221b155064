import { Chrono, casual } from 'chrono-node/en';
import { DAY_MS, dateOf } from '../../../domain/dates.js';
import { partsOf, type SpokenClock, spokenClocks } from './calendar.js';
import type { Sentence } from './sentences.js';
import { type DayMention, daysIn, monthAlone, PLAIN, WEAK } from './spoken_days.js';
import { type FormPlace, plainSpeech } from './spoken_forms.js';
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
const WRITTEN_DATE = /\b\d{1,4}([/.-])\d{1,2}\1\d{1,4}\b|\b(?:by|on|until) \d{1,2}\/\d{1,2}\b/;
const NOON = 12 * 60;
const DAY_MIN = 24 * 60;
const SOON_MIN = 2 * 60;
/** For so many sentences a day stays what is spoken of, and a month. */
const TOPIC_SENTENCES_MAX = 30;
const MONTH_SENTENCES_MAX = 3;
/** A time alone is one of the day that was named so few sentences before. */
const TIME_TOPIC_SENTENCES_MAX = 2;
/** The preposition before a day or time, and words that may stand between. */
const PREPOSITION = /(\S+)(?: (?:the|about|around|early|late|this))* $/;
/** A day after one of these is what is spoken of, not when something is due. */
const NOT_DUE = /^(?:since|of|than|after|about)$/;
const DEADLINE = /^(?:by|before|until|till|end)$/;
const CORRECTS = /^(?:(?:hm+|oh|ah|well|,) )*(?:no|wait|actually|sorry|scratch that|make that)(?: |$)/;
const BOUND = /^(?:from|until|till|after|to)$/;

/** The days and times of a conversation, sentence by sentence in its order. */
export class SpokenDates {
  readonly #clockOf: (said: Pick<Sentence, 'at_ms' | 'utc_offset_min'>) => SpokenClock;
  readonly #dated = new Map<number, DatedSentence>();
  #topic: { day: number; place: number } | null = null;
  #month: { month: number; place: number } | null = null;

  constructor(time_zone: string | null) {
    this.#clockOf = spokenClocks(time_zone);
  }

  /** Reads a sentence; those before it have been read. */
  read(sentence: Sentence): void {
    const { place } = sentence;
    const text = plainSpeech(sentence.text);
    const clock = this.#clockOf(sentence);
    const named = monthAlone(text);
    if (named !== null) this.#month = { month: named, place };
    const day = recent(this.#topic, place, TOPIC_SENTENCES_MAX)?.day ?? null;
    const month = recent(this.#month, place, MONTH_SENTENCES_MAX)?.month ?? null;
    const said_days = daysIn(text, { today: clock.today, minute: clock.minute, topic: { day, month } });
    const said_times = timesIn(text).filter(({ from, to }) => !said_days.some((one) => from < one.to && to > one.from));
    const days = standing(text, said_days, said_times);
    const times = standing(text, said_times, said_days);
    const topic_day = recent(this.#topic, place, TIME_TOPIC_SENTENCES_MAX)?.day ?? null;
    if (days.length > 0 || times.length > 0 || /\d/.test(text))
      this.#dated.set(place, { text, clock, days, times, topic_day });
    const ahead = days.findLast((one) => one.day > clock.today && one.worth > WEAK);
    if (ahead !== undefined) this.#topic = { day: ahead.day, place };
    // "The fourth of July?" "Better the eleventh."
    if (ahead?.has_month === true) this.#month = { month: partsOf(ahead.day).month, place };
  }

  /**
   * When a matter is due of which these sentences speak, the most telling one first. `same_day`: others, which may say
   * the time where they name the same day.
   */
  due(sentences: readonly Sentence[], same_day: readonly Sentence[] = []): SpokenDue | null {
    let day: number | null = null;
    let day_place = 0;
    let minute: number | null = null;
    for (const [at, sentence] of [...sentences, ...same_day].entries()) {
      const dated = this.#dated.get(sentence.place);
      const own = dated === undefined ? null : (writtenMoment(sentence, dated) ?? momentIn(dated));
      if (dated === undefined || own === null) continue;
      // For how long something is done is no day of something else.
      const is_span = dated.days.length > 0 && dated.days.every((one) => one.is_span === true);
      if (at >= sentences.length ? dated.days.length === 0 || own.day !== day : at > 0 && is_span) continue;
      const is_same = own.day === day;
      // "Monday." "No, wait, Monday I am away." "Tuesday."
      if (day !== null && sentence.place > day_place && CORRECTS.test(dated.text)) {
        [day, minute] = [null, null];
        if (is_same) continue;
      }
      // One may say the day and another one the time.
      if (day === null) [day, day_place, minute] = [own.day, sentence.place, own.minute];
      else if (is_same || dated.days.length === 0) minute ??= own.minute;
    }
    const [first] = sentences;
    if (first === undefined || day === null) return null;
    if (minute === null) return { due_at: null, due_date: dateOf(day * DAY_MS) };
    return { due_at: new Date(this.#clockOf(first).momentOf(day, minute)).toISOString(), due_date: null };
  }
}

function recent<One extends { place: number }>(named: One | null, place: number, sentences_max: number): One | null {
  return named !== null && place - named.place <= sentences_max ? named : null;
}

function momentIn(sentence: DatedSentence): SpokenMoment | null {
  const { text, clock, days, times, topic_day } = sentence;
  const ahead_min = times.find((one) => one.ahead_min !== undefined)?.ahead_min;
  if (ahead_min !== undefined && days.every(({ day }) => day === clock.today)) {
    const minute = clock.minute + ahead_min;
    return { day: clock.today + Math.floor(minute / DAY_MIN), minute: minute % DAY_MIN };
  }
  const most = Math.max(WEAK, ...days.map((one) => worthIn(sentence, one)));
  const day = days.find((one) => worthIn(sentence, one) === most)?.day;
  const clocked = times.filter((one) => one.ahead_min === undefined);
  const time = clocked.find((one) => !BOUND.test(prepositionOf(sentence, one))) ?? clocked[0];
  if (time === undefined) return day === undefined ? null : { day, minute: null };
  if (day !== undefined) return { day, minute: minuteOn(day, time, clock) };
  if (days.length > 0) return null;
  // "They are out till ten" is today; "before ten" alone is about the day that was named.
  const is_today = / (?:before|until|till) $/.test(text.slice(0, time.from));
  if (topic_day !== null && topic_day >= clock.today && !is_today)
    return { day: topic_day, minute: minuteOn(topic_day, time, clock) };
  const minute = minuteOn(clock.today, time, clock);
  return minute > clock.minute ? { day: clock.today, minute } : { day: clock.today + 1, minute: time.minute };
}

/** "No later than Friday" is by Friday. */
function prepositionOf({ text }: DatedSentence, { from }: FormPlace): string {
  return PREPOSITION.exec(text.slice(0, from).replace(/later than $/, 'by '))?.[1] ?? '';
}

/** How well a day says when something is due; 0 for not at all. */
function worthIn(sentence: DatedSentence, one: DayMention): number {
  const { text, clock, days } = sentence;
  const before = prepositionOf(sentence, one);
  if (!(one.day >= clock.today) || NOT_DUE.test(before)) return 0;
  const isFrom = (other: DayMention) => prepositionOf(sentence, other) === 'from';
  // "from Monday to Friday"
  if (isFrom(one)) return / (?:to|till|until) /.test(text.slice(one.to)) ? 0 : WEAK;
  if (before === 'to' && days.some(isFrom)) return 0;
  if (one.worth < PLAIN) return one.worth;
  const is_deadline = DEADLINE.test(before) || /^(?:the )?end /.test(text.slice(one.from));
  // "The samples are not here today, so the shoot is on Wednesday."
  const is_led = days.some(({ to }) => to <= one.from && / so /.test(text.slice(to, one.from)));
  return one.worth + (is_deadline ? 1 : 0) + (is_led ? 0.5 : 0);
}

/** "At seven", said in the afternoon of that day, is this evening; "by half past six", said at six, is this morning. */
function minuteOn(day: number, { minute, is_exact }: TimeMention, clock: SpokenClock): number {
  if (day !== clock.today || is_exact) return minute;
  const [early, late] = [minute % NOON, (minute % NOON) + NOON];
  if (minute < NOON) return minute <= clock.minute && late > clock.minute ? late : minute;
  return early > clock.minute && early <= clock.minute + SOON_MIN ? early : minute;
}

/** Other forms of dates with digits, such as 7/12/2027. */
function writtenMoment({ text, at_ms }: Sentence, { clock, days }: DatedSentence): SpokenMoment | null {
  if (days.length > 0 || !WRITTEN_DATE.test(text)) return null;
  const offset_min =
    Math.round((clock.momentOf(clock.today, clock.minute) - clock.today * DAY_MS) / -60_000) + clock.minute;
  const [found] = CHRONO.parse(text, { instant: new Date(at_ms), timezone: offset_min }, { forwardDate: true });
  const start = found?.start;
  if (start === undefined || !start.isCertain('day') || !start.isCertain('month')) return null;
  const day = Date.UTC(start.get('year') ?? 1970, (start.get('month') ?? 1) - 1, start.get('day') ?? 1) / DAY_MS;
  if (!(day >= clock.today) || partsOf(day).date !== start.get('day')) return null;
  return { day, minute: start.isCertain('hour') ? (start.get('hour') ?? 0) * 60 + (start.get('minute') ?? 0) : null };
}
