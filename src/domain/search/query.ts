import { LIMITS } from '../limits.js';
import { HYPHENS, looked, QUOTES, wordsIn } from './words.js';

/** A search query: words, "phrases", and -words that must not occur. */
export type ParsedQuery = {
  /** Each word once, those of phrases included. */
  words: string[];
  phrases: string[][];
  /** Words that follow each other; one word is a phrase too. */
  excluded: string[][];
};

/**
 * A phrase, closed by a quotation mark or the end of the text, or a run without spaces. A hyphen before it excludes it.
 */
const PART = new RegExp(`([${HYPHENS}]?)(?:[${QUOTES}]([^${QUOTES}]*)(?:[${QUOTES}]|$)|([^\\s${QUOTES}]+))`, 'gu');

/** The parts of a query, or the rule that it breaks. */
export function parseQuery(text: string): ParsedQuery | { wrong: string } {
  const found: ParsedQuery = { words: [], phrases: [], excluded: [] };
  const words = new Set<string>();
  let count = 0;
  for (const [, hyphen, quoted, plain] of text.matchAll(PART)) {
    const run = wordsIn(quoted ?? plain ?? '').map(({ word }) => word);
    if (run.length === 0) continue;
    if (hyphen) {
      found.excluded.push(run);
      count += run.length;
      continue;
    }
    for (const word of run) words.add(word);
    if (quoted !== undefined) found.phrases.push(run);
  }
  found.words = [...words];
  if (words.size + count > LIMITS.search_words_max)
    return { wrong: `must have at most ${LIMITS.search_words_max} words` };
  if (words.size === 0) return { wrong: 'must have a word to look for' };
  return found;
}

/** The last word of a query that somebody may still be typing: neither in quotation marks nor excluded. */
export function wordBeingTyped(text: string): string | null {
  const [, hyphen, , plain = ''] = [...text.matchAll(PART)].at(-1) ?? [];
  const last = wordsIn(plain).at(-1);
  const is_last = last !== undefined && text.endsWith(plain) && last.at + last.length === plain.length;
  return is_last && !hyphen ? last.word : null;
}

/** Whether these words follow each other in a text. */
export function standsIn(words: readonly string[], run: readonly string[]): boolean {
  const wanted = run.map(looked);
  return words.some((_, at) => wanted.every((word, next) => looked(words[at + next] ?? '') === word));
}
