import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { fingerprintOf, quantized } from '../../../../domain/search/vectors.js';
import type { QuestionVector } from '../../index/turn_similarity.js';

/**
 * Maps the vector of a question to one that its answers are like: each number by a factor, and a sum of few directions.
 * Learned for one model of vectors; other models' questions stay as they are. `npm run spool -- train_recall`.
 */

const Stored = z.object({
  /** The name of the model of vectors. */
  model: z.string(),
  dimension: z.number(),
  /** By row: signed bytes as base64, times `scale`. */
  factors: z.object({ scale: z.number(), bytes: z.string() }),
  from: z.object({ scale: z.number(), bytes: z.string() }),
  to: z.object({ scale: z.number(), bytes: z.string() }),
});
type StoredMap = z.infer<typeof Stored>;

/** Added to a question's vector are its numbers times `factors`, and the sum of the rows of `to`, each as far as it has that of `from`. */
export type QuestionMap = { factors: Float32Array; from: Float32Array; to: Float32Array };

const STORED: StoredMap = Stored.parse(JSON.parse(readFileSync(new URL('question_map.json', import.meta.url), 'utf8')));
const LEARNED: QuestionMap = {
  factors: numbersOf(STORED.factors),
  from: numbersOf(STORED.from),
  to: numbersOf(STORED.to),
};
const MODEL = fingerprintOf([STORED.model]);

/** The question's vector with the one that its answers are like. */
export function soughtBy({ vector, model }: Omit<QuestionVector, 'sought'>): QuestionVector {
  const is_learned = model === MODEL && vector.length === STORED.dimension;
  return { vector, model, sought: is_learned ? mapped(vector, LEARNED) : vector };
}

export function mapped(vector: Int8Array, { factors, from, to }: QuestionMap): Int8Array {
  const dimension = vector.length;
  const found = Float64Array.from(vector, (value, at) => value * (1 + (factors[at] as number)));
  for (let row = 0; row < from.length; row += dimension) {
    let share = 0;
    for (let at = 0; at < dimension; at++) share += (from[row + at] as number) * (vector[at] as number);
    for (let at = 0; at < dimension; at++) found[at] = (found[at] as number) + share * (to[row + at] as number);
  }
  return quantized([...found]) ?? vector;
}

function numbersOf({ scale, bytes }: { scale: number; bytes: string }): Float32Array {
  return Float32Array.from(new Int8Array(Buffer.from(bytes, 'base64')), (value) => value * scale);
}
