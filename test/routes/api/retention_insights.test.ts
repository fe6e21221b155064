import t from 'tap';
import type { Conversation, Event, Memory, SessionSummary, Suggestion } from '../../../kits/typescript/src/api.js';
import { libraryId } from '../../../src/domain/ids.js';
import { TestAccount } from '../../fixtures/account.js';
import { type Made, makeInsights, privateWorkspaceOf } from '../../fixtures/insights.js';
import { TestSpool } from '../../fixtures/spool.js';
import { said, TestRecording, TestTranscriber } from '../../fixtures/transcribing.js';
import { until } from '../../fixtures/until.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

type Page<Item> = { items: Item[]; cursor: string | null };
type Days = Partial<Record<'audio' | 'transcripts' | 'insights', { days: number | null }>>;
type Applied = Event & {
  data: { changed_fields: string[]; buckets: Record<string, { cutoff: string | null; count: number }> };
};
type Kinds = { suggestions: string[]; memories: string[]; conversations: string[] };

const spool = await TestSpool.start({ RATE_LIMITS: 'off', CHUNK_WORKER: '1', CONTENT_WORKER: '0' });
t.teardown(() => spool.end());
const { actors, clock, retention } = spool.server.services;
const worker = new TestTranscriber(spool);

async function opened(email: string): Promise<TestAccount> {
  const account = await TestAccount.open(spool, email);
  await account.entitle('developer.tools', true);
  return account;
}

/** What time passes ends sessions: gives the same people, signed in. */
async function pass(ms: number, ...people: TestAccount[]): Promise<TestAccount[]> {
  await spool.operator.advanceClock(ms);
  const again: TestAccount[] = [];
  for (const { email } of people) again.push(await opened(email));
  return again;
}

/** The sweeps of the workspace know it before time passes. */
async function keep(account: TestAccount, workspace_id: string, days: Days): Promise<void> {
  await account.ask('PATCH', `/workspaces/${workspace_id}`, { retention: days });
  await spool.operator.advanceClock(0);
}

async function applied(account: TestAccount): Promise<Applied[]> {
  const { items } = await account.ask<Page<Event>>('GET', '/events?limit=100');
  return items.filter(({ type }) => type === 'workspace.retention_applied') as Applied[];
}

/** A recording of twenty seconds in which three things are said. */
async function spoken(account: TestAccount): Promise<TestRecording> {
  const recording = await TestRecording.begin(account);
  await recording.add(20_000);
  await recording.end();
  const texts = ['I will call Zoe tomorrow.', 'And I will bake bread.', 'Bob lives in Graz.'];
  const turns = texts.map((text, at) => said(text, [at * 5_000, at * 5_000 + 4_000], 'A'));
  await worker.publish(await worker.claim(recording.id), turns);
  return recording;
}

const MADE: Made = {
  conversation: { title: 'A talk' },
  suggestions: [
    { text: 'Call Zoe', at: [[0, 4_000]] },
    { text: 'Bake bread', at: [[5_000, 9_000]] },
  ],
  memories: [{ text: 'Bob lives in Graz', at: [[10_000, 14_000]] }],
};

/** Paths of all that an account, or everybody in a workspace, has. */
async function paths(account: TestAccount, query = ''): Promise<Kinds> {
  const of = async (kind: keyof Kinds) =>
    (await account.ask<Page<{ id: string }>>('GET', `/${kind}?limit=100${query}`)).items.map(
      ({ id }) => `/${kind}/${id}`,
    );
  return {
    ...{ suggestions: await of('suggestions'), memories: await of('memories') },
    conversations: await of('conversations'),
  };
}

/** One sweep of a private workspace with this cutoff, as an hour would begin it; everything else is kept. */
async function sweep(account: TestAccount, workspace_id: string, insights: number | null): Promise<void> {
  const library = actors.library(libraryId(account.id, workspace_id));
  const began_at_ms = clock.now();
  const asked = { workspace_id, sweep_id: `test ${began_at_ms}`, began_at_ms, cutoffs: { insights } };
  await library.sweep(asked);
  await retention.worker.look();
  await until('it is counted', async () => {
    return (await library.view()).sweep === null;
  });
}

