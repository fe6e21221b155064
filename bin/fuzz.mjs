/* `npm run fuzz [-- --requests N] [--seed S]`: malformed and half-right requests to every route of a real server. */
import { ensureBuilt, ensurePackages } from './setup.mjs';

ensurePackages();
ensureBuilt();
await import('../dist/test/fuzz/run_fuzz.js');
