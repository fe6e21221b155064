/* `npm run spool -- fuzz`: malformed and half-right requests to every route of a real server. */
import { makeReady, readCommandLine } from './setup.mjs';

const { values } = readCommandLine({
  form: 'npm run spool -- fuzz [options]',
  says: 'Sends malformed and half-right requests to every route of a real server. Exit code 1 when one is answered with 500, breaks the server or is answered otherwise than documented.',
  options: {
    requests: { value: 'N', default: '20000', whole: true, min: 1, says: 'how many requests' },
    seed: { value: 'S', whole: true, says: 'the seed that the requests follow from; drawn when not given' },
  },
});
makeReady({ with_dev: true });
const { runFuzz } = await import('../dist/test/fuzz/run_fuzz.js');
await runFuzz(values);
