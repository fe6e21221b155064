import t from 'tap';
import { type Audience, audienceUrl } from '../../../src/domain/audiences.js';
import { LIMITS } from '../../../src/domain/limits.js';
import type { AccessClaims } from '../../../src/engine/secrets/access_tokens.js';
import { StoreUnavailable } from '../../../src/engine/store/store.js';
import { MCP_CLIENTS, type ToolResult } from '../../fixtures/mcp_clients.js';
import { Browser, codeOf, jsonOf, OauthApp, type Tokens } from '../../fixtures/oauth.js';
import { unknownFormats } from '../../fixtures/schema_formats.js';
import { TestSpool } from '../../fixtures/spool.js';

const ORIGIN = 'https://app.example';
const LEGACY = 'http://legacy.test:7777';
const JSON_AND_STREAMS = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' };

const spool = await TestSpool.start({ RATE_LIMITS: 'off', CORS_ORIGINS: ORIGIN, LEGACY_BASE_URL: LEGACY });
t.teardown(() => spool.end());
const { services, base_url } = spool.server;
const mcp_url = new URL('/mcp', base_url);
const { app, session } = await spool.signIn('mcp@x.test');
const account_id = session.user.id;

const web = OauthApp.first(spool, 'svc-web');
const browser = new Browser(base_url);
await web.signIn('mcp@x.test', {}, browser);
/** A token of a grant of its own: the browser's session spares the pages. */
const mint = async (scopes: string[], audience: Audience = 'mcp') => {
  const asked = { scope: scopes.join(' '), resource: audienceUrl(base_url, audience) };
  const { shown, verifier } = await web.begin(browser, asked);
  return jsonOf<Tokens>(await web.exchange(codeOf(shown), verifier)).access_token;
};
const post = (body: unknown, headers: Record<string, string>) =>
  fetch(mcp_url, {
    method: 'POST',
    headers: { ...JSON_AND_STREAMS, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
const rpc = async (token: string, body: unknown, headers = {}) => {
  const answer = await post(body, { Authorization: `Bearer ${token}`, ...headers });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, json: text === '' ? null : JSON.parse(text) };
};
const call = (name: string, args = {}, id = 1) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: args },
});

const { device } = await spool.boundDevice(app);
t.teardown(() => device.close());
for (const name of ['One', 'Two', 'Three']) await app.ask('PATCH', '/me', { name });

