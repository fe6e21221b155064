import type { WordTable } from '../learned/word_table.js';
import type { InputTurn } from './insight_input.js';

/** In which most was said; null where nobody knows. */
export function languageOf(turns: readonly Pick<InputTurn, 'language' | 'text'>[]): string | null {
  const said = new Map<string, number>();
  for (const { language, text } of turns)
    if (language !== null) said.set(language, (said.get(language) ?? 0) + text.length);
  let [most, chars]: [string | null, number] = [null, 0];
  for (const [language, length] of said) if (length > chars) [most, chars] = [language, length];
  return most;
}

/** The most common words of English, and the share of them from which on a text is English. */
const COMMON_RANKS = 150;
const COMMON_SHARE_MIN = 0.25;
const WORDS_MAX = 2_000;

/** Whether a language is English; where nobody knows the language, whether the words are. */
export function isEnglish(
  language: string | null,
  turns: readonly Pick<InputTurn, 'text'>[],
  table: WordTable,
): boolean {
  if (language !== null) return /^en(-|$)/i.test(language);
  const words: string[] = [];
  for (const { text } of turns) {
    if (words.length >= WORDS_MAX) break;
    words.push(
      ...(text
        .toLowerCase()
        .replaceAll('’', "'")
        .match(/[\p{L}\p{M}']+/gu) ?? []),
    );
  }
  const common = words.filter((word) => table.rank(word) < COMMON_RANKS || word.includes("'")).length;
  return common >= words.length * COMMON_SHARE_MIN;
}
