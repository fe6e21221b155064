/* `npm run spool -- screenshots`: takes the pictures in docs/screenshots/ anew. */
import { makeReady, readCommandLine } from './setup.mjs';

readCommandLine({
  form: 'npm run spool -- screenshots',
  says: 'Takes the pictures in docs/screenshots/ anew: first minutes, the app, operators. It needs a Chromium, and two minutes.',
});
makeReady({ with_dev: true });
await import('../dist/test/programs/screenshots.js');