for (const [which, open] of Object.entries(MCP_CLIENTS)) {
  const connect = (token: string) => open(mcp_url, token);
  await t.test(`C-118 C-048 with ${which}`, async (t) => {
    for (const audience of ['mcp', 'api'] as const) {
      const client = await connect(await mint(['events:read', 'insights:read'], audience));
      const { tools } = await client.listTools();
      t.same(unknownFormats(tools), [], 'schemas have formats that readers know');
      t.same(tools.map(({ name }) => name).toSorted(), [
        ...[
          'fetch',
          'get_day',
          'get_session_summary',
          'get_transcript',
          'list_contacts',
          'list_events',
          'list_sources',
        ],
        ...['list_streams', 'list_suggestions', 'list_turns', 'recall', 'search', 'who_am_i'],
      ]);
      for (const tool of tools) t.match(tool, { annotations: { readOnlyHint: true }, inputSchema: { type: 'object' } });

      const me = (await client.callTool({ name: 'who_am_i' })) as ToolResult;
      t.same(me.structuredContent, {
        account_id,
        permissions: ['turns:read', 'insights:read'],
        scopes: ['events:read', 'insights:read'],
        client_id: 'svc-web',
      });
      t.same(JSON.parse((me.content as { text: string }[])[0]?.text ?? ''), me.structuredContent);

      type Page = { items: { type: string; sequence: string }[]; cursor: string | null };
      const rest = await app.ask<Page>('GET', '/events?limit=2');
      const page = ((await client.callTool({ name: 'list_events', arguments: { limit: 2 } })) as ToolResult)
        .structuredContent as unknown as Page;
      t.same(page, rest, 'as GET /events has it');
      const next = (await client.callTool({
        name: 'list_events',
        arguments: { limit: 2, cursor: page.cursor, type: undefined },
      })) as ToolResult;
      t.same(next.structuredContent, await app.ask('GET', `/events?limit=2&cursor=${page.cursor}`));
      const polled = (await client.callTool({
        name: 'list_events',
        arguments: { after: '0', limit: 100 },
      })) as ToolResult;
      t.same(polled.structuredContent, await app.ask('GET', '/events?after=0&limit=100'));
      t.same(((await client.callTool({ name: 'list_streams' })) as ToolResult).structuredContent, {
        items: [],
        cursor: null,
      });

      await t.rejects(client.callTool({ name: 'no_such_tool' }), { code: -32602 });
      for (const [name, args, says] of [
        ['list_events', { limit: 0 }, /limit must be a whole number from 1 to 100\..*list_events \{"limit":25/],
        ['list_events', { limit: '5' }, /limit must be/],
        ['list_events', { cursor: 'x' }, /cursor must be a cursor/],
        ['list_events', { cursor: page.cursor, after: '0' }, /cursor cannot be combined/],
        ['list_streams', { cursor: 'x' }, /cursor must be a cursor/],
      ] as const)
        t.match(await client.callTool({ name, arguments: args }), { isError: true, content: [{ text: says }] });
      await client.close();
    }
  });

  await t.test(`C-115 F-008 X-01 with ${which}: endpoints are managed by tools`, async (t) => {
    const client = await connect(await mint(['endpoints:manage']));
    t.same((await client.listTools()).tools.map(({ name }) => name).toSorted(), [
      ...['create_endpoint', 'delete_endpoint', 'get_delivery', 'list_deliveries', 'list_endpoints'],
      ...['set_endpoint_status', 'who_am_i'],
    ]);
    const { tools } = await client.listTools();
    t.same(unknownFormats(tools), [], 'schemas have formats that readers know');
    const hints = (name: string) => tools.find((tool) => tool.name === name)?.annotations;
    t.match(hints('list_endpoints'), { readOnlyHint: true });
    t.match(hints('create_endpoint'), { readOnlyHint: false, openWorldHint: true });
    t.match(hints('delete_endpoint'), { readOnlyHint: false, destructiveHint: true });
    const use = async (name: string, args: Record<string, unknown> = {}) => {
      const result = (await client.callTool({ name, arguments: args })) as ToolResult;
      return result.isError === true ? result.content : result.structuredContent;
    };
    const topics = ['account.updated'];
    const made = (await use('create_endpoint', { url: 'https://nowhere.invalid/', topics })) as {
      endpoint: { id: string };
      signing_secret: string;
    };
    t.match(made, { endpoint: { status: 'active', topics }, signing_secret: /^whsec_/ });
    const { id: endpoint_id } = made.endpoint;
    t.same(await use('list_endpoints'), { items: [made.endpoint], cursor: null });
    for (const name of ['Told', 'Three']) await app.ask('PATCH', '/me', { name });
    const { items } = (await use('list_deliveries', { endpoint_id })) as { items: { id: string }[] };
    const delivery_id = items[0]?.id;
    t.match(await use('get_delivery', { endpoint_id, delivery_id }), {
      event: { type: 'account.updated', account_id },
    });
    t.match(await use('set_endpoint_status', { endpoint_id, status: 'disabled' }), { status: 'disabled' });
    t.match(await use('set_endpoint_status', { endpoint_id, status: 'paused' }), [
      { text: /^CONFLICT: .*disabled endpoint/ },
    ]);
    t.same(await use('delete_endpoint', { endpoint_id }), { endpoint_id, deleted: true });
    t.match(await use('list_deliveries', { endpoint_id }), [{ text: /^NOT_FOUND: .*no such endpoint/ }]);
    for (const [name, args, field] of [
      ['create_endpoint', { url: 'http://nowhere.invalid/' }, 'url'],
      ['create_endpoint', { url: 'https://nowhere.invalid/', topics: ['foo.bar'] }, 'topics.0'],
      ['set_endpoint_status', { endpoint_id, status: 'gone' }, 'status'],
      ['get_delivery', { endpoint_id, delivery_id: 'x' }, 'delivery_id'],
    ] as const)
      t.match(await use(name, args), [{ text: new RegExp(`^BAD_REQUEST: ${field} must `) }]);
    await client.close();
  });

  await t.test(`C-100 C-103 C-107 with ${which}: tools are told of, and work, as far as scopes go`, async (t) => {
    const client = await connect(await mint(['insights:read']));
    const names = ['fetch', 'get_session_summary', 'list_suggestions', 'who_am_i'];
    t.same((await client.listTools()).tools.map(({ name }) => name).toSorted(), names);
    await t.rejects(client.callTool({ name: 'list_events' }), /turns:read|insufficient_scope/i, 'a client may ask');
    await client.close();
    const named = { name: 'mine', permissions: ['insights:read'], expires_at: null };
    const { value } = await app.ask<{ value: string }>('POST', '/me/tokens', named);
    const personal = await connect(value);
    t.same((await personal.listTools()).tools.map(({ name }) => name).toSorted(), names);
    t.match(await personal.callTool({ name: 'list_events' }), {
      isError: true,
      content: [{ type: 'text', text: /^FORBIDDEN: This needs the permission turns:read\./ }],
    });
    t.match(await personal.callTool({ name: 'list_streams' }), { isError: true, content: [{ text: /audio:read/ }] });
    await personal.close();
    const recaller = await connect(await mint(['recall:read']));
    t.same((await recaller.listTools()).tools.map(({ name }) => name).toSorted(), ['recall', 'search', 'who_am_i']);
    t.match(await recaller.callTool({ name: 'search', arguments: { query: 'bread' } }), {
      structuredContent: { results: [] },
    });
    await recaller.close();
    const owner = await connect(await mint(['account:manage']));
    t.match(await owner.callTool({ name: 'who_am_i' }), {
      structuredContent: { email: 'mcp@x.test', name: 'Three', permissions: ['account:manage'] },
    });
    await owner.close();
  });
}

await t.test('C-047 C-063 X-01 X-31 what is no token for it', async (t) => {
  const { operator } = spool;
  const mcp = await mint(['account:manage']);
  const api = await mint(['account:manage'], 'api');
  const at = (path: string, token: string) =>
    fetch(new URL(path, base_url), { headers: { Authorization: `Bearer ${token}` } });
  const for_mcp = await at('/me', mcp);
  t.equal(for_mcp.status, 401, 'an MCP token is for /mcp alone');
  const { error } = (await for_mcp.json()) as { error: { message: string } };
  t.match(error.message, '/mcp');
  t.match(error.message, `resource=${base_url} `, 'and how to get another is said');
  t.equal((await at('/me', api)).status, 200);
  const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
  t.match(await rpc(session.access_token, list), { status: 403, json: { error: { code: 'FORBIDDEN' } } });
  const claims = (await services.access_tokens.verify(mcp, 'base')) as AccessClaims;
  const elsewhere = await services.access_tokens.issue({ ...claims, issuer: 'legacy' });
  t.equal((await rpc(elsewhere, list)).status, 401, 'a token of the other address');
  const metadata = `resource_metadata="${base_url}/.well-known/oauth-protected-resource/mcp"`;
  const nobody = await post(list, {});
  t.equal(nobody.status, 401);
  const scope = 'scope="turns:read insights:read profile:read pipelines:read"';
  t.equal(nobody.headers.get('www-authenticate'), `Bearer realm="spool", ${scope}, ${metadata}`, 'what reading needs');
  t.notOk(nobody.headers.get('x-api-version'));
  const garbage = await rpc('garbage', list, { 'X-API-Version': '9' });
  t.equal(
    garbage.headers.get('www-authenticate'),
    `Bearer realm="spool", error="invalid_token", ${scope}, ${metadata}`,
  );
  t.equal((await post('{', {})).status, 401, 'before anything is read');
  t.equal((await rpc(mcp, list)).status, 200);
  await operator.advanceClock(LIMITS.oauth_access_life_ms);
  t.equal((await rpc(mcp, list)).status, 401, 'its hour is over');
});

await t.test('messages, as the protocol has them', async (t) => {
  const token = await mint(['turns:read']);
  t.match(await rpc(token, { jsonrpc: '2.0', id: 7, method: 'ping' }), {
    status: 200,
    json: { jsonrpc: '2.0', id: 7, result: {} },
  });
  t.match(await rpc(token, { jsonrpc: '2.0', method: 'notifications/initialized' }), { status: 202, json: null });
  const initialize = (protocolVersion: string) => ({
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion, capabilities: {}, clientInfo: { name: 'x', version: '1' } },
  });
  const started = await rpc(token, initialize('2025-03-26'));
  t.match(started.json.result, {
    protocolVersion: '2025-03-26',
    serverInfo: { name: 'spool', title: 'Spool', websiteUrl: `${base_url}/guides/assistants` },
    capabilities: { tools: {} },
    instructions: /UTC/,
  });
  for (const { src } of started.json.result.serverInfo.icons) t.equal((await fetch(src)).status, 200, 'it is there');
  t.equal((await fetch(started.json.result.serverInfo.websiteUrl)).status, 200);
  t.notOk(started.headers.get('mcp-session-id'), 'there are no sessions');
  t.match(started.headers.get('content-type'), /^application\/json/);
  const batch = await rpc(token, [call('who_am_i', {}, 1), call('list_events', {}, 2), call('nothing', {}, 3)]);
  t.equal(batch.status, 200);
  t.same(batch.json.map(({ id }: { id: number }) => id).toSorted(), [1, 2, 3]);
  const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } };
  const { json: cancelled } = await rpc(token, [call('list_events'), cancel]);
  t.match(cancelled, { id: 1, result: {} }, 'a batch that cancels itself is answered all the same');
  t.equal((await rpc(token, [cancel])).status, 202);
  t.match(
    await rpc(
      token,
      Array.from({ length: 21 }, (_, id) => call('who_am_i', {}, id)),
    ),
    {
      status: 400,
      json: { error: { code: -32600 } },
    },
  );
  for (const [body, code] of [
    ['{', -32700],
    ['', -32700],
    ['{"a":1,"a":2}', -32700],
    ['[]', undefined],
    ['null', undefined],
    ['"x"', undefined],
    [{ jsonrpc: '2.0', id: 1, method: 'tools/call' }, undefined],
    [{ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 5 } }, undefined],
    [{ jsonrpc: '2.0', id: 1, method: 'no/such' }, -32601],
    [{ jsonrpc: '2.0', id: 1, method: 'resources/subscribe', params: { uri: 'spool://x' } }, -32601],
    [{ jsonrpc: '2.0', id: 1, method: 'resources/read', params: {} }, -32602],
    [{ jsonrpc: '2.0', id: 1, method: 'resources/read', params: { uri: 'file:///etc/passwd' } }, -32602],
    [{ jsonrpc: '2.0', id: 1, method: 'prompts/get', params: { name: 'nothing' } }, -32602],
    [{ jsonrpc: '2.0', id: 1, method: 'prompts/get', params: { name: 'meeting_minutes' } }, -32602],
    [{ jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params: {} }, -32601],
  ] as const) {
    const { status, json } = await rpc(token, body);
    const says = JSON.stringify(body);
    t.ok(status < 500, says);
    t.type(json.error?.code, 'number', says);
    if (code !== undefined) t.equal(json.error.code, code, says);
    t.notMatch(JSON.stringify(json), /node_modules|\.js|at [A-Z]/, says);
  }
  const long = JSON.stringify(call('who_am_i', { x: 'x'.repeat(LIMITS.json_body_bytes_max) }));
  t.match(await rpc(token, long), { status: 413, json: { error: { code: 'PAYLOAD_TOO_LARGE' } } });
  t.equal((await rpc(token, call('who_am_i'), { 'Content-Type': 'text/plain' })).status, 415);
  t.equal((await rpc(token, call('who_am_i'), { 'Content-Encoding': 'gzip' })).status, 415);
  for (const method of ['GET', 'DELETE']) {
    const answer = await fetch(mcp_url, { method, headers: { Authorization: `Bearer ${token}` } });
    t.equal(answer.status, 405);
    t.equal(answer.headers.get('allow'), 'POST, OPTIONS');
  }
});

