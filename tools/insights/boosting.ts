import { answerOf, type SmallTrees, type TreeNode } from '../../src/features/insights/learned/small_trees.js';
import { seeded } from './logistic.js';

/** Gradient-boosted small trees for a yes or no (logistic loss). Features are cut into at most 32 steps. */

/** `least`: rows of a leaf; `share`, `columns`: the part of rows and of features that one tree sees. */
export type BoostingForm = {
  rounds: number;
  depth: number;
  rate: number;
  least: number;
  share: number;
  columns: number;
};
export type Example = { values: readonly number[]; answer: number; weight: number };

const STEPS = 32;
const L2 = 1;
const GAIN_MIN = 1e-3;
const SEED = 5;

export function boost(examples: readonly Example[], form: BoostingForm): SmallTrees {
  const count = examples.length;
  const features = examples[0]?.values.length ?? 0;
  const cuts = Array.from({ length: features }, (_, feature) => cutsOf(examples, feature));
  const bins = cuts.map((own, feature) =>
    Uint8Array.from(examples, ({ values }) => binOf(own, values[feature] as number)),
  );
  const random = seeded(SEED);
  const positive = examples.reduce((sum, { answer, weight }) => sum + answer * weight, 0);
  const total = examples.reduce((sum, { weight }) => sum + weight, 0);
  const base = Math.log(positive / (total - positive));
  const sums = new Float64Array(count).fill(base);
  const slopes = new Float64Array(count);
  const curves = new Float64Array(count);
  const trees: TreeNode[] = [];
  for (let round = 0; round < form.rounds; round++) {
    for (const [at, { answer, weight }] of examples.entries()) {
      const chance = 1 / (1 + Math.exp(-(sums[at] as number)));
      slopes[at] = (answer - chance) * weight;
      curves[at] = chance * (1 - chance) * weight;
    }
    const rows: number[] = [];
    for (let at = 0; at < count; at++) if (random() < form.share) rows.push(at);
    const own = cuts.flatMap((steps, feature) => (steps.length > 0 && random() < form.columns ? [feature] : []));
    const tree = grow(rows, form.depth, { form, own, cuts, bins, slopes, curves });
    trees.push(tree);
    for (const [at, { values }] of examples.entries()) sums[at] = (sums[at] as number) + answerOf(tree, values);
  }
  return { base, trees };
}

type Growth = {
  form: BoostingForm;
  own: readonly number[];
  cuts: readonly number[][];
  bins: readonly Uint8Array[];
  slopes: Float64Array;
  curves: Float64Array;
};
type Split = { gain: number; feature: number; bin: number };

function grow(rows: readonly number[], depth: number, growth: Growth): TreeNode {
  const { form, cuts, bins, slopes, curves } = growth;
  let [slope, curve] = [0, 0];
  for (const at of rows) {
    slope += slopes[at] as number;
    curve += curves[at] as number;
  }
  const leaf = (form.rate * slope) / (curve + L2);
  if (depth === 0 || rows.length < 2 * form.least) return leaf;
  const best = bestSplit(rows, { slope, curve }, growth);
  if (best === null) return leaf;
  const own = bins[best.feature] as Uint8Array;
  const left = rows.filter((at) => (own[at] as number) <= best.bin);
  const right = rows.filter((at) => (own[at] as number) > best.bin);
  return {
    feature: best.feature,
    cut: (cuts[best.feature] as number[])[best.bin] as number,
    left: grow(left, depth - 1, growth),
    right: grow(right, depth - 1, growth),
  };
}

function bestSplit(
  rows: readonly number[],
  { slope, curve }: { slope: number; curve: number },
  { form, own, cuts, bins, slopes, curves }: Growth,
): Split | null {
  let best: Split | null = null;
  const whole = (slope * slope) / (curve + L2);
  for (const feature of own) {
    const count = (cuts[feature] as number[]).length + 1;
    const [slope_in, curve_in, rows_in] = [new Float64Array(count), new Float64Array(count), new Int32Array(count)];
    const bin_of = bins[feature] as Uint8Array;
    for (const at of rows) {
      const bin = bin_of[at] as number;
      slope_in[bin] = (slope_in[bin] as number) + (slopes[at] as number);
      curve_in[bin] = (curve_in[bin] as number) + (curves[at] as number);
      rows_in[bin] = (rows_in[bin] as number) + 1;
    }
    let [left_slope, left_curve, left_rows] = [0, 0, 0];
    for (let bin = 0; bin < count - 1; bin++) {
      left_slope += slope_in[bin] as number;
      left_curve += curve_in[bin] as number;
      left_rows += rows_in[bin] as number;
      if (left_rows < form.least || rows.length - left_rows < form.least) continue;
      const right = slope - left_slope;
      const gain = left_slope ** 2 / (left_curve + L2) + right ** 2 / (curve - left_curve + L2) - whole;
      if (gain >= GAIN_MIN && (best === null || gain > best.gain)) best = { gain, feature, bin };
    }
  }
  return best;
}

function cutsOf(examples: readonly Example[], feature: number): number[] {
  const sorted = Float64Array.from(examples, ({ values }) => values[feature] as number).sort();
  const cuts: number[] = [];
  for (let step = 1; step < STEPS; step++) {
    const value = sorted[Math.floor((step * sorted.length) / STEPS)] as number;
    if (value > (cuts.at(-1) ?? (sorted[0] as number))) cuts.push(value);
  }
  return cuts;
}

function binOf(cuts: readonly number[], value: number): number {
  let bin = 0;
  while (bin < cuts.length && value >= (cuts[bin] as number)) bin++;
  return bin;
}
