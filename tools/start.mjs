/* `npm start`: makes a checkout ready, then is the server, so that a signal has one process to go to. */
import { makeReady, readCommandLine } from './setup.mjs';

readCommandLine({
  form: 'npm start',
  says: 'Installs and builds what is missing, then serves until Ctrl-C or SIGTERM.',
  notes: [
    'Settings are environment variables, such as PORT, DATA_DIR and REDIS_URL; docs/settings.md lists all of them. Without any it keeps everything in ./data and runs a Redis of its own.',
  ],
});
makeReady();
await import('../dist/src/main.js');
