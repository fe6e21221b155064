#!/usr/bin/env node
/* `spool GROUP COMMAND …`: makes a checkout ready, then is the command line of staff. */
import { ensureBuilt, ensurePackages } from './setup.mjs';

ensurePackages();
ensureBuilt();
await import('../dist/src/tools/cli/main.js');
