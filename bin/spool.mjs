#!/usr/bin/env node
/* `spool GROUP COMMAND`: the command line of staff. */
import { makeReady } from './setup.mjs';

makeReady();
await import('../dist/src/tools/cli/main.js');
