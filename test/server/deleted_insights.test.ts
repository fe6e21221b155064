import t, { type Test } from 'tap';
import type { Event, Memory, Suggestion } from '../../kits/typescript/src/api.js';
import { stemsOf } from '../../src/features/insights/engines/stems.js';
import { TestAccount } from '../fixtures/account.js';
import { makeInsights } from '../fixtures/insights.js';
import { everyKey, ownRedisOf } from '../fixtures/redis_content.js';
import { TestSpool } from '../fixtures/spool.js';
import { said, TestRecording, TestTranscriber } from '../fixtures/transcribing.js';
import { until } from '../fixtures/until.js';

const MINUTE_MS = 60_000;
const SETTLES_MS = 11_000;
const TEXTS = ['I will call Zoe tomorrow.', 'And I will bake fresh bread.', 'Bob lives in Graz.'];

type Page<Item> = { items: Item[]; cursor: string | null };
type Work = { job: string; claim: string; stream_id: string; turns: { stream_id: string; text: string }[] };

const spool = await TestSpool.start({ RATE_LIMITS: 'off', CHUNK_WORKER: '1', CONTENT_WORKER: '0' });
t.teardown(() => spool.end());
const worker = new TestTranscriber(spool);

async function opened(email: string): Promise<TestAccount> {
  const account = await TestAccount.open(spool, email);
  await account.entitle('developer.tools', true);
  return account;
}

/** A recording of twenty seconds in which three things are said, one after another. */
async function spoken(account: TestAccount, at: { source_id?: string; captured_at?: string } = {}) {
  const recording = await TestRecording.begin(account, at);
  await recording.add(20_000);
  await recording.end();
  const turns = TEXTS.map((text, n) => said(text, [n * 5_000, n * 5_000 + 4_000], 'A'));
  await worker.publish(await worker.claim(recording.id), turns);
  return recording;
}

/** The conversation of a recording, in the hands of a worker. */
async function claimed(stream_ids: string[]): Promise<Work> {
  let work: Work | undefined;
  await until('a conversation is due', async () => {
    const asked = { kinds: ['insights'], limit: 20, lease_s: 60 };
    const { items } = await spool.operator.ask<{ items: Work[] }>('POST', '/ops/jobs/claim', asked);
    work = items.find((one) => stream_ids.includes(one.stream_id));
    if (work === undefined) await spool.operator.advanceClock(SETTLES_MS);
    return work !== undefined;
  });
  return work as Work;
}

function publishes({ job, claim }: Work): Promise<string> {
  return worker.says(`/ops/jobs/${encodeURIComponent(job)}/publish`, {
    ...{ kind: 'insights', claim, conversation: { title: 'A talk', topics: [] }, memories: [] },
    suggestions: [{ op: 'new', kind: 'task', text: TEXTS[0], evidence: [{ turn: 1, quote: TEXTS[0] }] }],
  });
}

/** Nothing is left to look into, however long one waits. */
async function nothingWaits(t: Test, stream_id: string): Promise<void> {
  for (let n = 0; n < 3; n++) {
    await spool.operator.advanceClock(2 * MINUTE_MS);
    const asked = { kinds: ['insights'], limit: 20, lease_s: 1 };
    const { items } = await spool.operator.ask<{ items: Work[] }>('POST', '/ops/jobs/claim', asked);
    t.notOk(items.some((one) => one.turns.some((turn) => turn.stream_id === stream_id)));
  }
}

async function list<Item>(account: TestAccount, path: string): Promise<Item[]> {
  return (await account.ask<Page<Item>>('GET', path)).items;
}

async function events(account: TestAccount): Promise<string[]> {
  return (await list<Event>(account, '/events?limit=100')).map(({ type }) => type);
}

const MADE = {
  conversation: { title: 'A talk' },
  suggestions: [{ text: 'Call Zoe', at: [[0, 4_000]] as [number, number][] }],
  memories: [{ text: 'Bob lives in Graz', at: [[10_000, 14_000]] as [number, number][] }],
};

t.test('K-069 what was made of a deleted recording goes with it', async (t) => {
  const ann = await opened('ann@x.test');
  const recording = await spoken(ann);
  const { conversation } = await makeInsights(ann, recording, MADE);
  t.equal(await ann.says('GET', `/conversations/${conversation}`), '200');
  t.equal(await ann.says('DELETE', `/audio/streams/${recording.id}`), '204');
  await spool.operator.advanceClock(MINUTE_MS);
  t.equal(await ann.says('GET', `/conversations/${conversation}`), '404 NOT_FOUND');
  t.same(await list(ann, '/conversations'), []);
  const gone = { stream_id: recording.id, state: 'deleted', quote: null, turn_ids: [] };
  t.same(await list<Memory>(ann, '/memories'), []);
  t.match(await list<Suggestion>(ann, '/suggestions'), [{ text: '', status: 'withdrawn', evidence: [gone] }]);
  await nothingWaits(t, recording.id);
});

