import t from 'tap';
import { json, ScriptedEngine } from '../../tools/speech/scripted_engine.js';
import { TestAccount } from '../fixtures/account.js';
import { TestSpool } from '../fixtures/spool.js';
import { TestRecording, TestTranscriber } from '../fixtures/transcribing.js';
import { until } from '../fixtures/until.js';

/** Files that an engine cannot read, beside others. docs/transcription.md, "What an engine may do". */

type Transcript = { waiting: unknown[]; covered: [number, number][]; failed: object[] };

const UNREADABLE = 0xa3;
const mp3 = (...bytes: number[]) => ({ bytes: Buffer.from(bytes), codec: 'mp3', container: 'mp3' });

/** Six files of ten seconds, of which the third and the fourth can't be read. */
async function recorded(account: TestAccount): Promise<TestRecording> {
  const recording = await TestRecording.begin(account);
  for (let at = 0; at < 6; at++)
    await recording.add(10_000, { file: mp3(at === 2 || at === 3 ? UNREADABLE : 0x1a, at) });
  await recording.end();
  return recording;
}

const WANTED = {
  waiting: [],
  covered: [
    [0, 20_000],
    [40_000, 60_000],
  ],
  failed: [{ from_ms: 20_000, to_ms: 40_000 }],
};
const READABLE = [0, 1, 4, 5].map((at) => `File ${at}.`);

async function engineOf(t: Parameters<typeof ScriptedEngine.start>[0]): Promise<ScriptedEngine> {
  const engine = await ScriptedEngine.start(t);
  engine.hears = ({ bytes }) => [{ text: `File ${bytes[1]}.`, start: 1, end: 3 }];
  engine.before = async ({ bytes }) => {
    if (bytes[0] === UNREADABLE) engine.answers = [json({ detail: 'Invalid data found' }, 400)];
  };
  return engine;
}

const heard = (engine: ScriptedEngine) =>
  engine.requests.flatMap(({ bytes }) => (bytes[0] === UNREADABLE ? [] : bytes[1]));

for (const [says, env, times] of [
  ['a file that the engine refuses fails alone, and each other one is heard once', {}, 1],
  ['a final pass leaves out what failed before', { TRANSCRIBE_FINAL_PASS: '1' }, 2],
] as const)
  t.test(says, async (t) => {
    const engine = await engineOf(t);
    const asks = { RATE_LIMITS: 'off', CHUNK_WORKER: '1', CONTENT_AT_ONCE: '1', TRANSCRIBE_URL: engine.url };
    const spool = await TestSpool.start({ ...asks, ...env });
    t.teardown(() => spool.end());
    const recording = await recorded(await TestAccount.open(spool, 'ann@x.test'));
    const transcript = () => recording.account.ask<Transcript>('GET', `/audio/streams/${recording.id}/transcript`);
    await until(
      'all is heard',
      async () => heard(engine).length === 4 * times && (await transcript()).waiting.length === 0,
    );
    t.match(await transcript(), { ...WANTED, failed: [{ ...WANTED.failed[0], code: 'ENGINE_REFUSED' }] });
    t.same(
      (await recording.turns()).map(({ text }) => text),
      READABLE,
    );
    t.same(
      heard(engine).sort(),
      [0, 1, 4, 5].flatMap((at) => Array(times).fill(at)),
    );
    t.equal(engine.requests.length, heard(engine).length + 2 * 3, 'an unreadable one is asked for once, in every form');
  });

t.test('a worker says which part of a window it could not hear', async (t) => {
  const spool = await TestSpool.start({ RATE_LIMITS: 'off', CHUNK_WORKER: '1', CONTENT_WORKER: '0' });
  t.teardown(() => spool.end());
  const recording = await recorded(await TestAccount.open(spool, 'ann@x.test'));
  const worker = new TestTranscriber(spool);
  const work = await worker.claim(recording.id);
  const turns = [0, 10_000, 40_000, 50_000].map((start_ms, at) => ({
    start_ms,
    end_ms: start_ms + 3_000,
    text: READABLE[at] as string,
  }));
  await worker.publish(work, turns, { failed: [{ from_ms: 20_000, to_ms: 40_000, code: 'BAD_AUDIO' }] });
  t.match(await recording.account.ask('GET', `/audio/streams/${recording.id}/transcript`), {
    ...WANTED,
    failed: [{ ...WANTED.failed[0], code: 'BAD_AUDIO' }],
  });
  t.same(
    (await recording.turns()).map(({ text }) => text),
    READABLE,
  );
});