await t.test('C-118 what is null in a message counts as absent', async (t) => {
  const token = await mint(['turns:read']);
  const ask = (method: string, params: unknown) => ({ jsonrpc: '2.0', id: 1, method, params });
  for (const message of [
    ...['ping', 'tools/list', 'prompts/list', 'resources/list', 'resources/templates/list'].map((method) =>
      ask(method, null),
    ),
    ask('tools/list', { cursor: null, _meta: null }),
    ask('tools/call', { name: 'who_am_i', arguments: null }),
    ask('prompts/get', { name: 'daily_review', arguments: null }),
    ask('prompts/get', { name: 'daily_review', arguments: { date: null } }),
  ]) {
    const { status, json } = await rpc(token, message);
    t.match({ status, json }, { status: 200, json: { result: {} } }, JSON.stringify(message));
    const [in_batch] = (await rpc(token, [message, { ...message, id: 2 }])).json;
    t.ok(in_batch.result, 'in a batch as well');
  }
  const needs_one = ask('prompts/get', { name: 'meeting_minutes', arguments: { recording: null } });
  t.equal((await rpc(token, needs_one)).json.error.code, -32602);
  t.equal((await rpc(token, { jsonrpc: '2.0', method: 'notifications/initialized', params: null })).status, 202);
});

