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

const ENGLISH = /^en(-|$)/i;
/** The most common words of English, and the share of them from which on a text is English. */
const COMMON_RANKS = 150;
const COMMON_SHARE_MIN = 0.25;
/** A few words may hold none of the most common ones: so many of them are words of English at all. */
const KNOWN_SHARE_MIN = 0.65;
/** Of somebody whose profile names English alone. */
const EXPECTED_SHARE_MIN = 0.4;
/** Small words of other languages that are names or words of English as well. */
const FOREIGN = new Set(
  'die und um das der den dem mit ist le la les il en de du des un una al el los por con per di che van het een og och est'.split(
    ' ',
  ),
);
const WORDS_MAX = 2_000;

/**
 * Whether a language is English; where nobody knows the language, whether the words are. `languages`: those of the
 * account's profile.
 */
export function isEnglish(
  language: string | null,
  turns: readonly Pick<InputTurn, 'text'>[],
  { table, languages }: { table: WordTable; languages: readonly string[] },
): boolean {
  if (language !== null) return ENGLISH.test(language);
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
  if (common >= words.length * COMMON_SHARE_MIN) return true;
  const known = words.filter((word) => table.has(word) && !FOREIGN.has(word)).length;
  const is_expected = languages.length > 0 && languages.every((one) => ENGLISH.test(one));
  return known >= words.length * (is_expected ? EXPECTED_SHARE_MIN : KNOWN_SHARE_MIN);
}
