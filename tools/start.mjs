/* `npm start`: makes a checkout ready, then is the server, so that a signal has one process to go to. */

import { ensureMeaningModel } from './setup/meaning_model.mjs';
import { ensureSpeechModels } from './setup/speech_models.mjs';
import { makeReady, readCommandLine } from './setup.mjs';

readCommandLine({
  form: 'npm start',
  says: 'Installs and builds what is missing, then serves until Ctrl-C or SIGTERM.',
  notes: [
    'Settings are environment variables, such as PORT, DATA_DIR and REDIS_URL; docs/settings.md lists all of them. Without any it keeps everything in ./data and runs a Redis of its own.',
  ],
});
makeReady();
const { TRANSCRIBE_URL, TRANSCRIBE_COMMAND, TRANSCRIBE_BUILT_IN, CONTENT_WORKER, EMBED_URL, EMBED_BUILT_IN } =
  process.env;
if (!TRANSCRIBE_URL && !TRANSCRIBE_COMMAND && TRANSCRIBE_BUILT_IN !== '0' && CONTENT_WORKER !== '0')
  await ensureSpeechModels();
if (!EMBED_URL && EMBED_BUILT_IN !== '0') await ensureMeaningModel();
// One request on this machine's loopback; the start says what it found, and uses nothing.
process.env.LOOK_FOR_OLLAMA ??= '1';
await import('../dist/src/main.js');
