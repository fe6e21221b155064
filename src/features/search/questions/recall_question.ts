import type { SuggestionKind } from '../../../../actors/insights/library_state.js';
import { LIMITS } from '../../../domain/limits.js';
import type { AnswerMark } from '../../../domain/search/answer_marks.js';
import { AS_IT_IS, BY_SENSE, BY_SOUND, BY_STEM, type OtherTerm, QueryWord } from '../../../domain/search/matching.js';
import { numbersIn } from '../../../domain/search/spoken_numbers.js';
import { stemmerOf } from '../../../domain/search/stemmers.js';
import {
  answerTerm,
  cardinalTerm,
  type FoundWord,
  kindTerm,
  ordinalTerm,
  stemTerm,
  wordsIn,
  wordTerm,
} from '../../../domain/search/words.js';
import { midnightOf } from '../../../engine/time/time_zone.js';
import type { Weights } from '../index/hits.js';
import type { SearchIndex } from '../index/search_index.js';
import { stopWordsOf } from '../index/stop_words.js';
import type { MentionedDay } from './asked_time.js';
import type { PeriodQuery } from './period.js';
import { PHRASE_SYNONYMS, synonymsOf } from './synonyms.js';

/** The subject of a question, besides its words: kinds of suggestions, and whether it asks for the person's own. */
export type RecallQuestion = {
  words: string[];
  /** By the place of a word: the terms that are looked for. */
  wanted: QueryWord[];
  /** By the place of a word: its weight. */
  weights: number[];
  /** By the place of a word: terms of the suggestions that it stands for. */
  about: Map<number, number[]>;
  /** Places of words that are names: with a capital letter, and none that begins the question. */
  names: Set<number>;
  /** Whether it asks for tasks of the account's own person. */
  is_own: boolean;
  /** Signs of turns that may answer it, the likeliest first. */
  answered_by: AnswerMark[];
  /** Whether it asks for promises. */
  asks_promises: boolean;
};

/** Stems that stand for suggestions, in English. */
const KINDS_OF_STEMS: Readonly<Record<string, readonly SuggestionKind[]>> = {
  promis: ['task'],
  commit: ['task'],
  task: ['task'],
  todo: ['task'],
  action: ['task', 'follow_up'],
  follow: ['follow_up'],
  remind: ['reminder'],
  decid: ['decision'],
  decis: ['decision'],
  agre: ['decision'],
  ask: ['question'],
  question: ['question'],
};
/** Signs of turns that a kind of suggestion may be made of. */
const MARKS_OF_KINDS: Readonly<Partial<Record<SuggestionKind, AnswerMark>>> = {
  task: 'promises',
  decision: 'decides',
  question: 'asks',
};
/** Words that stand for suggestions only before another. */
const FOLLOWED_BY: Readonly<Record<string, string>> = { action: 'item', follow: 'up' };
const TODO = 'todo';
const FIRST_PERSON: ReadonlySet<string> = new Set([
  'i',
  "i'm",
  "i've",
  "i'll",
  "i'd",
  'me',
  'my',
  'mine',
  'myself',
  'we',
  'us',
  'our',
]);
/** Words that say little of what a question is about. */
const LIGHT: ReadonlySet<string> = new Set(
  `get gets got getting go goes going went gone give gives gave take takes took make makes made put puts want wants need needs know knows
   knew think thinks thought come comes came let lets keep use used try look see bring find new old good bad first last next this time
   long much many lot kind type sort thing things way people one ones now still yet already also ever please really year day date work
   like back per cost costs price much`.split(/\s+/),
);
const LIGHT_WEIGHT = 0.4;
const PHRASE_WORDS_MAX = 3;
const PART_LETTERS_MIN = 4;
const WEEK_DAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
const DAY_MS = 24 * 3_600_000;
/** How long before a day its name alone means it. */
const NAMED_BEFORE_MS = 8 * DAY_MS;

const LEADS_QUESTION =
  /^\W*(?:(?:and|so|in|on|at|by|since|until) )?(?:who|whose|whom|what|when|where|why|how|which|is|are|was|were|do|does|did|can|could|will|would|should|have|has|had)\b.*\s\S/i;

