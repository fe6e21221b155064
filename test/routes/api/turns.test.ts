import t from 'tap';
import type { Turn } from '../../../kits/typescript/src/api.js';
import { TestAccount } from '../../fixtures/account.js';
import { TestSpool } from '../../fixtures/spool.js';
import { said, TestRecording, TestTranscriber, type WorkView } from '../../fixtures/transcribing.js';
import { until } from '../../fixtures/until.js';

const CAPTURED_MS = Date.parse('2026-11-01T10:00:00.000Z');

const spool = await TestSpool.start({ RATE_LIMITS: 'off', CHUNK_WORKER: '1', CONTENT_WORKER: '0' });
t.teardown(() => spool.end());
const ann = await TestAccount.open(spool, 'ann@x.test');
const worker = new TestTranscriber(spool);

await t.test('K-004 K-047 a window is claimed, published, and read as turns', async (t) => {
  const recording = await TestRecording.begin(ann);
  await recording.add(20_000);
  await recording.end();
  await ann.newEvents();
  const work = await worker.claim(recording.id);
  t.match(work, { from_ms: 0, to_ms: 20_000, final: true, tries: 1, previous_text: null });
  t.equal(work.audio.length, 1);
  const spoken = [
    said('Good morning everybody.', [500, 2_000], 'A'),
    said('Hello Ann.', [2_500, 3_500], 'B'),
    said('Let us begin.', [4_000, 5_000], 'A'),
  ];
  const published = await worker.publish(work, spoken, { language: 'en' });
  t.same(published, { published: { turns: 3, replaced: 0, protected: 0, suppressed: 0 } });
  t.same(await worker.publish(work, spoken, { language: 'en' }), published, 'the same again gets the same answer');
  t.equal(await worker.says(`/ops/jobs/${work.job}/publish`, { claim: work.claim, turns: [] }), '409 CONFLICT');
  const turns = await recording.turns();
  t.match(turns, [
    { text: 'Good morning everybody.', start_ms: 500, end_ms: 2_000, speaker: 'S1', attribution: 'detected' },
    { text: 'Hello Ann.', speaker: 'S2', contact_id: null, speaker_name: null, language: 'en', audio: 'available' },
    { text: 'Let us begin.', speaker: 'S1', started_at: new Date(CAPTURED_MS + 4_000).toISOString() },
  ]);
  const [first] = turns;
  const with_words = await ann.ask<{ words: { text: string }[] }>('GET', `/turns/${first?.id}?include=words`);
  t.same(
    with_words.words.map(({ text }) => text),
    ['Good', 'morning', 'everybody.'],
  );
  const events = await ann.newEvents();
  t.same(
    events,
    turns.map(({ id }) => `turn.created ${id} ${recording.source_id} ${work.run_id}`),
  );
  const stream = await ann.ask<{ transcript_revision: number }>('GET', `/audio/streams/${recording.id}`);
  t.equal(stream.transcript_revision, 1);
  t.match(await ann.ask('GET', `/audio/streams/${recording.id}/transcript`), {
    revision: 1,
    languages: ['en'],
    speakers: [
      { speaker: 'S1', turns: 2, talk_ms: 2_500 },
      { speaker: 'S2', turns: 1, talk_ms: 1_000 },
    ],
    covered: [[0, 20_000]],
    waiting: [],
    failed: [],
    expired: [],
    engine: 'workers',
    engine_languages: null,
    tells_speakers: false,
    told_speakers: null,
  });
  const vtt = await ann.app.send('GET', `/audio/streams/${recording.id}/transcript/text?format=vtt`);
  t.equal(
    vtt.body.toString(),
    'WEBVTT\n\n00:00:00.500 --> 00:00:02.000\n<v S1>Good morning everybody.\n\n' +
      '00:00:02.500 --> 00:00:03.500\n<v S2>Hello Ann.\n\n00:00:04.000 --> 00:00:05.000\n<v S1>Let us begin.\n\n',
  );
});