await t.test('C-118 two requests of a batch may not have one id', async (t) => {
  const token = await mint(['turns:read']);
  const ping = { jsonrpc: '2.0', id: 'a', method: 'ping' };
  t.match(await rpc(token, [ping, ping]), { status: 400, json: { error: { code: -32600, message: /id of its own/ } } });
  t.equal((await rpc(token, [ping, { ...ping, id: 'b' }])).json.length, 2);
});

await t.test('C-118 whatever a client accepts that JSON is among is answered with JSON', async (t) => {
  const token = await mint(['turns:read']);
  const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
  for (const Accept of ['*/*', 'application/json', 'application/*;q=0.1', '', 'text/html, */*;q=0.5']) {
    const { status, headers, json } = await rpc(token, list, { Accept });
    t.match([status, headers.get('content-type')], [200, /^application\/json/], Accept);
    t.ok(json.result.tools.length > 0, Accept);
  }
});

await t.test('C-118 a client that accepts nothing but streams gets one event', async (t) => {
  const token = await mint(['turns:read']);
  const answer = await post(call('who_am_i'), { Authorization: `Bearer ${token}`, Accept: 'text/event-stream' });
  t.match([answer.status, answer.headers.get('content-type')], [200, /^text\/event-stream/]);
  const [, data = ''] = /^event: message\ndata: (.+)\n\n$/.exec(await answer.text()) ?? [];
  const { id, result } = JSON.parse(data) as { id: number; result: { content: [{ text: string }] } };
  t.match({ id, said: JSON.parse(result.content[0].text) }, { id: 1, said: { account_id } });
});

