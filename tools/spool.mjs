#!/usr/bin/env node
/* `spool GROUP COMMAND`: the command line of staff. */
import { answerVersion } from './setup/command_line.mjs';
import { makeReady } from './setup.mjs';

answerVersion();
makeReady();
await import('../dist/tools/cli/main.js');
