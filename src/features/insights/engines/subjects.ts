import { stemmerOf } from '../../../domain/search/stemmers.js';
import type { Slices } from '../../../engine/time/slices.js';
import type { InputPerson } from './insight_input.js';
import type { Sentence } from './sentences.js';
import { BEFORE_VERBS, DETERMINERS, FUNCTION_WORDS, GENERIC_NOUNS, PREPOSITIONS } from './subject_words.js';

/**
 * The subjects of an English conversation: noun phrases that recur, that somebody announces ("two topics, the price list
 * and the fair") or with which somebody opens a part of it ("Next. The price list.").
 */

export type Subject = {
  /** As it was said, without an article. */
  text: string;
  /** With its article, as it was said first. */
  said: string;
  /** Of its words. */
  stems: string[];
  weight: number;
  /** The place of the sentence that names it first. */
  first: number;
  is_announced: boolean;
};

const PHRASE_WORDS_MAX = 3;
/** More words than a sentence has. */
const PLACES = 10_000;
const WORD_CHARS_MIN = 3;
/** Beside one for each turn that names it. */
const WEIGHTS = { decision: 1.5, item: 0.75, items_max: 4, announced: 6, opening: 3, phrase: 1.5, once: 0.6 };
/** Of a word that no article or preposition comes before. */
const UNMARKED_WEIGHT = 0.3;
/** Of the sentences, so many from the first on may announce what follows. */
const ANNOUNCED_SENTENCES = 16;
/** After a sentence that announces, so many of the same turn may go on with it. */
const ANNOUNCED_BEHIND = 2;
const OPENING_WORDS_MAX = 6;

