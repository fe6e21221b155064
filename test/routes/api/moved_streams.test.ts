import t, { type Test } from 'tap';
import type { Conversation, Memory, Stream, Suggestion } from '../../../kits/typescript/src/api.js';
import { libraryId } from '../../../src/domain/ids.js';
import { TestAccount } from '../../fixtures/account.js';
import { makeInsights, privateWorkspaceOf } from '../../fixtures/insights.js';
import { TestSpool } from '../../fixtures/spool.js';
import { said, TestRecording, TestTranscriber } from '../../fixtures/transcribing.js';

/** A recording moves between the workspaces of its owner, and what was made of it goes with it. */

type Page<Item> = { items: Item[]; cursor: string | null };

const spool = await TestSpool.start({ RATE_LIMITS: 'off', CHUNK_WORKER: '1', CONTENT_WORKER: '0' });
t.teardown(() => spool.end());
const ann = await TestAccount.open(spool, 'ann@x.test');
const bob = await TestAccount.open(spool, 'bob@x.test');
const cy = await TestAccount.open(spool, 'cy@x.test');
const dee = await TestAccount.open(spool, 'dee@x.test');
for (const who of [bob, cy, dee]) await who.entitle('developer.tools', true);
const worker = new TestTranscriber(spool);
const own = await privateWorkspaceOf(bob);
const team = await ann.workspace('Team');
const choir = await ann.workspace('Choir');
for (const [workspace, people] of [
  [team, [bob, cy]],
  [choir, [bob, dee]],
] as const)
  for (const who of people) {
    const invited = { email: who.email, role: 'member' };
    const { id } = await ann.ask<{ id: string }>('POST', `/workspaces/${workspace.id}/invitations`, invited);
    await who.ask('POST', `/me/invitations/${id}/accept`);
  }
let recorded = 0;

async function spoken(): Promise<TestRecording> {
  const captured_at = new Date(Date.parse('2026-11-01T10:00:00.000Z') + recorded++ * 86_400_000).toISOString();
  const recording = await TestRecording.begin(bob, { captured_at });
  await recording.add(20_000);
  await recording.end();
  const texts = ['I will call Zoe tomorrow.', 'And I will bake bread.', 'Bob lives in Graz.'];
  const turns = texts.map((text, at) => said(text, [at * 5_000, at * 5_000 + 4_000], 'A'));
  await worker.publish(await worker.claim(recording.id), turns);
  return recording;
}

async function withInsights(): Promise<TestRecording> {
  const recording = await spoken();
  await makeInsights(bob, recording, {
    conversation: { title: 'A talk', summary: 'Of Zoe.' },
    suggestions: [
      { text: 'Call Zoe', at: [[0, 4_000]] },
      { text: 'Bake bread', at: [[5_000, 9_000]] },
    ],
    memories: [{ text: `Bob lives in Graz ${recorded}`, at: [[10_000, 14_000]] }],
  });
  return recording;
}

const move = (id: string, workspace_id: string, who = bob) =>
  who.ask<Stream>('PATCH', `/audio/streams/${id}`, { workspace_id });

/** All that somebody finds of a recording, in one workspace or in their own lists. */
async function found(who: TestAccount, stream_id: string, workspace_id?: string) {
  const query = workspace_id === undefined ? '' : `&workspace_id=${workspace_id}`;
  const all = async <Item>(path: string, scope = query) => {
    const answer = await who.app.send('GET', `${path}?limit=100${scope}`);
    return answer.status === 404 ? [] : (JSON.parse(answer.body.toString()).data as Page<Item>).items;
  };
  return {
    streams: (await all<Stream>('/audio/streams')).filter(({ id }) => id === stream_id).length,
    turns: (await all<{ stream_id: string }>('/turns', query || `&stream_id=${stream_id}`)).filter(
      (one) => one.stream_id === stream_id,
    ).length,
    conversations: (await all<Conversation>('/conversations')).filter(({ parts }) =>
      parts.some((part) => part.stream_id === stream_id),
    ),
    suggestions: (await all<Suggestion>('/suggestions')).filter(({ evidence }) =>
      evidence.some((one) => one.stream_id === stream_id),
    ),
    memories: (await all<Memory>('/memories')).filter(({ evidence }) =>
      evidence.some((one) => one.stream_id === stream_id),
    ),
  };
}

