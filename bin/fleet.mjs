/* `npm run fleet -- [options]`: makes a checkout ready, then lets a simulated fleet of recorders work a server. */
import { ensureBuilt, ensurePackages } from './setup.mjs';

ensurePackages();
ensureBuilt();
await import('../dist/src/tools/fleet/main.js');