await t.test('C-118 a client that accepts neither JSON nor streams is refused', async (t) => {
  const token = await mint(['turns:read']);
  for (const Accept of ['text/html', 'application/json;q=0', 'application/cbor, image/*']) {
    const { status, json } = await rpc(token, { jsonrpc: '2.0', id: 1, method: 'ping' }, { Accept });
    t.match({ status, json }, { status: 406, json: { jsonrpc: '2.0', error: { code: -32600 } } }, Accept);
  }
});

await t.test('C-118 /mcp/ is /mcp', async (t) => {
  const token = await mint(['turns:read']);
  const at = (headers: Record<string, string>) =>
    fetch(`${mcp_url}/`, {
      method: 'POST',
      headers: { ...JSON_AND_STREAMS, ...headers },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
    });
  t.equal((await at({ Authorization: `Bearer ${token}` })).status, 200);
  const nobody = await at({});
  t.equal(nobody.status, 401);
  const metadata_url = `${base_url}/.well-known/oauth-protected-resource/mcp`;
  t.match(nobody.headers.get('www-authenticate'), `resource_metadata="${metadata_url}"`);
  const [plain, with_slash] = await Promise.all([metadata_url, `${metadata_url}/`].map((url) => fetch(url)));
  t.same(await with_slash?.json(), await plain?.json());
});

