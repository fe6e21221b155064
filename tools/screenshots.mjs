/* `npm run spool -- screenshots`: takes the pictures in docs/screenshots/ anew, of a server under a little load. */
import { makeReady, readCommandLine } from './setup.mjs';

readCommandLine({
  form: 'npm run spool -- screenshots',
  says: 'Takes the pictures in docs/screenshots/ anew, of a server under a little load. It needs a Chromium, and three minutes.',
});
makeReady({ with_dev: true });
await import('../dist/test/programs/operator_screenshots.js');
