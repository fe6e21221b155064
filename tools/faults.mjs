/* `npm run spool -- faults`: faults at real servers on a real Redis. */
import { makeReady, readCommandLine } from './setup.mjs';

const { values, positionals } = readCommandLine({
  form: 'npm run spool -- faults [NAME or NUMBER ...] [options]',
  says: 'Tries faults at real servers on a real Redis; all of them when none is named. docs/faults.md lists them. Exit code 1 when one was not survived.',
  options: {
    seed: { value: 'S', whole: true, says: 'the seed of the load and of the faults; drawn when not given' },
    seconds: { value: 'N', default: '6', number: true, says: 'the load of each fault' },
    minutes: { value: 'M', default: '0.33', number: true, says: 'how long Redis stays away' },
    'no-tests': { says: 'leave out the test files that belong to a fault' },
  },
  words_max: Number.POSITIVE_INFINITY,
});
makeReady({ with_dev: true });
const { runFaults } = await import('../dist/test/faults/run_faults.js');
await runFaults(positionals, values);
