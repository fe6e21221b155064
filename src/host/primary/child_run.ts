import pino from 'pino';
import { loadModules } from '../load_modules.js';
import { PrimaryLink } from '../server/primary_link.js';
import type { Report } from '../server/primary_messages.js';
import { isStartProblem } from '../server/start.js';
import { withUsableEngines } from '../server/usable_engines.js';
import { readSettings } from '../settings.js';

/** The least time that connections have to end with an answer when another process takes this one's place. */
const LEAVE_MS = 10_000;

/** A server process of a primary. It begins when it is told how, and ends when it is told to, or at once with its primary. */
async function main(): Promise<void> {
  const primary = await PrimaryLink.begin();
  const { number, ports } = primary.order;
  const given = readSettings(process.env);
  const known = ports && { port: ports.public, device_port: ports.device, ops_port: ports.operator };
  const { settings } = await withUsableEngines({ ...given, ...known });
  const log = pino({ level: settings.log_level }, pino.destination({ dest: 2, sync: true })).child({ process: number });
  const starting = loadModules()
    .then(() => import('../server.js'))
    .then(({ startServer }) => startServer(settings, log, { primary, print: console.log }));
  /** Ends after `work`; a start that fails says so below. */
  const endAfter = (work: (server: Awaited<typeof starting>) => Promise<void>) => {
    void starting.then(work).then(
      () => process.exit(0),
      () => {},
    );
  };
  primary.obey({
    tell: async (name, about) => (await starting).services.processes.answer(name, about),
    stop: (drain_ms) => endAfter(({ close }) => close({ drain_ms })),
    leave: () =>
      endAfter(async ({ leave, close }) => {
        await leave(Math.max(LEAVE_MS, settings.drain_s * 1_000));
        await close();
      }),
  });
  primary.serves((await starting).ports);
}

main().catch((error: unknown) => {
  if (!isStartProblem(error)) console.error(error);
  const failed: Report = { says: 'failed', text: (error as Error).message };
  process.send?.(failed, undefined, {}, () => process.exit(1));
});
