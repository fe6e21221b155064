import net from 'node:net';
import tls from 'node:tls';
import t from 'tap';
import { ROUTES } from '../../../routes/index.js';
import { OPERATOR_PAGE_ROUTES } from '../../../routes/operator/pages.js';
import { OPERATOR_FILE_ROUTES } from '../../../routes/pages/app_files.js';
import { ASSET_ROUTES } from '../../../routes/pages/assets.js';
import { ASSETS } from '../../../src/edge/pages/assets.js';
import { networkOf } from '../../../src/engine/limits/rate_limits.js';
import { TestSpool } from '../../fixtures/spool.js';

const ORIGIN = 'https://app.example';
const EXTENSION = 'chrome-extension://abcdefghijklmnopabcdefghijklmnop';
const NOBODY = '019aa000-0000-7000-8000-000000000000';

const spool = await TestSpool.start({ RATE_LIMITS: 'off', CORS_ORIGINS: `${ORIGIN},${EXTENSION}` });
t.teardown(() => spool.end());
const { app } = await spool.signIn('edge@x.test');
const parse = (body: Buffer) => JSON.parse(body.toString());
const raw = (text: string) => exchange(spool.server.ports.public, text);

await t.test('J-001 successes are enveloped, lists have items and a cursor', async (t) => {
  const me = parse((await app.send('GET', '/me')).body);
  t.same(Object.keys(me), ['success', 'data']);
  const list = parse((await app.send('GET', '/devices')).body);
  t.same(list, { success: true, data: { items: [], cursor: null } });
});

await t.test('J-002 J-013 failures are enveloped, unknown paths too; another method is 405 with Allow', async (t) => {
  for (const [method, path, status, code] of [
    ['GET', '/nothing', 404, 'NOT_FOUND'],
    ['GET', '/me/', 404, 'NOT_FOUND'],
    ['GET', '/audio/streams/not-an-id', 404, 'NOT_FOUND'],
    ['GET', '/audio/streams/%2e%2e%2f', 404, 'NOT_FOUND'],
    ['GET', '/audio/streams/%00', 404, 'NOT_FOUND'],
    ['GET', '/%zz', 404, 'NOT_FOUND'],
    ['DELETE', '/me/nothing', 404, 'NOT_FOUND'],
    ['PUT', '/me', 405, 'METHOD_NOT_ALLOWED'],
    ['GET', '/auth/otp', 405, 'METHOD_NOT_ALLOWED'],
  ] as const) {
    const answer = await app.send(method, path);
    t.equal(answer.status, status, `${method} ${path}`);
    const { success, error } = parse(answer.body);
    t.equal(success, false);
    t.equal(error.code, code);
    t.type(error.message, 'string');
  }
  t.equal((await app.send('PUT', '/me')).headers.allow, 'GET, HEAD, PATCH, DELETE, OPTIONS');
});

await t.test(
  'J-013 OPTIONS names what is possible at an address, on every port and without a credential',
  async (t) => {
    const operator = `http://127.0.0.1:${spool.server.ports.operator}`;
    for (const [url, status, allow] of [
      [`${spool.base_url}/me`, 204, 'GET, HEAD, PATCH, DELETE, OPTIONS'],
      [`${spool.base_url}/auth/otp`, 204, 'POST, OPTIONS'],
      [`${spool.base_url}/oauth/token`, 204, 'POST, OPTIONS'],
      [`${spool.base_url}/audio/streams/${NOBODY}?limit=1`, 204, 'GET, HEAD, PATCH, DELETE, OPTIONS'],
      [`${spool.base_url}/nothing`, 404, null],
      [`${operator}/ops/actors`, 204, 'GET, HEAD, OPTIONS'],
    ] as const) {
      const answer = await fetch(url, { method: 'OPTIONS' });
      t.equal(answer.status, status, url);
      t.equal(answer.headers.get('allow'), allow, url);
      t.ok(answer.headers.get('x-request-id'), url);
    }
    const { device } = await spool.device();
    const answer = await device.send('OPTIONS', '/device/streams');
    t.match(answer, { status: 204, headers: { allow: 'POST, OPTIONS' } });
    const from_a_page = await app.send('OPTIONS', '/me', { headers: { Origin: ORIGIN } });
    t.match(from_a_page, { status: 204, headers: { allow: /HEAD/, 'access-control-allow-origin': ORIGIN } });
  },
);

