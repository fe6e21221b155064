import t, { type Test } from 'tap';
import type { Conversation, Memory, Suggestion } from '../../kits/typescript/src/api.js';
import { libraryId } from '../../src/domain/ids.js';
import type { Utterance } from '../../tools/speech/audible_script.js';
import { ScriptedEngine } from '../../tools/speech/scripted_engine.js';
import { TestAccount } from '../fixtures/account.js';
import { makeInsights, privateWorkspaceOf } from '../fixtures/insights.js';
import { everyKey, ownRedisOf } from '../fixtures/redis_content.js';
import { TestSpool } from '../fixtures/spool.js';
import { TestRecording } from '../fixtures/transcribing.js';
import { until } from '../fixtures/until.js';

const MINUTE_MS = 60_000;
const STEP_MS = 5_000;
const SECRET = 'I will call the xylophone clinic about the results tomorrow.';
const OTHER = 'I will send the garden invoice to Bob.';
/** As it is suggested. */
const OTHER_TASK = OTHER;
const TEXTS = [
  'We should talk about the weekend before everybody leaves.',
  SECRET,
  'The garden looks lovely with all of these new flowers.',
  OTHER,
  'Everybody thinks that the garden needs a little more water.',
];

type Page<Item> = { items: Item[]; cursor: string | null };

const engine = await ScriptedEngine.start(t);
const settings = { RATE_LIMITS: 'off', CHUNK_WORKER: '1', TRANSCRIBE_URL: engine.url, TRANSCRIBE_WINDOW_S: '600' };
const spool = await TestSpool.start(settings);
t.teardown(() => spool.end());
const { actors } = spool.server.services;
let people = 0;

async function opened(): Promise<TestAccount> {
  people += 1;
  const account = await TestAccount.open(spool, `person${people}@x.test`);
  await account.entitle('developer.tools', true);
  return account;
}

function utterances(texts: readonly string[]): Utterance[] {
  return texts.map((text, at) => ({
    text,
    start_ms: at * STEP_MS + 500,
    end_ms: (at + 1) * STEP_MS - 500,
    speaker: 'A',
  }));
}

/** A recording in which these sentences are said, of which the built-in engine has made a conversation and suggestions. */
async function talk(
  account: TestAccount,
  { workspace_id, source_id, captured_at = '2026-11-01T10:00:00.000Z', texts = TEXTS, isHeard }: Talk = {},
): Promise<TestRecording> {
  const source = source_id ?? (await account.ask<{ id: string }>('POST', '/sources', { name: 'Desk' })).id;
  const recording =
    workspace_id === undefined
      ? await TestRecording.begin(account, { source_id: source, captured_at })
      : await TestRecording.inWorkspace(account, { workspace_id, source_id: source, captured_at });
  await recording.add(texts.length * STEP_MS, { says: utterances(texts) });
  await recording.end();
  const query = workspace_id === undefined ? '' : `&workspace_id=${workspace_id}`;
  await until('it is heard', async () => {
    await spool.operator.advanceClock(11_000);
    if (isHeard !== undefined) return isHeard();
    const { items } = await account.ask<Page<Suggestion>>('GET', `/suggestions?limit=100${query}`);
    return items.filter((one) => one.evidence[0]?.stream_id === recording.id && one.text !== '').length >= 2;
  });
  return recording;
}

type Talk = {
  workspace_id?: string;
  source_id?: string;
  captured_at?: string;
  texts?: string[];
  /** In place of suggestions of its own. */
  isHeard?: () => Promise<boolean>;
};

const turnOf = async (recording: TestRecording, text: string) =>
  `/turns/${(await recording.turns()).find((turn) => turn.text === text)?.id}`;

async function suggestions(account: TestAccount, query = ''): Promise<Suggestion[]> {
  return (await account.ask<Page<Suggestion>>('GET', `/suggestions?limit=100${query}`)).items;
}

async function suggestionOf(account: TestAccount, text: string): Promise<Suggestion> {
  const found = (await suggestions(account)).find((one) => one.text === text);
  if (found === undefined) throw new Error(`no suggestion says ${text}`);
  return found;
}

