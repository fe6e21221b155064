/** A linear model whose values, as chances among the candidates of a question, make the right ones likely. */

/** The candidates of one question: a row of numbers each. `is_answer`: 1 for those that answer it. */
export type AskedList = { rows: readonly Float64Array[]; is_answer: readonly number[]; weight: number };

export type TrainingOptions = {
  /** The cost of a weight, by its square. */
  ridge: number;
  rounds: number;
  rate: number;
  /** Added to a value before the chances: what the ranking adds as well. */
  caution: number;
  /** The column that `caution` multiplies. */
  caution_at: number;
};

const DEFAULTS: TrainingOptions = { ridge: 3e-3, rounds: 150, rate: 0.05, caution: 0, caution_at: 0 };

/** Adam over all questions at once. */
export function trainSoftmax(lists: readonly AskedList[], options: Partial<TrainingOptions> = {}): Float64Array {
  const { ridge, rounds, rate, caution, caution_at } = { ...DEFAULTS, ...options };
  const columns = lists[0]?.rows[0]?.length ?? 0;
  const [weights, means, squares] = [0, 1, 2].map(() => new Float64Array(columns)) as Float64Array[] as [
    Float64Array,
    Float64Array,
    Float64Array,
  ];
  const all = lists.reduce((sum, { weight }) => sum + weight, 0);
  const gradient = new Float64Array(columns);
  for (let round = 1; round <= rounds; round++) {
    gradient.fill(0);
    for (const { rows, is_answer, weight } of lists) {
      const values = rows.map((row) => dotOf(weights, row) + caution * (row[caution_at] as number));
      const most = Math.max(...values);
      const chances = values.map((value) => Math.exp(value - most));
      const sum = chances.reduce((a, b) => a + b, 0);
      const right = is_answer.reduce((total, one, at) => total + one * (chances[at] as number), 0);
      for (let at = 0; at < rows.length; at++) {
        const chance = chances[at] as number;
        // Any of the right turns will do.
        const miss = (chance / sum - ((is_answer[at] as number) * chance) / right) * weight;
        if (Math.abs(miss) < 1e-6) continue;
        const row = rows[at] as Float64Array;
        for (let column = 0; column < columns; column++)
          gradient[column] = (gradient[column] as number) + miss * (row[column] as number);
      }
    }
    const step = rate * Math.min(1, 2 - (2 * round) / rounds);
    for (let column = 0; column < columns; column++) {
      const slope = (gradient[column] as number) / all + ridge * (weights[column] as number);
      means[column] = 0.9 * (means[column] as number) + 0.1 * slope;
      squares[column] = 0.99 * (squares[column] as number) + 0.01 * slope * slope;
      const mean = (means[column] as number) / (1 - 0.9 ** round);
      const square = (squares[column] as number) / (1 - 0.99 ** round);
      weights[column] = (weights[column] as number) - (step * mean) / (Math.sqrt(square) + 1e-4);
    }
  }
  return weights;
}

function dotOf(one: Float64Array, other: Float64Array): number {
  let sum = 0;
  for (let at = 0; at < one.length; at++) sum += (one[at] as number) * (other[at] as number);
  return sum;
}