await t.test('K-042 an account has four windows in hand, and the next soon after one of them is done', async (t) => {
  const eve = await TestAccount.open(spool, 'eve@x.test');
  const recordings: TestRecording[] = [];
  for (let nth = 0; nth < 6; nth++) {
    const recording = await TestRecording.begin(eve);
    await recording.add(2_000);
    await recording.end();
    recordings.push(recording);
  }
  const claim = async () => {
    await spool.operator.advanceClock(2_000);
    return spool.operator.ask<{ items: WorkView[] }>('POST', '/ops/jobs/claim', { limit: 20, lease_s: 3_600 });
  };
  const taken: WorkView[] = [];
  // What other entities have left is found after a second.
  await until('windows are handed out', async () => {
    taken.push(...(await claim()).items);
    return taken.length >= 4;
  });
  const [first, ...others] = taken;
  t.equal(others.length, 3);
  t.same((await claim()).items, []);
  await worker.publish(first as WorkView, []);
  const [fifth, ...more] = (await claim()).items;
  t.same(more, []);
  await worker.publish(fifth as WorkView, []);
  const [sixth] = (await claim()).items;
  const streams = [first, ...others, fifth, sixth].map((work) => work?.stream_id).sort();
  t.same(streams, recordings.map(({ id }) => id).sort());
  for (const work of [...others, sixth]) await worker.publish(work as WorkView, []);
});

await t.test('K-011 K-028 K-031 K-033 what people correct is seen at once, and outlives a later run', async (t) => {
  const recording = await TestRecording.begin(ann);
  await recording.add(20_000);
  await recording.end();
  const bob = await ann.ask<{ id: string }>('POST', '/contacts', { name: 'Bob' });
  const first = await worker.claim(recording.id);
  const spoken = [
    said('I think so too.', [0, 2_000], 'A'),
    said('We meet on tuesday. Agreed.', [3_000, 6_000], 'B'),
    said('Goodbye then.', [7_000, 8_000], 'A'),
    said('Never mind that.', [9_000, 10_000], 'B'),
  ];
  await worker.publish(first, spoken);
  const [so_too, tuesday, goodbye, never] = (await recording.turns()).map(({ id }) => id);
  await ann.newEvents();

  t.match(await ann.ask('PATCH', `/turns/${so_too}`, { contact_id: bob.id }), {
    ...{ contact_id: bob.id, speaker_name: 'Bob', attribution: 'manual', speaker: 'S1' },
  });
  t.equal(await ann.says('PATCH', `/turns/${so_too}`, { contact_id: bob.id }), '200', 'again: nothing to change');
  t.equal(await ann.says('PATCH', `/turns/${goodbye}`, { speaker: 'S2' }), '200');
  const split = await ann.ask<{ items: Turn[] }>('POST', `/turns/${tuesday}/split`, { at_ms: 5_000 });
  t.match(split.items, [{ id: tuesday, text: 'We meet on tuesday.' }, { text: 'Agreed.' }]);
  t.equal(await ann.says('DELETE', `/turns/${never}`), '204');
  t.equal(await ann.says('DELETE', `/turns/${never}`), '404 NOT_FOUND');
  t.equal(await ann.says('GET', `/turns/${never}`), '404 NOT_FOUND');
  const { source_id } = recording;
  t.same(await ann.newEvents(), [
    `turn.updated ${so_too} contact_id ${source_id}`,
    `turn.updated ${goodbye} speaker ${source_id}`,
    `turn.updated ${tuesday} end_ms text ${source_id}`,
    `turn.created ${split.items[1]?.id} ${source_id}`,
    `turn.deleted ${never} ${source_id}`,
  ]);

  const before = (await recording.turns()).map(({ text, contact_id, speaker }) => ({ text, contact_id, speaker }));
  await spool.operator.ask('POST', `/ops/streams/${recording.id}/reprocess`, {});
  const again = await worker.claim(recording.id);
  const heard = [...spoken.slice(0, 2), said('Good bye then.', [7_000, 8_000], 'A'), ...spoken.slice(3)];
  const { published } = await worker.publish(again, heard);
  t.match(published, { replaced: 1, suppressed: 1 });
  const after = (await recording.turns()).map(({ text, contact_id, speaker }) => ({ text, contact_id, speaker }));
  t.same(
    after,
    before.map((turn) => (turn.text === 'Goodbye then.' ? { ...turn, text: 'Good bye then.' } : turn)),
  );
  t.same(await ann.newEvents(), [`run.published ${again.run_id} ${source_id} ${again.run_id}`]);
  t.equal(await ann.says('GET', `/turns/${goodbye}`), '404 NOT_FOUND', 'a superseded turn is no turn');
  t.equal(await ann.says('GET', `/runs/${again.run_id}`), '404 NOT_FOUND', 'a run has no address');
});

