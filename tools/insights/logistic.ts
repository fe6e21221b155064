import type { FeatureRow } from '../../src/features/insights/learned/feature_bag.js';
import type { HashedModel } from '../../src/features/insights/learned/hashed_model.js';

/** Logistic regressions of several yes-or-no questions about the same rows, by stochastic gradient descent. */

/** For each question the answer, 1 or 0, and how much it counts: 0 for not at all. */
export type Answered = { row: FeatureRow; answers: readonly number[]; counts: readonly number[] };
export type LogisticForm = { bits: number; epochs: number; rate: number; l2: number; bias: number; average: boolean };

const BIAS_RATE = 0.0125;
const SEED = 7;
/** A row whose answers are nearer changes nothing. */
const SLOPE_MIN = 0.005;

/** `average`: the weights are the mean of the last half of the epochs. */
export function fitLogistic(rows: readonly Answered[], form: LogisticForm): HashedModel {
  const { bits, epochs, rate, l2, average } = form;
  const size = 2 ** bits;
  const width = rows[0]?.answers.length ?? 1;
  const weights = new Float32Array(size * width);
  const biases = Array.from({ length: width }, () => form.bias);
  const mean = average ? { weights: new Float64Array(size * width), biases: biases.map(() => 0), times: 0 } : null;
  const order = rows.filter(({ counts }) => counts.some((count) => count > 0));
  const random = seeded(SEED);
  const sums = new Float64Array(width);
  for (let epoch = 0; epoch < epochs; epoch++) {
    const step = rate / (1 + (3 * epoch) / epochs);
    shuffle(order, random);
    for (const { row, answers, counts } of order) {
      const { places, values } = row;
      for (let q = 0; q < width; q++) sums[q] = biases[q] as number;
      for (let i = 0; i < places.length; i++) {
        const [from, value] = [(places[i] as number) * width, values[i] as number];
        for (let q = 0; q < width; q++) sums[q] = (sums[q] as number) + (weights[from + q] as number) * value;
      }
      let most = 0;
      for (let q = 0; q < width; q++) {
        const slope = (1 / (1 + Math.exp(-(sums[q] as number))) - (answers[q] as number)) * (counts[q] as number);
        sums[q] = slope;
        most = Math.max(most, Math.abs(slope));
        biases[q] = (biases[q] as number) - BIAS_RATE * step * slope;
      }
      if (most < SLOPE_MIN) continue;
      for (let i = 0; i < places.length; i++) {
        const [from, value] = [(places[i] as number) * width, values[i] as number];
        for (let q = 0; q < width; q++) {
          if (counts[q] === 0) continue;
          const before = weights[from + q] as number;
          weights[from + q] = before - step * ((sums[q] as number) * value + l2 * before);
        }
      }
    }
    if (mean !== null && epoch >= epochs / 2) {
      for (let at = 0; at < weights.length; at++)
        mean.weights[at] = (mean.weights[at] as number) + (weights[at] as number);
      mean.biases = mean.biases.map((sum, q) => sum + (biases[q] as number));
      mean.times++;
    }
  }
  const scales = biases.map(() => 1);
  if (mean === null) return { bits, table: weights, scales, biases };
  const { times } = mean;
  const table = Float32Array.from(mean.weights, (sum) => sum / times);
  return { bits, table, scales, biases: mean.biases.map((sum) => sum / times) };
}

/** Numbers from 0 to 1, the same for a seed. */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return state / 0x7fffffff;
  };
}

export function shuffle<One>(list: One[], random: () => number): void {
  for (let at = list.length - 1; at > 0; at--) {
    const other = Math.floor(random() * (at + 1));
    [list[at], list[other]] = [list[other] as One, list[at] as One];
  }
}
