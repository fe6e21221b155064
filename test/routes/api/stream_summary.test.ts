import { randomUUID } from 'node:crypto';
import t from 'tap';
import type { Contact, Stream, StreamSummary } from '../../../kits/typescript/src/api.js';
import { TestAccount } from '../../fixtures/account.js';
import { bearer } from '../../fixtures/answers.js';
import { makeInsights, spoke } from '../../fixtures/insights.js';
import { TestSpool } from '../../fixtures/spool.js';
import { said, TestRecording, TestTranscriber } from '../../fixtures/transcribing.js';

const spool = await TestSpool.start({ RATE_LIMITS: 'off', CHUNK_WORKER: '1', CONTENT_WORKER: '0' });
t.teardown(() => spool.end());
const ann = await TestAccount.open(spool, 'ann@x.test');
const bob = await TestAccount.open(spool, 'bob@x.test');
const worker = new TestTranscriber(spool);

const recorded = async (who: TestAccount, ...texts: string[]) => {
  const recording = await TestRecording.begin(who);
  await recording.add(60_000);
  await recording.end();
  const turns = texts.map((text, at) => said(text, [at * 5_000, at * 5_000 + 4_000], at % 2 === 0 ? 'A' : 'B'));
  await worker.publish(await worker.claim(recording.id), turns);
  return recording;
};
const tokenOf = async (permissions: string[]) => {
  const made = await ann.ask<{ value: string }>('POST', '/me/tokens', { name: 'x', permissions, expires_at: null });
  return bearer(spool, made.value);
};
const meeting = await recorded(ann, 'We go with the tenth. Fine?', 'I will book the room.', 'Who brings the cake?');
const spanOf = (start_ms: number, end_ms: number) => {
  return { stream_id: meeting.id, source_id: meeting.source_id, start_ms, end_ms };
};
const path = `/audio/streams/${meeting.id}/summary`;
const read = () => ann.ask<StreamSummary>('GET', path);

await t.test('K-184 of a recording of which nothing was made there is nothing but who may read it', async (t) => {
  t.match(await read(), { stream_id: meeting.id, title: null, conversations: [], tasks: [], participants: [] });
  t.equal(await bob.says('GET', path), '404 NOT_FOUND');
  t.equal(await ann.says('GET', `/audio/streams/${randomUUID()}/summary`), '404 NOT_FOUND');
  const statusOf = async (permissions: string[]) => (await (await tokenOf(permissions)).send('GET', path)).status;
  t.equal(await statusOf(['turns:read']), 403);
  t.equal(await statusOf(['insights:read']), 403);
  t.equal(await statusOf(['turns:read', 'insights:read']), 200, 'no developer access');
});

await t.test('K-184 the owner of a recording reads what came of it, each thing where it belongs', async (t) => {
  const evidence = [spanOf(0, 4_000)];
  await makeInsights(ann, meeting, {
    span: [0, 20_000],
    conversation: {
      title: 'The party',
      summary: 'They agree on the tenth. Ben books.',
      sentences: [
        { text: 'They agree on the tenth.', evidence },
        { text: 'Ben books.', evidence: [spanOf(5_000, 9_000)] },
      ],
      topics: ['party'],
      participants: [spoke(meeting, 1, 8_000), spoke(meeting, 2, 4_000)],
    },
    suggestions: [
      { text: 'Who brings the cake?', kind: 'question', at: [[10_000, 14_000]] },
      { text: 'Book the room', kind: 'follow_up', at: [[5_000, 9_000]], owner: 2 },
      { text: 'The party is on the tenth', kind: 'decision', at: [[0, 4_000]] },
      { text: 'Remember the tenth', kind: 'reminder', at: [[0, 4_000]] },
      { text: 'Bake it', at: [[10_000, 14_000]] },
    ],
  });
  await makeInsights(ann, meeting, {
    span: [40_000, 50_000],
    conversation: { title: 'Afterwards', participants: [spoke(meeting, 2, 1_000)] },
    suggestions: [{ text: 'Clean up', at: [[40_000, 44_000]] }],
  });
  const { items } = await ann.ask<{ items: { id: string; text: string }[] }>('GET', '/suggestions');
  const baked = items.find(({ text }) => text === 'Bake it');
  await ann.ask('PATCH', `/suggestions/${baked?.id}`, { state_version: 1, status: 'dismissed' });
  const ben = await ann.ask<Contact>('POST', '/contacts', { name: 'Ben' });
  await ann.ask('PATCH', `/audio/streams/${meeting.id}/speakers/S2`, { contact_id: ben.id });
  const summary = await read();
  t.match(summary, {
    ...{ title: 'The party', summary: 'They agree on the tenth. Ben books.', topics: ['party'] },
    summary_sentences: [
      { text: 'They agree on the tenth.', evidence: [{ quote: 'We go with the tenth. Fine?', state: 'available' }] },
      { text: 'Ben books.', evidence: [{ start_ms: 5_000 }] },
    ],
    decisions: [{ text: 'The party is on the tenth' }],
    tasks: [
      { text: 'Remember the tenth' },
      { text: 'Book the room', roles: { owner_contact_id: ben.id } },
      { text: 'Clean up' },
    ],
    questions: [{ text: 'Who brings the cake?' }],
    participants: [
      { talk_ms: 8_000, contact_id: null },
      { talk_ms: 5_000, speaker_name: 'Ben' },
    ],
    conversations: [
      { title: 'The party', start_ms: 0, end_ms: 20_000, participants: [{}, {}] },
      { title: 'Afterwards', start_ms: 40_000, summary_sentences: [], participants: [{ talk_ms: 1_000 }] },
    ],
    updated_at: /Z$/,
  });
  t.equal(summary.tasks.length, 3, 'without what was dismissed');
  t.equal(summary.tasks[2]?.conversation_id, summary.conversations[1]?.id);
});