t.test('K-050 of a recording that is deleted while a worker has it nothing comes', async (t) => {
  const bob = await opened('bob@x.test');
  const recording = await spoken(bob);
  const work = await claimed([recording.id]);
  const before = (await events(bob)).length;
  t.equal(await bob.says('DELETE', `/audio/streams/${recording.id}`), '204');
  t.match(await publishes(work), /^4(09 CONFLICT|10 GONE)$/);
  await spool.operator.advanceClock(MINUTE_MS);
  t.match(await publishes(work), /^4(09 CONFLICT|10 GONE)$/);
  await nothingWaits(t, recording.id);
  t.same((await events(bob)).slice(0, -before), ['stream.deleted']);
  t.same(await list(bob, '/suggestions'), []);
});

t.test('K-050 of a source that is deleted while a worker has it nothing comes', async (t) => {
  const cy = await opened('cy@x.test');
  const recording = await spoken(cy);
  const { conversation } = await makeInsights(cy, recording, MADE);
  const other = await spoken(cy, { source_id: recording.source_id, captured_at: '2026-11-01T18:00:00.000Z' });
  const work = await claimed([other.id]);
  const before = (await events(cy)).length;
  t.equal(await cy.says('DELETE', `/sources/${recording.source_id}`), '204');
  t.equal(await publishes(work), '410 GONE');
  await nothingWaits(t, other.id);
  t.same((await events(cy)).slice(0, -before), ['source.deleted']);
  t.equal(await cy.says('GET', `/conversations/${conversation}`), '404 NOT_FOUND');
  const gone = { state: 'deleted', quote: null, turn_ids: [] };
  t.same(await list<Memory>(cy, '/memories'), []);
  const [suggestion, ...more] = await list<Suggestion>(cy, '/suggestions');
  t.match(suggestion, { text: '', status: 'withdrawn', evidence: [gone] });
  t.same(more, []);
});

t.test('K-069 a conversation of two recordings stays for the one that is left', async (t) => {
  const dan = await opened('dan@x.test');
  const first = await spoken(dan, { captured_at: '2026-11-01T10:00:00.000Z' });
  const { source_id } = first;
  const second = await spoken(dan, { source_id, captured_at: '2026-11-01T10:00:30.000Z' });
  const work = await claimed([first.id, second.id]);
  t.equal(new Set(work.turns.map(({ stream_id }) => stream_id)).size, 2, 'one conversation');
  t.equal(await dan.says('DELETE', `/audio/streams/${first.id}`), '204');
  t.match(await publishes(work), /^4(09 CONFLICT|10 GONE)$/);
  const again = await claimed([second.id]);
  t.same([...new Set(again.turns.map(({ stream_id }) => stream_id))], [second.id]);
  t.equal(await publishes(again), '200');
  t.match(await list<Suggestion>(dan, '/suggestions'), [{ text: TEXTS[0], evidence: [{ state: 'available' }] }]);
});

t.test('E-010 D-037 nothing is left of what was made in a deleted workspace', async (t) => {
  const redis = await ownRedisOf(spool.folder);
  t.teardown(() => redis.disconnect());
  const [eve, fay] = [await opened('eve@x.test'), await opened('fay@x.test')];
  const { id: workspace_id } = await eve.workspace('Shared');
  await eve.bring(workspace_id, [fay]);
  const paths: string[] = [];
  const marks = ['Task4e4e', 'Memory4e4e', 'Title4e4e'];
  for (const who of [eve, fay]) {
    const source_id = (await who.ask<{ id: string }>('POST', '/sources', { name: 'Desk' })).id;
    const captured_at = '2026-11-01T10:00:00.000Z';
    const recording = await TestRecording.inWorkspace(who, { workspace_id, source_id, captured_at });
    await makeInsights(who, recording, {
      ...{ workspace_id, conversation: { title: 'Title4e4e' } },
      ...{ suggestions: [{ text: 'Task4e4e' }], memories: [{ text: 'Memory4e4e' }] },
    });
    const { conversation } = await makeInsights(who, recording, { workspace_id, span: [30_000, 40_000] });
    paths.push(`/conversations/${conversation}`);
  }
  for (const kind of ['suggestions', 'memories'])
    for (const { id } of await list<{ id: string }>(eve, `/${kind}?workspace_id=${workspace_id}`))
      paths.push(`/${kind}/${id}`);
  t.equal(paths.length, 6);
  const stems = marks.flatMap((text) => stemsOf(spool.server.services.keys, text, 'en'));
  const left = async () =>
    (await everyKey(redis))
      .filter(({ bytes }) => [...marks, ...stems].some((mark) => bytes.includes(mark)))
      .map(({ key }) => key);
  t.ok((await left()).length > 0, 'they were there to be found');
  t.equal(await eve.says('DELETE', `/workspaces/${workspace_id}`), '204');
  await spool.operator.advanceClock(2 * MINUTE_MS);
  t.same(await left(), []);
  for (const who of [eve, fay])
    for (const path of paths) t.equal(await who.says('GET', path), '404 NOT_FOUND', `${who.email} ${path}`);
});
