import type { SpeechBefore } from '../../domain/speech_before.js';
import { wordErrors, wordsOf } from './word_errors.js';

/** How far two decodings of the same speech may differ: those of a language that the model does not know do. */

/**
 * Measured with 113 prompts of a person in English: at most 0.4, and 0.1 for nine in ten. Of 463 in Spanish, Italian, French
 * and Russian 81 % differ by more than 0.4, and where the others are held to 0.1, 96 % are left out.
 */
const DISAGREEMENT_MAX = 0.4;
const DOUBTED_MAX = 0.1;
/** Measured: docs/transcription.md, "The built-in engine". Up to 0.4 nothing more was kept. */
const THIRD_DISAGREEMENT_MAX = 0.2;

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

/** The third decoding where it agrees with one of the first two; null where it does not. */
export function agreedText(others: readonly string[], third: string): string | null {
  const agrees = third !== '' && others.some((one) => disagreementOf(one, third) <= THIRD_DISAGREEMENT_MAX);
  return agrees ? third : null;
}
