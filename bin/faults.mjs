/* `npm run faults [-- NAME or NUMBER …] [--seed S] [--seconds N] [--minutes M]`: faults at real servers on a real Redis. */
import { ensureBuilt, ensurePackages } from './setup.mjs';

ensurePackages();
ensureBuilt();
await import('../dist/test/faults/run_faults.js');
