/* `npm run demo -- [FILE] [options]`: makes a checkout ready, then records into a server and listens back. */
import { ensureBuilt, ensurePackages } from './setup.mjs';

ensurePackages();
ensureBuilt();
await import('../dist/src/tools/demo/main.js');
