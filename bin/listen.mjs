/* `npm run listen`: forwards an account's events to a program on this machine. */
import { makeReady } from './setup.mjs';

makeReady();
await import('../dist/src/tools/listen/main.js');
