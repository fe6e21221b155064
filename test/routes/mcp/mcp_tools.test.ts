import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import t from 'tap';
import type { z } from 'zod';
import type { Contact, Suggestion, Turn } from '../../../kits/typescript/src/api.js';
import { TOOLS } from '../../../routes/mcp/tools.js';
import { LIMITS } from '../../../src/domain/limits.js';
import {
  type Entitlement,
  isEnabled,
  PERMISSIONS,
  type Permission,
  permissionsOf,
} from '../../../src/domain/permissions.js';
import { permissionsOfScopes, recalls } from '../../../src/domain/scopes.js';
import type { Tool } from '../../../src/edge/mcp/tool.js';
import { listedTool } from '../../../src/edge/mcp/tool_server.js';
import { TestAccount } from '../../fixtures/account.js';
import { makeInsights } from '../../fixtures/insights.js';
import { MCP_CLIENTS, type ToolResult } from '../../fixtures/mcp_clients.js';
import { unknownFormats } from '../../fixtures/schema_formats.js';
import { TestSpool } from '../../fixtures/spool.js';
import { said, TestRecording, TestTranscriber } from '../../fixtures/transcribing.js';

type Page = { items: Record<string, unknown>[]; cursor: string | null };
type Switches = Partial<Record<Entitlement, boolean>>;

const UNKNOWN = randomUUID();
const TOKEN_PERMISSIONS = PERMISSIONS.filter((name) => !name.startsWith('workspace:'));
const SWITCHES = ['audio.access', 'transcripts.access', 'insights.access', 'developer.tools'] as const;
const LIST_BYTES_MAX = 12 * 1024;
const ANSWER_BYTES_MAX = 60 * 1024;

/** Whether a row lets somebody in with these switches and scopes; written anew here, from the notes of rows. */
function isOpen(
  { permission, all_of = [], recall, layer, developer }: Tool,
  switches: Switches,
  scopes: readonly string[],
) {
  const held = permissionsOf(switches);
  const permissions = held.filter((name) => permissionsOfScopes(scopes).includes(name));
  const may_recall = recall === true && recalls({ permissions, held, scopes });
  const is_free = permission === undefined && recall === undefined;
  return (
    (is_free || may_recall || permission?.some((name) => permissions.includes(name)) === true) &&
    all_of.every((name) => permissions.includes(name)) &&
    (layer === undefined || isEnabled(switches, layer)) &&
    (developer !== true || isEnabled(switches, 'developer.tools'))
  );
}

