/* `npm run demo`: records into a server and listens back. */
import { answerVersion } from './setup/command_line.mjs';
import { ensureSpeechModels } from './setup/speech_models.mjs';
import { makeReady } from './setup.mjs';

answerVersion();
makeReady();
if (process.argv.includes('--speech')) await ensureSpeechModels();
await import('../dist/tools/demo/main.js');