await t.test('K-031 an event of a correction names nothing that stayed as it was', async (t) => {
  const recording = await TestRecording.begin(ann);
  await recording.add(20_000);
  await recording.end();
  await worker.publish(await worker.claim(recording.id), [
    said('One.', [0, 2_000], 'A'),
    said('Two.', [3_000, 4_000], 'A'),
    said('Three.', [5_000, 6_000], 'A'),
  ]);
  const [first, second, third] = (await recording.turns()).map(({ id }) => id);
  const { id: contact_id } = await ann.ask<{ id: string }>('POST', '/contacts', { name: 'Dan' });
  await ann.newEvents();
  await ann.ask('PATCH', `/turns/${first}`, { contact_id: null });
  await ann.ask('PATCH', `/turns/${second}`, { speaker: 'S1' });
  await ann.ask('PATCH', `/audio/streams/${recording.id}/speakers/S1`, { contact_id });
  await ann.ask('PATCH', `/turns/${third}`, { contact_id });
  const { source_id } = recording;
  t.same(await ann.newEvents(), [
    `turn.updated ${first} attribution ${source_id}`,
    `turn.updated ${second} attribution ${source_id}`,
    ...[second, third].map((id) => `turn.updated ${id} contact_id ${source_id}`),
  ]);
});

await t.test('K-032 a correction is answered as it was made, whatever takes its place at once', async (t) => {
  const recording = await TestRecording.begin(ann);
  await recording.add(20_000);
  await recording.end();
  const eve = await ann.ask<{ id: string }>('POST', '/contacts', { name: 'Eve' });
  await worker.publish(await worker.claim(recording.id), [
    said('One. Two.', [0, 2_000], 'A'),
    said('Three.', [3_000, 4_000], 'A'),
  ]);
  const [first, second] = (await recording.turns()).map(({ id }) => id);
  await ann.newEvents();
  const { runtime } = spool.server.services;
  const { ask } = runtime;
  t.teardown(() => {
    runtime.ask = ask;
  });
  // As soon as it is made another call deletes what it made.
  runtime.ask = (async (address, message, ...others) => {
    const answer = await ask.call(runtime, address, message, ...others);
    const { type, page, serial } = message as { type: string; page: number; serial: number };
    if (type === 'change_turn' || type === 'split_turn')
      await ask.call(runtime, address, { type: 'delete_turn', page, serial }, ...others);
    return answer;
  }) as typeof ask;
  const changed = await ann.ask('PATCH', `/turns/${second}`, { contact_id: eve.id });
  t.match(changed, { id: second, contact_id: eve.id, attribution: 'manual' });
  t.match(await ann.ask('POST', `/turns/${first}/split`, { at_ms: 1_000 }), {
    items: [{ text: 'One.' }, { text: 'Two.' }],
  });
  t.same(
    (await ann.newEvents())
      .map((event) => event.split(' ', 2).join(' '))
      .filter((event) => event.endsWith(String(second))),
    [`turn.updated ${second}`, `turn.deleted ${second}`],
  );
});

