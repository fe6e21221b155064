/* `npm run screenshots`: takes the pictures in docs/screenshots/ anew, of a server under a little load. Some three minutes. */
import { ensureBuilt, ensurePackages } from './setup.mjs';

ensurePackages();
ensureBuilt();
await import('../dist/test/programs/operator_screenshots.js');