/** All that an account can read of what was made, by every way that leads there. */
async function everythingReadable(account: TestAccount, { workspace_id = '' } = {}): Promise<string> {
  const query = workspace_id === '' ? '' : `&workspace_id=${workspace_id}`;
  const found: unknown[] = [];
  for (const kind of ['suggestions', 'memories', 'conversations']) {
    const { items } = await account.ask<Page<{ id: string }>>('GET', `/${kind}?limit=100${query}`);
    found.push(items);
    for (const { id } of items) {
      found.push(await account.ask('GET', `/${kind}/${id}`));
      found.push(await account.ask('GET', `/${kind}/${id}/revisions`));
    }
  }
  for (const status of ['open', 'withdrawn'])
    found.push(await account.ask('GET', `/suggestions?status=${status}${query}`));
  const kinds = 'turn,suggestion,conversation,memory';
  found.push(await account.ask('GET', `/search?q=xylophone&kind=${kinds}${query}`));
  const asked = { query: 'xylophone clinic results', ...(workspace_id === '' ? {} : { workspace_id }) };
  found.push(await account.ask('POST', '/recall', asked));
  return JSON.stringify(found);
}

async function isUnreadable(t: Test, account: TestAccount, place = {}): Promise<void> {
  const found = await everythingReadable(account, place);
  const at = found.indexOf('xylophone');
  t.equal(at, -1, found.slice(Math.max(0, at - 300), at + 100));
}

/** Keys of an account's library that hold it. */
async function stored(account: TestAccount): Promise<string[]> {
  const redis = await ownRedisOf(spool.folder);
  const keys = await everyKey(redis);
  redis.disconnect();
  const library_id = libraryId(account.id, await privateWorkspaceOf(account));
  return keys.filter(({ key, bytes }) => key.includes(library_id) && bytes.includes('xylophone')).map(({ key }) => key);
}

t.test('K-093 a deleted turn is not read in anything that the built-in engine made of it', async (t) => {
  const ann = await opened();
  const recording = await talk(ann);
  t.match(await everythingReadable(ann), 'xylophone');
  t.equal(await ann.says('DELETE', await turnOf(recording, SECRET)), '204');
  await isUnreadable(t, ann);
});

t.test('K-093 a suggestion whose turn is deleted is withdrawn before the answer', async (t) => {
  const ann = await opened();
  const recording = await talk(ann);
  const { id, state_version } = await suggestionOf(ann, SECRET);
  await ann.newEvents();
  await ann.says('DELETE', await turnOf(recording, SECRET));
  const expected = { status: 'withdrawn', text: '', due_at: null, state_version: state_version + 1 };
  t.match(await ann.ask('GET', `/suggestions/${id}`), expected);
  t.same((await ann.newEvents()).filter((event) => event.startsWith(`suggestion.updated ${id}`)).length, 1);
});

t.test('K-093 suggestions of turns that stay are as they were', async (t) => {
  const ann = await opened();
  const recording = await talk(ann);
  const { id, revision } = await suggestionOf(ann, OTHER_TASK);
  await ann.says('DELETE', await turnOf(recording, SECRET));
  t.match(await ann.ask('GET', `/suggestions/${id}`), { status: 'open', text: OTHER_TASK, revision });
});

t.test('K-093 nothing is stored of a deleted sentence', async (t) => {
  const ann = await opened();
  const recording = await talk(ann);
  t.not((await stored(ann)).length, 0);
  await ann.says('DELETE', await turnOf(recording, SECRET));
  t.same(await stored(ann), []);
});

t.test('K-093 a conversation says again what is left of it', async (t) => {
  const ann = await opened();
  const recording = await talk(ann);
  await ann.says('DELETE', await turnOf(recording, SECRET));
  await until('it has a summary', async () => {
    await spool.operator.advanceClock(11_000);
    const { items } = await ann.ask<Page<Conversation>>('GET', '/conversations');
    return items[0]?.summary != null;
  });
  await isUnreadable(t, ann);
});

