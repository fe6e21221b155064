import type { FeatureRow } from '../../src/features/insights/learned/feature_bag.js';
import type { HashedModel } from '../../src/features/insights/learned/hashed_model.js';
import { seeded, shuffle } from './logistic.js';

/** Learns to rank: within each group, the share of an exponential of what is right shall be large. */

/** `shares`: how much of the group each row shall have; they add up to 1. */
export type RankedGroup = { rows: readonly FeatureRow[]; shares: readonly number[] };
export type RankingForm = { bits: number; epochs: number; rate: number; l2: number };

const SEED = 7;
const SLOPE_MIN = 1e-4;

/** The weights are the mean of the last half of the epochs. */
export function fitRanking(groups: readonly RankedGroup[], { bits, epochs, rate, l2 }: RankingForm): HashedModel {
  const size = 2 ** bits;
  const weights = new Float64Array(size);
  const mean = new Float64Array(size);
  const order = [...groups];
  const random = seeded(SEED);
  let times = 0;
  for (let epoch = 0; epoch < epochs; epoch++) {
    const step = rate / (1 + (3 * epoch) / epochs);
    shuffle(order, random);
    for (const { rows, shares } of order) {
      const sums = rows.map(({ places, values }) => {
        let sum = 0;
        for (let i = 0; i < places.length; i++) sum += (weights[places[i] as number] as number) * (values[i] as number);
        return sum;
      });
      const top = Math.max(...sums);
      const powers = sums.map((sum) => Math.exp(sum - top));
      const total = powers.reduce((all, one) => all + one, 0);
      for (const [at, { places, values }] of rows.entries()) {
        const slope = (powers[at] as number) / total - (shares[at] as number);
        if (Math.abs(slope) < SLOPE_MIN) continue;
        for (let i = 0; i < places.length; i++) {
          const place = places[i] as number;
          const before = weights[place] as number;
          weights[place] = before - step * (slope * (values[i] as number) + l2 * Math.abs(slope) * before);
        }
      }
    }
    if (epoch < epochs / 2) continue;
    for (let place = 0; place < size; place++) mean[place] = (mean[place] as number) + (weights[place] as number);
    times++;
  }
  return { bits, table: Float32Array.from(mean, (sum) => sum / times), scales: [1], biases: [0] };
}
