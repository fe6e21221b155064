import { doubleMetaphone } from 'double-metaphone';
import { LIMITS } from '../limits.js';
import { PureMemo } from '../pure_memo.js';
import { type AnswerMark, answerMarksOf } from './answer_marks.js';
import { numbersIn, type SpokenNumber } from './spoken_numbers.js';
import type { Stemmer } from './stemmers.js';

/** Texts as search reads them: words, their stems and their sounds. */

const SEARCH_TEXTS_KEPT_MAX = 40_000; // ours: texts of a language of which is kept how they are looked up
const LANGUAGES_MAX = 100;

/** `at` and `length`: where it stands in its text, in UTF-16 units. */
export type FoundWord = { word: string; at: number; length: number };

/**
 * The terms of a word: hashes of itself, of its stem, of its sound, and of parts of it. `stem` and `sound` are 0 where
 * they add nothing: the stem is the word, or the word is too short to go by its sound.
 */
export type Terms = { word: number; stem: number; sound: number; parts: readonly number[] };

const PLAIN = /[a-z0-9]+(?:'[a-z]+)*/gi;
/** U+02BC and U+02BB are letters by themselves. */
const ANY = /[\p{L}\p{N}\p{M}]+(?:['’‘‛＇][\p{L}\p{M}]+)*/gu;
const APOSTROPHE = /['’‘‛＇ʼʻ]/u;
const OTHER_APOSTROPHES = /[’‘‛ʼʻ]/gu;
const OUTER_APOSTROPHES = /^'+|'+$/g;
/** As keyboards and languages have them. */
export const QUOTES = '"“”„‟«»‹›「」『』〝〞＂';
/** Signs that programs put in place of an apostrophe. */
export const HYPHENS = '-‐‑‒–—―−－';
const ANY_QUOTE = new RegExp(`[${QUOTES}]`, 'gu');
const ANY_HYPHEN = new RegExp(`[${HYPHENS}]`, 'gu');
/** Elided words of French, Italian, Catalan and Irish. They stand before an apostrophe and are no part of the next word. */
const ELIDED: ReadonlySet<string> = new Set([
  ...['b', 'c', 'd', 'j', 'l', 'm', 'n', 's', 't', 'v', 'qu', 'jusqu', 'lorsqu', 'puisqu', 'quoiqu'],
  ...['un', 'gl', 'agl', 'dagl', 'degl', 'negl', 'sugl', 'all', 'dall', 'dell', 'nell', 'sull', 'coll', 'quell'],
]);
const NOT_ASCII = /[^\0-\x7f]/;
/** Scripts that put no spaces between words. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const SEGMENTER = new Intl.Segmenter('en', { granularity: 'word' });
const POSSESSIVE = /'s$/;
const LATIN = /^[\p{Script=Latin}\p{M}']+$/u;
const HANGUL = /\p{Script=Hangul}/u;
const DOTLESS_I = /ı/g;
/**
 * The number of first letters by which longer words are found while somebody types them. Each such number costs room in blocks.
 */
const BEGINNING_LETTERS = 4;
const DIGIT = /^\d/;
/** The stemmer of texts whose answers are marked. */
const MARKED = 'english';

/** Words as a reader sees them, also in scripts without spaces. */
export function wordsIn(text: string): FoundWord[] {
  const found: FoundWord[] = [];
  const is_plain = !NOT_ASCII.test(text);
  for (const match of text.matchAll(is_plain ? PLAIN : ANY)) {
    const [run] = match;
    if (is_plain && !run.includes("'"))
      found.push({ word: run.toLowerCase(), at: match.index, length: run.length }); // as most are
    else if (!UNSPACED.test(run)) addWord(found, run.normalize('NFKC').toLowerCase(), { run, at: match.index });
    else
      for (const { segment, index, isWordLike } of SEGMENTER.segment(run))
        if (isWordLike === true)
          addWord(found, segment.normalize('NFKC').toLowerCase(), { run: segment, at: match.index + index });
  }
  return found;
}

/** Text as it is compared: without letter case and width, and with one kind of apostrophe, quotation mark and hyphen. */
export function foldText(text: string): string {
  return plainLetters(text.normalize('NFKC').toLowerCase()).replaceAll(ANY_QUOTE, '"').replaceAll(ANY_HYPHEN, '-');
}

/** The lower case of İ is an i with a dot above it. */
function plainLetters(lower: string): string {
  return lower.replaceAll(OTHER_APOSTROPHES, "'").replaceAll('i\u0307', 'i');
}

function addWord(found: FoundWord[], lower: string, { run, at }: { run: string; at: number }): void {
  const whole = plainLetters(lower).replaceAll(OUTER_APOSTROPHES, '');
  const apostrophe = whole.indexOf("'");
  const is_elided = apostrophe > 0 && ELIDED.has(whole.slice(0, apostrophe));
  const word = (is_elided ? whole.slice(apostrophe + 1) : whole).replace(POSSESSIVE, '');
  if (word === '') return;
  const cut = is_elided ? run.search(APOSTROPHE) + 1 : 0;
  found.push({ word, at: at + cut, length: run.length - cut });
}

/** A word as it is looked up by itself: capital letters do not tell whether a Turkish i had its dot. */
export function looked(word: string): string {
  return word.replace(DOTLESS_I, 'i');
}

/** By stemmer, then by word: most words come again and again. */
const WORD_TERMS = new PureMemo(
  LANGUAGES_MAX,
  (stemmer: Stemmer) => new PureMemo(LIMITS.search_terms_kept_max, (word: string) => wordTerms(word, stemmer)),
);

/** The terms of a word of a text in a language. */
export function termsOf(word: string, stemmer: Stemmer): Terms {
  return WORD_TERMS.of(stemmer).of(word);
}

function wordTerms(word: string, stemmer: Stemmer): Terms {
  const stem = stemmer.stem(word);
  return {
    word: wordTerm(word),
    stem: stem === word ? 0 : stemTerm(stem, stemmer),
    sound: isHeard(word) ? soundTerm(soundsOf(word)[0]) : 0,
    parts: HANGUL.test(word) ? pairTerms(word) : beginningOf(looked(word)),
  };
}

/** The terms of a text: the number of its words, and all their terms, one after the other. */
export type TextTerms = { words: number; terms: Uint32Array };

/**
 * By stemmer, then by text: a page is looked at anew with each publication, and most of its turns are as they were.
 */
const TEXT_TERMS = new PureMemo(
  LANGUAGES_MAX,
  (stemmer: Stemmer) => new PureMemo(SEARCH_TEXTS_KEPT_MAX, (text: string) => textTerms(text, stemmer)),
);

export function termsIn(text: string, stemmer: Stemmer): TextTerms {
  return TEXT_TERMS.of(stemmer).of(text);
}

function textTerms(text: string, stemmer: Stemmer): TextTerms {
  const words = wordsIn(text);
  const terms: number[] = [];
  for (const { word: said } of words) {
    const { word, stem, sound, parts } = termsOf(said, stemmer);
    terms.push(word, ...parts);
    if (stem !== 0) terms.push(stem);
    if (sound !== 0) terms.push(sound);
  }
  const plain = words.map(({ word }) => word);
  for (const number of numbersIn(plain)) terms.push(...numberTerms(number, plain));
  if (stemmer.name === MARKED) for (const mark of answerMarksOf(text)) terms.push(answerTerm(mark));
  return { words: words.length, terms: Uint32Array.from(terms) };
}

/** Whether it goes by its sound as well: short words sound like too many others. */
export function isHeard(word: string): boolean {
  return word.length >= LIMITS.search_sound_letters_min && LATIN.test(word);
}

/** The ways in which a word may be said, the likeliest first. */
export function soundsOf(word: string): [string, string] {
  return doubleMetaphone(word) as [string, string];
}

/** Terms of all pairs of syllables, by which a Korean noun is found before its particles. None of a single syllable. */
export function pairTerms(word: string): number[] {
  if (!HANGUL.test(word)) return [];
  return Array.from({ length: word.length - 1 }, (_, at) => hash(word.slice(at, at + 2), PAIR));
}

/** The term under which longer words lie that begin with this; 0 where it is too short to go by. */
export function beginningTerm(begin: string): number {
  return begin.length < BEGINNING_LETTERS ? 0 : hash(begin.slice(0, BEGINNING_LETTERS), BEGINNING);
}

function beginningOf(word: string): number[] {
  return word.length > BEGINNING_LETTERS ? [beginningTerm(word)] : [];
}

/** Digits may be either; who says "one" seldom counts. */
function numberTerms({ value, is_ordinal, from, to }: SpokenNumber, words: readonly string[]): number[] {
  const is_digits = DIGIT.test(words[from] as string);
  const cardinal = is_ordinal || (value === 1 && !is_digits) ? [] : [cardinalTerm(value)];
  return is_ordinal || (is_digits && to === from + 1) ? [...cardinal, ordinalTerm(value)] : cardinal;
}

const WORD = 0x9747b28c;
const STEM = 0x85ebca6b;
const SOUND = 0xc2b2ae35;
const KIND = 0x27d4eb2f;
const PAIR = 0x165667b1;
const BEGINNING = 0xd3a2646c;
const CARDINAL = 0xfd7046c5;
const ORDINAL = 0xb55a4f09;
const ANSWER = 0x3c6ef372;

export function wordTerm(word: string): number {
  return hash(looked(word), WORD);
}

export function stemTerm(stem: string, { name }: Stemmer): number {
  return hash(`${name} ${stem}`, STEM);
}

/** 0 for what has no sound. */
export function soundTerm(sound: string): number {
  return sound === '' ? 0 : hash(sound, SOUND);
}

/** The term of a kind of suggestion. */
export function kindTerm(kind: string): number {
  return hash(kind, KIND);
}

/** The term of how many there are. */
export function cardinalTerm(value: number): number {
  return hash(String(value), CARDINAL);
}

/** The term of which one it is. */
export function ordinalTerm(value: number): number {
  return hash(String(value), ORDINAL);
}

/** The term of texts with that sign. */
export function answerTerm(mark: AnswerMark): number {
  return hash(mark, ANSWER);
}

/** 32 bits, never 0. FNV-1a over UTF-16 units, its bits mixed as murmur3 ends. */
function hash(text: string, seed: number): number {
  let value = seed;
  for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0 || 1;
}