t.test('K-095 a suggestion that a person accepted stays, without what was said', async (t) => {
  const ann = await opened();
  const recording = await talk(ann);
  const { id, state_version } = await suggestionOf(ann, SECRET);
  await ann.ask('PATCH', `/suggestions/${id}`, { state_version, status: 'accepted' });
  await ann.says('DELETE', await turnOf(recording, SECRET));
  const evidence = [{ quote: null, turn_ids: [], state: 'deleted' }];
  t.match(await ann.ask('GET', `/suggestions/${id}`), { status: 'accepted', text: SECRET, evidence });
});

t.test('K-095 a suggestion that a person put in other words stays, and what it was goes', async (t) => {
  const ann = await opened();
  const recording = await talk(ann);
  const { id, state_version } = await suggestionOf(ann, SECRET);
  await ann.ask('PATCH', `/suggestions/${id}`, { state_version, text: 'Ring them' });
  await ann.says('DELETE', await turnOf(recording, SECRET));
  t.match(await ann.ask('GET', `/suggestions/${id}`), { text: 'Ring them' });
  await isUnreadable(t, ann);
  t.same(await stored(ann), []);
});

t.test('K-095 a suggestion that a person only rated or dismissed goes', async (t) => {
  const ann = await opened();
  const recording = await talk(ann);
  const [secret, other] = [await suggestionOf(ann, SECRET), await suggestionOf(ann, OTHER_TASK)];
  await ann.ask('POST', `/suggestions/${secret.id}/feedback`, { rating: 'wrong' });
  await ann.ask('PATCH', `/suggestions/${other.id}`, { state_version: other.state_version, status: 'dismissed' });
  for (const text of [SECRET, OTHER]) await ann.says('DELETE', await turnOf(recording, text));
  t.match(await ann.ask('GET', `/suggestions/${secret.id}`), { status: 'withdrawn', text: '' });
  t.match(await ann.ask('GET', `/suggestions/${other.id}`), { status: 'withdrawn', text: '' });
});

t.test('K-093 a deleted recording is not read in anything that was made of it', async (t) => {
  const ann = await opened();
  const recording = await talk(ann);
  t.equal(await ann.says('DELETE', `/audio/streams/${recording.id}`), '204');
  await isUnreadable(t, ann);
  t.same(await stored(ann), []);
});

t.test('K-093 a deleted source is not read in anything that was made of it', async (t) => {
  const ann = await opened();
  const recording = await talk(ann);
  t.equal(await ann.says('DELETE', `/sources/${recording.source_id}`), '204');
  await isUnreadable(t, ann);
  t.same(await stored(ann), []);
});

t.test('K-002 no event follows that of a deleted source', async (t) => {
  const ann = await opened();
  const recording = await talk(ann);
  await ann.newEvents();
  await ann.says('DELETE', `/sources/${recording.source_id}`);
  await spool.operator.advanceClock(20 * MINUTE_MS);
  t.same(await ann.newEvents(), [`source.deleted ${recording.source_id}`]);
});

t.test('K-093 what was deleted is unreadable before any worker has seen to it', async (t) => {
  const ann = await opened();
  const recording = await talk(ann);
  const { id, state_version } = await suggestionOf(ann, SECRET);
  await actors.stream(recording.id).delete({ silent: false });
  await isUnreadable(t, ann);
  t.match(await ann.says('PATCH', `/suggestions/${id}`, { state_version, status: 'accepted' }), '409 CONFLICT');
  await isUnreadable(t, ann);
});

t.test('K-093 what came of a source is unreadable before any worker has seen to it', async (t) => {
  const ann = await opened();
  const recording = await talk(ann);
  await actors.source(recording.source_id).delete({ account_id: ann.id });
  await isUnreadable(t, ann);
  await spool.operator.advanceClock(1_000);
  t.same(await stored(ann), []);
});

t.test('E-010 members of a shared workspace read nothing of deleted speech', async (t) => {
  const [ann, bob] = [await opened(), await opened()];
  const { id: workspace_id } = await ann.workspace('Shared');
  await ann.bring(workspace_id, [bob]);
  const recording = await talk(ann, { workspace_id });
  t.match(await everythingReadable(bob, { workspace_id }), 'xylophone');
  await ann.says('DELETE', await turnOf(recording, SECRET));
  for (const who of [ann, bob]) await isUnreadable(t, who, { workspace_id });
});

