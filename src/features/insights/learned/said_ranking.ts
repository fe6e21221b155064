import { FeatureBag } from './feature_bag.js';
import type { HashedModel } from './hashed_model.js';
import type { ItemKind } from './item_finder.js';
import { isSameSpeaker, plainWords, type Talk } from './talk.js';
import type { WordTable } from './word_table.js';

/**
 * Which utterance says what an item is about: that with which it became one, or one before ("can you send the samples?"
 * "yes, Thursday").
 */

export type SaidModel = HashedModel;

/** How many utterances before an item may say what it is about. */
export const SAID_BEFORE_MAX = 5;

const ASKS = /^(?:what|who|when|where|how|why|is|are|do|does|did|can|could|shall|should|will|would|have|has)\b/;

/** A sentence of the utterance that is `distance` before the item at `at`. `is_last`: of its utterance. */
export type SaidPlace = { kind: ItemKind; at: number; distance: number; text: string; is_last: boolean };

export function saidFeatures(
  { kind, at, distance, text, is_last }: SaidPlace,
  talk: Talk,
  table: WordTable,
): FeatureBag {
  const bag = new FeatureBag();
  const place = at - distance;
  const words = plainWords(text);
  const own = plainWords(talk.utterances[at]?.text ?? '');
  const matter = words.filter((word) => table.isMatter(word)).length;
  const own_matter = own.filter((word) => table.isMatter(word)).length;
  const gap = Math.min(3, own_matter);
  bag.add(`d${distance}`);
  bag.add(`last ${is_last} ${distance === 0}`);
  bag.add(`d${distance} ${kind}`);
  bag.add(`d${distance} own${gap}`);
  bag.add(`d${distance} own${gap} ${kind}`);
  bag.addSteps('words', words.length, [3, 5, 7, 10, 14, 20]);
  bag.addSteps('matter', matter, [1, 2, 3, 4, 6]);
  bag.add('rarity', words.reduce((sum, word) => sum + (table.isMatter(word) ? table.rarity(word) : 0), 0) / 10);
  const asks = text.includes('?') || ASKS.test(words.join(' '));
  if (asks) bag.add(`asks ${kind}`);
  if (distance > 0) {
    bag.add(`same${isSameSpeaker(talk, at, place)}`);
    bag.add(`same${isSameSpeaker(talk, at, place)} d${distance}`);
    const between = Array.from({ length: distance - 1 }, (_, step) => talk.utterances[at - step - 1]?.text ?? '');
    const most = Math.max(0, ...between.map((one) => plainWords(one).filter((word) => table.isMatter(word)).length));
    if (matter > most) bag.add('more than between');
    if (matter > own_matter) bag.add('more than own');
  }
  for (const word of words.slice(0, 3)) bag.add(`begins ${word}`, 0.5);
  for (const word of words) if (!table.isMatter(word)) bag.add(`${kind} ${word}`, 0.3);
  return bag;
}
