/* `npm run listen`: forwards an account's events to a program on this machine. */
import { answerVersion } from './setup/command_line.mjs';
import { makeReady } from './setup.mjs';

answerVersion();
makeReady();
await import('../dist/tools/listen/main.js');
