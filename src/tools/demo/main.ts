import { parseArgs } from 'node:util';
import { LIMITS } from '../../domain/limits.js';
import { readSettings } from '../../settings.js';
import { DemoStop } from './demo_stop.js';
import { openRecording } from './recording.js';
import { runDemo } from './run.js';
import { chooseServer } from './server_choice.js';
import { summaryOf } from './summary.js';
import { numberIn, wordsFor } from './terminal_words.js';

const USAGE = `npm run demo -- [FILE] [--devices N] [--chunk-seconds S] [--duration SECONDS]

Records FILE with simulated devices into a server, and listens back. Without FILE it makes a short tone.
  --devices N          how many devices record it, 1 to ${LIMITS.devices_per_account_max}; 1 when not given
  --chunk-seconds S    length of a chunk; 1 when not given
  --duration SECONDS   how long FILE lasts, for what is not a WAV file of plain samples`;

function readArguments() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        devices: { type: 'string', default: '1' },
        'chunk-seconds': { type: 'string', default: '1' },
        duration: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    });
    if (values.help) return null;
    if (positionals.length > 1) throw new DemoStop(`One FILE, not ${positionals.length}.\n\n${USAGE}`);
    const devices = numberIn(values.devices, { name: '--devices', min: 1, max: LIMITS.devices_per_account_max });
    if (!Number.isInteger(devices)) throw new DemoStop('--devices must be a whole number.');
    const duration = values.duration;
    return {
      file: positionals[0],
      devices,
      chunk_seconds: numberIn(values['chunk-seconds'], { name: '--chunk-seconds', min: 0.01, max: 3_600 }),
      duration_seconds:
        duration === undefined ? undefined : numberIn(duration, { name: '--duration', min: 0.001, max: 1e7 }),
    };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code?.startsWith('ERR_PARSE_ARGS') !== true) throw error;
    throw new DemoStop(`${(error as Error).message}\n\n${USAGE}`);
  }
}

async function main(): Promise<boolean> {
  const wanted = readArguments();
  if (wanted === null) {
    console.log(USAGE);
    return true;
  }
  const recording = await openRecording(wanted);
  const server = await chooseServer(readSettings(process.env));
  try {
    console.log(`server: ${server.description}`);
    console.log(`recording: ${recording.title} (${recording.description}), ${recording.pieces.length} chunks`);
    const outcome = await runDemo(server, { recording, devices: wanted.devices, out: process.stdout });
    const { lines, good } = summaryOf(outcome);
    console.log(`\n${lines.join('\n')}`);
    return good;
  } finally {
    await recording.close();
    await server.end();
  }
}

try {
  if (!(await main())) process.exitCode = 1;
} catch (error) {
  console.error(wordsFor(error));
  process.exitCode = 1;
}
