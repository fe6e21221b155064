import type { SpeechBefore } from '../../domain/speech_before.js';
import { wordErrors, wordsOf } from './word_errors.js';

/** How far two decodings of the same speech may differ: those of a language that the model does not know do. */

/**
 * Measured with 113 prompts of a person in English: at most 0.4, and 0.1 for nine in ten. Of 463 in Spanish, Italian, French
 * and Russian 81 % differ by more than 0.4, and where the others are held to 0.1, 96 % are left out.
 */
const DISAGREEMENT_MAX = 0.4;
const DOUBTED_MAX = 0.1;
/** Measured: docs/transcription.md, "The built-in engine". Two of three decodings that differ less say what was said, or may. */
const THIRD_DISAGREEMENT_MAX = 0.2;
const UNSURE_DISAGREEMENT_MAX = 0.6;

/** Words that have to change to make one text the other, as a share of the longer one. */
export function disagreementOf(one: string, other: string): number {
  const { words, errors } = wordErrors(one, other);
  return errors / Math.max(1, words, wordsOf(other).length);
}

/**
 * The disagreement up to which the speech of a window counts as understood. Where most speech was not, the rest is
 * doubted: some of another language always sounds like words.
 */
export function disagreementMax(
  speech: readonly { ms: number; disagreement: number }[],
  { said_ms, not_understood_ms }: SpeechBefore,
): number {
  let [said, not_understood] = [said_ms, not_understood_ms];
  for (const { ms, disagreement } of speech)
    if (disagreement > DISAGREEMENT_MAX) not_understood += ms;
    else said += ms;
  return not_understood > said ? DOUBTED_MAX : DISAGREEMENT_MAX;
}

/**
 * Whether a third decoding may still tell what was said. Where most is not understood it may not: in three decodings of another
 * language two agree more often.
 */
export function thirdDecides(disagreement_max: number): boolean {
  return disagreement_max === DISAGREEMENT_MAX;
}

/** Texts for one utterance, the best first, and how far its decodings differ. */
export type Agreed = { texts: readonly string[]; disagreement: number };

/**
 * The text of three decodings, of which the first two differ too much. Where no two are almost the same, the disagreement stays
 * that of the first two, by which the text counts as unsure. Null where no two are alike, as in another language.
 */
export function agreedText(first: string, second: string, third: string): Agreed | null {
  const pairs = [
    [third, first],
    [third, second],
    [first, second],
  ] as const;
  const by_disagreement = pairs
    .map((texts): Agreed => ({ texts, disagreement: disagreementOf(...texts) }))
    .sort((one, other) => one.disagreement - other.disagreement);
  const best = by_disagreement[0] as Agreed;
  if (best.texts.includes('') || best.disagreement > UNSURE_DISAGREEMENT_MAX) return null;
  return best.disagreement <= THIRD_DISAGREEMENT_MAX ? best : { ...best, disagreement: disagreementOf(first, second) };
}
