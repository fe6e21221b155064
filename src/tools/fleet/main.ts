import { parseArgs } from 'node:util';
import { LIMITS } from '../../domain/limits.js';
import { readSettings } from '../../settings.js';
import { DemoStop } from '../demo/demo_stop.js';
import { chooseServer } from '../demo/server_choice.js';
import { numberIn, wordsFor } from '../demo/terminal_words.js';
import { type FleetOptions, runFleet } from './run.js';

const USAGE = `npm run fleet -- [--devices N] [--minutes M] [options]

Simulates recorders with certificates of their own: they record and upload, lose their link and answers, reboot, catch
up, change sessions, and have clocks that are wrong. In the end it holds what the server has against what was sent.
Uses the server that runs on the configured ports, or one of its own.
  --devices N          how many recorders; 100 when not given
  --minutes M          how long they record; 1 when not given
  --seed N             the same seed draws the same recordings and faults; the time when not given
  --shared PERCENT     how many of them are shared recorders in sessions; 25 when not given
  --chunk-seconds S    length of a chunk; 5 when not given
  --chunk-bytes N      its size; 16384 when not given
  --faults on|off      whether links break, answers get lost and recorders reboot; on when not given
  --kill WHAT          server, redis, or both as server,redis: killed (SIGKILL) meanwhile, if the server is its own
  --read-back PERCENT  how many of the chunks are downloaded and compared at the end; 10 when not given`;

const DEVICES_MAX = 20_000;

function readArguments(): FleetOptions | null {
  try {
    const text = { type: 'string' } as const;
    const { values } = parseArgs({
      options: {
        devices: { ...text, default: '100' },
        minutes: { ...text, default: '1' },
        seed: text,
        shared: { ...text, default: '25' },
        'chunk-seconds': { ...text, default: '5' },
        'chunk-bytes': { ...text, default: '16384' },
        faults: { ...text, default: 'on' },
        kill: { ...text, default: '' },
        'read-back': { ...text, default: '10' },
        help: { type: 'boolean', default: false },
      },
    });
    if (values.help) return null;
    const number = (
      name: 'devices' | 'minutes' | 'shared' | 'chunk-seconds' | 'chunk-bytes' | 'read-back',
      min: number,
      max: number,
    ) => numberIn(values[name], { name: `--${name}`, min, max });
    const kills = values.kill === '' ? [] : values.kill.split(',');
    const wrong = kills.find((what) => what !== 'server' && what !== 'redis');
    if (wrong !== undefined) throw new DemoStop(`--kill takes server, redis, or both; not ${wrong}.`);
    if (values.faults !== 'on' && values.faults !== 'off') throw new DemoStop('--faults must be on or off.');
    return {
      devices: Math.round(number('devices', 1, DEVICES_MAX)),
      minutes: number('minutes', 0.05, 24 * 60),
      seed:
        values.seed === undefined
          ? Date.now() % 1_000_000
          : numberIn(values.seed, { name: '--seed', min: 0, max: 2 ** 31 }),
      shared_percent: number('shared', 0, 100),
      chunk_ms: Math.round(number('chunk-seconds', 0.05, 3_600) * 1_000),
      chunk_bytes: Math.round(number('chunk-bytes', 128, LIMITS.chunk_bytes_max)),
      faults: values.faults === 'on',
      kills: kills as FleetOptions['kills'],
      read_percent: number('read-back', 0, 100),
    };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code?.startsWith('ERR_PARSE_ARGS') !== true) throw error;
    throw new DemoStop(`${(error as Error).message}\n\n${USAGE}`);
  }
}

async function main(): Promise<boolean> {
  const options = readArguments();
  if (options === null) {
    console.log(USAGE);
    return true;
  }
  const server = await chooseServer(readSettings(process.env));
  try {
    if (options.kills.length > 0 && server.own === null)
      throw new DemoStop('--kill needs a server of its own; another one is running on the configured ports.');
    const { lines, good } = await runFleet(server, options, process.stdout);
    console.log(`\n${lines.join('\n')}`);
    return good;
  } finally {
    await server.end();
  }
}

try {
  if (!(await main())) process.exitCode = 1;
} catch (error) {
  console.error(wordsFor(error));
  process.exitCode = 1;
}
