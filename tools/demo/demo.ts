import { readSettings } from '../../src/host/settings.js';
import { ScriptedEngine } from '../speech/scripted_engine.js';
import { UserError, WRONG_USAGE } from '../user_error.js';
import { newEmail } from './recorder.js';
import { openRecording } from './recording.js';
import { runDemo } from './run.js';
import { runSpeech } from './run_speech.js';
import { runWeek } from './run_week.js';
import { type ChosenServer, chooseServer, engineSettings, namedServer, ownServer } from './server_choice.js';
import { showApp } from './show_app.js';
import { ensureSpeech, speak } from './speech_recording.js';
import { summaryOf } from './summary.js';
import { startWebhookReceiver } from './webhook_receiver.js';

/** The typed options, as commander gives them. */
export type DemoOptions = {
  devices: number;
  chunkSeconds: number;
  duration?: number;
  speech?: true;
  week?: true;
  stay?: true;
  server?: string;
  deviceServer?: string;
};

/** As long as one may be: speakers are told apart within a window. */
const WEEK_WINDOW_S = '600';

/** Throws UserError for options that do not go together. */
export async function demo(file: string | undefined, options: DemoOptions): Promise<void> {
  const { chunkSeconds, speech, week, stay, server: named } = options;
  if (named !== undefined && (week === true || speech === true))
    throw new UserError('--week and --speech bring a server of their own; they take no --server.', WRONG_USAGE);
  if (named === undefined && options.deviceServer !== undefined)
    throw new UserError('--device-server goes with --server.', WRONG_USAGE);
  if (week === true) {
    if (file !== undefined || speech === true)
      throw new UserError('--week brings what is said; it takes neither FILE nor --speech.', WRONG_USAGE);
    await demoWeek(stay === true);
    return;
  }
  if (speech === true) {
    if (file !== undefined) throw new UserError('--speech speaks by itself; it takes no FILE.', WRONG_USAGE);
    await demoSpeech(chunkSeconds, stay === true);
    return;
  }
  await demoRecording(file, options);
}

async function demoRecording(file: string | undefined, options: DemoOptions): Promise<void> {
  const { devices, chunkSeconds, duration, stay, server: named, deviceServer } = options;
  const email = newEmail();
  const recording = await openRecording({ file, chunk_seconds: chunkSeconds, duration_seconds: duration });
  const server = named === undefined ? await chooseServer(readSettings(process.env)) : namedServer(named, deviceServer);
  try {
    console.log(`server: ${server.description}`);
    console.log(`recording: ${recording.title} (${recording.description}), ${recording.pieces.length} chunks`);
    const outcome = await runDemo(server, { recording, devices, email, out: process.stdout });
    const { lines, good } = summaryOf(outcome);
    console.log(`\n${lines.join('\n')}`);
    if (!good) process.exitCode = 1;
    await showApp(server, { email, stays: stay === true, out: process.stdout });
  } finally {
    await recording.close();
    await server.end();
  }
}

/** Beside whatever server there is: what another one hears with is not known. */
async function demoSpeech(chunk_seconds: number, stays: boolean): Promise<void> {
  const email = newEmail();
  await ensureSpeech((line) => console.log(line));
  const spoken = await speak();
  try {
    const recording = await openRecording({ file: spoken.file, chunk_seconds, duration_seconds: undefined });
    const server = await ownServer({ ...engineSettings('INSIGHTS') });
    try {
      console.log(`server: ${server.description}, which transcribes with the built-in engine`);
      const { sentences } = spoken;
      if (!(await runSpeech(server, { recording, sentences, email, out: process.stdout }))) process.exitCode = 1;
      await showApp(server, { email, stays, out: process.stdout });
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
  const receiver = await startWebhookReceiver();
  try {
    const server = await ownServer({
      ...{ TRANSCRIBE_URL: engine.url, TRANSCRIBE_DIARIZE: '1', TRANSCRIBE_WINDOW_S: WEEK_WINDOW_S },
      ...{ WEBHOOK_CA_FILE: receiver.ca_file, ...engineSettings('INSIGHTS') },
    });
    try {
      await weekInto(server, { stays, webhook_url: receiver.url });
    } finally {
      await server.end();
    }
  } finally {
    await receiver.close();
    await engine.close();
  }
}

async function weekInto(
  server: ChosenServer,
  { stays, webhook_url }: { stays: boolean; webhook_url: string },
): Promise<void> {
  const email = newEmail();
  console.log(`server: ${server.description}, whose engine hears what a script says`);
  const { is_heard, token } = await runWeek(server, { email, webhook_url, out: process.stdout });
  if (!is_heard) process.exitCode = 1;
  const mcp_url = `${server.base_url}/mcp`;
  console.log(`\nAn assistant asks the same at ${mcp_url} with this token, for example:`);
  console.log(`  claude mcp add --transport http spool ${mcp_url} --header "Authorization: Bearer ${token}"`);
  await showApp(server, { email, stays, out: process.stdout });
}
