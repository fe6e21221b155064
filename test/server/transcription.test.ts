import t from 'tap';
import { orNull } from '../../src/domain/refusals.js';
import { json, ScriptedEngine } from '../../tools/speech/scripted_engine.js';
import { TestAccount } from '../fixtures/account.js';
import { TestSpool } from '../fixtures/spool.js';
import { TestRecording } from '../fixtures/transcribing.js';
import { until } from '../fixtures/until.js';

type Transcript = {
  engine: string | null;
  waiting: [number, number][];
  covered: [number, number][];
  failed: { from_ms: number; to_ms: number; code: string }[];
};

const HOUR_MS = 3_600_000;

/** A recording of a few seconds in which one thing is said. */
async function saying(account: TestAccount, text: string, more: { end?: boolean } = {}): Promise<TestRecording> {
  const recording = await TestRecording.begin(account);
  await recording.add(4_000, { says: [{ text, start_ms: 1_000, end_ms: 3_000 }] });
  if (more.end !== false) await recording.end();
  return recording;
}

const textsOf = async (recording: TestRecording) => (await recording.turns()).map(({ text }) => text);

async function reads(recording: TestRecording, ...texts: string[]): Promise<void> {
  const is = async () => JSON.stringify(await textsOf(recording)) === JSON.stringify(texts);
  await until(`it reads ${texts.join(', ')}`, is);
}

