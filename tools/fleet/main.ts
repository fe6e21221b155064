import { InvalidArgumentError, Option } from 'commander';
import { LIMITS } from '../../src/domain/limits.js';
import { readSettings } from '../../src/host/settings.js';
import { newProgram, numberOption, runProgram } from '../command_line.js';
import { type ChosenServer, chooseServer, ownServer } from '../demo/server_choice.js';
import { ScriptedChat } from '../speech/scripted_chat.js';
import { ScriptedEngine } from '../speech/scripted_engine.js';
import { UserError } from '../user_error.js';
import { type FleetOptions, runFleet } from './run.js';

const DEVICES_MAX = 20_000;
const SEED_MAX = 2 ** 31;

type FleetArguments = {
  devices: number;
  minutes: number;
  seed?: number;
  shared: number;
  chunkSeconds: number;
  chunkBytes: number;
  faults: 'on' | 'off';
  kill: FleetOptions['kills'];
  readBack: number;
  speech?: true;
};

/** The script of what is said must fit into a chunk. */
const SPEECH_BYTES_MIN = 1_024;

const percent = (flags: string, says: string, otherwise: number) =>
  numberOption(flags, says, { min: 0, max: 100, otherwise });

const program = newProgram(
  'npm run fleet --',
  'Simulates recorders with certificates of their own: they record and upload, lose their connection and answers, reboot, catch up, change sessions, and have clocks that are wrong. At the end it compares what the server has with what was sent. It uses the server on the configured ports, or starts one of its own.',
)
  .addOption(
    numberOption('--devices <N>', 'how many recorders', { min: 1, max: DEVICES_MAX, is_whole: true, otherwise: 100 }),
  )
  .addOption(numberOption('--minutes <M>', 'how long they record', { min: 0.05, max: 24 * 60, otherwise: 1 }))
  .addOption(
    numberOption('--seed <N>', 'draws the recordings and faults; from the time when not given', {
      ...{ min: 0, max: SEED_MAX, is_whole: true },
    }),
  )
  .addOption(percent('--shared <PERCENT>', 'how many of them are shared recorders in sessions', 25))
  .addOption(numberOption('--chunk-seconds <S>', 'length of a chunk', { min: 0.05, max: 3_600, otherwise: 5 }))
  .addOption(
    numberOption('--chunk-bytes <N>', 'size of a chunk', {
      ...{ min: 128, max: LIMITS.chunk_bytes_max, is_whole: true, otherwise: 16_384 },
    }),
  )
  .addOption(
    new Option('--faults <on|off>', 'whether connections break, answers get lost and recorders reboot')
      .choices(['on', 'off'])
      .default('on'),
  )
  .addOption(
    new Option('--kill <WHAT>', 'server, redis or server,redis: killed (SIGKILL) meanwhile, if the server is its own')
      .argParser(readKills)
      .default([], 'none'),
  )
  .addOption(percent('--read-back <PERCENT>', 'how many of the chunks are downloaded and compared at the end', 10))
  .option(
    '--speech',
    'something is said in each chunk, and at the end turns and suggestions are compared with it; own server and engines',
  )
  .action(async (options: FleetArguments) => {
    const engine = options.speech === true ? await startEngine(options) : null;
    const chat = engine === null ? null : await ScriptedChat.start({ keeps_requests: false });
    let server: ChosenServer | null = null;
    try {
      server =
        engine === null || chat === null
          ? await chooseServer(readSettings(process.env))
          : await ownServer({ TRANSCRIBE_URL: engine.url, INSIGHTS_URL: chat.url });
      if (options.kill.length > 0 && server.own === null) {
        throw new UserError('--kill needs a server of its own; another one is running on the configured ports.');
      }
      const { lines, good } = await runFleet(server, fleetOptions(options), process.stdout);
      console.log(`\n${lines.join('\n')}`);
      if (!good) process.exitCode = 1;
    } finally {
      await server?.end();
      await engine?.close();
      await chat?.close();
    }
  });

await runProgram(program);

async function startEngine({ chunkBytes }: FleetArguments): Promise<ScriptedEngine> {
  if (chunkBytes < SPEECH_BYTES_MIN)
    throw new UserError(`With --speech, --chunk-bytes must be at least ${SPEECH_BYTES_MIN}.`);
  return ScriptedEngine.start({ keeps_requests: false });
}

function readKills(text: string): FleetOptions['kills'] {
  return text.split(',').map((what) => {
    if (what === 'server' || what === 'redis') return what;
    throw new InvalidArgumentError('It must be server, redis, or both as server,redis.');
  });
}

function fleetOptions(options: FleetArguments): FleetOptions {
  const { devices, minutes, seed = Date.now() % 1_000_000, shared, chunkSeconds, chunkBytes, faults } = options;
  return {
    ...{ devices, minutes, seed, shared_percent: shared, read_percent: options.readBack },
    ...{ chunk_ms: Math.round(chunkSeconds * 1_000), chunk_bytes: chunkBytes },
    ...{ faults: faults === 'on', speech: options.speech === true, kills: options.kill },
  };
}