type Found = Awaited<ReturnType<typeof found>>;

function counts({ streams, turns, conversations, suggestions, memories }: Found): number[] {
  return [streams, turns, conversations.length, suggestions.length, memories.length];
}

const ALL = [1, 3, 1, 2, 1];
const NOTHING = [0, 0, 0, 0, 0];

/** Who finds all of it, and who nothing, at the same time. */
async function liesIn(t: Test, stream_id: string, workspace_id: string): Promise<Found> {
  for (const [who, theirs] of [
    [cy, team.id],
    [dee, choir.id],
  ] as const) {
    const sees = theirs === workspace_id;
    t.same(counts(await found(who, stream_id, theirs)), sees ? ALL : NOTHING, who.email);
    t.equal(await who.says('GET', `/audio/streams/${stream_id}`), sees ? '200' : '404 NOT_FOUND');
    t.equal(await who.says('GET', `/turns?stream_id=${stream_id}`), sees ? '200' : '404 NOT_FOUND');
    const { items } = await who.ask<Page<{ stream?: Stream }>>('GET', '/search?q=bake+bread');
    t.equal(JSON.stringify(items).includes(stream_id), sees, `${who.email} searches`);
  }
  for (const place of [own, team.id, choir.id])
    t.same(counts(await found(bob, stream_id, place)), place === workspace_id ? ALL : NOTHING, `bob in ${place}`);
  const { items } = await bob.ask<Page<object>>('GET', '/search?q=bake+bread&limit=100');
  t.ok(JSON.stringify(items).includes(stream_id), 'its owner finds it');
  return found(bob, stream_id);
}

const idsOf = ({ conversations, suggestions, memories }: Found) =>
  [...conversations, ...suggestions, ...memories].map(({ id }) => id).sort();

await t.test('K-380 a recording moves with all that was made of it, which keeps its ids, and moves back', async (t) => {
  const { id } = await withInsights();
  const before = await liesIn(t, id, own);
  await bob.newEvents();
  const moved = await move(id, team.id);
  t.equal(moved.workspace_id, team.id);
  const events = await bob.newEvents();
  t.same(events, [`stream.updated ${id} workspace_id ${moved.source_id}`]);
  const there = await liesIn(t, id, team.id);
  t.same(idsOf(there), idsOf(before));
  for (const { id: item } of there.suggestions) t.equal(await cy.says('GET', `/suggestions/${item}`), '200');
  t.match(there.suggestions, [{ conversation_id: there.conversations[0]?.id }, {}]);
  t.equal(there.suggestions[0]?.workspace_id, team.id);
  await move(id, choir.id);
  t.same(idsOf(await liesIn(t, id, choir.id)), idsOf(before));
  for (const { id: item } of there.suggestions) {
    t.equal(await cy.says('GET', `/suggestions/${item}`), '404 NOT_FOUND');
    t.equal(await dee.says('GET', `/suggestions/${item}`), '200');
  }
  await move(id, team.id);
  await move(id, own);
  const back = await liesIn(t, id, own);
  t.same(idsOf(back), idsOf(before));
  t.same({ ...back, streams: 0 }, { ...before, streams: 0 }, 'as it was');
});

