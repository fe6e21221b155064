import t from 'tap';
import { partitionOfId } from '../../../src/domain/ids.js';
import { LIMITS } from '../../../src/domain/limits.js';
import { modelOfVectors, readVectors, VECTORS, VECTORS_DUE } from '../../../src/domain/search/vectors.js';
import { decodeStored } from '../../../src/engine/store/codec.js';
import { ScriptedEmbeddings } from '../../../tools/speech/scripted_embeddings.js';
import { TestAccount } from '../../fixtures/account.js';
import { NO_MEANING_MODEL } from '../../fixtures/meaning.js';
import { TestSpool } from '../../fixtures/spool.js';
import { type Said, said, TestRecording, TestTranscriber } from '../../fixtures/transcribing.js';
import { until } from '../../fixtures/until.js';

type Answer = { items: { stream_id: string; turns: { id: string; text: string }[] }[] };
type RecallSettings = { by_meaning: boolean };

const ACHE = ['Morning, Tom.', 'His teeth and gums are sore again.', 'Again? Oh no.', 'Thanks.'];
const SOUP = ['Lunch is ready now.', 'The soup is too hot.', 'Here you are.', 'Good, and the bread is fresh.'];
const SCHUPPEN = ['Guten Morgen, Tom.', 'Das Rad steht im Schuppen hinter dem Haus.', 'Ich öle heute Abend die Kette.'];
const QUESTION = { query: 'Any dentist for him?', context_turns: 0 };
const BUILT_IN = { CONTENT_WORKER: '1', INSIGHTS: 'off', EMBED_BUILT_IN: '1' };

t.test('recall by the built-in model', { skip: NO_MEANING_MODEL }, async (t) => {
  const spool = await TestSpool.start({ RATE_LIMITS: 'off', CHUNK_WORKER: '1', CONTENT_WORKER: '0' });
  t.teardown(() => spool.end());
  const before = await TestAccount.open(spool, 'ann@x.test');
  const worker = new TestTranscriber(spool);
  const records = async (texts: string[], language?: string) => {
    const recording = await TestRecording.begin(before);
    await recording.add(60_000);
    await recording.end();
    const turns = texts.map((text, at): Said & { language?: string } => ({
      ...said(text, [at * 3_000, at * 3_000 + 2_500], 'A'),
      ...(language === undefined ? {} : { language }),
    }));
    await worker.publish(await worker.claim(recording.id), turns);
    return recording.id;
  };
  const ache = await records(ACHE);
  const soup = await records(SOUP, 'en-GB');
  const german = await records(SCHUPPEN, 'de');
  const untold = await records(SCHUPPEN);
  await spool.close();
  await spool.open(BUILT_IN);
  let ann = await TestAccount.open(spool, 'ann@x.test');
  const ask = async (query = QUESTION) => (await ann.ask<Answer>('POST', '/recall', query)).items;
  const stored = async (id: string, collection: string): Promise<Uint8Array | null> => {
    const place = { address: { kind: 'transcript', id }, partition: partitionOfId(id) };
    const [value = null] = await spool.server.services.store.records(place, collection, ['0000']);
    return value === null ? null : (decodeStored(value) as Uint8Array);
  };
  const isDue = async (id: string) => (await stored(id, VECTORS_DUE)) !== null;
  const makeVectors = async (ids: string[]) => {
    await spool.operator.advanceClock(LIMITS.vectors_quiet_ms + 1_000);
    for (const id of ids)
      await until('vectors', async () => (await stored(id, VECTORS)) !== null && !(await isDue(id)));
  };
  const windowsOf = async (id: string) => readVectors((await stored(id, VECTORS)) ?? new Uint8Array())?.count;

  await t.test('K-272 what means the same is found without any setting', async (t) => {
    t.same(await ask(), [], 'words alone find nothing');
    await makeVectors([ache, soup]);
    const [best] = await ask();
    t.equal(best?.stream_id, ache);
    t.ok(best?.turns.some(({ text }) => text.includes('gums')));
  });

  await t.test('K-274 turns of another language get no vector, and are found by words', async (t) => {
    await makeVectors([german, untold]);
    t.same([await windowsOf(ache), await windowsOf(german), await windowsOf(untold)], [4, 0, 0]);
    const found = await ask({ ...QUESTION, query: 'Schuppen' });
    const ids = new Set(found.map(({ stream_id }) => stream_id));
    t.ok(ids.has(german) && ids.has(untold));
  });

  await t.test('K-275 an account that wants none loses its vectors, and recall goes by words', async (t) => {
    t.same(await ann.ask<RecallSettings>('GET', '/recall/settings'), { by_meaning: true });
    t.same(await ann.ask<RecallSettings>('PATCH', '/recall/settings', { by_meaning: false }), { by_meaning: false });
    t.same(await ann.ask<RecallSettings>('GET', '/recall/settings'), { by_meaning: false });
    t.same(await ask(), [], 'at once');
    for (const id of [ache, soup])
      await until('its vectors are gone', async () => {
        await spool.operator.advanceClock(1_000);
        return (await stored(id, VECTORS)) === null;
      });
    t.ok((await ask({ ...QUESTION, query: 'soup' })).length > 0, 'by words');

    const [said_of_soup] = await ask({ ...QUESTION, query: 'soup' });
    await ann.ask('PATCH', `/turns/${said_of_soup?.turns[0]?.id}`, { text: 'The soup needs pepper.' });
    await spool.operator.advanceClock(LIMITS.vectors_quiet_ms + 1_000);
    t.same([await stored(soup, VECTORS), await isDue(soup)], [null, true], 'nor are any made');

    await ann.ask('PATCH', '/recall/settings', { by_meaning: true });
    for (const id of [ache, soup])
      await until('they are made again', async () => {
        await spool.operator.advanceClock(1_000);
        return (await stored(id, VECTORS)) !== null;
      });
    t.ok((await ask()).some(({ stream_id }) => stream_id === ache));
  });

  await t.test('K-276 vectors of another model are made anew when a recall meets them', async (t) => {
    const server = await ScriptedEmbeddings.start([['dentist', 'gums']], { teardown: (end) => t.teardown(end) });
    const was = modelOfVectors((await stored(ache, VECTORS)) as Uint8Array);
    await spool.close();
    await spool.open({ ...BUILT_IN, EMBED_URL: server.url });
    ann = await TestAccount.open(spool, 'ann@x.test');
    t.same(await ask(), [], 'until then its words are looked for');
    await until('those of the server are there', async () => {
      await spool.operator.advanceClock(1_000);
      const now = await stored(ache, VECTORS);
      return now !== null && modelOfVectors(now) !== was;
    });
    await until('it is found', async () => (await ask())[0]?.stream_id === ache);
  });
});