await t.test('K-135 a tool that fails says no more than that', async (t) => {
  const token = await mint(['turns:read']);
  const { store } = services;
  const logHead = store.logHead;
  t.teardown(() => {
    store.logHead = logHead;
  });
  store.logHead = () => Promise.reject(new StoreUnavailable('redis://secret'));
  const away = (await rpc(token, call('list_events'))).json.result;
  const text = 'UNAVAILABLE: The service is not available at the moment. Try again in 2 seconds.';
  t.same(away, { isError: true, content: [{ type: 'text', text }] });
  store.logHead = () => Promise.reject(new Error('a secret'));
  t.same((await rpc(token, call('list_events'))).json.error, {
    code: -32603,
    message: 'Something went wrong on our side.',
  });
});

await t.test(
  'J-012 a message that is not as the protocol has it: its fields are named, in our own words',
  async (t) => {
    const token = await mint(['turns:read']);
    const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    for (const [message, field] of [
      [{ ...list, method: 'tools/call' }, 'params'],
      [{ ...list, method: 'tools/call', params: {} }, 'params.name'],
      [{ ...list, method: 'tools/call', params: { name: 'list_events', arguments: 5 } }, 'params.arguments'],
      [{ ...list, params: { cursor: 5 } }, 'params.cursor'],
      [[list, { ...list, id: 2, params: { cursor: 5 } }], 'params.cursor'],
      [{ ...list, method: 'initialize', params: { capabilities: {}, clientInfo: {} } }, 'params.protocolVersion'],
    ] as const) {
      const { status, json } = await rpc(token, message);
      t.match({ status, code: json.error.code }, { status: 400, code: -32602 }, field);
      t.ok(json.error.message.startsWith(field), json.error.message);
      t.notMatch(json.error.message, /expected|invalid_type/);
    }
  },
);

await t.test('C-118 a page of any origin is served with a token, and told without one where to get it', async (t) => {
  const token = await mint(['turns:read']);
  const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
  const origins = [ORIGIN, base_url, LEGACY, 'https://assistant.example', 'chrome-extension://abcdefgh', 'null'];
  for (const Origin of origins) {
    t.equal((await rpc(token, list, { Origin })).status, 200, Origin);
    t.equal((await rpc('svc_pat_wrong', list, { Origin })).status, 401, Origin);
    const nobody = await post(list, { Origin });
    t.equal(nobody.status, 401, Origin);
    t.match(nobody.headers.get('www-authenticate'), /resource_metadata=/, Origin);
  }
});

await t.test(
  'J-007 pages of CORS_ORIGINS alone may read answers of /mcp, with the headers of the protocol',
  async (t) => {
    const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    const preflight = (origin: string) =>
      fetch(mcp_url, {
        method: 'OPTIONS',
        headers: {
          Origin: origin,
          'Access-Control-Request-Method': 'POST',
          'Access-Control-Request-Headers': 'authorization,content-type,mcp-protocol-version,mcp-session-id',
        },
      });
    const { headers } = await preflight(ORIGIN);
    t.equal(headers.get('access-control-allow-origin'), ORIGIN);
    const allowed = headers.get('access-control-allow-headers')?.toLowerCase().split(', ') ?? [];
    for (const name of [
      'accept',
      'authorization',
      'content-type',
      'last-event-id',
      'mcp-protocol-version',
      'mcp-session-id',
    ])
      t.ok(allowed.includes(name), name);
    t.notOk((await preflight('https://evil.example')).headers.get('access-control-allow-origin'));
    const nobody = await post(list, { Origin: ORIGIN });
    t.match(nobody.headers.get('access-control-expose-headers'), /WWW-Authenticate/);
    t.notOk((await post(list, { Origin: 'https://evil.example' })).headers.get('access-control-allow-origin'));
  },
);