await t.test('J-013 HEAD answers as GET does, without the body', async (t) => {
  const answerOf = async (method: string, url: string, token: string | null) => {
    const headers: Record<string, string> = token === null ? {} : { Authorization: `Bearer ${token}` };
    const answer = await fetch(url, { method, headers, redirect: 'manual' });
    const { status } = answer;
    const type = answer.headers.get('content-type');
    return { status, type, length: answer.headers.get('content-length'), body: (await answer.text()).length };
  };
  const operator = `http://127.0.0.1:${spool.server.ports.operator}`;
  const { ops_token } = spool.server.services;
  for (const [routes, base, token] of [
    [ROUTES.public, spool.base_url, app.access_token],
    [ROUTES.operator, operator, ops_token],
  ] as const) {
    for (const { method, path, raw: is_raw } of routes) {
      if (method !== 'GET' || is_raw) continue;
      const url = base + path.replaceAll(/:[a-z_]+/g, NOBODY);
      const got = await answerOf('GET', url, token);
      const head = await answerOf('HEAD', url, token);
      t.equal(head.status, got.status, path);
      t.equal(head.type, got.type, path);
      t.equal(head.body, 0, path);
      if (got.status === 200) t.ok(Number(head.length) > 0, path);
    }
  }
});

await t.test('no answer lets a browser guess what it is, on any port and however early it is given', async (t) => {
  const ports = spool.server.ports;
  const lines = {
    'a document': 'GET /.well-known/jwks.json HTTP/1.1\r\nHost: x',
    'a page': 'GET /sign-in HTTP/1.1\r\nHost: x',
    'an asset': `GET ${ASSETS.basics.path} HTTP/1.1\r\nHost: x`,
    'no route': 'GET /nothing HTTP/1.1\r\nHost: x',
    'a wrong method': 'PUT /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 0',
    'no credential': 'GET /me HTTP/1.1\r\nHost: x',
    'no credential of a device': 'GET /device/binding HTTP/1.1\r\nHost: x',
    'a fault of OAuth': 'POST /oauth/token HTTP/1.1\r\nHost: x\r\nContent-Length: 0',
    'a message of MCP': 'POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 0',
    'an address that is none': 'GET /%zz HTTP/1.1\r\nHost: x',
    'two hosts': 'GET /me HTTP/1.1\r\nHost: x\r\nHost: y',
    'no HTTP': 'GARBAGE',
    'a large head': `GET /me HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}`,
  };
  for (const [says, head] of Object.entries(lines)) {
    const text = `${head}\r\nConnection: close\r\n\r\n`;
    const answers = await Promise.all([
      raw(text),
      exchange(ports.operator, text),
      exchange(tls.connect({ port: ports.device, rejectUnauthorized: false }), text),
    ]);
    for (const [at, answer] of answers.entries()) {
      t.match(answer, /^HTTP\/1\.1 [24]\d\d /, `${says}, port ${at}`);
      t.match(answer, /\r\nX-Content-Type-Options: nosniff\r\n/i, `${says}, port ${at}`);
    }
  }
});

await t.test('J-013 two Host headers are refused', async (t) => {
  for (const [path, lines] of [
    ['/me', 'Host: x\r\nHost: x\r\n'],
    ['/oauth/authorize', 'Host: a\r\nAccept: */*\r\nhOsT: b\r\n'],
    ['/nothing', 'Host: a\r\nHost: b\r\n'],
  ] as const) {
    const answer = await raw(`GET ${path} HTTP/1.1\r\n${lines}Connection: close\r\n\r\n`);
    t.match(answer, /^HTTP\/1.1 400 /, path);
    t.match(answer, /Host/);
  }
  const to_operators = 'GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n';
  t.match(await exchange(spool.server.ports.operator, to_operators), /^HTTP\/1.1 400 /);
});

await t.test('J-013 an address without a route is answered before a body comes', async (t) => {
  for (const [line, head] of [
    ['POST /nothing', 'Content-Length: 100'],
    ['PUT /me', 'Content-Length: 100\r\nExpect: 100-continue'],
    ['POST /nothing', 'Transfer-Encoding: chunked'],
  ]) {
    const answer = await raw(`${line} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${head}\r\n\r\n`);
    t.match(answer, /^HTTP\/1.1 40[45] [\s\S]*x-request-id: /i, `${line} ${head}`);
  }
});

await t.test('J-014 an id is the same in capital letters', async (t) => {
  const { app: owner } = await spool.signIn('capitals@x.test');
  const { device_id } = await spool.boundDevice(owner);
  t.equal((await owner.send('DELETE', `/devices/${device_id.toUpperCase()}`)).status, 204);
});

await t.test('J-003 an answer without content has no body', async (t) => {
  const { app: leaving } = await spool.signIn('leaving@x.test');
  const answer = await leaving.send('POST', '/auth/logout');
  t.equal(answer.status, 204);
  t.equal(answer.body.length, 0);
});

