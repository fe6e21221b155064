import { LIMITS } from '../../../domain/limits.js';
import type { TitlePhrase } from '../learned/title_phrases.js';
import { capitalized } from './item_text.js';

const WORDS_MAX = 5;
const PHRASES_MAX = 4;
/** Words that are less likely than this, on average, to stand in a title do not. */
const CHANCE_MIN = 0.1;
/** Words that stood side by side, but are worth less than this part of the first phrase, make none. */
const JOINED_WORTH_MIN = 0.37;
/** Of so many phrases the best set is looked for. */
const COMPARED_MAX = 16;
/** A phrase that is worth less than this part of the first is no topic. */
const WORTH_SHARE_MIN = 0.35;

/** Two to five words that name the matter, the likeliest ones. Null without any phrase. */
export function titleOf(phrases: readonly TitlePhrase[]): string | null {
  const able = phrases.filter(
    ({ stems, chance, worth }) =>
      chance >= CHANCE_MIN * stems.length && (stems.length === 1 || worth >= JOINED_WORTH_MIN),
  );
  const compared = (able.length > 0 ? able : phrases.slice(0, 1)).toSorted((a, b) => b.chance - a.chance);
  const chosen = likeliest(compared.slice(0, COMPARED_MAX), { phrases: PHRASES_MAX, words: WORDS_MAX });
  if (chosen.length === 0) return null;
  return capitalized(joined(chosen.map(({ text }) => text))).slice(0, LIMITS.conversation_title_chars_max);
}

/** Of phrases that share no word those whose chances add up to most. */
function likeliest(phrases: readonly TitlePhrase[], room: { phrases: number; words: number }): TitlePhrase[] {
  let best: TitlePhrase[] = [];
  for (const [at, phrase] of phrases.entries()) {
    const words = room.words - phrase.stems.length;
    if (room.phrases === 0 || words < 0) continue;
    const others = phrases.slice(at + 1).filter(({ stems }) => !stems.some((stem) => phrase.stems.includes(stem)));
    const chosen = [phrase, ...likeliest(others, { phrases: room.phrases - 1, words })];
    if (chanceOf(chosen) > chanceOf(best)) best = chosen;
  }
  return best;
}

function chanceOf(phrases: readonly TitlePhrase[]): number {
  return phrases.reduce((sum, { chance }) => sum + chance, 0);
}

/** The weightiest phrases that share no word. */
export function topicsOf(phrases: readonly TitlePhrase[], most: number): TitlePhrase[] {
  const chosen: TitlePhrase[] = [];
  for (const phrase of phrases) {
    if (chosen.length === most || phrase.worth < (chosen[0]?.worth ?? 0) * WORTH_SHARE_MIN) break;
    if (chosen.some(({ stems }) => stems.some((stem) => phrase.stems.includes(stem)))) continue;
    chosen.push(phrase);
  }
  return chosen;
}

function joined(texts: readonly string[]): string {
  const last = texts.at(-1) ?? '';
  return texts.length < 3 ? texts.join(', ') : `${texts.slice(0, -1).join(', ')} and ${last}`;
}
