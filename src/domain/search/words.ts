import { doubleMetaphone } from 'double-metaphone';
import { LIMITS } from '../limits.js';
import type { Stemmer } from './stemmers.js';

/** Texts as search sees them: words, what is left of them without their endings, and how they sound. */

/** `at` and `length`: where it stands in its text, in UTF-16 units. */
export type FoundWord = { word: string; at: number; length: number };

/**
 * How a word is looked up: by hashes of itself, of its stem and of its sound. `stem` and `sound` are 0 where they add
 * nothing: the stem is the word, or the word is too short to go by its sound.
 */
export type Terms = { word: number; stem: number; sound: number };

const PLAIN = /[a-z0-9]+(?:'[a-z]+)*/gi;
const ANY = /[\p{L}\p{N}\p{M}]+(?:['’][\p{L}\p{M}]+)*/gu;
const NOT_ASCII = /[^\0-\x7f]/;
/** Scripts that put no spaces between words. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const SEGMENTER = new Intl.Segmenter('en', { granularity: 'word' });
const POSSESSIVE = /'s$/;
const LATIN = /^[\p{Script=Latin}\p{M}']+$/u;

/** Words as a reader sees them, also in scripts without spaces. */
export function wordsIn(text: string): FoundWord[] {
  const found: FoundWord[] = [];
  const is_plain = !NOT_ASCII.test(text);
  for (const match of text.matchAll(is_plain ? PLAIN : ANY)) {
    const [run] = match;
    if (is_plain || !UNSPACED.test(run)) found.push({ word: run, at: match.index, length: run.length });
    else
      for (const { segment, index, isWordLike } of SEGMENTER.segment(run))
        if (isWordLike === true) found.push({ word: segment, at: match.index + index, length: segment.length });
  }
  for (const one of found) one.word = plainWord(one.word, is_plain);
  return found;
}

function plainWord(word: string, is_plain: boolean): string {
  const lower = is_plain ? word.toLowerCase() : word.normalize('NFKC').toLowerCase().replaceAll('’', "'");
  return lower.replace(POSSESSIVE, '');
}

/** Of most words: they come again and again. By stemmer, then by word. */
const known_terms = new Map<string, Map<string, Terms>>();

/** How a word of a text in a language is looked up. */
export function termsOf(word: string, stemmer: Stemmer): Terms {
  let known = known_terms.get(stemmer.name);
  if (known === undefined || known.size >= LIMITS.search_terms_kept_max) {
    known = new Map();
    known_terms.set(stemmer.name, known);
  }
  let terms = known.get(word);
  if (terms === undefined) {
    const stem = stemmer.stem(word);
    terms = {
      word: wordTerm(word),
      stem: stem === word ? 0 : stemTerm(stem, stemmer),
      sound: isHeard(word) ? soundTerm(soundsOf(word)[0]) : 0,
    };
    known.set(word, terms);
  }
  return terms;
}

/** How a text is looked up: how many words it has, and all terms of them, one after the other. */
export type TextTerms = { words: number; terms: Uint32Array };

/**
 * Texts that were looked at lately, by stemmer: a page is looked at anew with each publication, and most of its turns are
 * as they were. Those of one generation that are looked at again go to the next.
 */
type Generations = { young: Map<string, TextTerms>; old: Map<string, TextTerms> };
const known_texts = new Map<string, Generations>();

export function termsIn(text: string, stemmer: Stemmer): TextTerms {
  let known = known_texts.get(stemmer.name);
  if (known === undefined) {
    known = { young: new Map(), old: new Map() };
    known_texts.set(stemmer.name, known);
  }
  const young = known.young.get(text);
  if (young !== undefined) return young;
  const found = known.old.get(text) ?? textTerms(text, stemmer);
  if (known.young.size >= LIMITS.search_texts_kept_max) {
    known.old = known.young;
    known.young = new Map();
  }
  known.young.set(text, found);
  return found;
}

function textTerms(text: string, stemmer: Stemmer): TextTerms {
  const words = wordsIn(text);
  const terms: number[] = [];
  for (const { word: plain } of words) {
    const { word, stem, sound } = termsOf(plain, stemmer);
    terms.push(word);
    if (stem !== 0) terms.push(stem);
    if (sound !== 0) terms.push(sound);
  }
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

const WORD = 0x9747b28c;
const STEM = 0x85ebca6b;
const SOUND = 0xc2b2ae35;
const KIND = 0x27d4eb2f;

export function wordTerm(word: string): number {
  return hash(word, WORD);
}

export function stemTerm(stem: string, { name }: Stemmer): number {
  return hash(`${name} ${stem}`, STEM);
}

/** 0 for what has no sound. */
export function soundTerm(sound: string): number {
  return sound === '' ? 0 : hash(sound, SOUND);
}

/** What stands for the kind of a suggestion. */
export function kindTerm(kind: string): number {
  return hash(kind, KIND);
}

/** 32 bits, never 0. FNV-1a over UTF-16 units, its bits mixed as murmur3 ends. */
function hash(text: string, seed: number): number {
  let value = seed;
  for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0 || 1;
}