t.test('K-043 K-046 what an engine hears becomes turns, whatever happens to the engine', async (t) => {
  const engine = await ScriptedEngine.start(t);
  const spool = await TestSpool.start({ RATE_LIMITS: 'off', CHUNK_WORKER: '1', CONTENT_AT_ONCE: '1' });
  t.teardown(() => spool.end());
  let ann = await TestAccount.open(spool, 'ann@x.test');
  const transcriptOf = ({ id }: TestRecording) => ann.ask<Transcript>('GET', `/audio/streams/${id}/transcript`);
  const restart = async (env: Record<string, string> = {}) => {
    await spool.close();
    await spool.open(env);
    ann = await TestAccount.open(spool, 'ann@x.test');
  };
  const again = (recording: TestRecording) => recording.as(ann);
  const minute = () => spool.operator.advanceClock(61_000);
  /** Longer than a sign-in. */
  const hour = async () => {
    await spool.operator.advanceClock(HOUR_MS);
    ann = await TestAccount.open(spool, 'ann@x.test');
  };

  const before: TestRecording[] = [];
  await t.test('without an engine nothing waits, and nobody is told', async (t) => {
    for (const name of ['first', 'second', 'third', 'fourth']) before.push(await saying(ann, `The ${name} recording.`));
    for (const recording of before) {
      t.match(await transcriptOf(recording), { engine: null, waiting: [], covered: [] });
      const transcript = spool.server.services.actors.transcript(recording.id);
      t.equal(await orNull(transcript.view(), 'NOT_FOUND'), null, 'there is no transcript');
    }
  });

  await t.test('an engine that is set later hears what was recorded before, the newest first', async (t) => {
    const oldest = before[0] as TestRecording;
    const heard: string[] = [];
    engine.before = async ({ samples }) => {
      heard.push(/The (\w+) recording/.exec(samples.toString('latin1'))?.[1] ?? '');
      // Slower than the server finds the others.
      if (heard.length === 1) await until('all are found', async () => (await seen(spool, oldest)).waiting.length > 0);
    };
    await restart({ TRANSCRIBE_URL: engine.url });
    for (const [at, name] of ['first', 'second', 'third', 'fourth'].entries()) {
      const recording = again(before[at] as TestRecording);
      await reads(recording, `The ${name} recording.`);
      t.match(await transcriptOf(recording), { engine: 'server', waiting: [], covered: [[0, 4_000]] });
    }
    t.same(heard, ['fourth', 'third', 'second', 'first']);
    engine.before = async () => {};
  });

  await t.test('K-122 an engine is told the words and the language that the account has named', async (t) => {
    const fieldsFor = async (text: string) => {
      await reads(await saying(ann, text), text);
      const { prompt = [], language = [] } = engine.requests.at(-1)?.fields ?? {};
      return [...prompt, ...language];
    };
    t.same(await fieldsFor('Nothing is known.'), []);
    await ann.ask('PUT', '/profile', { revision: 0, languages: ['de'], vocabulary: ['Sauerteig', 'Zoë'] });
    t.same(await fieldsFor('Some words are known.'), ['Sauerteig, Zoë.', 'de']);
    const { items } = await ann.ask<{ items: { id: string }[] }>('GET', '/pipelines');
    await ann.ask('PATCH', `/pipelines/${items[0]?.id}`, { transcription: { language: 'en' } });
    t.same(await fieldsFor('The pipeline says which language.'), ['Sauerteig, Zoë.', 'en']);
    await ann.ask('PATCH', `/pipelines/${items[0]?.id}`, { transcription: { language: null } });
    await ann.ask('PUT', '/profile', { revision: 1, languages: ['de', 'en'] });
    t.same(await fieldsFor('Two languages are none.'), []);
  });

  await t.test('turns are what was said, with words, times and speakers', async (t) => {
    const recording = await TestRecording.begin(ann);
    const script = Array.from({ length: 14 }, (_, at) => ({
      ...{ text: `Sentence ${at} has five words.`, start_ms: at * 10_000 + 500, end_ms: at * 10_000 + 9_300 },
      speaker: 'AB'[at % 2] as string,
    }));
    for (let from_ms = 0; from_ms < 140_000; from_ms += 20_000)
      await recording.add(20_000, {
        says: script.filter(({ start_ms }) => start_ms >= from_ms && start_ms < from_ms + 20_000),
      });
    await recording.end();
    await until('all of it is heard', async () => (await recording.turns()).length === script.length);
    const turns = await recording.turns('&include=words');
    t.same(
      turns.map(({ text, start_ms, end_ms }) => ({ text, start_ms, end_ms })),
      script.map(({ text, start_ms, end_ms }) => ({ text, start_ms, end_ms })),
    );
    const [first] = turns;
    const said = await ann.ask<{ words: { text: string; start_ms: number; end_ms: number }[] }>(
      'GET',
      `/turns/${first?.id}?include=words`,
    );
    t.match(said.words, { length: 5, 0: { text: 'Sentence', start_ms: 500 }, 4: { text: 'words', end_ms: 9_300 } });
    const speakers = new Map(turns.map(({ speaker, text }) => [text, speaker]));
    for (const one of script.slice(0, 4))
      for (const other of script.slice(0, 4)) {
        const is_same = speakers.get(one.text) === speakers.get(other.text);
        t.equal(is_same, one.speaker === other.speaker, 'labels tell speakers apart within a window');
      }
    t.equal(new Set(engine.requests.map(({ sha256 }) => sha256)).size, engine.requests.length, 'nothing is sent twice');
  });

  const BROKEN = { status: 500, body: 'no' };
  await t.test('an engine that fails, or answers what is no answer, is asked again', async (t) => {
    const html = { status: 200, body: '<html><body>It works!</body></html>' };
    engine.answers = [BROKEN, html, 'cut off', json({ text: 7 })];
    const recordings: TestRecording[] = [];
    for (const nth of [1, 2, 3, 4]) recordings.push(await saying(ann, `Heard after all, number ${nth}.`));
    for (const recording of recordings) {
      await until('it failed', async () => (await seen(spool, recording)).retry?.tries === 1);
      t.same(await textsOf(recording), []);
      t.match(await transcriptOf(recording), { waiting: [[0, 4_000]], failed: [] });
    }
    await minute();
    for (const [at, recording] of recordings.entries()) await reads(recording, `Heard after all, number ${at + 1}.`);
  });

  await t.test('an engine is left alone for as long as it asks', async (t) => {
    engine.answers = [{ status: 429, body: '', headers: { 'retry-after': '240' } }];
    const recording = await saying(ann, 'Heard after a rest.');
    await until('it failed', async () => (await seen(spool, recording)).retry !== null);
    const asked = engine.requests.length;
    await minute();
    await minute();
    t.equal(engine.requests.length, asked);
    await spool.operator.advanceClock(180_000);
    await reads(recording, 'Heard after a rest.');
  });

  await t.test('after five tries, or when it is refused, it says why, and staff can have it tried again', async (t) => {
    engine.answers = Array.from({ length: 5 }, () => BROKEN);
    const recording = await saying(ann, 'Heard at last.');
    for (let tries = 1; tries < 5; tries++) {
      await until(`try ${tries} failed`, async () => (await seen(spool, recording)).retry?.tries === tries);
      await hour();
    }
    const given_up = { waiting: [], failed: [{ from_ms: 0, to_ms: 4_000, code: 'ENGINE_ERROR' }] };
    await until('it is given up', async () => (await transcriptOf(recording)).failed.length === 1);
    t.match(await transcriptOf(recording), given_up);
    const content = await spool.operator.call('GET /ops/content');
    t.match(content, {
      transcriber: { by: 'server', host: new URL(engine.url).host },
      ...{ in_hand: 0, failing: { tries: 5, code: 'ENGINE_ERROR' } },
      last_hour: { failures: [{ code: 'ENGINE_ERROR', tries: 1 }] },
    });
    const { health_problems } = await spool.operator.call('GET /ops/overview');
    t.match(
      health_problems.find(({ name }) => name === 'transcription_failing'),
      { text: /5 tries failed, the last with ENGINE_ERROR/ },
    );
    engine.answers = [{ status: 403, body: '' }];
    const refused = await saying(ann, 'Never heard.');
    await until('it is given up', async () => (await transcriptOf(refused)).failed[0]?.code === 'ENGINE_REFUSED');
    await spool.operator.ask('POST', `/ops/streams/${recording.id}/reprocess`, { only_failed: true });
    await reads(again(recording), 'Heard at last.');
    t.match(await spool.operator.call('GET /ops/content'), {
      ...{ failing: null, waiting: { due: 0, later: 0, oldest_due_s: null, beyond: false } },
      last_hour: { windows: 1, turns: 1, failures: { length: 2 } },
    });
    t.same(await textsOf(again(refused)), []);
  });

  await t.test('a layer that is off has nobody listen; what was recorded meanwhile is heard later', async (t) => {
    await ann.entitle('transcripts.access', false);
    const asked = engine.requests.length;
    const recording = await saying(ann, 'Recorded while the layer was off.');
    await spool.operator.advanceClock(600_000);
    t.equal(engine.requests.length, asked);
    await ann.entitle('transcripts.access', true);
    await hour();
    await reads(again(recording), 'Recorded while the layer was off.');
  });

  await t.test('a server that closes gives its window back', async (t) => {
    engine.answers = ['hang'];
    const asked = engine.requests.length;
    const recording = await saying(ann, 'Heard after the restart.');
    await until('it is being asked', () => engine.requests.length > asked);
    await restart();
    await reads(again(recording), 'Heard after the restart.');
    t.match(await seen(spool, recording), { retry: null, window: null, failed: [] });
  });

  await t.test('of a deleted account nothing is heard, and once it is restored all is', async (t) => {
    const bob = await TestAccount.open(spool, 'bob@x.test');
    engine.answers = [BROKEN];
    const recording = await saying(bob, 'Said by Bob.');
    await until('it failed', async () => (await seen(spool, recording)).retry !== null);
    await bob.ask('DELETE', '/me');
    const asked = engine.requests.length;
    await spool.operator.advanceClock(600_000);
    t.equal(engine.requests.length, asked);
    await bob.ask('POST', '/me/restore');
    await spool.operator.advanceClock(600_000);
    await reads(recording, 'Said by Bob.');
  });
});

/** Its transcript, as it is kept. */
async function seen(spool: TestSpool, { id }: Pick<TestRecording, 'id'>) {
  // An engine is asked while the server still starts; until it has, this asks the one before, which has shut.
  const transcript = await orNull(spool.server.services.actors.transcript(id).view(), 'NOT_FOUND', 'UNAVAILABLE');
  return transcript ?? { retry: null, window: null, failed: [], waiting: [] };
}