await t.test('K-381 what a person set comes along, with its revisions, and tasks by hand as well', async (t) => {
  const { id } = await withInsights();
  const [call, bake] = (await found(bob, id)).suggestions.sort((a, b) => (a.text < b.text ? 1 : -1)) as [
    Suggestion,
    Suggestion,
  ];
  await bob.ask('PATCH', `/suggestions/${call.id}`, { state_version: 1, status: 'completed' });
  await bob.ask('PATCH', `/suggestions/${bake.id}`, { state_version: 1, text: 'Bake two breads' });
  const ref = '0190a0a0-0000-7000-8000-000000000001';
  const hand = await bob.ask<Suggestion>('POST', '/suggestions', { ref, text: 'By hand', stream_id: id, at_ms: 1_000 });
  const elsewhere = await bob.ask<Suggestion>('POST', '/suggestions', { text: 'Of nothing' });
  await bob.ask('PATCH', `/audio/streams/${id}`, { starred: true, tags: ['Home'] });
  await move(id, team.id);
  const all = await found(bob, id, team.id);
  t.same(all.suggestions.map(({ text, status }) => `${text} ${status}`).sort(), [
    'Bake two breads open',
    'By hand open',
    'Call Zoe completed',
  ]);
  const revisions = await bob.ask<Page<{ changed_fields: string[] }>>('GET', `/suggestions/${bake.id}/revisions`);
  t.same(
    revisions.items.map(({ changed_fields }) => changed_fields),
    [['text']],
  );
  t.equal((await bob.ask<Suggestion>('GET', `/suggestions/${hand.id}`)).workspace_id, team.id);
  t.equal((await bob.ask<Suggestion>('GET', `/suggestions/${elsewhere.id}`)).workspace_id, own);
  t.match(await bob.ask('GET', `/audio/streams/${id}?include=tags`), { starred: true, tags: ['Home'] });
  await bob.newEvents();
  const changed = await bob.ask<Suggestion>('PATCH', `/suggestions/${bake.id}`, {
    state_version: 2,
    status: 'accepted',
  });
  t.equal(changed.id, bake.id);
  t.match(await bob.newEvents(), [new RegExp(`^suggestion.updated ${bake.id} `)]);
  const summary = await bob.ask<{ conversations: Conversation[] }>('GET', `/audio/streams/${id}/summary`);
  t.equal(summary.conversations[0]?.title, 'A talk');
});

await t.test('K-382 only its owner moves it, into a workspace that they belong to, with sharing', async (t) => {
  const { id } = await withInsights();
  await move(id, team.id);
  t.equal(
    await cy.says('PATCH', `/audio/streams/${id}`, { workspace_id: await privateWorkspaceOf(cy) }),
    '403 FORBIDDEN',
  );
  t.equal(await dee.says('PATCH', `/audio/streams/${id}`, { workspace_id: choir.id }), '404 NOT_FOUND');
  for (const workspace_id of [await privateWorkspaceOf(cy), id])
    t.equal(await bob.says('PATCH', `/audio/streams/${id}`, { workspace_id }), '404 NOT_FOUND');
  t.equal(await bob.says('PATCH', `/audio/streams/${id}`, { workspace_id: 'x' }), '400 BAD_REQUEST');
  await bob.entitle('workspace.sharing', false);
  t.equal(
    await bob.says('PATCH', `/audio/streams/${id}`, { workspace_id: choir.id }),
    '403 WORKSPACE_SHARING_REQUIRED',
  );
  t.equal((await move(id, own)).workspace_id, own, 'home needs no sharing');
  await bob.entitle('workspace.sharing', true);
  t.same(idsOf(await liesIn(t, id, own)).length, 4);
});

await t.test('K-383 one that is under way is not moved', async (t) => {
  const recording = await TestRecording.begin(bob);
  await recording.add(1_000);
  t.equal(await bob.says('PATCH', `/audio/streams/${recording.id}`, { workspace_id: team.id }), '409 CONFLICT');
  await recording.end();
  t.equal((await move(recording.id, team.id)).workspace_id, team.id);
});

await t.test('K-384 many moves at once end in one place, with everything there', async (t) => {
  const { id } = await withInsights();
  const before = idsOf(await found(bob, id));
  const places = [team.id, choir.id, own, team.id, choir.id, own];
  await Promise.all(places.map((workspace_id) => bob.says('PATCH', `/audio/streams/${id}`, { workspace_id })));
  await spool.operator.advanceClock(0);
  const { workspace_id } = await bob.ask<Stream>('GET', `/audio/streams/${id}`);
  t.same(idsOf(await liesIn(t, id, workspace_id)), before);
});