t.test('I-020 I-022 an insight goes by its own last change, compared to the millisecond', async (t) => {
  const ann = await opened('ann@x.test');
  const own = await privateWorkspaceOf(ann);
  await makeInsights(ann, await spoken(ann), MADE);
  await spool.operator.advanceClock(1_000);
  const { items } = await ann.ask<Page<Suggestion>>('GET', '/suggestions');
  const [first, second] = items as [Suggestion, Suggestion];
  const made_ms = Date.parse(first.updated_at);
  const edited = await ann.ask<Suggestion>('PATCH', `/suggestions/${first.id}`, { state_version: 1, text: 'Ring Zoe' });
  await spool.operator.advanceClock(1_000);
  const edited_ms = Date.parse(edited.updated_at);
  t.ok(edited_ms > made_ms);
  const left = async () => {
    const found = await paths(ann);
    return [found.suggestions.length, found.memories.length, found.conversations.length];
  };
  await sweep(ann, own, made_ms);
  t.same(await left(), [2, 1, 1], 'at the cutoff it stays');
  await sweep(ann, own, made_ms + 1);
  t.same(await left(), [1, 0, 0], 'what was changed since stays');
  t.equal(await ann.says('GET', `/suggestions/${second.id}`), '410 CONTENT_EXPIRED');
  t.match(await ann.ask('GET', `/suggestions/${first.id}`), {
    text: 'Ring Zoe',
    conversation_id: first.conversation_id,
  });
  await sweep(ann, own, edited_ms);
  t.same(await left(), [1, 0, 0]);
  await ann.ask('POST', `/suggestions/${first.id}/feedback`, { rating: 'helpful' });
  await sweep(ann, own, edited_ms + 1);
  t.same(await left(), [1, 0, 0], 'feedback is a change too');
  await sweep(ann, own, clock.now() + 1);
  t.same(await left(), [0, 0, 0]);
});

t.test('I-018 I-019 I-022 I-023 one event counts each insight once, whatever was done with it', async (t) => {
  let bob = await opened('bob@x.test');
  const own = await privateWorkspaceOf(bob);
  const recording = await spoken(bob);
  await makeInsights(bob, recording, MADE);
  const before = await paths(bob);
  const [path = ''] = before.suggestions;
  for (const [at, text] of ['One', 'Two', 'Three'].entries()) {
    await bob.ask('PATCH', path, { state_version: at + 1, text });
    await bob.ask('POST', `${path}/feedback`, { rating: 'wrong', comment: 'No.' });
  }
  await bob.ask('POST', `${path}/review`, { state_version: 4, verdict: 'supported', note: 'Yes.' });
  await keep(bob, own, { insights: { days: 30 }, transcripts: { days: null }, audio: { days: null } });
  [bob] = (await pass(29 * DAY_MS, bob)) as [TestAccount];
  t.same(await applied(bob), [], 'nothing is that old');
  t.same(await paths(bob), before);
  [bob] = (await pass(DAY_MS + HOUR_MS + 60_000, bob)) as [TestAccount];
  const [event, ...more] = await applied(bob);
  t.same(more, []);
  t.same(event?.data.changed_fields, ['insights']);
  t.equal(event?.data.buckets.insights?.count, 4);
  for (const kind of Object.values(before).flat()) t.equal(await bob.says('GET', kind), '410 CONTENT_EXPIRED', kind);
  t.same(await paths(bob), { suggestions: [], memories: [], conversations: [] });
  for (const [method, at, body] of [
    ['PATCH', path, { state_version: 5, text: 'Four' }],
    ['POST', `${path}/feedback`, { rating: 'helpful' }],
    ['GET', `${path}/revisions`, undefined],
    ['DELETE', path, undefined],
    ['PATCH', before.conversations[0] ?? '', { title: 'Late' }],
    ['PATCH', before.memories[0] ?? '', { text: 'Late' }],
  ] as const)
    t.equal(await bob.says(method, at, body), '410 CONTENT_EXPIRED', `${method} ${at}`);
  const turns = await recording.as(bob).turns();
  t.equal(turns.length, 3, 'what was said stays');
  [bob] = (await pass(2 * HOUR_MS, bob)) as [TestAccount];
  t.equal((await applied(bob)).length, 1, 'a sweep that removes nothing records nothing');
});

t.test('I-018 I-022 what is not kept goes within the hour, what is kept for ever never', async (t) => {
  let cy = await opened('cy@x.test');
  const own = await privateWorkspaceOf(cy);
  const recording = await spoken(cy);
  await makeInsights(cy, recording, MADE);
  [cy] = (await pass(400 * DAY_MS, cy)) as [TestAccount];
  t.equal((await paths(cy)).suggestions.length, 2, 'null keeps for ever');
  await keep(cy, own, { insights: { days: 0 } });
  [cy] = (await pass(HOUR_MS + 60_000, cy)) as [TestAccount];
  t.same(await paths(cy), { suggestions: [], memories: [], conversations: [] });
  t.match((await applied(cy))[0]?.data.buckets, { insights: { cutoff: null, count: 4 } });
  await makeInsights(cy, recording, { ...MADE, conversation: { title: 'Once more' } });
  t.equal((await paths(cy)).suggestions.length, 2, 'what is made later is there until the next');
  [cy] = (await pass(HOUR_MS + 60_000, cy)) as [TestAccount];
  t.same(await paths(cy), { suggestions: [], memories: [], conversations: [] });
});