await t.test('K-185 a list of recordings has titles and first lines for whoever may read them', async (t) => {
  const note = await recorded(ann, 'Milk and bread. And eggs.');
  const listed = async (client = ann.app, query = '?include=title_suggested') =>
    (await client.ask<{ items: Stream[] }>('GET', `/audio/streams${query}`)).items;
  const titled = new Map((await listed()).map((stream) => [stream.id, stream]));
  t.match(titled.get(meeting.id), {
    ...{ title: null, title_suggested: 'The party', first_line: 'They agree on the tenth.' },
  });
  t.match(titled.get(note.id), { title_suggested: null, first_line: 'Milk and bread.' });
  const one = await ann.ask<Stream>('GET', `/audio/streams/${meeting.id}?include=title_suggested`);
  t.match(one, { title_suggested: 'The party' });
  for (const stream of [...(await listed(ann.app, '')), await ann.ask<Stream>('GET', `/audio/streams/${note.id}`)])
    t.notOk('title_suggested' in stream || 'first_line' in stream, 'only when asked for');
  for (const permissions of [['turns:read'], ['audio:read', 'insights:read']])
    for (const stream of await listed(await tokenOf(permissions)))
      t.match(stream, { title_suggested: null, first_line: null });
  t.equal(await ann.says('GET', '/audio/streams?include=words'), '400 BAD_REQUEST');
});

await t.test('K-181 K-184 K-185 what a deletion takes is in neither', async (t) => {
  const [first] = await meeting.turns();
  await ann.ask('DELETE', `/turns/${first?.id}`);
  t.match(await read(), { summary: 'Ben books.', summary_sentences: [{ text: 'Ben books.' }] });
  t.equal((await read()).summary_sentences.length, 1);
  t.match(await ann.ask('GET', `/audio/streams/${meeting.id}?include=title_suggested`), { first_line: 'Ben books.' });
});

await t.test('K-184 K-185 in a shared workspace they are for whoever recorded', async (t) => {
  await ann.entitle('workspace.sharing', true);
  const { id: workspace_id } = await ann.workspace('Team');
  await ann.bring(workspace_id, [bob]);
  const shared = await TestRecording.inWorkspace(ann, {
    ...{ workspace_id, source_id: meeting.source_id, captured_at: '2026-11-01T12:00:00.000Z' },
  });
  await makeInsights(ann, shared, { workspace_id, conversation: { title: 'The team' } });
  const at = `/audio/streams/${shared.id}`;
  t.match(await ann.ask('GET', `${at}/summary`), { title: 'The team' });
  t.equal(await bob.says('GET', `${at}/summary`), '403 FORBIDDEN');
  t.match(await ann.ask('GET', `${at}?include=title_suggested`), { title_suggested: 'The team' });
  t.match(await bob.ask('GET', `${at}?include=title_suggested`), { title_suggested: null, first_line: null });
});
