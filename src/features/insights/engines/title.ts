import { LIMITS } from '../../../domain/limits.js';
import type { TitlePhrase } from '../learned/title_phrases.js';
import { capitalized } from './item_text.js';

const WORDS_MAX = 5;
const PHRASES_MAX = 3;
/** A phrase that is worth less than this part of the first is none of the title. */
const WORTH_SHARE_MIN = 0.35;

/** Two to five words that name the matter. Null without any phrase. */
export function titleOf(phrases: readonly TitlePhrase[]): string | null {
  const chosen = distinctPhrases(phrases, PHRASES_MAX, WORDS_MAX);
  if (chosen.length === 0) return null;
  return capitalized(joined(chosen.map(({ text }) => text))).slice(0, LIMITS.conversation_title_chars_max);
}

/** The weightiest phrases that share no word. */
export function distinctPhrases(phrases: readonly TitlePhrase[], most: number, words_max: number): TitlePhrase[] {
  const chosen: TitlePhrase[] = [];
  let words = 0;
  for (const phrase of phrases) {
    if (chosen.length === most || phrase.worth < (chosen[0]?.worth ?? 0) * WORTH_SHARE_MIN) break;
    if (words + phrase.stems.length > words_max) continue;
    if (chosen.some(({ stems }) => stems.some((stem) => phrase.stems.includes(stem)))) continue;
    chosen.push(phrase);
    words += phrase.stems.length;
  }
  return chosen;
}

function joined(texts: readonly string[]): string {
  const last = texts.at(-1) ?? '';
  return texts.length < 3 ? texts.join(', ') : `${texts.slice(0, -1).join(', ')} and ${last}`;
}
