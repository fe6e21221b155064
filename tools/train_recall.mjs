/* `npm run spool -- train_recall`: learns how recall ranks from the labelled talks in tools/insights/corpus. */
import { makeReady, readCommandLine, root } from './setup.mjs';

const { values } = readCommandLine({
  form: 'npm run spool -- train_recall [options]',
  says: 'Learns from the questions of labelled talks how recall ranks. Writes recall_model.json and question_map.json in src/features/search/questions/ranking, and tools/recall/report.md with how many questions are answered. Takes about ten minutes.',
  options: {
    talks: { value: 'FOLDER', says: 'labelled talks, instead of tools/insights/corpus' },
    packages: { value: 'FOLDER', says: 'where the packages of the model of vectors are installed', default: root },
    kept: { value: 'FILE', says: 'where vectors are kept from one time to the next; .json and .bin are added' },
  },
});
makeReady({ with_dev: true });
const { trainRecall } = await import('../dist/tools/recall/train.js');
await trainRecall(values);