const spool = await TestSpool.start({ RATE_LIMITS: 'off', CHUNK_WORKER: '1', CONTENT_WORKER: '0' });
t.teardown(() => spool.end());
const mcp_url = new URL('/mcp', spool.base_url);
const ann = await TestAccount.open(spool, 'ann@x.test');
await ann.entitle('developer.tools', true);
const worker = new TestTranscriber(spool);
const tokenFor = async (permissions: readonly string[]) => {
  const made = { name: 'tools', permissions, expires_at: null };
  return (await ann.ask<{ value: string }>('POST', '/me/tokens', made)).value;
};
const all = await tokenFor(TOKEN_PERMISSIONS);
const rpc = async (token: string, method: string, params = {}, version: string | null = '2025-11-25') => {
  const answer = await fetch(mcp_url, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      Authorization: `Bearer ${token}`,
      ...(version !== null && { 'MCP-Protocol-Version': version }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  return (await answer.json()) as { result: ToolResult & { tools: { name: string }[] } };
};
const call = async (name: string, args: Record<string, unknown> = {}, token = all) =>
  (await rpc(token, 'tools/call', { name, arguments: args })).result;
const give = async <Given>(name: string, args: Record<string, unknown> = {}): Promise<Given> => {
  const { structuredContent, content } = await call(name, args);
  if (structuredContent === undefined) throw new Error(content?.[0]?.text);
  return structuredContent as Given;
};

const recording = await TestRecording.begin(ann);
await recording.add(20_000);
await recording.end();
const texts = ['I will call Zoë tomorrow.', 'And I will bake bread.', 'Could you sweep?'];
await worker.publish(
  await worker.claim(recording.id),
  texts.map((text, at) => said(text, [at * 5_000, at * 5_000 + 4_000], at === 2 ? 'B' : 'A')),
);
const turns = (await recording.turns()) as [Turn, Turn, Turn];
const anna = await ann.ask<Contact>('POST', '/contacts', { name: 'Anna' });
await ann.ask('PATCH', `/audio/streams/${recording.id}/speakers/S1`, { contact_id: anna.id });
const { session } = await spool.hostSession(ann.app);
await makeInsights(ann, recording, {
  session_id: session.id,
  conversation: { title: 'Plans' },
  suggestions: [
    { text: 'Call Zoë', at: [[0, 4_000]] },
    { text: 'Bake bread', at: [[5_000, 9_000]] },
  ],
  memories: [{ text: 'Anna bakes', at: [[5_000, 9_000]] }],
});
const suggestions = await ann.ask<{ items: Suggestion[] }>('GET', '/suggestions');
const [suggestion, other] = suggestions.items as [Suggestion, Suggestion];
const { endpoint } = await ann.ask<{ endpoint: { id: string } }>('POST', '/endpoints', {
  ...{ url: 'https://x.invalid/', topics: ['account.updated'] },
});
await ann.ask('PATCH', '/me', { name: 'Ann' });
const deliveries = await ann.ask<{ items: { id: string }[] }>('GET', `/endpoints/${endpoint.id}/deliveries`);

/** Each tool once, in an order in which it can be done by one client after the other. */
const calls: [string, Record<string, unknown>, Record<string, unknown>][] = [
  ['who_am_i', {}, { account_id: ann.id }],
  ['list_turns', { stream_id: recording.id, limit: 2 }, { items: [{ text: texts[0], speaker: 'Anna' }, {}] }],
  ['get_transcript', { stream_id: recording.id }, { text: /^\[00:00:00\] Anna: I will call Zoë tomorrow\.\n/ }],
  ['recall', { query: 'Who bakes bread?' }, { items: [{ stream_id: recording.id, text: /Anna: And I will bake/ }] }],
  ['search', { query: 'bread', kind: 'turn' }, { results: [{ id: turns[1].id, url: /\/turns\//, text: /bread/ }] }],
  ['list_contacts', { query: 'ann' }, { items: [{ contact_id: anna.id, name: 'Anna' }] }],
  ['correct_turn', { turn_id: turns[2].id, speaker: 'S2' }, { turn_id: turns[2].id, speaker_label: 'S2' }],
  ['fetch', { id: turns[1].id }, { id: turns[1].id, title: /^Anna · 2026-11-01T10:00:05\.000Z/, url: /^http/ }],
  ['list_suggestions', { status: 'open' }, { items: [{ evidence: [{ at: /^2026-11-01T10:00:0/ }] }, {}] }],
  ['give_feedback', { suggestion_id: suggestion.id, rating: 'helpful' }, { rating: 'helpful', comment: null }],
  ['update_suggestion', { suggestion_id: other.id, state_version: 1 }, { suggestion_id: other.id, state_version: 1 }],
  ['get_session_summary', { session_id: session.id }, { conversations: [{ title: 'Plans' }], memories: [{}] }],
  ['list_conversations', {}, { items: [{ title: 'Plans' }] }],
  ['list_memories', { kind: 'fact' }, { items: [{ text: 'Anna bakes' }] }],
  ['list_streams', {}, { items: [{ stream_id: recording.id, end_ms: 20_000 }] }],
  ['list_sources', {}, { items: Array.from({ length: 2 }, () => ({})) }],
  ['get_day', { date: '2026-11-01' }, { date: '2026-11-01', time_zone: 'UTC', complete: true }],
  ['list_devices', {}, { items: [{ kind: 'shared', session_id: session.id }] }],
  ['list_recorder_sessions', {}, { items: [{ session_id: session.id, is_host: true }] }],
  ['list_events', { limit: 1 }, { items: [{}], cursor: /./ }],
  ['get_profile', {}, { revision: 0 }],
  ['save_profile', { revision: 0 }, { revision: 0 }],
  ['list_pipelines', {}, { items: [{ default: true }] }],
  ['list_endpoints', {}, { items: [{ id: endpoint.id }] }],
  ['list_deliveries', { endpoint_id: endpoint.id }, { items: [{ event_type: 'account.updated' }] }],
  ['get_delivery', { endpoint_id: endpoint.id, delivery_id: deliveries.items[0]?.id }, { event: { type: /./ } }],
  ['set_endpoint_status', { endpoint_id: endpoint.id, status: 'active' }, { status: 'active' }],
];
/** These two depend on each other. */
const apart = ['create_endpoint', 'delete_endpoint'];

for (const [which, open] of Object.entries(MCP_CLIENTS)) {
  await t.test(`C-118 with ${which}: every tool gives what it says that it gives`, async (t) => {
    const told: unknown[] = [];
    for (const name of ['warn', 'error'] as const) {
      const before = console[name];
      console[name] = (...what: unknown[]) => told.push(what);
      t.teardown(() => {
        console[name] = before;
      });
    }
    const client = await open(mcp_url, all);
    const { tools } = await client.listTools();
    t.match(client.getInstructions(), /UTC/);
    t.same(tools.map(({ name }) => name).sort(), TOOLS.map(({ name }) => name).sort());
    t.same([...calls.map(([name]) => name), ...apart].sort(), TOOLS.map(({ name }) => name).sort());
    for (const { name, title, description = '', annotations } of tools) {
      t.ok(title && description.length < 250, name);
      const { readOnlyHint, openWorldHint, destructiveHint, idempotentHint } = annotations ?? {};
      t.ok(
        [readOnlyHint, openWorldHint].every((hint) => typeof hint === 'boolean'),
        name,
      );
      t.equal(readOnlyHint, /^(list|get|fetch|who|search|recall)/.test(name), name);
      if (readOnlyHint !== true) t.ok([destructiveHint, idempotentHint].every((hint) => typeof hint === 'boolean'));
    }
    for (const [name, args, expected] of calls) {
      const result = (await client.callTool({ name, arguments: args })) as ToolResult;
      t.match(result.structuredContent, expected, `${name}: ${result.content?.[0]?.text.slice(0, 300)}`);
      const text = result.content?.[0]?.text ?? '';
      const has_own = TOOLS.find((tool) => tool.name === name)?.text !== undefined;
      if (!has_own && text.startsWith('{')) t.same(JSON.parse(text), result.structuredContent, 'the same as text');
      else if (!has_own) t.ok(text.length <= LIMITS.tool_text_chars_max, `${name}: ${text.length} characters`);
      t.notOk(result.isError);
    }
    const url = 'https://y.invalid/';
    const made = (await client.callTool({ name: 'create_endpoint', arguments: { url } })) as ToolResult;
    const endpoint_id = (made.structuredContent?.endpoint as { id: string } | undefined)?.id;
    t.match(await client.callTool({ name: 'delete_endpoint', arguments: { endpoint_id } }), {
      structuredContent: { deleted: true },
    });
    await client.close();
    t.same(told, [], 'and the client has nothing to complain of');
  });
}

await t.test('K-142 a tool corrects the text of a turn, and restores what was heard', async (t) => {
  const [, , { id: turn_id }] = turns;
  const corrected = { turn_id, text: 'Could you sweep it?', heard_text: texts[2] };
  t.match(await give('correct_turn', { turn_id, text: ' Could you sweep it? ' }), corrected);
  t.match(await give('list_turns', { stream_id: recording.id }), { items: [{}, {}, corrected] });
  t.match(await give('fetch', { id: turn_id }), { text: /Could you sweep it\?/, metadata: corrected });
  t.notOk('heard_text' in (await give<object>('correct_turn', { turn_id, text: null })));
});

await t.test('K-137 a list of tools is short', (t) => {
  const usual = TOOLS.filter(({ permission, developer }) => !developer && !permission?.includes('endpoints:manage'));
  const bytes = Buffer.byteLength(JSON.stringify({ tools: usual.map(listedTool) }));
  t.ok(bytes <= LIST_BYTES_MAX, `${bytes} bytes`);
  t.end();
});

/** Each argument of a tool, of a type that none has. */
function wrongArguments(name: string): Record<string, unknown> {
  const input = TOOLS.find((tool) => tool.name === name)?.input as z.ZodObject;
  return Object.fromEntries(Object.keys(input.shape).map((argument) => [argument, { wrong: true }]));
}

const credentials: [string, readonly Permission[]][] = [
  ['all of them', TOKEN_PERMISSIONS],
  ...(['turns:read', 'insights:read', 'audio:read', 'debug:read', 'pipelines:read', 'turns:write'] as const).map(
    (name): [string, Permission[]] => [name, [name]],
  ),
  ['turns:read and insights:read', ['turns:read', 'insights:read']],
  ['none that a tool needs', ['files:read']],
];
const tokens = new Map<string, string>();
for (const [says, scopes] of credentials) tokens.set(says, await tokenFor(scopes));
const on: Switches = Object.fromEntries(SWITCHES.map((name) => [name, true]));
for (const off of [null, ...SWITCHES]) {
  await t.test(`K-016 C-100 C-101 C-102 C-112 tools as far as permissions go: ${off ?? 'nothing'} off`, async (t) => {
    const switches = off === null ? on : { ...on, [off]: false };
    for (const name of SWITCHES) await ann.entitle(name, switches[name] === true);
    for (const [says, scopes] of credentials) {
      const token = tokens.get(says) ?? '';
      const { result } = await rpc(token, 'tools/list');
      const open = TOOLS.filter((tool) => isOpen(tool, switches, scopes)).map(({ name }) => name);
      t.same(
        result.tools.map(({ name }) => name),
        open,
        says,
      );
      for (const { name, permission = [] } of TOOLS) {
        // Of a type that no argument has, so that whoever is let in hears of that.
        const text = (await call(name, wrongArguments(name), token)).content?.[0]?.text ?? '';
        if (open.includes(name))
          t.match(text, name === 'who_am_i' || name === 'get_profile' ? /^\{/ : /^BAD_REQUEST: /, name);
        else t.match(text, /^FORBIDDEN: /, name);
        const held = permissionsOf(switches).filter((one) => permissionsOfScopes(scopes).includes(one));
        if (!permission.some((one) => held.includes(one)) && permission.length > 0)
          t.ok(
            permission.every((one) => text.includes(one)),
            `${name}: ${text}`,
          );
      }
    }
    for (const name of SWITCHES) await ann.entitle(name, true);
  });
}

await t.test('K-135 J-012 wrong arguments: the field, the rule, and what would be right', async (t) => {
  for (const { name, input, example } of TOOLS) t.ok(input.safeParse(example).success, `the example of ${name}`);
  for (const [name, args, says] of [
    [
      'list_turns',
      { limit: 101 },
      /^BAD_REQUEST: limit must be a whole number from 1 to 100\. Right would be, for example: list_turns \{/,
    ],
    ['list_turns', { stream_id: 'x' }, /stream_id must be a UUID/],
    ['list_turns', { stream_id: UNKNOWN, contact_id: UNKNOWN }, /contact_id must not be combined with stream_id/],
    ['list_turns', { from_ms: 5 }, /from_ms goes with stream_id only/],
    ['list_turns', { from: 'yesterday' }, /from must be an ISO 8601 timestamp/],
    ['list_turns', { cursor: 'x' }, /cursor must be a cursor that this list returned/],
    ['get_transcript', {}, /stream_id must be a UUID/],
    ['get_session_summary', { session_id: session.id, cursor: 'WzEsIngiXQ' }, /cursor must be a cursor/],
    ['correct_turn', { turn_id: UNKNOWN }, /the arguments must have contact_id, speaker or text/],
    ['update_suggestion', { suggestion_id: suggestion.id, state_version: 1, status: 'done' }, /status must be open or/],
    ['give_feedback', { suggestion_id: suggestion.id, rating: 5 }, /rating must be helpful or/],
    ['fetch', { id: 'turn 5' }, /id must be a UUID/],
  ] as const)
    t.match(await call(name, args), { isError: true, content: [{ text: says }] }, `${name} ${JSON.stringify(args)}`);
});

const ADDED_BY_CLIENTS = [
  { toolCallId: 'call_1' },
  { sessionId: 's', action: 'sendMessage', chatInput: 'hi', tool: 'search' },
  { task_progress: '- [x] look' },
  { _meta: { progressToken: 1 }, requestId: 5, explanation: 'to help' },
];

await t.test(
  'K-135 names that clients add to the arguments are passed over, also where something is changed',
  async (t) => {
    const [, , { id: turn_id }] = turns;
    for (const added of ADDED_BY_CLIENTS) {
      const says = JSON.stringify(added);
      t.match(await call('who_am_i', added), { structuredContent: { account_id: ann.id } }, says);
      t.match((await call('search', { query: 'bread', ...added })).structuredContent?.results, [{}, {}], says);
      t.match(
        await call('correct_turn', { turn_id, speaker: 'S2', ...added }),
        { structuredContent: { turn_id } },
        says,
      );
    }
  },
);

await t.test('K-135 where something is changed, a name that resembles an argument is refused', async (t) => {
  for (const [name, args] of [
    ['correct_turn', { txet: 'x' }],
    ['correct_turn', { new_text: 'x' }],
    ['correct_turn', { contactId: UNKNOWN }],
    ['update_suggestion', { stauts: 'completed' }],
    ['update_suggestion', { dueDate: '2026-12-07' }],
    ['save_profile', { langauges: ['en'] }],
    ['set_endpoint_status', { state: 'paused' }],
  ] as const) {
    const [wrong] = Object.keys(args);
    const says = `${name} ${wrong}`;
    const example = TOOLS.find((tool) => tool.name === name)?.example;
    const text = new RegExp(`^BAD_REQUEST: the arguments must not have ${wrong}\\.`);
    t.match(await call(name, { ...example, ...args }), { isError: true, content: [{ text }] }, says);
  }
});

await t.test('K-135 an empty list of contacts narrows nothing', async (t) => {
  const { items } = await give<Page>('recall', { query: 'Who bakes bread?', contact_ids: [] });
  t.ok(items.length > 0);
  const many = Array.from({ length: LIMITS.recall_contacts_max + 1 }, () => UNKNOWN);
  t.match(await call('recall', { query: 'bread', contact_ids: many }), {
    content: [{ text: /contact_ids must be at most/ }],
  });
});

await t.test('K-137 listed arguments have no format that a provider of models refuses', async (t) => {
  const { result } = await rpc(all, 'tools/list');
  for (const tool of result.tools) t.same(unknownFormats(tool, '$', ['date-time']), [], tool.name);
});

await t.test('K-210 results are described to clients that get them structured, and to no others', async (t) => {
  for (const [version, is_told] of [
    ['2025-11-25', true],
    ['2025-06-18', true],
    ['2025-03-26', false],
    ['2024-11-05', false],
    [null, false],
  ] as const) {
    const { result } = await rpc(all, 'tools/list', {}, version);
    for (const tool of result.tools) t.equal('outputSchema' in tool, is_told, `${tool.name} for ${version}`);
  }
});

await t.test('K-135 what is refused says why, and what to do next', async (t) => {
  for (const [name, args, says] of [
    ['fetch', { id: UNKNOWN }, /^NOT_FOUND: There is neither a turn nor a suggestion/],
    ['get_transcript', { stream_id: UNKNOWN }, /^NOT_FOUND: There is no such stream\. Ids come from/],
    ['get_session_summary', { session_id: UNKNOWN }, /^NOT_FOUND: /],
    ['correct_turn', { turn_id: turns[0].id, contact_id: UNKNOWN }, /^NOT_FOUND: There is no such contact/],
    [
      'update_suggestion',
      { suggestion_id: suggestion.id, state_version: 9, text: 'x' },
      /^CONFLICT: .* state_version is 1 now/,
    ],
    ['save_profile', { revision: 7 }, /^CONFLICT: .* revision is 0 now/],
  ] as const)
    t.match(await call(name, args), { isError: true, content: [{ text: says }] }, `${name} ${JSON.stringify(args)}`);
});

await t.test('K-136 fetch: a turn with what was said around it, a suggestion with its quotes', async (t) => {
  type Fetched = { id: string; text: string; url: string; metadata: Record<string, unknown> };
  const turn = await give<Fetched>('fetch', { id: turns[1].id });
  t.same(turn.text.split('\n'), [
    '[00:00:00] Anna: I will call Zoë tomorrow.',
    '[00:00:05] Anna: And I will bake bread.',
    '[00:00:10] S2: Could you sweep?',
  ]);
  t.match(turn.metadata, { type: 'turn', text: texts[1], start_ms: 5_000, stream_id: recording.id });
  t.equal(turn.url, `${spool.server.base_url}/turns/${turns[1].id}`);
  const { items } = await give<Page>('list_suggestions');
  const bread = items.find(({ text }) => text === 'Bake bread');
  const found = await give<Fetched>('fetch', { id: String(bread?.suggestion_id) });
  t.match(found.text, /^Bake bread\nStatus: open\nSaid 2026-11-01T10:00:05\.000Z: And I will bake bread\.$/);
  t.same(found.metadata, { type: 'suggestion', ...bread });
  const narrow = await tokenFor(['insights:read']);
  t.match(await call('fetch', { id: turns[1].id }, narrow), { isError: true, content: [{ text: /^NOT_FOUND/ }] });
  const { structuredContent } = await call('fetch', { id: found.id }, narrow);
  t.match(
    structuredContent,
    { text: 'Bake bread\nStatus: open', metadata: { evidence: [{ quote: null }] } },
    'no quotes',
  );
});

await t.test('K-137 answers are bounded, and their cursors lead through all there is', async (t) => {
  const long = await TestRecording.begin(ann, { captured_at: '2026-11-02T10:00:00.000Z' });
  await long.add(60_000);
  await long.end();
  const words = (at: number) => `${at} ${'ü'.repeat(LIMITS.turn_text_chars_max - 10)}`;
  const spoken = Array.from({ length: 100 }, (_, at) => ({
    ...{ start_ms: at * 600, end_ms: at * 600 + 500, text: words(at) },
  }));
  await worker.publish(await worker.claim(long.id), spoken);
  const read = async (name: string, textsOf: (page: Record<string, unknown>) => string[]) => {
    const found: string[] = [];
    let pages = 0;
    for (let cursor: unknown; cursor !== null; pages++) {
      const args = {
        stream_id: long.id,
        ...(name === 'list_turns' ? { limit: 100 } : {}),
        ...(cursor ? { cursor } : {}),
      };
      const { structuredContent = {} } = await call(name, args);
      const bytes = Buffer.byteLength(JSON.stringify(structuredContent));
      t.ok(bytes <= ANSWER_BYTES_MAX, `${name}: ${bytes} bytes`);
      found.push(...textsOf(structuredContent));
      cursor = structuredContent.cursor;
    }
    t.ok(pages > 5, `${pages} pages`);
    return found;
  };
  const listed = await read('list_turns', ({ items }) => (items as { text: string }[]).map(({ text }) => text));
  t.strictSame(
    listed,
    spoken.map(({ text }) => text),
  );
  const lines = await read('get_transcript', ({ text }) => String(text).split('\n'));
  t.strictSame(
    lines.map((line) => line.slice('[00:00:00] '.length)),
    spoken.map(({ text }) => text),
  );

  const many = Array.from({ length: 90 }, (_, at) => ({
    text: `${at} ${'ö'.repeat(480)}`,
    at: [[0, 100]] as [number, number][],
  }));
  for (const at of [0, 1, 2])
    await makeInsights(ann, long, {
      ...{ session_id: session.id, span: [at * 20_000, at * 20_000 + 10_000] },
      suggestions: many.slice(at * 30, at * 30 + 30),
    });
  const summary: string[] = [];
  let pages = 0;
  for (let cursor: unknown; cursor !== null; pages++) {
    const { structuredContent = {} } = await call('get_session_summary', {
      session_id: session.id,
      ...(cursor ? { cursor } : {}),
    });
    t.ok(Buffer.byteLength(JSON.stringify(structuredContent)) <= ANSWER_BYTES_MAX);
    summary.push(...(structuredContent.suggestions as { text: string }[]).map(({ text }) => text));
    cursor = structuredContent.cursor;
  }
  t.ok(pages > 1, `${pages} pages`);
  t.equal(new Set(summary).size, summary.length, 'none twice');
  t.equal(summary.length, 92, 'and all of them');
});

await t.test('K-210 a result comes once: structured with a short text, or as text for clients of before', async (t) => {
  const asked = { name: 'list_turns', arguments: { limit: 100 } };
  const { result: present } = await rpc(all, 'tools/call', asked);
  const items = (present.structuredContent as Page).items;
  t.ok(items.length > 2);
  const text = present.content?.[0]?.text ?? '';
  t.ok(text.length <= LIMITS.tool_text_chars_max, `${text.length} characters`);
  t.match(text, new RegExp(`items: ${items.length}`));
  t.match(text, String(items[0]?.turn_id));
  for (const version of ['2025-03-26', null]) {
    const { result: before } = await rpc(all, 'tools/call', asked, version);
    t.equal('structuredContent' in before, version === null, 'who names no version gets both');
    t.same(JSON.parse(before.content?.[0]?.text ?? ''), present.structuredContent);
  }
  const small = (await rpc(all, 'tools/call', { name: 'who_am_i', arguments: {} })).result;
  t.same(JSON.parse(small.content?.[0]?.text ?? ''), small.structuredContent);
  const fetched = (await rpc(all, 'tools/call', { name: 'fetch', arguments: { id: items[0]?.turn_id } })).result;
  t.same(JSON.parse(fetched.content?.[0]?.text ?? ''), fetched.structuredContent, 'connectors read the text of it');
});

await t.test('K-211 lists of recordings and suggestions are narrowed, and a day is read', async (t) => {
  const meeting = await TestRecording.begin(ann, { captured_at: '2026-10-05T10:00:00.000Z' });
  await meeting.add(20_000);
  await meeting.end();
  await worker.publish(await worker.claim(meeting.id), [said('We plant the apple trees.', [0, 4_000], 'A')]);
  const me = await ann.ask<Contact>('POST', '/contacts', { name: 'Ann', is_self: true });
  await makeInsights(ann, meeting, {
    conversation: { title: 'The Orchard' },
    suggestions: [
      { text: 'Plant apple trees', kind: 'decision', at: [[0, 4_000]] },
      {
        text: 'Buy a spade',
        at: [[0, 4_000]],
        owner: 1,
        due_at_ms: Date.parse('2026-10-05T12:00:00Z'),
        due_date: '2026-10-05',
      },
    ],
  });
  await ann.ask('PATCH', `/audio/streams/${meeting.id}/speakers/S1`, { contact_id: me.id });
  const streams = async (args: object) =>
    (await give<Page>('list_streams', { ...args })).items.map(({ stream_id }) => stream_id);
  t.same(await streams({ q: 'orchard' }), [meeting.id], 'by the title that is suggested');
  t.same(await streams({ from: '2026-10-05T00:00:00Z', to: '2026-10-06T00:00:00Z' }), [meeting.id]);
  t.same(await streams({ q: 'no such title' }), []);
  const texts = async (args: object) =>
    (
      await give<Page>('list_suggestions', {
        said_from: '2026-10-05T00:00:00Z',
        said_to: '2026-10-06T00:00:00Z',
        ...args,
      })
    ).items
      .map(({ text }) => text)
      .sort();
  t.same(await texts({}), ['Buy a spade', 'Plant apple trees']);
  t.same(await texts({ kind: 'decision' }), ['Plant apple trees']);
  t.same(await texts({ owner: 'me' }), ['Buy a spade']);
  t.same(await texts({ owner: me.id }), ['Buy a spade']);
  t.match(await call('list_suggestions', { owner: UNKNOWN }), { isError: true });
  t.match(await call('list_suggestions', { owner: 'you' }), { isError: true });
  const no_span = { said_from: '2026-10-05T00:00:00Z', said_to: '2026-10-05T00:00:00Z' };
  t.match(await call('list_suggestions', no_span), { isError: true, content: [{ text: /said_to/ }] });
  const day = await give<Record<string, { text?: string; stream_id?: string }[]>>('get_day', { date: '2026-10-05' });
  t.match(day, {
    recordings: [{ stream_id: meeting.id, title_suggested: 'The Orchard' }],
    decisions: [{ text: 'Plant apple trees', stream_id: meeting.id }],
    tasks_due: [{ text: 'Buy a spade', due_date: '2026-10-05', owner_contact_id: me.id }],
    complete: true,
  });
  t.match(await call('get_day', { date: '2026-13-05' }), { isError: true });

  type Read = { contents: { uri: string; mimeType: string; text: string }[] };
  type Templates = { resourceTemplates: { uriTemplate: string }[] };
  const ask = async <Result>(method: string, params = {}, token = all) =>
    (await rpc(token, method, params)) as unknown as { result: Result; error?: { message: string } };
  const read = async (part: string, token = all) =>
    ask<Read>('resources/read', { uri: `spool://streams/${meeting.id}/${part}` }, token);
  const templates = await ask<Templates>('resources/templates/list');
  t.same(
    templates.result.resourceTemplates.map(({ uriTemplate }) => uriTemplate),
    ['spool://streams/{id}/transcript', 'spool://streams/{id}/summary'],
  );
  t.match((await read('transcript')).result.contents, [
    { mimeType: 'text/plain', text: /Ann: We plant the apple trees\./ },
  ]);
  const { text = '' } = (await read('summary')).result.contents[0] ?? {};
  t.match(text, /^# The Orchard\n/);
  t.match(text, /## Decisions\n\n- Plant apple trees/);
  t.match(text, /- Buy a spade \(Ann, due 2026-10-05\)|- Buy a spade \(due 2026-10-05\)/);
  const narrow = await tokenFor(['turns:read']);
  t.equal((await ask<Templates>('resources/templates/list', {}, narrow)).result.resourceTemplates.length, 1);
  t.ok((await read('transcript', narrow)).result);
  t.match((await read('summary', narrow)).error, { message: /no such resource/ });
  const stranger = await ask<Read>('resources/read', { uri: `spool://streams/${UNKNOWN}/transcript` });
  t.match(stranger.error, { message: /NOT_FOUND/ });

  type Prompts = { prompts: { name: string; arguments: { name: string; required?: true }[] }[] };
  const { result: listed } = await ask<Prompts>('prompts/list');
  t.same(
    listed.prompts.map(({ name }) => name),
    ['daily_review', 'meeting_minutes', 'follow_ups'],
  );
  const minutes = await ask<{ messages: { content: { text: string } }[] }>('prompts/get', {
    ...{ name: 'meeting_minutes', arguments: { recording: `${meeting.id}\nand more` } },
  });
  t.match(minutes.result.messages, [{ role: 'user', content: { text: new RegExp(`${meeting.id} and more`) } }]);
});

t.test('the guide names the tools of each permission', (t) => {
  const guide = readFileSync(new URL('../../../../docs/assistants.md', import.meta.url), 'utf8');
  const named = new Map<string, string[]>();
  for (const [, first = '', second = ''] of guide.matchAll(/^\| (none|`[a-z]+:[a-z]+`[^|]*?) +\| (.*?) +\|$/gm)) {
    named.set(
      /`(.+?)`/.exec(first)?.[1] ?? first,
      [...second.matchAll(/`(\w+)`/g)].map(([, name = '']) => name).sort(),
    );
  }
  const wanted = new Map<string, string[]>();
  for (const { name, permission = [], recall } of TOOLS) {
    const ways = [...permission, ...(recall === true ? ['recall:read'] : [])];
    for (const one of ways.length === 0 ? ['none'] : ways) wanted.set(one, [...(wanted.get(one) ?? []), name].sort());
  }
  t.same([...named].sort(), [...wanted].sort());
  t.end();
});

t.test(
  'K-195 results of recall and search come once, and an empty search for a question points to recall',
  async (t) => {
    const recalled = await call('recall', { query: 'Who bakes bread?' });
    const text = recalled.content?.[0]?.text ?? '';
    t.match(recalled.structuredContent, { period_relaxed: false, items: [{ text: /Anna: And I will bake/ }] });
    t.match(text, /^The best first:\n2026-11-01T10:00:\d\d\.\d{3}Z .*bake bread/);
    t.ok(text.length < JSON.stringify(recalled.structuredContent).length);
    const relaxed = await call('recall', { query: 'in 2019, what did we say about bread?' });
    t.match(relaxed, {
      structuredContent: { period_relaxed: true },
      content: [{ text: /^Nothing was found in that time; these are from other times\.\n/ }],
    });
    const found = await call('search', { query: 'bread', kind: 'turn' });
    const { results } = JSON.parse(found.content?.[0]?.text ?? '') as { results: object[] };
    t.same(Object.keys(results[0] ?? {}), ['id', 'title', 'url', 'text']);
    const lost = await call('search', { query: 'when does the giraffe arrive?' });
    t.match(lost.structuredContent, { results: [], hint: /call recall/ });
    t.match(JSON.parse(lost.content?.[0]?.text ?? ''), { results: [], hint: /call recall/ }, 'connectors parse it');
    t.match(await call('search', { query: 'giraffe' }), { structuredContent: { results: [], hint: null } });
  },
);

t.test('K-456 search finds notes, recall as well, and fetch gives them', async (t) => {
  const noted = await TestRecording.begin(ann, { captured_at: '2026-11-04T10:00:00.000Z' });
  const signals = [{ ref: 'one', type: 'note', start_ms: 2_000, payload: { text: 'Rent a kayak' } }];
  await ann.ask('POST', `/audio/streams/${noted.id}/signals`, { signals });
  const at = '2026-11-04T10:00:02.000Z';
  const { results } = await give<{ results: { id: string; url: string }[] }>('search', { query: 'kayak' });
  t.match(results, [{ kind: 'note', title: `note · ${at}`, text: 'Rent a kayak', stream_id: noted.id, speaker: null }]);
  const { id = '', url = '' } = results[0] ?? {};
  t.match(await give('fetch', { id }), {
    ...{ id, url, title: `note · ${at}`, text: 'Rent a kayak' },
    metadata: { type: 'note', stream_id: noted.id, at, start_ms: 2_000 },
  });
  const path = url.slice(url.indexOf('/audio'));
  t.match(await ann.ask('GET', path), { items: [{ payload: { text: 'Rent a kayak' } }] }, 'its address gives it');
  t.match(await give('recall', { query: 'What about the kayak?' }), {
    items: [{ kind: 'note', text: 'note: Rent a kayak' }],
  });
  t.match(await give('search', { query: 'kayak', kind: 'turn' }), { results: [] });
  const refused = { isError: true, content: [{ text: /^NOT_FOUND/ }] };
  t.match(await call('fetch', { id: `${noted.id}.${UNKNOWN}` }), refused);
  t.match(await call('fetch', { id: `${UNKNOWN}.${UNKNOWN}` }), refused);
  t.match(await call('fetch', { id }, await tokenFor(['insights:read'])), refused, 'notes are read with turns:read');
  const bob = await TestAccount.open(spool, 'bob@x.test');
  const made = { name: 'tools', permissions: ['turns:read', 'insights:read'], expires_at: null };
  const { value } = await bob.ask<{ value: string }>('POST', '/me/tokens', made);
  t.match(await call('fetch', { id }, value), refused, 'nobody else gets it');
});
