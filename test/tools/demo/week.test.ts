import { readFileSync } from 'node:fs';
import { Writable } from 'node:stream';
import t from 'tap';
import { runWeek } from '../../../tools/demo/run_week.js';
import { scriptedWeek, TODAY } from '../../../tools/demo/scripted_week.js';
import { ScriptedEngine } from '../../../tools/speech/scripted_engine.js';
import { AppClient } from '../../fixtures/app_client.js';
import { MCP_CLIENTS, type ToolResult } from '../../fixtures/mcp_clients.js';
import { Receiver } from '../../fixtures/receiver.js';
import { TestSpool } from '../../fixtures/spool.js';

const DAY_MS = 86_400_000;
const EMAIL = 'demo@spool.example';
/** What SQLite's FTS5 finds of the same questions among its first eight turns; `npm run spool -- bench search` measures both. */
const OF_FTS5 = 115;

/** Questions of the assistant guide, and what was said that answers them. */
const GUIDE_QUESTIONS: Record<string, string> = {
  'Where is the spare key?': 'There is a spare key in the safe',
  'How many repairs were waiting?': 'Eleven, and four of them are flat tyres',
  'When is the appointment at the vet?': 'The appointment is at a quarter past three',
  'What part of the cabinet does the insurance pay?': 'They pay thirty percent of the cabinet',
};

type Passage = { kind: string; at: string; stream_id: string | null; start_ms: number | null; text: string };

const engine = await ScriptedEngine.start({ keeps_requests: false });
t.teardown(() => engine.close());
const receiver = await Receiver.start();
t.teardown(() => receiver.end());
const spool = await TestSpool.start({
  ...{ RATE_LIMITS: 'off', CHUNK_WORKER: '1', TRANSCRIBE_URL: engine.url },
  ...{ TRANSCRIBE_DIARIZE: '1', TRANSCRIBE_WINDOW_S: '600', ...receiver.env },
});
t.teardown(() => spool.end());
const { base_url } = spool;
/** Midnight, before anything is recorded. */
const today_ms = Math.floor(Date.now() / DAY_MS) * DAY_MS;
const script = scriptedWeek(new Date(today_ms).getUTCDay());
const week = await record();
const owner = new AppClient(base_url);
t.teardown(() => owner.close());
const used = new Set(await spool.operator.codes(EMAIL));
await owner.signIn(EMAIL, () => spool.operator.readCode(EMAIL, used));

t.test('the scripted week: each question belongs to a turn', async (t) => {
  const turns = scriptedWeek().flatMap((conversation) => conversation.turns);
  const questions = turns.flatMap((turn) => turn.questions);
  t.ok(questions.length >= 200, `${questions.length} questions`);
  t.equal(new Set(questions).size, questions.length, 'each is asked once');
  t.ok(turns.every(({ start_ms, end_ms }) => end_ms > start_ms));
});

t.test('the scripted week: days of the week move with its first day', async (t) => {
  const textsOf = (first_weekday: number) =>
    scriptedWeek(first_weekday).flatMap(({ turns }) => turns.map(({ text }) => text));
  const [monday, sunday] = [textsOf(1).join('\n'), textsOf(0).join('\n')];
  t.match(monday, 'I will send the school the quote by Thursday.');
  t.match(sunday, 'I will send the school the quote by Wednesday.');
  t.match(sunday, 'At half past eight, on Mondays.', 'habits stay');
});

t.test('everything was heard, in the last seven days', async (t) => {
  t.ok(week.is_heard, week.shown);
  t.match(week.shown, /\d\d suggestions made of them/);
  const streams = await all(owner.all('GET /audio/streams'));
  t.equal(streams.length, script.length);
  for (const { captured_at } of streams) {
    t.ok(Date.parse(captured_at) >= today_ms - TODAY * DAY_MS, captured_at);
    t.ok(Date.parse(captured_at) <= Date.now(), captured_at);
  }
});

t.test('open tasks are due from two days ago to two weeks ahead', async (t) => {
  const open = await all(owner.all('GET /suggestions', { query: { status: 'open' } }));
  const due = open.flatMap(({ kind, due_at }) => (kind === 'decision' || due_at === null ? [] : Date.parse(due_at)));
  t.ok(due.length >= 8, `${due.length} tasks`);
  t.ok(Math.min(...due) >= today_ms - 2 * DAY_MS);
  t.ok(Math.max(...due) < today_ms + 15 * DAY_MS);
  t.ok(
    due.some((at) => at < today_ms),
    'one is overdue',
  );
  t.ok(
    open.some(({ kind }) => kind === 'question'),
    'a question is open',
  );
  t.equal(open.filter(({ made_by }) => made_by === 'person').length, 3, 'by hand');
  const completed = await owner.call('GET /suggestions', { query: { status: 'completed' } });
  t.ok(completed.items.length > 0);
});