t.test('I-019 I-024 each member of a shared workspace is told once, of what all of them recorded', async (t) => {
  let [dan, eve] = [await opened('dan@x.test'), await opened('eve@x.test')];
  const { id: shared } = await dan.workspace('Shared');
  await dan.bring(shared, [eve]);
  for (const who of [dan, eve]) {
    const source_id = (await who.ask<{ id: string }>('POST', '/sources', { name: 'Desk' })).id;
    const at = { workspace_id: shared, source_id, captured_at: '2026-11-01T10:00:00.000Z' };
    const recording = await TestRecording.inWorkspace(who, at);
    await makeInsights(who, recording, { ...MADE, workspace_id: shared });
  }
  await keep(dan, shared, { insights: { days: 10 } });
  const of_all = `&workspace_id=${shared}`;
  t.equal((await paths(eve, of_all)).suggestions.length, 4);
  [dan, eve] = (await pass(11 * DAY_MS + HOUR_MS, dan, eve)) as [TestAccount, TestAccount];
  for (const who of [dan, eve]) {
    const events = (await applied(who)).filter(({ resource }) => resource.id === shared);
    t.equal(events.length, 1, who.email);
    t.match(events[0]?.data.buckets, { insights: { count: 8 } }, who.email);
    t.same(await paths(who, of_all), { suggestions: [], memories: [], conversations: [] });
  }
});

t.test('I-022 I-023 a session summary leaves out what has expired', async (t) => {
  const fay = await opened('fay@x.test');
  const own = await privateWorkspaceOf(fay);
  const { session } = await spool.hostSession(fay.app);
  await makeInsights(fay, await spoken(fay), { ...MADE, session_id: session.id });
  const summary = () => fay.ask<SessionSummary>('GET', `/device-sessions/${session.id}/summary`);
  t.match(await summary(), { state: 'ready', conversations: [{}], memories: [{}], suggestions: [{}, {}] });
  await spool.operator.advanceClock(1_000);
  const [kept] = (await summary()).suggestions as [Suggestion];
  await fay.ask('PATCH', `/suggestions/${kept.id}`, { state_version: 1, text: 'Kept' });
  await sweep(fay, own, Date.parse(kept.updated_at) + 1);
  t.match(await summary(), { conversations: [], memories: [], suggestions: [{ text: 'Kept' }] });
  await spool.operator.advanceClock(1_000);
  await sweep(fay, own, clock.now());
  t.match(await summary(), { conversations: [], memories: [], suggestions: [], participants: [], talk_ms: 0 });
});

t.test('I-021 I-022 what was said goes, what was made of it stays, and says that its words have expired', async (t) => {
  let gil = await opened('gil@x.test');
  const own = await privateWorkspaceOf(gil);
  const recording = await spoken(gil);
  await makeInsights(gil, recording, MADE);
  const [path = ''] = (await paths(gil)).memories;
  const quoted = { state: 'available', quote: 'Bob lives in Graz.', turn_ids: [/./] };
  t.match(await gil.ask('GET', path), { text: 'Bob lives in Graz', evidence: [quoted] });
  await keep(gil, own, { transcripts: { days: 5 }, insights: { days: null }, audio: { days: null } });
  [gil] = (await pass(6 * DAY_MS + HOUR_MS, gil)) as [TestAccount];
  t.same((await applied(gil))[0]?.data.changed_fields, ['transcripts']);
  t.same(await recording.as(gil).turns(), []);
  const expired = { stream_id: recording.id, start_ms: 10_000, end_ms: 14_000, state: 'expired', quote: null };
  const memory = await gil.ask<Memory>('GET', path);
  t.match(memory, { text: 'Bob lives in Graz', evidence: [{ ...expired, turn_ids: [] }] });
  const { items: suggestions } = await gil.ask<Page<Suggestion>>('GET', '/suggestions');
  t.same(
    suggestions.flatMap(({ evidence }) => evidence.map(({ state, quote }) => [state, quote])),
    [
      ['expired', null],
      ['expired', null],
    ],
  );
  const { items } = await gil.ask<Page<Conversation>>('GET', '/conversations');
  t.match(items, [{ title: 'A talk' }]);
});
