/* `npm run fleet`: many recorders at once. */
import { answerVersion } from './setup/command_line.mjs';
import { makeReady } from './setup.mjs';

answerVersion();
makeReady();
await import('../dist/tools/fleet/main.js');
