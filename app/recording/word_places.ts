import type { Turn } from '../../kits/typescript/src/api.js';

/** Where the words of a turn stand in its text, and when each is said. */

/** From and to: in the text, in UTF-16 units. */
export type WordPlace = { from: number; to: number; start_ms: number; end_ms: number };

/**
 * The words of a turn's text. Times are those that the engine gave, where it gave one for each word of the text as it is
 * now; else a word's time is its share of the turn by letters.
 */
export function wordPlaces(turn: Pick<Turn, 'text' | 'start_ms' | 'end_ms' | 'words'>): WordPlace[] {
  const { text, start_ms, end_ms, words } = turn;
  const found = [...text.matchAll(/\S+/g)].map(({ 0: word, index }) => ({ from: index, to: index + word.length }));
  const timed = words !== undefined && words.length === found.length ? words : null;
  const momentAt = (place: number) => start_ms + ((end_ms - start_ms) * place) / Math.max(1, text.length);
  return found.map(({ from, to }, at) => {
    const word = timed?.[at];
    return { from, to, start_ms: word?.start_ms ?? momentAt(from), end_ms: word?.end_ms ?? momentAt(to) };
  });
}

/** The word at a place in the text, or the one before it. */
export function wordAt(places: readonly WordPlace[], place: number): WordPlace | null {
  return places.findLast(({ from }) => from <= place) ?? places[0] ?? null;
}

/** The word that is heard at a moment: the last that has begun. */
export function wordHeard(places: readonly WordPlace[], moment_ms: number): WordPlace | null {
  return places.findLast(({ start_ms }) => start_ms <= moment_ms) ?? null;
}