await t.test('J-004 J-005 X-02 the version may be absent or 1, and is always answered', async (t) => {
  const ask = (version: string) => app.send('GET', '/me', { headers: { 'X-API-Version': version } });
  t.equal((await ask('1')).status, 200);
  for (const version of ['2', 'v1', '', '1.0', '1, 1']) {
    const answer = await ask(version);
    t.equal(answer.status, 400, version);
    t.equal(answer.headers['x-api-version'], '1');
  }
  t.match(
    await raw('GET /me HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'),
    /401 Unauthorized[\s\S]*x-api-version: 1/i,
  );
});

await t.test('J-006 a request id comes back, an odd one is replaced', async (t) => {
  const ask = (id: string) => app.send('GET', '/nothing', { headers: { 'X-Request-ID': id } });
  t.equal((await ask('abc-1')).headers['x-request-id'], 'abc-1');
  t.equal((await ask('x'.repeat(128))).headers['x-request-id'], 'x'.repeat(128));
  for (const id of ['x'.repeat(129), 'a b', '']) t.not((await ask(id)).headers['x-request-id'], id);
  t.match((await app.send('GET', '/me')).headers['x-request-id'], /^[0-9a-f-]{36}$/);
});

await t.test('J-007 J-008 J-009 browsers of listed origins only', async (t) => {
  const listed = await app.send('GET', '/me', { headers: { Origin: ORIGIN } });
  t.equal(listed.headers['access-control-allow-origin'], ORIGIN);
  t.match(listed.headers.vary, /Origin/);
  t.equal(listed.headers['access-control-expose-headers'], 'X-API-Version, X-Request-ID');
  const extension = await app.send('GET', '/me', { headers: { Origin: EXTENSION } });
  t.equal(extension.headers['access-control-allow-origin'], EXTENSION);
  const other = await app.send('GET', '/me', { headers: { Origin: 'https://other.example' } });
  t.notOk(other.headers['access-control-allow-origin']);
  const preflight = await spool.client().send('OPTIONS', '/me', {
    headers: {
      Origin: ORIGIN,
      'Access-Control-Request-Method': 'PATCH',
      'Access-Control-Request-Headers': 'authorization',
    },
  });
  t.equal(preflight.status, 204);
  t.equal(preflight.headers['x-api-version'], '1');
  t.ok(preflight.headers['x-request-id']);
  t.equal(
    preflight.headers['access-control-allow-headers'],
    'Authorization, Content-Type, X-API-Version, X-Request-ID',
  );
  t.equal(preflight.headers['access-control-allow-methods'], 'GET, POST, PATCH, PUT, DELETE');
  const refused = await spool.client().send('GET', '/me', { headers: { Origin: ORIGIN } });
  t.equal(refused.headers['access-control-allow-origin'], ORIGIN, 'a page can read why it was refused');
});

await t.test('J-011 the credential is judged before the body', async (t) => {
  const anybody = spool.client();
  t.equal((await anybody.send('PATCH', '/me', { body: { name: 5 } })).status, 401);
  t.equal((await app.send('PATCH', '/me', { body: { name: 5 } })).status, 400);
  t.equal(
    (await anybody.send('PATCH', '/me', { body: {}, headers: { 'X-API-Version': '2' } })).status,
    400,
    'the version comes first',
  );
});

