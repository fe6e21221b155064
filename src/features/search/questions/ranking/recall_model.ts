import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { FEATURE_NAMES, WORD_FEATURE_NAMES } from './turn_features.js';

/** The learned weights by which recall orders turns. `npm run spool -- train_recall` makes them; docs/search.md. */

const Stored = z.object({ words: z.record(z.string(), z.number()), vectors: z.record(z.string(), z.number()) });

/** Weights of features: without vectors by WORD_FEATURE_NAMES, with them by FEATURE_NAMES. */
export type RecallModel = { words: Float64Array; vectors: Float64Array };

const STORED = Stored.parse(JSON.parse(readFileSync(new URL('recall_model.json', import.meta.url), 'utf8')));

export const RECALL_MODEL: RecallModel = {
  words: Float64Array.from(WORD_FEATURE_NAMES, (name) => STORED.words[name] ?? 0),
  vectors: Float64Array.from(FEATURE_NAMES, (name) => STORED.vectors[name] ?? 0),
};

export function weighed(weights: Float64Array, features: Float64Array): number {
  let sum = 0;
  for (let at = 0; at < features.length; at++) sum += (weights[at] as number) * (features[at] as number);
  return sum;
}
