import t from 'tap';
import type { RecallItem, SearchHit, Signal } from '../../../kits/typescript/src/api.js';
import { TestAccount } from '../../fixtures/account.js';
import { bearer } from '../../fixtures/answers.js';
import { makeInsights, privateWorkspaceOf } from '../../fixtures/insights.js';
import { TestSpool } from '../../fixtures/spool.js';
import { said, TestRecording, TestTranscriber } from '../../fixtures/transcribing.js';
import { until } from '../../fixtures/until.js';

/** Notes on the timeline of recordings, found by search. */

const DAY_MS = 86_400_000;
const spool = await TestSpool.start({ RATE_LIMITS: 'off', CHUNK_WORKER: '1', CONTENT_WORKER: '0' });
t.teardown(() => spool.end());
const ann = await TestAccount.open(spool, 'ann@x.test');
const bob = await TestAccount.open(spool, 'bob@x.test');
const cy = await TestAccount.open(spool, 'cy@x.test');
const worker = new TestTranscriber(spool);
const own = await privateWorkspaceOf(bob);
const team = await ann.workspace('Team');
const { id: invitation_id } = await ann.ask<{ id: string }>('POST', `/workspaces/${team.id}/invitations`, {
  ...{ email: bob.email, role: 'member' },
});
await bob.ask('POST', `/me/invitations/${invitation_id}/accept`);
let refs = 0;

const found = async (who: TestAccount, q: string, query = '') =>
  (await who.ask<{ items: SearchHit[] }>('GET', `/search?q=${encodeURIComponent(q)}${query}`)).items;
const textsOf = async (who: TestAccount, q: string, query = '') =>
  (await found(who, q, query)).map(({ kind, snippet }) => `${kind}: ${snippet.text}`);
/** A recording of Bob's in which this is noted, a second apart. */
const noted = async (...texts: string[]) => {
  const recording = await TestRecording.begin(bob, { captured_at: '2026-11-01T10:00:00.000Z' });
  await note(recording, ...texts);
  return recording;
};
const note = async ({ id }: TestRecording, ...texts: string[]) => {
  const signals = texts.map((text, at) => ({
    ...{ ref: `n${++refs}`, type: 'note', start_ms: (at + 1) * 1_000, payload: { text } },
  }));
  return bob.ask<{ items: Signal[] }>('POST', `/audio/streams/${id}/signals`, { signals });
};

await t.test('K-444 a note is found by its words, as a kind of its own, at its place in the recording', async (t) => {
  const recording = await noted('Ask about the red boat', 'Walrus');
  const [hit, ...more] = await found(bob, 'boats');
  t.same(more, []);
  const { items } = await bob.ask<{ items: Signal[] }>('GET', `/audio/streams/${recording.id}/signals`);
  t.match(hit, {
    kind: 'note',
    id: items[0]?.id,
    stream_id: recording.id,
    start_ms: 1_000,
    started_at: '2026-11-01T10:00:01.000Z',
    snippet: { text: 'Ask about the red boat', highlights: [[18, 22]] },
    contact_id: null,
    speaker_name: null,
  });
  t.same(await textsOf(bob, '"red boat"'), ['note: Ask about the red boat']);
  t.same(await textsOf(bob, 'boat -red'), []);
  t.same(await textsOf(bob, 'boat walrus'), [], 'each note stands for itself');
  t.same(await textsOf(bob, 'boat', '&kind=turn,suggestion'), []);
  t.same(await textsOf(bob, 'boat', '&kind=note'), ['note: Ask about the red boat']);
  t.same(await textsOf(bob, 'boat', `&stream_id=${recording.id}`), ['note: Ask about the red boat']);
  t.same(await textsOf(bob, 'boat', '&from=2026-11-01T10:00:02.000Z'), []);
  t.same(await textsOf(bob, 'boat', `&source_id=${hit?.source_id}`), ['note: Ask about the red boat']);
  t.same(await textsOf(ann, 'boat'), [], 'nobody else finds it');
  t.equal(await bob.says('GET', '/search?q=boat&kind=mark'), '400 BAD_REQUEST');
  await bob.ask('POST', `/audio/streams/${recording.id}/signals`, {
    signals: [
      { ref: 'other', type: 'meeting.started', start_ms: 0, payload: { text: 'A boat in another signal' } },
      { ref: 'empty', type: 'note', start_ms: 0, payload: { text: 7 } },
    ],
  });
  t.equal((await found(bob, 'boat')).length, 1);
});

