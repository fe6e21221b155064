import { join } from 'node:path';
import { isatty } from 'node:tty';
import pino, { type Logger } from 'pino';
import { MCP_PATH } from '../domain/audiences.js';
import { unreachable } from '../domain/refusals.js';
import { insightHosts, insightMakerOf } from '../features/insights/engines/choose.js';
import { builtInLanguages, transcriberOf, transcriptionHosts } from '../features/transcripts/engines/choose_engine.js';
import { readEnginesFile } from '../features/transcripts/engines/engines_file.js';
import { OLLAMA_URL, ollamaVersion } from './local_models.js';
import { type Primary, startPrimary } from './primary/primary.js';
import { isStartProblem } from './server/start.js';
import { type EngineProblems, withUsableEngines } from './server/usable_engines.js';
import { developmentAddresses, operatorUrl, readSettings, type Settings } from './settings.js';
import type { KeptSignals } from './signals.js';

const STDIN = 0;

/** The running server, whether alone or as several processes. */
type Started = Pick<Primary, 'base_url' | 'ports' | 'redis' | 'close'> & Partial<Primary>;

/** Starts the server, or several processes that serve together, from the environment; stops at Ctrl-C or SIGTERM. */
async function main(signals: KeptSignals): Promise<void> {
  const began = performance.now();
  const given = readSettings(process.env);
  const looking = given.look_for_ollama && insightMakerOf(given).by === 'built_in' ? ollamaVersion() : null;
  const { settings, problems } = await withUsableEngines(given);
  const log = pino({ level: settings.log_level }, pino.destination({ dest: 2, sync: true }));
  const starting: Promise<Started> = settings.processes === 1 ? startAlone(settings, log) : startPrimary(settings, log);
  let is_stopping = false;
  const stop = (signal: NodeJS.Signals) => {
    if (is_stopping) process.exit(130);
    is_stopping = true;
    console.log(`\n${signal}: answering what is under way, then stopping. Once more stops at once.`);
    // A start that is in progress is finished first: cut off, it would leave its Redis running. One that fails says so below.
    void starting
      .then(({ close }) => close({ drain_ms: settings.drain_s * 1_000 }))
      .then(
        () => {
          console.log('Stopped.');
          process.exit(0);
        },
        () => {},
      );
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
  const had_terminal = isatty(STDIN);
  const reload = () => {
    if (had_terminal && !isatty(STDIN)) {
      // The terminal was closed, so nobody is left there to stop the server. Node can neither write nor exit in order then.
      process.kill(process.pid, 'SIGKILL');
    } else if (is_stopping) {
      console.log('SIGHUP: nothing is replaced, since the server stops.');
    } else if (settings.processes === 1) {
      console.log('SIGHUP: nothing is replaced, since one process serves. PROCESSES=2 or more can be.');
    } else {
      // A start that fails says so below.
      void starting.then(({ roll }) => rollAll(roll, log)).catch(() => {});
    }
  };
  signals.handle((signal) => {
    if (signal === 'SIGHUP') reload();
    else console.log(`${signal}: nothing is done.`);
  });
  const started = await starting;
  console.log(`Spool is ready after ${((performance.now() - began) / 1000).toFixed(1)} s.`);
  const rows = [...rowsOf(started, settings, problems), ...ollamaRows(await looking)];
  for (const [what, where] of rows) console.log(`  ${what.padEnd(12)} ${where}`);
  void started.given_up?.then(async (why) => {
    if (is_stopping) return;
    console.error(`${why} The log says why.`);
    await started.close();
    process.exit(1);
  });
}

/** One process that serves, loaded only where it is this one. */
async function startAlone(settings: Settings, log: Logger): Promise<Started> {
  const { startServer } = await import('./server.js');
  return startServer(settings, log, { print: console.log });
}

async function rollAll(roll: Started['roll'], log: Logger): Promise<void> {
  if (roll === undefined) return;
  console.log('SIGHUP: replacing the processes, one after the other.');
  await roll().then(
    () => console.log('All processes were replaced.'),
    (error: Error) => log.error({ reason: error.message }, 'not all processes were replaced'),
  );
}

/** The rows of addresses and folders that the start prints. */
function rowsOf(
  { base_url, ports, redis, pids }: Started,
  settings: Settings,
  problems: EngineProblems,
): [string, string][] {
  const operators_url = operatorUrl(settings, ports.operator);
  const token = settings.ops_token === null ? join(settings.data_dir, 'ops_token') : 'OPS_TOKEN';
  const inbox_url = developmentAddresses(settings, ports.operator)?.inbox_url ?? null;
  const rows: [string, string][] = [
    ['start page', base_url],
    ...(settings.base_url === null ? [] : [['listens', `http://${settings.host}:${ports.public}`] as [string, string]]),
    ['app', `${base_url}/app`],
    ['reference', `${base_url}/reference`],
    ['MCP', `${base_url}${MCP_PATH}`],
    ['devices', `https://${settings.device_names[0]}:${ports.device} (mutual TLS)`],
    ['operators', `${operators_url} (token in ${token})`],
    ...(inbox_url === null ? [] : [['inbox', inbox_url] as [string, string]]),
    ['mails', settings.smtp_url === null ? join(settings.data_dir, 'outbox') : 'over SMTP'],
    ['webhooks', webhooksLine(settings)],
    ['transcripts', transcriptsLine(settings, problems)],
    ['insights', insightsLine(settings)],
    ['meaning', meaningLine(settings, problems)],
    ['data', settings.data_dir],
    ...(pids === undefined ? [] : [['processes', pids.join(', ')] as [string, string]]),
    [
      'redis',
      redis === null
        ? 'at REDIS_URL'
        : `own process ${redis.pid}${redis.adopted ? ', taken over from an earlier start' : ''}`,
    ],
  ];
  if (settings.test_clock) rows.push(['clock', 'can be moved: TEST_CLOCK=1']);
  return rows;
}

/** Whoever runs the server must see where the audio of others goes. */
function transcriptsLine(settings: Settings, { speech }: EngineProblems): string {
  const { by } = transcriberOf(settings);
  const hosts = transcriptionHosts(settings, readEnginesFile(settings.engines_file).transcription).join(', ');
  switch (by) {
    case 'server':
      return `by a server: audio goes to ${hosts}`;
    case 'program':
      return `by the program ${settings.transcribe_command?.[0]} on this machine${hosts === '' ? '' : `; audio also goes to ${hosts}`}`;
    case 'built_in':
      return `built in (${builtInLanguages(settings)}), audio ${hosts === '' ? 'stays on this machine' : `also goes to ${hosts}`}`;
    case 'workers':
      return 'by workers on the operator port: audio goes to them';
    case 'nobody':
      return `none: ${speech ?? 'TRANSCRIBE_BUILT_IN=0'}`;
    default:
      return unreachable(by);
  }
}

/** The same of the text of conversations. */
function insightsLine(settings: Settings): string {
  const { by } = insightMakerOf(settings);
  const hosts = insightHosts(settings, readEnginesFile(settings.engines_file).insights);
  const goes = hosts.length === 0 ? '' : `: text goes to ${hosts.join(', ')}`;
  switch (by) {
    case 'server':
      return `by a model${goes}`;
    case 'built_in':
      return `by this server, without a model${goes}`;
    case 'workers':
      return 'by workers on the operator port: text goes to them';
    case 'nobody':
      return 'none: INSIGHTS is off';
    default:
      return unreachable(by);
  }
}

/** The same of what recall by meaning is made of. */
function meaningLine({ embed_url, embed_built_in }: Settings, { meaning }: EngineProblems): string {
  if (embed_url !== null) return `by a server: text goes to ${new URL(embed_url).host}`;
  if (embed_built_in) return 'built in (English), text stays on this machine';
  return `none, recall goes by words: ${meaning ?? 'EMBED_BUILT_IN=0'}`;
}

/** How a model on this machine is used, which nobody has asked for yet. */
function ollamaRows(version: string | null): [string, string][] {
  if (version === null) return [];
  return [
    [
      'Ollama',
      `${version} runs here; INSIGHTS_URL=${OLLAMA_URL}/v1 and INSIGHTS_MODEL=NAME have it look into conversations`,
    ],
  ];
}

/** Prints a problem that the person at the terminal can solve in words; anything else is a bug and shows its stack. */
export function run(signals: KeptSignals): void {
  main(signals).catch((error: unknown) => {
    console.error(isStartProblem(error) ? (error as Error).message : error);
    process.exit(1);
  });
}

function webhooksLine({ webhook_block_private, webhook_private_hosts }: Settings): string {
  if (!webhook_block_private) return 'to any address, private ones too';
  return ['to public addresses', ...webhook_private_hosts].join(', ');
}
