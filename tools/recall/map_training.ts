import type { QuestionMap } from '../../src/features/search/questions/ranking/question_map.js';

/**
 * Learns the map of questions' vectors: the turns that answer become more likely than others, of the same talk and of all.
 * docs/search.md, "How recall ranks".
 */

/** A question, or what a label says of its turns. `turns`: rows of the vectors of turns. */
export type AskedPair = { vector: Float32Array; turns: readonly number[]; from: number; to: number };

const RANK = 24;
const ROUNDS = 6;
const BATCH = 64;
const RATE = 1e-3;
const RIDGE = 3e-3;
/** A similarity as a logarithm of a chance. */
const SHARPNESS = 20;
/** Turns of other talks that a batch is held against. */
const OTHERS = 500;
const START = 0.02;

/** `turns`: a vector of length 1 for each turn that questions may be about, one after the other. */
export function trainMap(pairs: readonly AskedPair[], turns: Float32Array, dimension: number): QuestionMap {
  const random = randomOf(1);
  const map: QuestionMap = {
    factors: new Float32Array(dimension),
    from: Float32Array.from({ length: RANK * dimension }, () => (random() + random() + random() - 1.5) * 2 * START),
    to: new Float32Array(RANK * dimension),
  };
  const parts = [new Adam(map.factors), new Adam(map.from), new Adam(map.to)] as const;
  const count = turns.length / dimension;
  for (let round = 0; round < ROUNDS; round++) {
    const order = shuffled(pairs, random);
    for (let begin = 0; begin < order.length; begin += BATCH) {
      const batch = order.slice(begin, begin + BATCH);
      const others = Array.from({ length: Math.min(OTHERS, count) }, () => Math.floor(random() * count));
      const gradient = gradientOf(batch, { map, turns, dimension, others });
      for (const [at, part] of parts.entries())
        part.step(gradient[at] as Float32Array, RATE * (1 - round / ROUNDS), at === 0 ? 0.0 : RIDGE);
    }
  }
  return map;
}

type Batch = { map: QuestionMap; turns: Float32Array; dimension: number; others: readonly number[] };

function gradientOf(batch: readonly AskedPair[], { map, turns, dimension, others }: Batch): Float32Array[] {
  const found = [map.factors, map.from, map.to].map(({ length }) => new Float32Array(length));
  const [of_factors, of_from, of_to] = found as [Float32Array, Float32Array, Float32Array];
  const rank = map.from.length / dimension;
  for (const { vector, turns: right, from, to } of batch) {
    const shares = new Float32Array(rank);
    const sought = new Float32Array(dimension);
    for (let at = 0; at < dimension; at++) sought[at] = (vector[at] as number) * (1 + (map.factors[at] as number));
    for (let row = 0; row < rank; row++) {
      const share = dotAt(map.from, row * dimension, vector, 0, dimension);
      shares[row] = share;
      addAt(sought, 0, map.to, row * dimension, { times: share, dimension });
    }
    const slope = new Float32Array(dimension);
    const own = Array.from({ length: to - from }, (_, at) => from + at);
    const strangers = others.filter((turn) => turn < from || turn >= to);
    for (const [candidates, weight] of [
      [own, 0.5],
      [[...own, ...strangers], 0.5],
    ] as const)
      addSlope(slope, { candidates, right: new Set(right), sought, turns, weight: weight / batch.length });
    for (let at = 0; at < dimension; at++)
      of_factors[at] = (of_factors[at] as number) + (slope[at] as number) * (vector[at] as number);
    for (let row = 0; row < rank; row++) {
      const towards = dotAt(map.to, row * dimension, slope, 0, dimension);
      addAt(of_from, row * dimension, vector, 0, { times: towards, dimension });
      addAt(of_to, row * dimension, slope, 0, { times: shares[row] as number, dimension });
    }
  }
  return found;
}

/** Adds the slope of the logarithm of the chance that a right turn is chosen. */
function addSlope(
  slope: Float32Array,
  {
    candidates,
    right,
    sought,
    turns,
    weight,
  }: {
    candidates: readonly number[];
    right: ReadonlySet<number>;
    sought: Float32Array;
    turns: Float32Array;
    weight: number;
  },
): void {
  const dimension = sought.length;
  const values = candidates.map((turn) => SHARPNESS * dotAt(turns, turn * dimension, sought, 0, dimension));
  const most = values.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  const chances = values.map((value) => Math.exp(value - most));
  let [all, of_right] = [0, 0];
  for (const [at, chance] of chances.entries()) {
    all += chance;
    if (right.has(candidates[at] as number)) of_right += chance;
  }
  for (const [at, chance] of chances.entries()) {
    const turn = candidates[at] as number;
    const miss = chance / all - (right.has(turn) ? chance / Math.max(1e-20, of_right) : 0);
    if (Math.abs(miss) > 1e-4)
      addAt(slope, 0, turns, turn * dimension, { times: miss * weight * SHARPNESS, dimension });
  }
}

function dotAt(one: Float32Array, at: number, other: Float32Array, other_at: number, dimension: number): number {
  let [a, b, c, d] = [0, 0, 0, 0];
  for (let k = 0; k < dimension; k += 4) {
    a += (one[at + k] as number) * (other[other_at + k] as number);
    b += (one[at + k + 1] as number) * (other[other_at + k + 1] as number);
    c += (one[at + k + 2] as number) * (other[other_at + k + 2] as number);
    d += (one[at + k + 3] as number) * (other[other_at + k + 3] as number);
  }
  return a + b + c + d;
}

function addAt(
  to: Float32Array,
  at: number,
  from: Float32Array,
  from_at: number,
  { times, dimension }: { times: number; dimension: number },
): void {
  for (let k = 0; k < dimension; k++) to[at + k] = (to[at + k] as number) + times * (from[from_at + k] as number);
}

/** Adam, for one array of numbers that it changes in place. */
class Adam {
  readonly #values: Float32Array;
  readonly #means: Float32Array;
  readonly #squares: Float32Array;
  #steps = 0;

  constructor(values: Float32Array) {
    this.#values = values;
    this.#means = new Float32Array(values.length);
    this.#squares = new Float32Array(values.length);
  }

  step(slopes: Float32Array, rate: number, ridge: number): void {
    this.#steps += 1;
    const [mean_left, square_left] = [1 - 0.9 ** this.#steps, 1 - 0.99 ** this.#steps];
    for (let at = 0; at < slopes.length; at++) {
      const slope = (slopes[at] as number) + ridge * (this.#values[at] as number);
      const mean = 0.9 * (this.#means[at] as number) + 0.1 * slope;
      const square = 0.99 * (this.#squares[at] as number) + 0.01 * slope * slope;
      this.#means[at] = mean;
      this.#squares[at] = square;
      this.#values[at] =
        (this.#values[at] as number) - (rate * mean) / mean_left / (Math.sqrt(square / square_left) + 1e-6);
    }
  }
}

/** Numbers from 0 to 1 that follow from a seed. */
export function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
}

export function shuffled<T>(all: readonly T[], random: () => number): T[] {
  const found = all.map((one) => ({ one, order: random() }));
  return found.sort((a, b) => a.order - b.order).map(({ one }) => one);
}
