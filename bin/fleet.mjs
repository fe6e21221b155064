/* `npm run fleet`: many recorders at once. */
import { makeReady } from './setup.mjs';

makeReady();
await import('../dist/src/tools/fleet/main.js');
