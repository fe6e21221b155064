import pino from 'pino';
import { loadModules } from '../load_modules.js';
import { isStartProblem } from '../server/start.js';
import { withUsableSpeech } from '../server/usable_speech.js';
import { readSettings } from '../settings.js';
import type { Order, Report } from '../supervised/messages.js';
import { SupervisorLink } from '../supervised/supervisor_link.js';

const tell = (report: Report) =>
  new Promise<void>((resolve) => {
    if (process.connected) process.send?.(report, undefined, {}, () => resolve());
    else resolve();
  });

/** A server process of a supervisor: it begins when it is told how, and ends when it is told to or when nobody is there to do so. */
async function main(): Promise<void> {
  const supervised = await SupervisorLink.begin();
  const { settings } = await withUsableSpeech(readSettings(process.env));
  const log = pino({ level: settings.log_level }, pino.destination({ dest: 2, sync: true }));
  const starting = loadModules()
    .then(() => import('../server.js'))
    .then(({ startServer }) => startServer(settings, log, { supervised, print: console.log }));
  let is_stopping = false;
  const stop = () => {
    if (is_stopping) return;
    is_stopping = true;
    void starting
      .then(({ close }) => close())
      .then(
        () => process.exit(0),
        () => {},
      );
  };
  process.on('message', (told: Order) => {
    if (told.do === 'stop') stop();
  });
  process.on('disconnect', stop);
  await starting;
}

main().catch(async (error: unknown) => {
  if (!isStartProblem(error)) console.error(error);
  await tell({ says: 'failed', text: (error as Error).message });
  process.exit(1);
});