t.test('some recordings have a title, tags and a star of their own', async (t) => {
  const streams = await all(owner.all('GET /audio/streams', { query: { include: 'tags' } }));
  const titles = new Set(streams.map(({ title }) => title));
  t.ok(script.every(({ title }) => title === null || titles.has(title)));
  t.ok(script.some(({ title }) => title === null));
  t.equal(streams.filter(({ starred }) => starred).length, script.filter(({ is_starred }) => is_starred).length);
  t.ok(streams.some(({ tags }) => tags?.includes('workshop')));
  const race = streams.find(({ title }) => title === 'Race around the lake');
  const path = { id: race?.id ?? '' };
  t.equal((await owner.call('GET /audio/streams/{id}/summary', { path })).edited, true);
  t.equal((await owner.call('GET /me/links')).items.length, 1);
});

t.test('devices have names, and a session has a summary', async (t) => {
  const { items: devices } = await owner.call('GET /devices');
  const { items: sources } = await owner.call('GET /sources');
  t.same(devices.map(({ id }) => sources.find(({ device_id }) => device_id === id)?.name).toSorted(), [
    'Kitchen recorder',
    'Pocket recorder',
    'Workshop table',
  ]);
  const { items: sessions } = await owner.call('GET /device-sessions');
  t.match(sessions, [{ end_reason: 'host', participants: [{}] }]);
  const path = { id: sessions[0]?.id ?? '' };
  const summary = await owner.call('GET /device-sessions/{id}/summary', { path });
  t.equal(summary.state, 'ready');
  t.ok(summary.suggestions.length > 0);
});

t.test('a workspace is shared, and a webhook has deliveries', async (t) => {
  const { items: workspaces } = await owner.call('GET /workspaces');
  const path = { id: workspaces.find((workspace) => !workspace.private)?.id ?? '' };
  t.equal((await owner.call('GET /workspaces/{id}/members', { path })).items.length, 2);
  const query = { workspace_id: path.id };
  t.equal((await owner.call('GET /audio/streams', { query })).items.length, 1);
  const { items: endpoints } = await owner.call('GET /endpoints');
  const endpoint = { id: endpoints[0]?.id ?? '' };
  const { items } = await owner.call('GET /endpoints/{id}/deliveries', { path: endpoint });
  t.ok(items.some(({ status }) => status === 'succeeded'));
});

t.test('K-107 an assistant that is asked about a week gets the passages with their moments', async (t) => {
  const promises = script.flatMap(({ turns }) => turns.map(({ text }) => text)).join('\n');
  const quote = /I will send the school the quote by \w+\./.exec(promises)?.[0] ?? 'none';
  for (const [name, connect] of Object.entries(MCP_CLIENTS)) {
    const client = await connect(new URL('/mcp', base_url), week.token);
    const found = (await client.callTool({
      name: 'recall',
      arguments: { query: 'What did I promise in the last seven days?', limit: 20 },
    })) as ToolResult;
    await client.close();
    const { items } = found.structuredContent as { items: Passage[] };
    const said = items.map(({ text }) => text).join('\n');
    t.match(said, quote, name);
    t.match(said, 'I will write the invoice today.', name);
    for (const { at, start_ms, stream_id } of items) {
      t.ok(Date.parse(at) >= today_ms - TODAY * DAY_MS, at);
      t.equal(start_ms === null, stream_id === null, 'what was added by hand has no recording');
    }
  }
});

t.test('K-107 questions about the week find their answers', async (t) => {
  const app = new AppClient(base_url);
  t.teardown(() => app.close());
  app.access_token = week.token;
  const guide = readFileSync(new URL('../../../../docs/assistants.md', import.meta.url), 'utf8');
  for (const [query, said] of Object.entries(GUIDE_QUESTIONS)) {
    t.ok(guide.includes(`\n- ${query}\n`), `the guide asks: ${query}`);
    const { items } = await app.call('POST /recall', { body: { query, limit: 3, context_turns: 0 } });
    t.match(items.flatMap(({ turns }) => turns.map(({ text }) => text)).join('\n'), said, query);
  }
  let answered = 0;
  for (const turn of script.flatMap((conversation) => conversation.turns))
    for (const query of turn.questions) {
      const { items } = await app.call('POST /recall', { body: { query, limit: 8, context_turns: 0 } });
      if (items.some(({ turns }) => turns.some(({ text }) => text === turn.text))) answered += 1;
    }
  t.ok(answered >= OF_FTS5, `${answered} questions have their answer among eight passages`);
});

/** Runs the demo, with what it prints. */
async function record(): Promise<{ is_heard: boolean; token: string; shown: string }> {
  let shown = '';
  const out = new Writable({
    write(text, _, done) {
      shown += String(text);
      done();
    },
  });
  const { device_url, server } = spool;
  const operator_url = `http://127.0.0.1:${server.ports.operator}`;
  const { ops_token } = server.services;
  const chosen = { base_url, device_url, operator_url, ops_token, description: '', own: null, end: async () => {} };
  const ran = await runWeek(chosen, { email: EMAIL, webhook_url: receiver.url('/week'), out });
  return { ...ran, shown };
}

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const read: Item[] = [];
  for await (const item of items) read.push(item);
  return read;
}
