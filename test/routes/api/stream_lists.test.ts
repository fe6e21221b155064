import t from 'tap';
import type { Contact, Stream } from '../../../kits/typescript/src/api.js';
import { TestAccount } from '../../fixtures/account.js';
import { bearer } from '../../fixtures/answers.js';
import { TestSpool } from '../../fixtures/spool.js';
import { said, TestRecording, TestTranscriber } from '../../fixtures/transcribing.js';

/** Lists of recordings, narrowed by person, source and time. */

const spool = await TestSpool.start({ RATE_LIMITS: 'off', CHUNK_WORKER: '1', CONTENT_WORKER: '0' });
t.teardown(() => spool.end());
const ann = await TestAccount.open(spool, 'ann@x.test');
const worker = new TestTranscriber(spool);

type Voiced = readonly (readonly [text: string, speaker?: string])[];
const recorded = async (captured_at: string, voiced: Voiced, source_id?: string) => {
  const recording = await TestRecording.begin(ann, { captured_at, ...(source_id === undefined ? {} : { source_id }) });
  await recording.add(60_000);
  await recording.end();
  const turns = voiced.map(([text, speaker], at) => said(text, [at * 5_000, at * 5_000 + 4_000], speaker));
  await worker.publish(await worker.claim(recording.id), turns);
  return recording;
};
type Listed = { items: Stream[]; cursor: string | null };
const list = (query: string) => ann.ask<Listed>('GET', `/audio/streams?${query}`);
const idsOf = async (query: string) => (await list(query)).items.map(({ id }) => id);
const call = (recording: TestRecording, speaker: string, contact_id: string | null) =>
  ann.ask('PATCH', `/audio/streams/${recording.id}/speakers/${speaker}`, { contact_id });

const first = await recorded('2026-11-01T10:00:00.000Z', [
  ['Good morning.', 'A'],
  ['Morning!', 'B'],
  ['Tea?', 'A'],
]);
const second = await recorded('2026-11-02T10:00:00.000Z', [['The tea is cold.', 'A']], first.source_id);
const third = await recorded('2026-11-03T10:00:00.000Z', [['Nobody told us apart.']]);
const [ben, mia] = await Promise.all(['Ben', 'Mia'].map((name) => ann.ask<Contact>('POST', '/contacts', { name })));
if (ben === undefined || mia === undefined) throw new Error('no contacts');
await call(first, 'S2', ben.id);
await call(second, 'S1', ben.id);

await t.test('K-240 a list of recordings says who speaks in each', async (t) => {
  const { items } = await list('include=speakers');
  t.same(
    items.map(({ speakers }) => speakers),
    [
      [],
      [{ speaker: 'S1', contact_id: ben.id, name: 'Ben' }],
      [
        { speaker: 'S1', contact_id: null, name: null },
        { speaker: 'S2', contact_id: ben.id, name: 'Ben' },
      ],
    ],
  );
  const [turn] = await third.turns();
  await ann.ask('PATCH', `/turns/${turn?.id}`, { contact_id: mia.id });
  const one = await ann.ask<Stream>('GET', `/audio/streams/${third.id}?include=title_suggested,speakers`);
  t.match(one, { first_line: 'Nobody told us apart.', speakers: [{ speaker: null, contact_id: mia.id, name: 'Mia' }] });
  for (const stream of (await list('')).items) t.notOk('speakers' in stream, 'only when asked for');
  t.equal(await ann.says('GET', '/audio/streams?include=speakers,words'), '400 BAD_REQUEST');
});

await t.test('K-240 recordings are found by who speaks in them, by source and by when they began', async (t) => {
  t.same(await idsOf(`contact_id=${ben.id}`), [second.id, first.id]);
  t.same(await idsOf(`contact_id=${mia.id}`), [third.id]);
  t.same(await idsOf(`contact_id=${mia.id}&source_id=${first.source_id}`), []);
  t.same(await idsOf('from=2026-11-02T00:00:00Z&to=2026-11-03T10:00:00Z'), [second.id]);
  t.same(await idsOf(`contact_id=${ben.id}&to=2026-11-02T00:00:00Z`), [first.id]);
  t.same(await idsOf(`source_id=${third.source_id}&from=2026-11-03T00:00:00Z`), [third.id]);
  await call(second, 'S1', mia.id);
  t.same(await idsOf(`contact_id=${ben.id}`), [first.id], 'who was named there before does not count');
  t.same(await idsOf(`contact_id=${mia.id}`), [third.id, second.id]);
  t.equal(await ann.says('GET', '/audio/streams?contact_id=0198f3a2-5c1e-7b60-8d3f-2a4b80000101'), '404 NOT_FOUND');
  t.equal(await ann.says('GET', '/audio/streams?from=yesterday'), '400 BAD_REQUEST');
});

await t.test('K-240 pages of a narrow list go on where the one before ended', async (t) => {
  const found: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: Listed = await list(`contact_id=${mia.id}&limit=1${cursor === '' ? '' : `&cursor=${cursor}`}`);
    t.ok(page.items.length <= 1);
    found.push(...page.items.map(({ id }) => id));
    cursor = page.cursor;
  }
  t.same(found, [third.id, second.id]);
});

await t.test('K-240 a speaker who begins after the first hour is found once named', async (t) => {
  const long = await TestRecording.begin(ann, { captured_at: '2026-10-04T10:00:00.000Z' });
  const hour_ms = 3_600_000;
  await long.add(60_000);
  await long.add(60_000, { from_ms: hour_ms });
  await long.end();
  for (const [text, at_ms] of [
    ['Early.', 0],
    ['Late.', hour_ms + 1_000],
  ] as const)
    await worker.publish(await worker.claim(long.id), [said(text, [at_ms, at_ms + 4_000], `voice ${at_ms}`)]);
  const speakersOf = async () => (await ann.ask<Stream>('GET', `/audio/streams/${long.id}?include=speakers`)).speakers;
  t.same(
    (await speakersOf())?.map(({ speaker }) => speaker),
    ['S1'],
  );
  const ole = await ann.ask<Contact>('POST', '/contacts', { name: 'Ole' });
  await call(long, 'S2', ole.id);
  t.same(
    (await speakersOf())?.map(({ name }) => name),
    [null, 'Ole'],
  );
  t.same(await idsOf(`contact_id=${ole.id}`), [long.id]);
  await ann.ask('DELETE', `/audio/streams/${long.id}`);
});

await t.test('K-240 speakers are for whoever may read transcripts', async (t) => {
  const { value } = await ann.ask<{ value: string }>('POST', '/me/tokens', {
    ...{ name: 'audio', permissions: ['audio:read'], expires_at: null },
  });
  const audio = bearer(spool, value);
  const { items } = await audio.ask<Listed>('GET', '/audio/streams?include=speakers');
  t.equal(items.length, 3);
  for (const { speakers } of items) t.equal(speakers, null);
  t.equal((await audio.send('GET', `/audio/streams?contact_id=${ben.id}`)).status, 403);
});
