import { randomUUID } from 'node:crypto';
import t from 'tap';
import type { StreamSummary } from '../../../kits/typescript/src/api.js';
import { libraryId } from '../../../src/domain/ids.js';
import { TestAccount } from '../../fixtures/account.js';
import { bearer } from '../../fixtures/answers.js';
import { makeInsights, privateWorkspaceOf } from '../../fixtures/insights.js';
import { TestSpool } from '../../fixtures/spool.js';
import { said, TestRecording, TestTranscriber } from '../../fixtures/transcribing.js';

const spool = await TestSpool.start({ RATE_LIMITS: 'off', CHUNK_WORKER: '1', CONTENT_WORKER: '0' });
t.teardown(() => spool.end());
const ann = await TestAccount.open(spool, 'ann@x.test');
const bob = await TestAccount.open(spool, 'bob@x.test');
const worker = new TestTranscriber(spool);

const recorded = async () => {
  const recording = await TestRecording.begin(ann);
  await recording.add(60_000);
  await recording.end();
  const texts = ['We go with the tenth.', 'I will book the room.', 'Then the cake comes from Ben.'];
  const turns = texts.map((text, at) => said(text, [at * 5_000, at * 5_000 + 4_000], 'A'));
  await worker.publish(await worker.claim(recording.id), turns);
  return recording;
};
const make = (recording: TestRecording, sentences: [string, number][], title: string | null = null) =>
  makeInsights(ann, recording, {
    span: [0, 20_000],
    conversation: {
      ...{ title, summary: sentences.map(([text]) => text).join(' ') },
      sentences: sentences.map(([text, start_ms]) => ({ text, evidence: [spanOf(recording, start_ms)] })),
    },
  });
const spanOf = ({ id, source_id }: TestRecording, start_ms: number) => {
  return { stream_id: id, source_id, start_ms, end_ms: start_ms + 4_000 };
};
const MADE: [string, number][] = [
  ['They agree on the tenth.', 0],
  ['Ann books a room.', 5_000],
];
const pathOf = (recording: TestRecording) => `/audio/streams/${recording.id}/summary`;
const read = (recording: TestRecording) => ann.ask<StreamSummary>('GET', pathOf(recording));
const edit = (recording: TestRecording, body: object) => ann.ask<StreamSummary>('PATCH', pathOf(recording), body);
const startsOf = ({ summary_sentences }: StreamSummary) =>
  summary_sentences.map(({ text, evidence }) => [text, evidence[0]?.start_ms ?? null]);

await t.test('K-350 a summary that a person wrote stays, and its sentences keep where they were said', async (t) => {
  const recording = await recorded();
  await make(recording, MADE);
  t.match(await read(recording), { edited: false });
  const sentences = ['Ben bakes.', 'Ann books the large room.', 'They agree on the tenth.'];
  const edited = await edit(recording, { sentences });
  t.match(edited, { edited: true, summary: sentences.join(' '), conversations: [{ edited: true }] });
  t.same(startsOf(edited), [
    ['Ben bakes.', null],
    ['Ann books the large room.', 5_000],
    ['They agree on the tenth.', 0],
  ]);
  await make(recording, [['Something else.', 10_000]], 'The room');
  t.match(await read(recording), { edited: true, title: 'The room', summary: sentences.join(' ') });
  const { items } = await ann.ask<{ items: { type: string; data: object }[] }>('GET', '/events?limit=100');
  t.match(items.filter(({ type }) => type === 'conversation.updated').at(-1), {
    data: { changed_fields: ['summary'] },
  });
  t.match(await edit(recording, { sentences: [] }), { edited: true, summary: null });
});

await t.test('K-351 whoever wants none of their own has it made again', async (t) => {
  const recording = await recorded();
  await make(recording, MADE);
  await edit(recording, { sentences: ['Mine.'] });
  t.match(await edit(recording, { sentences: null }), { state: 'pending', edited: false, summary: 'Mine.' });
  await make(recording, MADE);
  t.match(await read(recording), { edited: false, summary: MADE.map(([text]) => text).join(' ') });
});

await t.test('K-352 summary and suggestions are made again on request', async (t) => {
  const recording = await recorded();
  await make(recording, MADE);
  const library = spool.server.services.actors.library(libraryId(ann.id, await privateWorkspaceOf(ann)));
  const isAsked = async () =>
    (await library.due_work()).unsettled.some(({ stream_id, again }) => stream_id === recording.id && again);
  t.notOk(await isAsked());
  t.same(await ann.ask('POST', `${pathOf(recording)}/runs`), { accepted: true });
  t.ok(await isAsked());
  t.match(await read(recording), { state: 'pending', summary: /tenth/ });
  t.equal(await bob.says('POST', `${pathOf(recording)}/runs`), '404 NOT_FOUND');
});

await t.test('K-350 of several conversations the one is edited that is named, for its owner alone', async (t) => {
  const recording = await recorded();
  await make(recording, MADE);
  const { conversations } = await makeInsights(ann, recording, {
    span: [40_000, 50_000],
    conversation: { title: 'Afterwards' },
  }).then(() => read(recording));
  const edited = await edit(recording, { conversation_id: conversations[1]?.id, sentences: ['They clean up.'] });
  t.match(edited, {
    ...{ edited: false, summary: /tenth/ },
    conversations: [{ edited: false }, { edited: true, summary: 'They clean up.' }],
  });
  const other = await recorded();
  const named = { conversation_id: conversations[0]?.id, sentences: ['X.'] };
  t.equal(await ann.says('PATCH', pathOf(other), named), '404 NOT_FOUND', 'of another recording');
  t.equal(await ann.says('PATCH', pathOf(other), { sentences: ['X.'] }), '404 NOT_FOUND', 'nothing was made of it');
  t.equal(
    await ann.says('PATCH', pathOf(recording), { conversation_id: randomUUID(), sentences: [] }),
    '404 NOT_FOUND',
  );
  t.equal(await bob.says('PATCH', pathOf(recording), { sentences: ['X.'] }), '404 NOT_FOUND');
  for (const sentences of ['X.', ['two\nlines'], [''], Array(31).fill('X.'), ['x'.repeat(501)]])
    t.equal(await ann.says('PATCH', pathOf(recording), { sentences }), '400 BAD_REQUEST');
  const made = await ann.ask<{ value: string }>('POST', '/me/tokens', {
    ...{ name: 'x', permissions: ['turns:read', 'insights:read'], expires_at: null },
  });
  const reader = bearer(spool, made.value);
  t.equal((await reader.send('PATCH', pathOf(recording), { body: { sentences: ['X.'] } })).status, 403);
});

await t.test('K-350 what was said and is deleted leaves the words of a person, until the recording is', async (t) => {
  const recording = await recorded();
  await make(recording, MADE);
  await edit(recording, { sentences: ['They agree on the tenth, then.', 'Ann books a room.'] });
  const [first] = await recording.turns();
  await ann.ask('DELETE', `/turns/${first?.id}`);
  t.match(await read(recording), { summary: 'They agree on the tenth, then. Ann books a room.' });
  await ann.ask('DELETE', `/audio/streams/${recording.id}`);
  t.equal(await ann.says('GET', pathOf(recording)), '404 NOT_FOUND');
});
