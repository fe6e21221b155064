/* `npm run listen -- --forward URL`: makes a checkout ready, then forwards an account's events to a local program. */
import { ensureBuilt, ensurePackages } from './setup.mjs';

ensurePackages();
ensureBuilt();
await import('../dist/src/tools/listen/main.js');