t.test('K-093 a suggestion goes with its turn when its conversation is gone already', async (t) => {
  const ann = await opened();
  const recording = await talk(ann);
  const { id, conversation_id } = await suggestionOf(ann, SECRET);
  t.equal(await ann.says('DELETE', `/conversations/${conversation_id}`), '204');
  await ann.says('DELETE', await turnOf(recording, SECRET));
  t.match(await ann.ask('GET', `/suggestions/${id}`), { status: 'withdrawn', text: '' });
  t.same(await stored(ann), []);
});

t.test('K-093 what a conversation of two recordings says of the deleted one is not read', async (t) => {
  const ann = await opened();
  const first = await talk(ann, { captured_at: '2026-11-01T10:00:00.000Z' });
  const texts = [...TEXTS].reverse().filter((text) => text !== SECRET);
  const conversations = async () => (await ann.ask<Page<Conversation>>('GET', '/conversations')).items;
  const isHeard = async () => (await conversations()).some(({ parts }) => parts.length === 2);
  await talk(ann, { source_id: first.source_id, captured_at: '2026-11-01T10:00:30.000Z', texts, isHeard });
  await ann.says('DELETE', `/audio/streams/${first.id}`);
  await isUnreadable(t, ann);
  await spool.operator.advanceClock(20 * MINUTE_MS);
  await isUnreadable(t, ann);
  t.match(await conversations(), [{ parts: [{ source_id: first.source_id }] }], 'it stays for the other one');
});

const SPANS: [number, number][] = [0, 1].map((at) => [at * STEP_MS + 500, (at + 1) * STEP_MS - 500]);
const WORDED = {
  conversation: { title: 'A talk', summary: 'Somebody speaks of a clinic.' },
  suggestions: [{ text: 'Ring the clinic', at: SPANS }],
  memories: [{ text: 'Somebody is ill', at: SPANS }],
};

t.test('K-094 what a model worded stays while some of its evidence is left', async (t) => {
  const ann = await opened();
  const recording = await talk(ann);
  await makeInsights(ann, recording, WORDED);
  await ann.says('DELETE', await turnOf(recording, SECRET));
  t.match((await ann.ask<Page<Memory>>('GET', '/memories')).items, [{ text: 'Somebody is ill' }]);
  t.ok((await suggestions(ann)).some(({ text, status }) => text === 'Ring the clinic' && status === 'open'));
});

t.test('K-094 what a model worded goes with the last of its evidence', async (t) => {
  const ann = await opened();
  const recording = await talk(ann);
  await makeInsights(ann, recording, WORDED);
  for (const text of TEXTS.slice(0, 2)) await ann.says('DELETE', await turnOf(recording, text));
  t.same((await ann.ask<Page<Memory>>('GET', '/memories')).items, []);
  t.notOk((await suggestions(ann)).some(({ text }) => text === 'Ring the clinic'));
});

t.test('K-095 a memory that a person changed stays without its words', async (t) => {
  const ann = await opened();
  const recording = await talk(ann);
  await makeInsights(ann, recording, WORDED);
  const [memory] = (await ann.ask<Page<Memory>>('GET', '/memories')).items;
  await ann.ask('PATCH', `/memories/${memory?.id}`, { text: 'Ask how it went' });
  for (const text of TEXTS.slice(0, 2)) await ann.says('DELETE', await turnOf(recording, text));
  t.match(await ann.ask('GET', `/memories/${memory?.id}`), { text: 'Ask how it went' });
  t.same((await ann.ask<Page<unknown>>('GET', `/memories/${memory?.id}/revisions`)).items, []);
});

t.test('K-094 a conversation that a model worded goes with the last of its turns', async (t) => {
  const ann = await opened();
  const recording = await talk(ann);
  const { conversation } = await makeInsights(ann, recording, { ...WORDED, span: [0, TEXTS.length * STEP_MS] });
  for (const text of TEXTS.slice(0, -1)) await ann.says('DELETE', await turnOf(recording, text));
  t.equal(await ann.says('GET', `/conversations/${conversation}`), '200');
  await ann.says('DELETE', await turnOf(recording, TEXTS.at(-1) as string));
  t.equal(await ann.says('GET', `/conversations/${conversation}`), '404 NOT_FOUND');
});