await t.test('J-012 broken, foreign and oversized bodies', async (t) => {
  const send = (text: string, type = 'application/json') => {
    const head = `PATCH /me HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${app.access_token}\r\n`;
    return raw(
      `${head}${type === '' ? '' : `Content-Type: ${type}\r\n`}Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
    );
  };
  for (const text of [
    '{',
    '{"name":"x"',
    '{"name":"x"}}',
    '{"name":"a","name":"b"}',
    '{"__proto__":{},"name":"x"}',
    '[[',
    'nul',
    '\ufeff\ufeff{}',
    '{"name":{"length":{"toString":1}}}',
    '',
  ]) {
    t.match(await send(text), /^HTTP\/1.1 400 /, text);
  }
  t.match(await send('{"name":"x"}', 'text/plain'), /^HTTP\/1.1 415 /);
  t.match(await send('name=x', 'application/x-www-form-urlencoded'), /^HTTP\/1.1 415 /);
  t.match(await send('{"name":"x"}', ''), /^HTTP\/1.1 415 /);
  t.match(await send(JSON.stringify({ name: 'x'.repeat(65_536) })), /^HTTP\/1.1 413 /);
  t.match(await send(`${'['.repeat(40)}${']'.repeat(40)}`), /^HTTP\/1.1 400 /);
  t.match(await send('{"name":"x"}', 'Application/JSON; charset=utf-8'), /^HTTP\/1.1 200 /);
  t.match(await send('\ufeff{"name":"x"}'), /^HTTP\/1.1 200 /, 'a byte order mark is passed over');
});

await t.test('J-001 no answer is kept but what everybody may have; none that holds a secret', async (t) => {
  const kept =
    /^\/(assets|guides|reference|openapi|\.well-known|mcp\/\.well-known)[/.]|^\/(reference|guides)?$|^\/app\/manifest\./;
  const anybody = spool.client();
  for (const { method, path } of ROUTES.public) {
    if (kept.test(path)) continue;
    const filled = path.replace(/:[a-z_]+/g, '01a1fc1f-3906-7ef9-8d69-69000000004d');
    const { status, headers } = await anybody.send(method, filled);
    t.equal(headers['cache-control'], 'no-store', `${method} ${path} ${status}`);
  }
  const { app: own, session } = await spool.signIn('secrets@x.test');
  const expires_at = new Date(Date.now() + 3_600_000).toISOString();
  for (const [path, body] of [
    ['/auth/refresh', { refresh_token: session.refresh_token }],
    ['/me/tokens', { name: 'x', permissions: ['turns:read'], expires_at: null }],
    ['/endpoints', { url: 'https://hooks.example/' }],
    ['/devices/claims', { kind: 'owner' }],
    ['/device-sessions', { expires_at }],
  ] as const) {
    const { status, headers } = await own.send('POST', path, { body });
    t.match([status, headers['cache-control']], [/^20[01]$/, 'no-store'], path);
  }
  const sessions = await own.send('GET', '/device-sessions');
  t.match(sessions.body.toString(), /join_code/);
  t.equal(sessions.headers['cache-control'], 'no-store');
});

await t.test('J-016 a failure of ours shows nothing of itself', async (t) => {
  const { runtime } = spool.server.services;
  const ask = runtime.ask;
  runtime.ask = () => Promise.reject(new Error('secret detail /etc/passwd'));
  const answer = await app.send('GET', '/me').finally(() => {
    runtime.ask = ask;
  });
  t.equal(answer.status, 500);
  t.same(parse(answer.body).error.code, 'INTERNAL');
  t.notMatch(answer.body.toString(), /secret|passwd|Error/);
  t.ok(answer.headers['x-request-id']);
});

t.test('J-015 an IPv6 network is its /64, an IPv4 address itself', async (t) => {
  t.equal(networkOf('203.0.113.7'), '203.0.113.7');
  t.equal(networkOf('::ffff:203.0.113.7'), '203.0.113.7');
  t.equal(networkOf('2001:db8:1:2:3:4:5:6'), networkOf('2001:db8:1:2::9'));
  t.not(networkOf('2001:db8:1:2::1'), networkOf('2001:db8:1:3::1'));
  t.equal(networkOf('2001:DB8:0:0::1'), networkOf('2001:db8::'));
  t.equal(networkOf('fe80::1%eth0'), networkOf('fe80::2'));
  t.equal(networkOf('::1'), networkOf('::2'));
  t.equal(networkOf('203.0.113.7:5001'), networkOf('203.0.113.7:5002'), 'no address: one network for all of these');
});

t.test('H-001 every route of the device listener asks for a device', async (t) => {
  // Pages lead to their own sign-in; they hold nothing, and what fills them asks for the operator.
  const pages = [...OPERATOR_PAGE_ROUTES, ...OPERATOR_FILE_ROUTES, ...ASSET_ROUTES].map(({ path }) => path);
  for (const { path, credential } of ROUTES.device) t.equal(credential, 'device', path);
  for (const { path, credential } of ROUTES.public) t.not(credential, 'operator', path);
  for (const { method, path, credential } of ROUTES.operator) {
    const is_free =
      ['/healthz', '/readyz', '/metrics', '/openapi/operator.json'].includes(path) || pages.includes(path);
    t.equal(credential, is_free ? 'none' : 'operator', `${method} ${path}`);
  }
});

/** Sends text as it is, and reads the answer until the server closes. */
function exchange(to: number | tls.TLSSocket, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = typeof to === 'number' ? net.connect(to, '127.0.0.1') : to;
    socket.write(text);
    let answer = '';
    socket.setEncoding('utf8').on('data', (piece) => {
      answer += piece;
    });
    socket.on('end', () => resolve(answer)).on('error', reject);
  });
}
