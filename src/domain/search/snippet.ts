import { LIMITS } from '../limits.js';
import type { QueryWord } from './matching.js';
import type { Stemmer } from './stemmers.js';
import { wordsIn } from './words.js';

/** A searched word in a text: its place in UTF-16 units, and a bit for each word of the query that it matches. */
export type Match = { at: number; length: number; words: number };

/** `highlights`: starts and ends in `text`, in UTF-16 units. */
export type Snippet = { text: string; highlights: [number, number][] };

const CHARS = LIMITS.search_snippet_chars_max;
/** The part of it before the first match. */
const BEFORE = CHARS / 4;
/** How far a cut moves to fall between two words. */
const MOVED_MAX = 20;
const CUT = '…';
const LOW_SURROGATE = /^[\udc00-\udfff]/;

export function matchesIn(words: readonly QueryWord[], text: string, stemmer: Stemmer): Match[] {
  return wordsIn(text).flatMap(({ word, at, length }) => {
    let found = 0;
    const stem = stemmer.stem(word);
    for (const [place, wanted] of words.entries()) if (wanted.variantOf(word, stemmer, stem) !== 0) found |= 1 << place;
    return found === 0 ? [] : [{ at, length, words: found }];
  });
}

/** The part of a text to show: where most of the searched words are. */
export function snippetOf(text: string, matches: readonly Match[]): Snippet {
  const from = text.length <= CHARS ? 0 : beginOf(text, matches);
  const to = text.length <= CHARS ? text.length : endOf(text, from);
  const before = from === 0 ? '' : CUT;
  const highlights = matches.flatMap(({ at, length }): [number, number][] => {
    const begin = at - from + before.length;
    return at >= from && at + length <= to ? [[begin, begin + length]] : [];
  });
  return { text: before + text.slice(from, to) + (to === text.length ? '' : CUT), highlights };
}

function beginOf(text: string, matches: readonly Match[]): number {
  let best = { at: 0, words: 0, matches: 0 };
  for (const { at } of matches) {
    const within = matches.filter((one) => one.at >= at && one.at + one.length <= at + CHARS - BEFORE);
    const words = bitsIn(within.reduce((all, one) => all | one.words, 0));
    if (words > best.words || (words === best.words && within.length > best.matches))
      best = { at, words, matches: within.length };
  }
  const from = Math.min(Math.max(0, best.at - BEFORE), text.length - CHARS);
  return from === 0 ? 0 : betweenWords(text, from, 1);
}

function endOf(text: string, from: number): number {
  const to = from + CHARS;
  return to >= text.length ? text.length : betweenWords(text, to, -1);
}

/** The nearest place at which no word is cut, or no character if words are long. */
function betweenWords(text: string, place: number, step: 1 | -1): number {
  for (let at = place; Math.abs(at - place) <= MOVED_MAX; at += step) {
    const is_between = /\s/.test(text.charAt(step === 1 ? at - 1 : at));
    if (is_between) return at;
  }
  return LOW_SURROGATE.test(text.charAt(place)) ? place - 1 : place;
}

function bitsIn(number: number): number {
  let count = 0;
  for (let left = number; left !== 0; left &= left - 1) count += 1;
  return count;
}