await t.test('K-005 K-035 a speaker gets a name, and two speakers become one, in all their turns', async (t) => {
  const recording = await TestRecording.begin(ann);
  await recording.add(60_000);
  const carl = await ann.ask<{ id: string }>('POST', '/contacts', { name: 'Carl' });
  const work = await worker.claim(recording.id);
  const spoken = Array.from({ length: 6 }, (_, at) =>
    said(`Number ${at}.`, [at * 1_000, at * 1_000 + 900], 'ABC'[at % 3]),
  );
  await worker.publish(work, spoken);
  const turns = await recording.turns();
  await ann.newEvents();
  const of = (at: number) => turns.filter((_, index) => index % 3 === at).map(({ id }) => id);
  const transcript = await ann.ask('PATCH', `/audio/streams/${recording.id}/speakers/S1`, { contact_id: carl.id });
  t.match(transcript, { speakers: [{ speaker: 'S1', contact_id: carl.id, name: 'Carl', attribution: 'manual' }] });
  t.same(
    await ann.newEvents(),
    of(0).map((id) => `turn.updated ${id} contact_id ${recording.source_id}`),
  );
  await ann.ask('POST', `/audio/streams/${recording.id}/speakers/S2/merge`, { into: 'S1' });
  t.same(
    await ann.newEvents(),
    of(1).map((id) => `turn.updated ${id} speaker ${recording.source_id}`),
  );
  t.same(
    (await recording.turns()).map(({ speaker_name }) => speaker_name),
    ['Carl', 'Carl', null, 'Carl', 'Carl', null],
  );
  const path = `/audio/streams/${recording.id}/speakers`;
  t.equal(await ann.says('POST', `${path}/S2/merge`, { into: 'S1' }), '200', 'again: nothing to change');
  t.equal(await ann.says('POST', `${path}/S3/merge`, { into: 'S3' }), '409 CONFLICT');
  t.equal(await ann.says('PATCH', `${path}/S9`, { contact_id: null }), '404 NOT_FOUND');
  t.equal(await ann.says('PATCH', `${path}/S3`, { contact_id: recording.id }), '404 NOT_FOUND', 'no contact');
  t.same(await ann.newEvents(), []);

  const dora = await ann.ask<{ id: string }>('POST', '/contacts', { name: 'Dora' });
  const { items } = await ann.ask<{ items: Turn[] }>('GET', `/turns?contact_id=${carl.id}`);
  t.same(
    items.map(({ text }) => text),
    ['Number 4.', 'Number 3.', 'Number 1.', 'Number 0.'],
    'the newest first',
  );
  await ann.newEvents();
  await ann.ask('POST', `/contacts/${carl.id}/merge`, { into: dora.id });
  t.same(
    (await recording.turns()).map(({ speaker_name }) => speaker_name),
    ['Dora', 'Dora', null, 'Dora', 'Dora', null],
  );
  const events = await ann.newEvents();
  t.same(
    events.filter((event) => event.startsWith('turn.')).sort(),
    [...of(0), ...of(1)].map((id) => `turn.updated ${id} contact_id ${recording.source_id}`).sort(),
  );
  const of_dora = await ann.ask<{ items: Turn[] }>('GET', `/turns?contact_id=${dora.id}`);
  t.equal(of_dora.items.length, 4);
});

await t.test(
  'K-002 K-019 K-050 what was recorded from a deleted source is not shown any more, and nothing is recorded of it',
  async (t) => {
    const recording = await TestRecording.begin(ann);
    await recording.add(60_000);
    await worker.publish(await worker.claim(recording.id), [said('Secret words.', [0, 1_000], 'A')]);
    const [turn] = await recording.turns();
    await recording.add(60_000);
    const claimed = await worker.claim(recording.id);
    await ann.newEvents();
    t.equal(await ann.says('DELETE', `/sources/${recording.source_id}`), '204');
    t.same(await ann.newEvents(), [`source.deleted ${recording.source_id}`]);
    t.equal(await ann.says('GET', `/turns/${turn?.id}`), '404 NOT_FOUND');
    t.equal(await ann.says('GET', `/turns?stream_id=${recording.id}`), '404 NOT_FOUND');
    t.equal(await ann.says('GET', `/turns?source_id=${recording.source_id}`), '404 NOT_FOUND');
    t.equal(await ann.says('PATCH', `/turns/${turn?.id}`, { contact_id: null }), '404 NOT_FOUND');
    const { items } = await ann.ask<{ items: Turn[] }>('GET', '/turns?limit=100');
    t.notOk(items.some(({ stream_id }) => stream_id === recording.id));
    const body = { claim: claimed.claim, turns: [said('More of it.', [60_500, 61_000])] };
    t.equal(await worker.says(`/ops/jobs/${claimed.job}/publish`, body), '410 GONE');
    t.same(await ann.newEvents(), []);
  },
);
