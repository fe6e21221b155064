import t from 'tap';
import { partitionOfId } from '../../../src/domain/ids.js';
import { LIMITS } from '../../../src/domain/limits.js';
import { VECTORS, VECTORS_DUE } from '../../../src/domain/search/vectors.js';
import { ScriptedEmbeddings } from '../../../tools/speech/scripted_embeddings.js';
import { TestAccount } from '../../fixtures/account.js';
import { privateWorkspaceOf } from '../../fixtures/insights.js';
import { TestSpool } from '../../fixtures/spool.js';
import { said, TestRecording, TestTranscriber } from '../../fixtures/transcribing.js';
import { until } from '../../fixtures/until.js';

type Answer = {
  items: { stream_id: string; turns: { id: string; text: string }[]; matched: string[]; found_by: string }[];
};

const MEANINGS = [
  ['bicycle', 'pedals'],
  ['soup', 'broth'],
];
const BICYCLE = [
  'Good morning.',
  'My bicycle squeaks.',
  'Oil the chain.',
  'Bye.',
  'See you.',
  'Yes.',
  'Fine.',
  'Well.',
];
const SOUP = ['Lunch is ready.', 'The soup is hot.', 'Salt, please.', 'Here.', 'Thanks.', 'Good.', 'More?', 'No.'];

t.test('recall by meaning', async (t) => {
  const model = await ScriptedEmbeddings.start(MEANINGS, { teardown: (end) => t.teardown(end) });
  const spool = await TestSpool.start({ RATE_LIMITS: 'off', CHUNK_WORKER: '1', CONTENT_WORKER: '0' });
  t.teardown(() => spool.end());
  const before = await TestAccount.open(spool, 'ann@x.test');
  const worker = new TestTranscriber(spool);
  const records = async (texts: string[]) => {
    const recording = await TestRecording.begin(before);
    await recording.add(60_000);
    await recording.end();
    const turns = texts.map((text, at) => said(text, [at * 3_000, at * 3_000 + 2_500], 'A'));
    await worker.publish(await worker.claim(recording.id), turns);
    return recording.id;
  };
  const first = await records([...BICYCLE, ...SOUP]);
  const second = await records(SOUP);
  const query = { query: 'Where are the pedals?', context_turns: 0 };
  t.same((await before.ask<Answer>('POST', '/recall', query)).items, [], 'words alone find nothing');
  await spool.close();
  await spool.open({
    CONTENT_WORKER: '1',
    INSIGHTS: 'off',
    EMBED_URL: model.url,
    EMBED_KEY: 'secret',
    EMBED_MODEL: 'm',
  });
  const ann = await TestAccount.open(spool, 'ann@x.test');
  const ask = async () => (await ann.ask<Answer>('POST', '/recall', query)).items;
  const stored = async (id: string, collection: string) => {
    const place = { address: { kind: 'transcript', id }, partition: partitionOfId(id) };
    const [value] = await spool.server.services.store.records(place, collection, ['0000']);
    return value !== null;
  };
  const makeVectors = async (id: string) => {
    await spool.operator.advanceClock(LIMITS.vectors_quiet_ms + 1_000);
    await until('vectors', async () => (await stored(id, VECTORS)) && !(await stored(id, VECTORS_DUE)));
  };

  await t.test('K-197 K-279 vectors are made of what was said, by a job, and raise what means the same', async (t) => {
    await makeVectors(first);
    await makeVectors(second);
    const made = model.requests.filter(({ body }) => body.input.some((text) => text.includes('squeaks')));
    t.match(made, [{ authorization: 'Bearer secret', body: { model: 'm' } }]);
    t.same(made[0]?.body.input.slice(0, BICYCLE.length), BICYCLE, 'a vector for each turn');
    const [best] = await ask();
    t.same([best?.stream_id, best?.turns.map(({ text }) => text), best?.matched], [first, ['My bicycle squeaks.'], []]);
    t.equal(best?.found_by, 'meaning');
    const worded = await ann.ask<Answer>('POST', '/recall', { query: 'the broth, salt', context_turns: 0 });
    t.ok(
      worded.items[0]?.turns.some(({ text }) => text === 'Salt, please.'),
      'both rankings count',
    );
    t.equal(worded.items[0]?.found_by, 'words');
    const bound = await ann.ask<Answer>('POST', '/recall', { ...query, from: new Date(4e12).toISOString() });
    t.same(bound.items, [], 'bounds hold');
  });

  await t.test('K-197 without the model in time a recall goes by words alone', async (t) => {
    for (const broken of [
      { status: 500, body: '' },
      { status: 200, body: '{"data":[]}' },
      'cut off',
      'hang',
    ] as const) {
      model.answers = [broken];
      t.same(await ask(), [], JSON.stringify(broken));
    }
    model.answers = [{ status: 500, body: '' }];
    t.equal((await ann.ask<Answer>('POST', '/recall', { query: 'soup' })).items.length, 2);
  });

  await t.test(
    'K-198 vectors go with the turns that they were made of, in the same commit, and are made anew',
    async (t) => {
      const [item] = await ask();
      const turn = item?.turns.find(({ text }) => text.includes('bicycle'));
      await ann.ask('DELETE', `/turns/${turn?.id}`);
      t.same([await stored(first, VECTORS), await stored(first, VECTORS_DUE)], [false, true]);
      t.notOk((await ask()).some(({ turns }) => turns.some(({ id }) => id === turn?.id)));
      await makeVectors(first);
      const asked = model.requests.at(-1)?.body.input.join() ?? '';
      t.notOk(asked.includes('bicycle'), 'what was deleted is not sent again');
    },
  );

  await t.test('K-198 a recording that is deleted leaves no vectors', async (t) => {
    t.ok(await stored(second, VECTORS));
    await ann.ask('DELETE', `/audio/streams/${second}`);
    await until('erased', async () => {
      await spool.operator.advanceClock(1_000);
      return !(await stored(second, VECTORS)) && !(await stored(second, VECTORS_DUE));
    });
  });

  await t.test('K-197 a failed try rests and comes again', async (t) => {
    await ann.ask('PATCH', `/turns/${(await ask())[0]?.turns[0]?.id}`, { text: 'My bicycle squeaks.' });
    model.answers = [{ status: 503, body: '' }];
    await spool.operator.advanceClock(LIMITS.vectors_quiet_ms + 1_000);
    await until('a try', async () => model.answers.length === 0);
    t.notOk(await stored(first, VECTORS));
    await spool.operator.advanceClock((LIMITS.vectors_retries_ms[0] ?? 0) + 1_000);
    await until('vectors', () => stored(first, VECTORS));
  });

  await t.test('K-198 retention takes vectors with the turns', async (t) => {
    const workspace_id = await privateWorkspaceOf(ann);
    await ann.ask('PATCH', `/workspaces/${workspace_id}`, { retention: { transcripts: { days: 0 } } });
    await until('swept', async () => {
      await spool.operator.advanceClock(3_600_000);
      return !(await stored(first, VECTORS)) && !(await stored(first, VECTORS_DUE));
    });
    const later = await TestAccount.open(spool, ann.email);
    t.equal((await later.ask<{ items: [] }>('GET', `/turns?stream_id=${first}`)).items.length, 0);
  });
});