await t.test('K-385 one that is deleted while it moves leaves nothing', async (t) => {
  const { id } = await withInsights();
  const { actors } = spool.server.services;
  const silent = { silent: false };
  await Promise.all([actors.stream(id).move({ workspace_id: team.id, ...silent }), actors.stream(id).delete(silent)]);
  await spool.operator.advanceClock(0);
  for (const left of [await found(bob, id), await found(cy, id, team.id)]) {
    t.same(counts({ ...left, suggestions: [] }), NOTHING);
    for (const { status, text } of left.suggestions) t.same([status, text], ['withdrawn', '']);
  }
});

await t.test('K-386 a conversation on two recordings is divided', async (t) => {
  const first = await spoken();
  const second = await spoken();
  const more_parts = [{ stream_id: second.id, source_id: second.source_id, start_ms: 0, end_ms: 20_000 }];
  await makeInsights(bob, first, {
    more_parts,
    conversation: { title: 'On both' },
    suggestions: [{ text: 'Call Zoe', at: [[0, 4_000]] }],
  });
  await move(first.id, team.id);
  const there = await found(bob, first.id, team.id);
  t.equal(there.suggestions.length, 1);
  t.same(
    there.conversations.map(({ parts }) => parts.map(({ stream_id }) => stream_id)),
    [[first.id]],
  );
  t.equal(there.suggestions[0]?.conversation_id, there.conversations[0]?.id);
  const here = await found(bob, second.id, own);
  t.same(
    here.conversations.map(({ parts }) => parts.map(({ stream_id }) => stream_id)),
    [[second.id]],
  );
  await move(first.id, own);
  t.equal((await found(bob, first.id, own)).suggestions.length, 1);
});

await t.test('K-388 what is being made while it moves is made in the workspace that it comes to', async (t) => {
  const { id: stream_id, source_id } = await spoken();
  const { actors, clock } = spool.server.services;
  const place = { account_id: bob.id, stream_id, source_id, pipeline_id: null };
  const begin = actors.library(libraryId(bob.id, own));
  const asked = { ...place, workspace_id: own, from_ms: 0, to_ms: 20_000 };
  await begin.request_run(asked);
  const unsettled = (await begin.due_work()).unsettled.find((one) => one.stream_id === stream_id && one.again);
  const { heard, again } = unsettled as { heard: number; again: boolean };
  const parts = [{ stream_id, source_id, start_ms: 0, end_ms: 20_000 }];
  const found = [{ parts, session_id: null, started_at_ms: clock.now(), ended_at_ms: clock.now() }];
  await begin.settled({ ...place, heard, again, found, expired: [], left: null, recheck_ms: null });
  const { job } = await begin.claim_job({ token: 'a', run_id: stream_id, lease_ms: 60_000 });
  t.same(job?.parts, parts);
  await move(stream_id, team.id);
  await t.rejects(begin.prolong_job({ job: job?.number as number, token: 'a', lease_ms: 60_000 }), {
    code: 'CONFLICT',
  });
  t.same(await begin.waiting({ stream_ids: [stream_id] }), { waiting: false });
  t.same(await actors.library(libraryId(bob.id, team.id)).waiting({ stream_ids: [stream_id] }), { waiting: true });
});

await t.test('K-387 retention is that of the workspace that it is in', async (t) => {
  const { id } = await withInsights();
  await ann.ask('PATCH', `/workspaces/${team.id}`, { retention: { transcripts: { days: 1 } } });
  await move(id, team.id);
  await spool.operator.advanceClock(2 * 86_400_000);
  const bob_again = await TestAccount.open(spool, 'bob@x.test');
  const { items } = await bob_again.ask<Page<object>>('GET', `/turns?stream_id=${id}`);
  t.same(items, []);
});
