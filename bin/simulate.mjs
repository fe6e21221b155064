/* `npm run simulate -- --seeds N [--seed S] [--operations K]`: seeded runs of the actors on a model store. */
import { ensureBuilt, ensurePackages } from './setup.mjs';

ensurePackages();
ensureBuilt();
await import('../dist/test/simulation/run_seeds.js');
