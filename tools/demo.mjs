/* `npm run demo`: records into a server and listens back. */
import { answerVersion } from './setup/command_line.mjs';
import { makeReady } from './setup.mjs';

answerVersion();
makeReady();
await import('../dist/tools/demo/main.js');