/** Signs of the answers that question words ask for; the first that fits counts. */
const ANSWERED_BY: readonly [RegExp, AnswerMark[]][] = [
  [
    /\bhow long ago\b|\b(?:since|by|until|till|from) when\b|\bwhen\b|\b(?:what|which|on which|on what) (?:day|date|time|month|year|week|weekday)\b/,
    ['when'],
  ],
  [/\bhow long\b/, ['when', 'number']],
  [
    /\bhow (?:much|many|often|old|far|big|large|high|heavy|fast|tall|expensive)\b|\bwhat(?:'s| is| are| was| will| does| do| did| would)\b.*\b(?:price|cost|costs|bill|amount|number|budget|fee|rate|salary|rent|temperature|size|weight|age|score)\b/,
    ['number'],
  ],
  [/\bwho(?:m|se|'s)?\b/, ['who']],
  [/\bwhere\b|\b(?:in|at|to) (?:what|which) (?:place|room|city|town|country|shop|house|street|building)\b/, ['where']],
  [/\bwhy\b|\bwhat for\b|\bhow come\b|\b(?:what|which) (?:is|was|are|were)? ?(?:the )?(?:reason|cause)\b/, ['why']],
  [
    /^\W*(?:is|are|was|were|am|do|does|did|can|could|will|would|shall|should|may|must|have|has|had|isn't|aren't|don't|doesn't|didn't|can't|won't)\b/,
    ['affirms'],
  ],
];

const CAPITAL = /^\p{Lu}/u;

/** Whether a text reads as a question rather than as words to look for. */
export function isQuestion(text: string): boolean {
  return text.trimEnd().endsWith('?') || LEADS_QUESTION.test(text);
}

/** `may_be_empty`: the question has other conditions. */
export function questionOf(
  text: string,
  {
    indexes,
    may_be_empty,
    days,
    asked,
  }: { indexes: readonly SearchIndex[]; may_be_empty: boolean; days: readonly MentionedDay[]; asked: PeriodQuery },
): RecallQuestion {
  const found = joined(wordsIn(text));
  const said = found.map(({ word }) => word);
  const stop = stopWordsOf(said, indexes);
  const words = new AskedWords();
  const about = new Map<number, number[]>();
  const names = new Set<number>();
  const numbers = numbersIn(said);
  for (let at = 0; at < said.length; at++) {
    const word = said[at] as string;
    const number = numbers.find(({ from, to }) => from === at && !(to === from + 1 && stop.has(word)));
    if (number !== undefined) {
      const label = said.slice(number.from, number.to).join(' ');
      const term = number.is_ordinal ? ordinalTerm(number.value) : cardinalTerm(number.value);
      const dated = days.find(({ day, from, to }) => day === number.value && isWithin(found[at]?.at ?? 0, from, to));
      const others: OtherTerm[] =
        dated === undefined
          ? [{ term, variant: AS_IT_IS }]
          : [{ term: ordinalTerm(dated.day), variant: AS_IT_IS }, ...weekdaysOf(dated, asked)];
      words.add(label, others, 1);
      at = number.to - 1;
      continue;
    }
    const [stands_for, ...alike] = phraseAt(said, at);
    if (stands_for !== undefined) words.add(stands_for, [...termsOfWords(alike, BY_STEM), ...othersOf(stands_for)], 1);
    const kinds = kindsOf(word, said[at + 1]);
    if (stop.has(word) && kinds.length === 0) continue;
    const marks = kinds.flatMap((kind) => MARKS_OF_KINDS[kind] ?? []);
    const marked = marks.map((mark): OtherTerm => ({ term: answerTerm(mark), variant: BY_SOUND }));
    const place = words.add(word, [...marked, ...partsOf(word), ...othersOf(word)], LIGHT.has(word) ? LIGHT_WEIGHT : 1);
    if (kinds.length > 0 && place !== null) about.set(place, kinds.map(kindTerm));
    if (place !== null && at > 0 && CAPITAL.test(text.slice(found[at]?.at ?? 0))) names.add(place);
  }
  // Of nothing but such words they are what there is.
  if (words.words.length === 0 && !may_be_empty) for (const word of new Set(said)) words.add(word, [], 1);
  const lower = text.toLowerCase();
  const answered_by = ANSWERED_BY.find(([rule]) => rule.test(lower))?.[1] ?? [];
  return {
    ...words.all,
    about,
    names,
    is_own: about.size > 0 && said.some((word) => FIRST_PERSON.has(word)),
    answered_by,
    asks_promises: [...about.values()].flat().includes(kindTerm('task')),
  };
}

/** Weights of a question's words, by how rare they are and how much each says. */
export function weightsOf({ weights }: RecallQuestion, { idf, average }: Weights): Weights {
  return { idf: idf.map((one, word) => one * (weights[word] as number)), average };
}

function isWithin(at: number, from: number, to: number): boolean {
  return at >= from && at < to;
}

/** Words of a question, each once. */
class AskedWords {
  readonly words: string[] = [];
  readonly #wanted: QueryWord[] = [];
  readonly #weights: number[] = [];

  /** The word's place; null if it is present already, or exceeds the bound. */
  add(word: string, others: readonly OtherTerm[], weight: number): number | null {
    if (this.words.includes(word) || this.words.length >= LIMITS.search_words_max) return null;
    this.words.push(word);
    this.#wanted.push(new QueryWord(word, { fuzzy: true, others }));
    this.#weights.push(weight);
    return this.words.length - 1;
  }

  get all(): Pick<RecallQuestion, 'words' | 'wanted' | 'weights'> {
    return { words: this.words, wanted: this.#wanted, weights: this.#weights };
  }
}

/** Terms of other words for a word. */
function othersOf(word: string): OtherTerm[] {
  return termsOfWords(synonymsOf(word), BY_SENSE);
}

function termsOfWords(words: Iterable<string>, variant: OtherTerm['variant']): OtherTerm[] {
  const english = stemmerOf('en');
  const terms = new Set<number>();
  for (const word of words) terms.add(wordTerm(word)).add(stemTerm(english.stem(word), english));
  return [...terms].map((term) => ({ term, variant }));
}

/** Terms of what a long word may be made of, as "workbook" of "work" and "book". */
function partsOf(word: string): OtherTerm[] {
  const parts: string[] = [];
  for (let at = PART_LETTERS_MIN; at <= word.length - PART_LETTERS_MIN; at++)
    parts.push(word.slice(0, at), word.slice(at));
  return termsOfWords(parts, BY_SOUND);
}

/** Words for which the phrase that begins at a word stands. */
function phraseAt(said: readonly string[], at: number): readonly string[] {
  for (let words = PHRASE_WORDS_MAX; words > 1; words--) {
    const found = PHRASE_SYNONYMS.get(said.slice(at, at + words).join(' '));
    if (found !== undefined) return found;
  }
  return [];
}

/** Names of the day of the week that a date is, for recordings shortly before it. */
function weekdaysOf({ year, month, day }: MentionedDay, { now_ms, time_zone }: PeriodQuery): OtherTerm[] {
  const present = new Date(now_ms).getUTCFullYear();
  const years = year === null ? [present - 1, present, present + 1] : [year];
  return years.map((one) => {
    const begins_ms = midnightOf({ year: one, month, day }, time_zone);
    const weekday = WEEK_DAYS[new Date(Date.UTC(one, month - 1, day)).getUTCDay()] as string;
    return {
      term: wordTerm(weekday),
      variant: BY_SOUND,
      from_ms: begins_ms - NAMED_BEFORE_MS,
      to_ms: begins_ms + DAY_MS,
    };
  });
}

/** "to do" is one word. */
function joined(said: readonly FoundWord[]): FoundWord[] {
  return said.flatMap((one, at) => {
    if (one.word === 'to' && said[at + 1]?.word === 'do') return [{ ...one, word: TODO }];
    return one.word === 'do' && said[at - 1]?.word === 'to' ? [] : [one];
  });
}

function kindsOf(word: string, next: string | undefined): readonly SuggestionKind[] {
  const { stem } = stemmerOf('en');
  const stemmed = stem(word);
  if (!Object.hasOwn(KINDS_OF_STEMS, stemmed)) return [];
  const behind = FOLLOWED_BY[stemmed];
  if (behind !== undefined && (next === undefined || stem(next) !== behind)) return [];
  return KINDS_OF_STEMS[stemmed] as readonly SuggestionKind[];
}
