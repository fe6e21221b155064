import t from 'tap';
import { TestAccount } from '../fixtures/account.js';
import { LENGTHS_MS, NO_MODEL, SAID, SAID_MS, spokenFile } from '../fixtures/speech.js';
import { TestSpool } from '../fixtures/spool.js';
import { TestRecording } from '../fixtures/transcribing.js';
import { until } from '../fixtures/until.js';

type Transcript = {
  engine: string | null;
  waiting: [number, number][];
  covered: [number, number][];
  failed: { from_ms: number; to_ms: number; code: string }[];
};

const SPEAKS = { RATE_LIMITS: 'off', CHUNK_WORKER: '1', TRANSCRIBE_BUILT_IN: '1' };

async function open(t: { teardown(end: () => Promise<void>): void }): Promise<{ spool: TestSpool; ann: TestAccount }> {
  const spool = await TestSpool.start(SPEAKS);
  t.teardown(() => spool.end());
  return { spool, ann: await TestAccount.open(spool, 'ann@x.test') };
}

async function recordingOf(ann: TestAccount, names: readonly string[]): Promise<TestRecording> {
  const recording = await TestRecording.begin(ann);
  for (const name of names)
    await recording.add(LENGTHS_MS[name.split('.', 1)[0] as string] as number, { file: spokenFile(name) });
  await recording.end();
  return recording;
}

const transcriptOf = ({ account, id }: TestRecording) =>
  account.ask<Transcript>('GET', `/audio/streams/${id}/transcript`);

async function isTranscribed(recording: TestRecording): Promise<Transcript> {
  let transcript = await transcriptOf(recording);
  await until('it is transcribed', async () => {
    transcript = await transcriptOf(recording);
    return transcript.waiting.length === 0 && transcript.covered.length + transcript.failed.length > 0;
  });
  return transcript;
}

const textsOf = async (recording: TestRecording) => (await recording.turns()).map(({ text }) => text);

t.test('K-160 without any setting recordings are transcribed on this machine', { skip: NO_MODEL }, async (t) => {
  const { ann } = await open(t);
  const opus = await recordingOf(ann, ['said.opus', 'said.opus']);
  t.match(await isTranscribed(opus), { engine: 'built_in', failed: [] });
  const turns = await opus.turns('&include=words');
  t.same(
    turns.map(({ text }) => text),
    [...SAID, ...SAID],
  );
  t.match(turns[0], { language: 'en', confidence: 1 });
  const { items } = await ann.ask<{ items: unknown[] }>('GET', '/search?q=library+chairs');
  t.equal(items.length, 2, 'search finds them');
});

t.test('K-161 chunks of other formats are transcribed as well', { skip: NO_MODEL }, async (t) => {
  const { ann } = await open(t);
  for (const name of ['said.mp3', 'said.m4a', 'said.webm']) {
    const recording = await recordingOf(ann, [name]);
    t.match(await isTranscribed(recording), { failed: [] }, name);
    t.same(await textsOf(recording), SAID, name);
  }
  const text = { bytes: Buffer.from('this is no audio at all'), codec: 'mp3', container: 'mp3' };
  const recording = await TestRecording.begin(ann);
  await recording.add(1_000, { file: text });
  await recording.end();
  t.match(await isTranscribed(recording), { failed: [{ from_ms: 0, to_ms: 1_000, code: 'UNSUPPORTED_AUDIO' }] });
});

t.test('K-162 what the engine does not know is said, and never made up', { skip: NO_MODEL }, async (t) => {
  const { ann } = await open(t);
  const french = await recordingOf(ann, ['fr.opus']);
  const transcript = await isTranscribed(french);
  t.same(await textsOf(french), []);
  t.match(transcript.failed, [{ code: 'NOT_UNDERSTOOD' }]);

  await ann.ask('PUT', '/profile', { revision: 0, languages: ['de'] });
  const german = await recordingOf(ann, ['said.opus']);
  t.match((await isTranscribed(german)).failed, [{ from_ms: 0, to_ms: SAID_MS, code: 'LANGUAGE_UNKNOWN' }]);
});

t.test('K-163 a speech process that is killed loses nothing', { skip: NO_MODEL }, async (t) => {
  const { spool, ann } = await open(t);
  const first = await recordingOf(ann, ['said.opus']);
  await isTranscribed(first);
  const children = () => spool.server.services.speech.pid;
  const pid = children();
  t.ok(pid, 'it runs');
  const killed = await recordingOf(ann, ['said.mp3', 'said.opus']);
  process.kill(pid as number, 'SIGKILL');
  await until('its window is done, or waits for another try', async () => {
    await spool.operator.advanceClock(61_000);
    return (await textsOf(killed)).length === 4;
  });
  t.same(await textsOf(killed), [...SAID, ...SAID]);
});

t.test(
  'K-164 chunks of formats that cannot be joined play as one recording, and are heard as one',
  { skip: NO_MODEL },
  async (t) => {
    const { ann } = await open(t);
    const recording = await recordingOf(ann, ['said.mp3', 'said.m4a', 'said.opus']);
    const get = (range?: string) =>
      fetch(`${ann.spool.base_url}/audio/streams/${recording.id}/content`, {
        headers: { authorization: `Bearer ${ann.app.access_token}`, ...(range === undefined ? {} : { range }) },
      });
    const whole = await get();
    const bytes = Buffer.from(await whole.arrayBuffer());
    t.match([whole.status, whole.headers.get('content-type')], [200, 'audio/wav']);
    t.equal(bytes.length, 44 + 3 * SAID_MS * 32 * 2);
    const loudness = (second: number) => {
      const samples = bytes.subarray(44 + second * 64_000, 44 + (second + 1) * 64_000);
      return samples.reduce((sum, byte) => sum + Math.min(byte, 256 - byte), 0);
    };
    for (const chunk of [0, 1, 2])
      t.ok(loudness(chunk * 10.376 + 1) > 4 * loudness(chunk * 10.376 + 9.2), `chunk ${chunk}`);
    const part = await get('bytes=1000000-1000999');
    t.equal(part.status, 206);
    t.same(Buffer.from(await part.arrayBuffer()), bytes.subarray(1_000_000, 1_001_000));
    t.match(await isTranscribed(recording), { failed: [] });
    t.same(await textsOf(recording), [...SAID, ...SAID, ...SAID]);
  },
);
