import { LIMITS } from '../../domain/limits.js';
import { readSettings } from '../../settings.js';
import { newProgram, numberOption, runProgram } from '../command_line.js';
import { ScriptedEngine } from '../speech/scripted_engine.js';
import { UserError, WRONG_USAGE } from '../user_error.js';
import { openRecording } from './recording.js';
import { runDemo } from './run.js';
import { runSpeech } from './run_speech.js';
import { runWeek } from './run_week.js';
import { chooseServer, engineSettings, ownServer } from './server_choice.js';
import { ensureSpeech, speak } from './spoken.js';
import { summaryOf } from './summary.js';

type Options = {
  devices: number;
  chunkSeconds: number;
  duration?: number;
  speech?: true;
  week?: true;
  stay?: true;
};

/** Short, so that turns come while one watches. */
const SPEECH_WINDOW_S = '10';
/** As long as one may be: speakers are told apart within a window. */
const WEEK_WINDOW_S = '600';

const program = newProgram(
  'npm run demo --',
  'Records a file with simulated devices into a server, and listens back. It uses the server on the configured ports, or starts one of its own in a temporary folder.',
)
  .argument('[FILE]', 'what is recorded; a short tone when not given')
  .addOption(
    numberOption('--devices <N>', 'how many devices record it', {
      ...{ min: 1, max: LIMITS.devices_per_account_max, is_whole: true, otherwise: 1 },
    }),
  )
  .addOption(numberOption('--chunk-seconds <S>', 'length of a chunk', { min: 0.01, max: 3_600, otherwise: 1 }))
  .addOption(
    numberOption('--duration <SECONDS>', 'how long FILE lasts, for what is not a WAV file of plain samples', {
      ...{ min: 0.001, max: 1e7 },
    }),
  )
  .option('--speech', 'speak some sentences, and show what a server of its own hears in them and suggests')
  .option('--week', 'record a scripted week of conversations into a server of its own, and ask what was said')
  .option('--stay', 'with --week: serve it until Ctrl-C, for an assistant to ask')
  .action(async (file: string | undefined, { devices, chunkSeconds, duration, speech, week, stay }: Options) => {
    if (stay === true && week !== true) throw new UserError('--stay goes with --week.', WRONG_USAGE);
    if (week === true) {
      if (file !== undefined || speech === true)
        throw new UserError('--week brings what is said; it takes neither FILE nor --speech.', WRONG_USAGE);
      await demoWeek(stay === true);
      return;
    }
    if (speech === true) {
      if (file !== undefined) throw new UserError('--speech speaks by itself; it takes no FILE.', WRONG_USAGE);
      await demoSpeech(chunkSeconds);
      return;
    }
    const recording = await openRecording({ file, chunk_seconds: chunkSeconds, duration_seconds: duration });
    const server = await chooseServer(readSettings(process.env));
    try {
      console.log(`server: ${server.description}`);
      console.log(`recording: ${recording.title} (${recording.description}), ${recording.pieces.length} chunks`);
      const outcome = await runDemo(server, { recording, devices, out: process.stdout });
      const { lines, good } = summaryOf(outcome);
      console.log(`\n${lines.join('\n')}`);
      if (!good) process.exitCode = 1;
    } finally {
      await recording.close();
      await server.end();
    }
  });

/** Beside whatever server there is: what another one hears with is not known. */
async function demoSpeech(chunk_seconds: number): Promise<void> {
  await ensureSpeech((line) => console.log(line));
  const spoken = await speak();
  try {
    const recording = await openRecording({ file: spoken.file, chunk_seconds, duration_seconds: undefined });
    const server = await ownServer({
      ...{ TRANSCRIBE_COMMAND: 'pocketsphinx', TRANSCRIBE_WINDOW_S: SPEECH_WINDOW_S, ...engineSettings('INSIGHTS') },
    });
    try {
      console.log(`server: ${server.description}, which hears with pocketsphinx`);
      if (!(await runSpeech(server, { recording, sentences: spoken.sentences, out: process.stdout })))
        process.exitCode = 1;
    } finally {
      await recording.close();
      await server.end();
    }
  } finally {
    await spoken.remove();
  }
}

async function demoWeek(stays: boolean): Promise<void> {
  const engine = await ScriptedEngine.start({ keeps_requests: false });
  try {
    const server = await ownServer({
      ...{ TRANSCRIBE_URL: engine.url, TRANSCRIBE_DIARIZE: '1', TRANSCRIBE_WINDOW_S: WEEK_WINDOW_S },
      ...engineSettings('INSIGHTS'),
    });
    try {
      console.log(`server: ${server.description}, whose engine hears what a script says`);
      const { is_heard, token } = await runWeek(server, process.stdout);
      if (!is_heard) process.exitCode = 1;
      const mcp_url = `${server.base_url}/mcp`;
      console.log(`\nAn assistant asks the same at ${mcp_url} with this token, for example:`);
      console.log(`  claude mcp add --transport http spool ${mcp_url} --header "Authorization: Bearer ${token}"`);
      if (!stays) console.log('The server ends now. It stays with --stay.');
      else {
        console.log('Serving until Ctrl-C.');
        await new Promise(() => {});
      }
    } finally {
      await server.end();
    }
  } finally {
    await engine.close();
  }
}

await runProgram(program);