await t.test('K-444 notes stand among turns and suggestions, page after page', async (t) => {
  const recording = await noted('Heron at the lake', 'The heron again');
  await recording.add(20_000);
  await recording.end();
  await worker.publish(await worker.claim(recording.id), [said('A heron flew by.', [0, 4_000], 'A')]);
  await makeInsights(bob, recording, {
    conversation: { title: 'A talk', summary: 'Of herons.' },
    suggestions: [{ text: 'Feed the heron', at: [[0, 4_000]] }],
    memories: [],
  });
  const all = await textsOf(bob, 'heron');
  t.same([...all].sort(), [
    'note: Heron at the lake',
    'note: The heron again',
    'suggestion: Feed the heron',
    'turn: A heron flew by.',
  ]);
  const paged: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const after: string = cursor === '' ? '' : `&cursor=${cursor}`;
    const page: { items: SearchHit[]; cursor: string | null } = await bob.ask('GET', `/search?q=heron&limit=1${after}`);
    paged.push(...page.items.map(({ kind, snippet }) => `${kind}: ${snippet.text}`));
    cursor = page.cursor;
  }
  t.same(paged, all);
});

await t.test('K-456 recall finds notes, with what was said when they were made', async (t) => {
  const recording = await noted('Ask Kim about the pelican');
  await recording.add(20_000);
  await recording.end();
  await worker.publish(await worker.claim(recording.id), [
    said('We went to the harbour.', [0, 900], 'a'),
    said('Nobody was there.', [5_000, 8_000], 'b'),
  ]);
  const ask = async (who: TestAccount, query: string, more: object = {}) =>
    (await who.ask<{ items: RecallItem[] }>('POST', '/recall', { query, context_turns: 0, ...more })).items;
  const [item, ...more] = await ask(bob, 'What did I note about the pelican?');
  t.same(more, []);
  t.match(item, {
    ...{ kind: 'note', stream_id: recording.id, start_ms: 1_000, end_ms: 1_000, suggestion: null },
    ...{ started_at: '2026-11-01T10:00:01.000Z', found_by: 'words', matched: ['pelican'] },
    ...{ note: { text: 'Ask Kim about the pelican' }, turns: [{ text: 'We went to the harbour.' }] },
  });
  t.equal(item?.note?.id, (await found(bob, 'pelican'))[0]?.id, 'the id is that of the signal');
  t.match(await ask(bob, 'pelican', { stream_id: recording.id }), [{ kind: 'note' }]);
  t.same(await ask(ann, 'pelican'), [], 'nobody else finds it');
  const silent = await noted('A cormorant, before anything is heard');
  t.match(await ask(bob, 'Which cormorant was it?'), [{ kind: 'note', stream_id: silent.id, turns: [] }]);
  const [passage] = await ask(bob, 'harbour');
  t.match(passage, { kind: 'passage', note: null });
});

await t.test('K-445 a note moves with its recording: found where that is, and nowhere else', async (t) => {
  const recording = await noted('Otter by the bridge');
  await recording.add(1_000);
  await recording.end();
  t.same(await textsOf(ann, 'otter'), []);
  for (const round of [1, 2]) {
    await until(
      'it is there',
      async () => (await bob.says('PATCH', `/audio/streams/${recording.id}`, { workspace_id: team.id })) === '200',
    );
    await until('it is there', async () => (await found(ann, 'otter')).length === 1);
    t.same(await textsOf(ann, 'otter'), ['note: Otter by the bridge'], `a colleague, ${round}`);
    t.same(await textsOf(bob, 'otter', `&workspace_id=${own}`), []);
    t.same(await textsOf(bob, 'otter', `&workspace_id=${team.id}`), ['note: Otter by the bridge']);
    t.same(await textsOf(cy, 'otter'), []);
    await until(
      'it is there',
      async () => (await bob.says('PATCH', `/audio/streams/${recording.id}`, { workspace_id: own })) === '200',
    );
    await until('it is there', async () => (await found(bob, 'otter', `&workspace_id=${own}`)).length === 1);
    t.same(await textsOf(ann, 'otter'), [], `a colleague no more, ${round}`);
    t.same(await textsOf(bob, 'otter'), ['note: Otter by the bridge']);
  }
});

await t.test('K-445 a note of a deleted recording is not found, nor one whose text has expired', async (t) => {
  const [gone, kept] = [await noted('Lynx in the dark'), await noted('Lynx at dawn')];
  await bob.ask('DELETE', `/audio/streams/${gone.id}`);
  t.same(await textsOf(bob, 'lynx'), ['note: Lynx at dawn']);
  const { value } = await bob.ask<{ value: string }>('POST', '/me/tokens', {
    ...{ name: 'later', permissions: ['turns:read', 'insights:read'], expires_at: null },
  });
  await bob.ask('PATCH', `/workspaces/${own}`, { retention: { transcripts: { days: 1 } } });
  await spool.operator.advanceClock(2 * DAY_MS);
  const later = bearer(spool, value);
  t.match(await later.ask('GET', `/audio/streams/${kept.id}/signals`), { items: [{ payload: null }] });
  t.same(await later.ask('GET', '/search?q=lynx'), { items: [], cursor: null });
});
