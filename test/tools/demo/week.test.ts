import { readFileSync } from 'node:fs';
import { Writable } from 'node:stream';
import t from 'tap';
import { runWeek } from '../../../tools/demo/run_week.js';
import { scriptedWeek } from '../../../tools/demo/scripted_week.js';
import { ScriptedEngine } from '../../../tools/speech/scripted_engine.js';
import { AppClient } from '../../fixtures/app_client.js';
import { MCP_CLIENTS, type ToolResult } from '../../fixtures/mcp_clients.js';
import { TestSpool } from '../../fixtures/spool.js';

const DAY_MS = 86_400_000;
/** What SQLite's FTS5 finds of the same questions among its first eight turns; `npm run spool -- bench search` measures both. */
const OF_FTS5 = 115;

/** Questions of the assistant guide, and what was said that answers them. */
const GUIDE_QUESTIONS: Record<string, string> = {
  'Where is the spare key?': 'There is a spare key in the safe',
  'How many repairs were waiting on Monday?': 'Eleven, and four of them are flat tyres',
  'When is the appointment at the vet?': 'The appointment is at a quarter past three',
  'What part of the cabinet does the insurance pay?': 'They pay thirty percent of the cabinet',
};

type Passage = { kind: string; at: string; stream_id: string; start_ms: number; text: string };

t.test('the scripted week: each question belongs to a turn', async (t) => {
  const turns = scriptedWeek().flatMap((conversation) => conversation.turns);
  const questions = turns.flatMap((turn) => turn.questions);
  t.ok(questions.length >= 200, `${questions.length} questions`);
  t.equal(new Set(questions).size, questions.length, 'each is asked once');
  t.ok(turns.every(({ start_ms, end_ms }) => end_ms > start_ms));
});

t.test('K-107 an assistant that is asked about a week gets the passages with their moments', async (t) => {
  const engine = await ScriptedEngine.start({ keeps_requests: false });
  t.teardown(() => engine.close());
  const spool = await TestSpool.start({
    ...{ RATE_LIMITS: 'off', CHUNK_WORKER: '1', TRANSCRIBE_URL: engine.url },
    ...{ TRANSCRIBE_DIARIZE: '1', TRANSCRIBE_WINDOW_S: '600' },
  });
  t.teardown(() => spool.end());
  let shown = '';
  const out = new Writable({
    write(text, _, done) {
      shown += String(text);
      done();
    },
  });
  const { base_url, device_url, server } = spool;
  const operators = {
    operator_url: `http://127.0.0.1:${server.ports.operator}`,
    ops_token: server.services.ops_token,
  };
  const own = { description: '', own: null, end: async () => {} };
  const week = { email: 'demo@spool.example', out };
  const { is_heard, token } = await runWeek({ base_url, device_url, ...operators, ...own }, week);
  t.ok(is_heard, shown);
  t.match(shown, /\d\d suggestions made of them/);

  for (const [name, connect] of Object.entries(MCP_CLIENTS)) {
    const client = await connect(new URL('/mcp', base_url), token);
    const found = (await client.callTool({
      name: 'recall',
      arguments: { query: 'What did I promise last week?', limit: 20 },
    })) as ToolResult;
    await client.close();
    const { items } = found.structuredContent as { items: Passage[] };
    const said = items.map(({ text }) => text).join('\n');
    t.match(said, 'I will send the school the quote by Thursday.', name);
    t.match(said, 'I will write the invoice today.', name);
    t.notMatch(said, 'I will book it and the train', 'that was another week');
    const begins_ms = mondayBefore(Date.now());
    for (const { at, start_ms, stream_id } of items) {
      t.ok(Date.parse(at) >= begins_ms && Date.parse(at) < begins_ms + 7 * DAY_MS, at);
      t.ok(start_ms >= 0 && stream_id !== null);
    }
  }

  const app = new AppClient(base_url);
  t.teardown(() => app.close());
  app.access_token = token;
  const guide = readFileSync(new URL('../../../../docs/assistants.md', import.meta.url), 'utf8');
  for (const [query, said] of Object.entries(GUIDE_QUESTIONS)) {
    t.ok(guide.includes(`\n- ${query}\n`), `the guide asks: ${query}`);
    const { items } = await app.call('POST /recall', { body: { query, limit: 3, context_turns: 0 } });
    t.match(items.flatMap(({ turns }) => turns.map(({ text }) => text)).join('\n'), said, query);
  }
  let answered = 0;
  for (const turn of scriptedWeek().flatMap((conversation) => conversation.turns))
    for (const query of turn.questions) {
      const { items } = await app.call('POST /recall', { body: { query, limit: 8, context_turns: 0 } });
      if (items.some(({ turns }) => turns.some(({ text }) => text === turn.text))) answered += 1;
    }
  t.ok(answered >= OF_FTS5, `${answered} questions have their answer among eight passages`);
});

/** Midnight of the Monday before this week's. */
function mondayBefore(now_ms: number): number {
  const today = new Date(now_ms);
  const days = ((today.getUTCDay() + 6) % 7) + 7;
  return Date.UTC(today.getUTCFullYear(), today.getUTCMonth(), today.getUTCDate()) - days * DAY_MS;
}
