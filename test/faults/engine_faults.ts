import { json, ScriptedEngine } from '../../tools/speech/scripted_engine.js';
import type { Servers } from '../driver/servers.js';
import type { AppClient } from '../fixtures/app_client.js';
import { type Recorder, TestRecording } from '../fixtures/transcribing.js';
import { until } from '../fixtures/until.js';

import type { Trial } from './trial.js';

/**
 * Fault 27: an engine that can't read a file, does not know the form of a question once, or gives times in another unit. Of
 * that only one account's recordings have any; another one's are asked for as if there were none.
 */

const FILES = 4;
const FILE_MS = 5_000;
/** The first byte of a file says what the engine makes of it, the second its number. */
const MAKES = { text: 0x1a, nothing: 0xa3, another_form: 0xa4, nanoseconds: 0xa5 } as const;
type Made = keyof typeof MAKES;
const ODD = ['nothing', 'another_form', 'nanoseconds'] as const;
const NANOSECONDS = 1e9;

type Transcript = { waiting: unknown[]; covered: [number, number][]; failed: { from_ms: number; to_ms: number }[] };

async function openEngine(): Promise<ScriptedEngine> {
  const engine = await ScriptedEngine.start();
  engine.hears = ({ bytes }) => {
    const unit = bytes[0] === MAKES.nanoseconds ? NANOSECONDS : 1;
    return [{ text: `File ${bytes[1]}.`, start: unit, end: 3 * unit }];
  };
  engine.before = async ({ bytes, fields }) => {
    const is_rich = fields['timestamp_granularities[]'] !== undefined;
    const is_refused = bytes[0] === MAKES.nothing || (bytes[0] === MAKES.another_form && is_rich);
    engine.answers = is_refused ? [json({ detail: 'Invalid data found' }, 400)] : [];
  };
  return engine;
}

export async function engineOdd(trial: Trial): Promise<void> {
  const engine = await openEngine();
  const env = { RATE_LIMITS: 'off', CONTENT_WORKER: '1', CONTENT_AT_ONCE: '1', TRANSCRIBE_URL: engine.url };
  const rig = await trial.open({ env });
  trial.teardown(() => engine.close());
  const [spoilt, healthy] = [await recorderOf(rig, 'owner@x.test'), await recorderOf(rig, 'healthy@x.test')];
  await trial.repeat(async () => {
    const odd = trial.random.below(FILES);
    const what = trial.random.pick(ODD);
    engine.requests.length = 0;
    const of_spoilt = await recorded(spoilt, (at) => (at === odd ? what : 'text'));
    await expectTranscript(trial, of_spoilt, what === 'nothing' ? odd : null);
    engine.requests.length = 0;
    await expectTranscript(trial, await recorded(healthy, () => 'text'), null);
    const poorer = engine.requests.filter(({ fields }) => fields['timestamp_granularities[]'] === undefined);
    trial.must(engine.requests.length === FILES, `${engine.requests.length} questions for ${FILES} files`);
    trial.must(poorer.length === 0, `${poorer.length} of another account in a poorer form, after ${what}`);
    trial.counts.ok += 2;
  });
  trial.noSecrets(rig);
}

async function recorderOf(rig: Servers, email: string): Promise<Recorder> {
  const { access_token: token } = await rig.signIn(email);
  const [app] = rig.clients(token) as [AppClient];
  const ask = <T>(method: string, path: string, body?: unknown) => app.ask<T>(method, path, body);
  return { app, spool: { base_url: rig.first.base_url }, ask };
}

async function recorded(account: Recorder, makes: (at: number) => Made): Promise<TestRecording> {
  const recording = await TestRecording.begin(account);
  for (let at = 0; at < FILES; at++)
    await recording.add(FILE_MS, {
      file: { bytes: Buffer.from([MAKES[makes(at)], at]), codec: 'mp3', container: 'mp3' },
    });
  await recording.end();
  return recording;
}

/** All of it is transcribed but the file that can't be read, whose range stands in `failed`. */
async function expectTranscript(trial: Trial, recording: TestRecording, unreadable: number | null): Promise<void> {
  const transcript = () => recording.account.ask<Transcript>('GET', `/audio/streams/${recording.id}/transcript`);
  const lengthOf = (spans: [number, number][]) => spans.reduce((sum, [from_ms, to_ms]) => sum + to_ms - from_ms, 0);
  await until('all of it is done', async () => {
    const { covered, failed } = await transcript();
    const failed_ms = lengthOf(failed.map(({ from_ms, to_ms }) => [from_ms, to_ms]));
    return lengthOf(covered) + failed_ms === FILES * FILE_MS;
  });
  const { failed } = await transcript();
  const ranges = failed.map(({ from_ms, to_ms }) => `${from_ms} to ${to_ms}`).join(', ');
  const wanted = unreadable === null ? '' : `${unreadable * FILE_MS} to ${(unreadable + 1) * FILE_MS}`;
  trial.must(ranges === wanted, `failed is "${ranges}", not "${wanted}"`);
  const texts = (await recording.turns()).map(({ text, start_ms }) => `${text} at ${start_ms}`);
  const readable = Array.from({ length: FILES }, (_, at) => at).filter((at) => at !== unreadable);
  const all = readable.map((at) => `File ${at}. at ${at * FILE_MS + 1_000}`);
  trial.must(texts.join() === all.join(), `it reads "${texts.join()}", not "${all.join()}"`);
}
