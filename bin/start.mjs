/* `npm start`: makes a checkout ready, then is the server, so that a signal has one process to go to. */
import { ensureBuilt, ensurePackages } from './setup.mjs';

ensurePackages();
ensureBuilt();
await import('../dist/src/main.js');