const ANNOUNCES =
  /\b(?:(?:two|three|four|five|couple of|few|several) (?:things|topics|points|items|matters)|agenda|(?:list|plan|topics?|programme) for (?:today|tonight|this)|today (?:is|it's|we have|we've got|we need)|first,? (?:and )?then|to (?:discuss|talk about|go through)|let's (?:talk|speak) about|what brings you)\b|\bfirst, then\b/iu;
const OPENS =
  /^(?:(?:okay|ok|right|so|now|good|great|well|alright|all right|and|then|next|next up|moving on|finally|last(?:ly)?|one more thing|by the way|(?:the )?(?:first|second|third|fourth|next|last|other) (?:topic|thing|point|item|question|one))[,.:]?\s+)+/iu;
const INFLECTED = /(?:ed|s)$/u;
const WORD = /[\p{L}\p{M}][\p{L}\p{M}'’-]*|\p{N}+|[^\s]/gu;

/** A suggestion: what it names is more of a subject than what is only mentioned. */
type NamingItem = { kind: string; text: string };
type Token = { word: string; lower: string; stem: string; is_content: boolean; is_plain: boolean; is_capital: boolean };
type CountedPhrase = {
  text: string;
  said: string;
  stems: string[];
  /** Numbers of the turns that name it. */
  turns: Set<number>;
  /** How often an article or a preposition comes before it, or it begins a sentence. */
  marked: number;
  first: number;
  announced: number;
  opening: number;
};

/** The weightiest first. */
export async function subjectsOf(
  {
    sentences,
    items = [],
    people,
  }: { sentences: readonly Sentence[]; items?: readonly NamingItem[]; people: readonly InputPerson[] },
  slices: Slices,
): Promise<Subject[]> {
  const { stem } = stemmerOf('en');
  const names = new Set(people.flatMap(({ name }) => (name === null ? [] : name.toLowerCase().split(/\s+/))));
  const found = new Map<string, CountedPhrase>();
  let announced_until = -1;
  let announced_turn = -1;
  for (const sentence of sentences) {
    const turn = sentence.turns[0] ?? 0;
    if (sentence.place < ANNOUNCED_SENTENCES && ANNOUNCES.test(sentence.text)) {
      announced_until = sentence.place + ANNOUNCED_BEHIND;
      announced_turn = turn;
    }
    const is_announced = sentence.place <= announced_until && turn === announced_turn;
    const tokens = tokensOf(sentence.text, { names, stem });
    const is_opening = isOpening(sentence.text, tokens);
    for (const phrase of phrasesIn(tokens)) {
      const key = phrase.stems.join(' ');
      const known = found.get(key) ?? {
        ...phrase,
        turns: new Set(),
        marked: 0,
        first: sentence.place + phrase.at / PLACES,
        announced: 0,
        opening: 0,
      };
      found.set(key, known);
      known.turns.add(turn);
      if (phrase.is_marked) known.marked += 1;
      if (is_announced) known.announced += 1;
      if (is_opening) known.opening += 1;
    }
    await slices.pause();
  }
  return weighed([...found.values()], items);
}

function tokensOf(
  text: string,
  { names, stem }: { names: ReadonlySet<string>; stem: (word: string) => string },
): Token[] {
  return [...text.matchAll(WORD)].map(({ 0: word, index }) => {
    const lower = word.toLowerCase().replaceAll('’', "'");
    const bare = lower.replace(/'s$|'$/u, '');
    const is_word = /^\p{L}/u.test(word);
    const stemmed = stem(bare);
    const is_content =
      is_word &&
      bare.length >= WORD_CHARS_MIN &&
      !FUNCTION_WORDS.has(bare) &&
      !FUNCTION_WORDS.has(lower) &&
      !PREPOSITIONS.has(lower) &&
      !DETERMINERS.has(lower) &&
      !BEFORE_VERBS.has(lower) &&
      !(INFLECTED.test(bare) && FUNCTION_STEMS.has(stemmed)) &&
      !names.has(bare) &&
      !CALENDAR.has(bare) &&
      !NUMBERS.has(bare) &&
      !lower.endsWith('ly');
    return {
      word,
      lower,
      stem: stemmed,
      is_content,
      is_plain: is_word,
      is_capital: index > 0 && /^\p{Lu}/u.test(word),
    };
  });
}

type Phrase = { text: string; said: string; stems: string[]; at: number; is_marked: boolean };

/** Runs of content words: each word, and the run as a whole. */
function* phrasesIn(tokens: readonly Token[]): Generator<Phrase> {
  for (let at = 0; at < tokens.length; ) {
    if (tokens[at]?.is_content !== true) {
      at += 1;
      continue;
    }
    let end = at + 1;
    while (tokens[end]?.is_content === true && end - at < PHRASE_WORDS_MAX) end += 1;
    const before = tokens[at - 1];
    const is_verb = before !== undefined && BEFORE_VERBS.has(before.lower);
    const starts = before === undefined || !before.is_plain;
    const is_marked =
      before !== undefined &&
      !is_verb &&
      (DETERMINERS.has(before.lower) || PREPOSITIONS.has(before.lower) || NUMBERS.has(before.lower));
    // After "to" or "we" the first is a verb; the rest is what it is done to.
    const from = is_verb ? at + 1 : at;
    const run = tokens.slice(from, end);
    const is_free = is_marked || starts;
    const article = before !== undefined && ARTICLES.has(before.lower) ? `${before.lower} ` : '';
    for (const [place, one] of run.entries())
      if (!GENERIC_NOUNS.has(bareOf(one)))
        yield phraseOf([one], {
          at: from + place,
          is_marked: is_free && place === run.length - 1,
          article: place === 0 ? article : '',
        });
    if (run.length > 1) yield phraseOf(run, { at: from, is_marked: is_free, article });
    at = end;
  }
}

function phraseOf(
  tokens: readonly Token[],
  { article, ...where }: Pick<Phrase, 'at' | 'is_marked'> & { article: string },
): Phrase {
  const text = tokens.map(({ word, lower, is_capital }) => (is_capital ? word : lower)).join(' ');
  return { text, said: `${article}${text}`, stems: tokens.map(({ stem }) => stem), ...where };
}

const bareOf = ({ lower }: Token) => lower.replace(/'s$|'$/u, '');

/** A few words without a verb, after a word that leads on. */
function isOpening(text: string, tokens: readonly Token[]): boolean {
  const words = tokens.filter(({ is_plain }) => is_plain).length;
  if (words > OPENING_WORDS_MAX || text.endsWith('?')) return false;
  const rest = text.replace(OPENS, '');
  if (rest === text) return false;
  const left = [...rest.matchAll(WORD)].map(([word]) => word.toLowerCase()).filter((word) => /^\p{L}/u.test(word));
  return left.length > 0 && left.every((word) => DETERMINERS.has(word) || !FUNCTION_WORDS.has(word));
}

function weighed(found: readonly CountedPhrase[], items: readonly NamingItem[]): Subject[] {
  const subjects = found.map((one) => {
    const { text, said, stems, turns, marked, first, announced, opening } = one;
    const share = marked === 0 ? UNMARKED_WEIGHT : Math.min(1, 0.5 + marked / (2 * turns.size));
    const is_known = turns.size > 1 || announced > 0 || opening > 0;
    const often = turns.size * share * (stems.length > 1 ? (is_known ? WEIGHTS.phrase : WEIGHTS.once) : 1);
    const settled = items.reduce((sum, item) => {
      if (!isNamed(item, text)) return sum;
      return sum + (item.kind === 'decision' ? WEIGHTS.decision : WEIGHTS.item);
    }, 0);
    const weight =
      often +
      (announced > 0 ? WEIGHTS.announced : 0) +
      (opening > 0 ? WEIGHTS.opening : 0) +
      Math.min(WEIGHTS.items_max, settled);
    return { text, said, stems, weight, first, is_announced: announced > 0 };
  });
  return subjects.sort((a, b) => b.weight - a.weight || a.first - b.first || (a.text < b.text ? -1 : 1));
}

const FUNCTION_STEMS: ReadonlySet<string> = new Set([...FUNCTION_WORDS].map(stemmerOf('en').stem));
const ARTICLES: ReadonlySet<string> = new Set(['the', 'a', 'an', 'our', 'my', 'your', 'his', 'her', 'their']);
const NUMBERS: ReadonlySet<string> = new Set(
  `one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
  nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million first second third fourth fifth
  sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth
  nineteenth twentieth thirtieth`.split(/\s+/),
);

/** Names of days and months. */
const CALENDAR: ReadonlySet<string> = new Set(
  `monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays sundays
  january february march april may june july august september october november december`.split(/\s+/),
);

function isNamed({ text }: NamingItem, subject: string): boolean {
  return text.toLowerCase().includes(subject.toLowerCase());
}
