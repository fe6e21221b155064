/* `npm run demo`: records into a server and listens back. */
import { makeReady } from './setup.mjs';

makeReady();
await import('../dist/src/tools/demo/main.js');
