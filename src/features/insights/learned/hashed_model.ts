import type { FeatureRow } from './feature_bag.js';

/**
 * Linear models of hashed features, for several answers at once. `table` holds `biases.length` weights for each of
 * `2 ** bits` places; a weight is its number times the scale of its answer.
 */
export type HashedModel = {
  bits: number;
  table: Float32Array | Int8Array;
  scales: readonly number[];
  biases: readonly number[];
};

/** One sum for each answer: for a yes or no the log of its odds, for a ranking what is compared. */
export function answersOf({ table, scales, biases }: HashedModel, { places, values }: FeatureRow): number[] {
  const width = biases.length;
  const sums = new Float64Array(width);
  for (let i = 0; i < places.length; i++) {
    const [from, value] = [(places[i] as number) * width, values[i] as number];
    for (let at = 0; at < width; at++) sums[at] = (sums[at] as number) + (table[from + at] as number) * value;
  }
  return biases.map((bias, at) => bias + (sums[at] as number) * (scales[at] as number));
}
