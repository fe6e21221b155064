import t from 'tap';
import { LIMITS } from '../../../src/domain/limits.js';
import { CURRENT_SCOPES, DEFAULT_SCOPES, WORKSPACE_SCOPES } from '../../../src/domain/scopes.js';
import { TestSpool } from '../../fixtures/spool.js';

const URI = 'https://app.test/cb';

const spool = await TestSpool.start({ RATE_LIMITS: 'off', BRAND_NAMES: 'spool, Mill Works' });
t.teardown(() => spool.end());
const { clients } = spool.server.services;

async function post(body: unknown, headers: Record<string, string> = { 'Content-Type': 'application/json' }) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const answer = await fetch(`${spool.base_url}/oauth/register`, { method: 'POST', headers, body: text });
  const json = (await answer.json()) as Record<string, unknown>;
  return { status: answer.status, headers: answer.headers, json };
}
const refused = async (body: unknown) => {
  const { status, json } = await post(body);
  return [status, json.error];
};

await t.test('C-007 C-014 the answer says all that was registered', async (t) => {
  const before_s = Math.floor(spool.server.services.clock.now() / 1000);
  const { status, headers, json } = await post({
    client_name: ' My app ',
    redirect_uris: [URI, 'com.example.app:/callback'],
    grant_types: ['authorization_code', 'implicit'],
    response_types: ['code', 'token'],
    scope: 'turns:read audio:read turns:read',
    application_type: 'web',
    client_uri: 'javascript:alert(1)',
    client_id: 'mine',
    anything: { else: 1 },
    contacts: null,
  });
  t.equal(status, 201);
  t.equal(headers.get('cache-control'), 'no-store');
  t.equal(headers.get('x-api-version'), null);
  const { client_id, client_id_issued_at, ...rest } = json;
  t.not(client_id, 'mine');
  t.ok(Number(client_id_issued_at) >= before_s);
  t.same(rest, {
    client_name: 'My app',
    redirect_uris: [URI, 'com.example.app:/callback'],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
    application_type: 'web',
    scope: 'turns:read audio:read',
  });
  t.same(await clients.find(String(client_id)), {
    client_id,
    name: 'My app',
    party: 'third',
    redirect_uris: [URI, 'com.example.app:/callback'],
    scopes: ['turns:read', 'audio:read'],
    default_scopes: ['turns:read', 'audio:read'],
    token_endpoint_auth_method: 'none',
    native: false,
  });
});

await t.test('C-007 what is left out: a name, a scope, a kind', async (t) => {
  const { json } = await post({ redirect_uris: ['http://127.0.0.1:5/cb'], client_name: null });
  t.equal(json.client_name, '127.0.0.1:5');
  t.equal(json.application_type, 'native');
  t.notOk('scope' in json || 'client_secret' in json || 'client_secret_expires_at' in json);
  const client = await clients.find(String(json.client_id));
  t.same(client?.default_scopes, DEFAULT_SCOPES);
  t.same(
    client?.scopes,
    CURRENT_SCOPES.filter((scope) => !WORKSPACE_SCOPES.includes(scope)),
  );
  t.equal((await post({ redirect_uris: [URI] })).json.application_type, 'web');
});

await t.test('C-013 a registered client is a third party and never has a workspace scope', async (t) => {
  const scope = 'workspace:read turns:read sources:write bogus contacts:read workspace:manage';
  const { status, json } = await post({ redirect_uris: [URI], scope, party: 'first', native: true });
  t.equal(status, 201);
  t.equal(json.scope, 'turns:read contacts:read');
  t.match(await clients.find(String(json.client_id)), { party: 'third', native: false });
  const client = await clients.find(String((await post({ redirect_uris: [URI], scope: ' ' })).json.client_id));
  t.same(client?.default_scopes, DEFAULT_SCOPES, 'as if it had asked for none');
  for (const name of WORKSPACE_SCOPES) t.notOk(client?.scopes.includes(name), name);
});

await t.test('C-013 a registration whose scopes are all unknown gets the default, and hears so', async (t) => {
  for (const scope of ['openid profile email', 'workspace:read', 'sources:write', 'offline_access']) {
    const { status, json } = await post({ redirect_uris: [URI], scope });
    t.match([status, json.scope], [201, DEFAULT_SCOPES.join(' ')], scope);
    t.same((await clients.find(String(json.client_id)))?.default_scopes, DEFAULT_SCOPES, scope);
  }
});

await t.test('C-014 a confidential client gets its secret once', async (t) => {
  for (const token_endpoint_auth_method of ['client_secret_basic', 'client_secret_post']) {
    const { json } = await post({ redirect_uris: [URI], token_endpoint_auth_method });
    t.equal(json.token_endpoint_auth_method, token_endpoint_auth_method);
    t.match(json.client_secret, /^[A-Za-z0-9_-]{43}$/);
    t.equal(json.client_secret_expires_at, 0);
    const shown = { client_id: String(json.client_id), secret: String(json.client_secret) };
    t.equal((await clients.authenticate(shown))?.client_id, json.client_id);
    t.equal(await clients.authenticate({ ...shown, secret: `${shown.secret}x` }), null);
  }
  for (const method of ['private_key_jwt', 'None', 5]) {
    const answer = await refused({ redirect_uris: [URI], token_endpoint_auth_method: method });
    t.same(answer, [400, 'invalid_client_metadata'], String(method));
  }
});

await t.test('C-008 a name that reads like ours is refused, also one that comes from the redirect host', async (t) => {
  for (const client_name of ['Spool', 'my SPOOL app', 'mill  works', 'ѕроо\u200bӏ', 'S.p.o.o.l', 'sp00l']) {
    t.same(await refused({ client_name, redirect_uris: [URI] }), [400, 'invalid_client_metadata'], client_name);
  }
  t.same(await refused({ redirect_uris: ['https://spool.evil.test/cb'] }), [400, 'invalid_client_metadata']);
  t.equal((await post({ client_name: 'Pool', redirect_uris: ['https://spool.evil.test/cb'] })).status, 201);
});

await t.test('C-009 redirect URIs that may be registered', async (t) => {
  const good = [
    'https://a.test/cb',
    'http://localhost:3/cb',
    'http://127.0.0.1/cb',
    'http://[::1]:9/cb',
    'com.example.app:/callback',
    'com.example.app://callback',
    'Com.Example.App:/callback',
  ];
  for (const uri of good) {
    const { status, json } = await post({ redirect_uris: [uri] });
    t.equal(status, 201, uri);
    t.same(json.redirect_uris, [uri], 'as it was written');
  }
});

await t.test('C-011 addresses of apps that can not be registered are left out beside one that can', async (t) => {
  const cursor = 'cursor://anysphere.cursor-mcp/oauth/callback';
  const { status, json } = await post({ redirect_uris: [cursor, URI, 'myapp:/cb', 'com.x:cb', 'http://[::1]/cb'] });
  t.equal(status, 201);
  t.same(json.redirect_uris, [URI, 'http://[::1]/cb']);
  t.same((await clients.find(String(json.client_id)))?.redirect_uris, [URI, 'http://[::1]/cb']);
  for (const redirect_uris of [[cursor], ['myapp:/cb', 'com.x:cb']]) {
    t.same(await refused({ redirect_uris }), [400, 'invalid_redirect_uri'], redirect_uris.join());
  }
});

await t.test('C-010 C-011 others refuse the whole registration', async (t) => {
  const bad = [
    'http://a.test/cb',
    'HTTP://a.test/cb',
    'http://0.0.0.0/cb',
    'https://me@a.test/cb',
    'https://*.a.test/cb',
    'javascript:alert(1)',
    'JavaScript:alert(1)',
    'java\tscript:alert(1)',
    'data:text/html,x',
    'file:///tmp/x',
    'vbscript:x',
    'ftp://a.test',
    'no URI',
    '/cb',
    `${URI}#`,
    'myapp:/cb#',
  ];
  for (const uri of [...bad, '', 5, null]) {
    t.same(await refused({ redirect_uris: [URI, uri] }), [400, 'invalid_redirect_uri'], String(uri));
  }
  for (const redirect_uris of [undefined, null, [], {}, URI]) {
    t.same(await refused({ redirect_uris }), [400, 'invalid_redirect_uri'], JSON.stringify(redirect_uris));
  }
  const many = (count: number) => Array.from({ length: count }, (_, index) => `${URI}/${index}`);
  t.equal((await post({ redirect_uris: many(LIMITS.redirect_uris_max) })).status, 201);
  t.same(await refused({ redirect_uris: many(LIMITS.redirect_uris_max + 1) }), [400, 'invalid_redirect_uri']);
  const long = (n: number) => `https://a.test/${n}${'x'.repeat(1_900)}`;
  t.equal((await post({ redirect_uris: [1, 2, 3, 4].map(long) })).status, 201);
  t.same(await refused({ redirect_uris: [1, 2, 3, 4, 5].map(long) }), [400, 'invalid_redirect_uri']);
  const { json } = await post({ redirect_uris: [URI, 'http://a.test/'] });
  t.match(json.error_description, /^redirect_uris\.1: must be https/, 'which one, and why');
});

await t.test('C-007 empty texts count as absent', async (t) => {
  const empty = { client_name: ' ', scope: '', token_endpoint_auth_method: '', application_type: '', client_uri: '' };
  const { status, json } = await post({ redirect_uris: [URI], ...empty });
  t.equal(status, 201);
  t.match(json, { client_name: 'app.test', token_endpoint_auth_method: 'none', application_type: 'web' });
  t.notOk('scope' in json);
});

await t.test('C-007 metadata of the wrong form', async (t) => {
  const rows: Record<string, unknown[]> = {
    client_name: ['x'.repeat(101), 5, 'a\nb', 'a\u202eb', '\u200b'],
    scope: [5, ['turns:read'], 'x'.repeat(5_000)],
    grant_types: ['authorization_code', [], ['client_credentials'], [5], new Array(40).fill('authorization_code')],
    response_types: ['code', [], ['token']],
    application_type: ['desktop', 1],
  };
  for (const [name, values] of Object.entries(rows)) {
    for (const value of values) {
      const { status, json } = await post({ redirect_uris: [URI], [name]: value });
      t.same([status, json.error], [400, 'invalid_client_metadata'], `${name} ${JSON.stringify(value)}`.slice(0, 80));
      t.match(json.error_description, new RegExp(`^${name}`), 'the field is named');
    }
  }
  t.equal((await post({ redirect_uris: [URI], client_name: '😀'.repeat(100) })).status, 201);
});

await t.test('C-002 C-007 bodies that are no JSON object', async (t) => {
  for (const body of ['', '{', '[]', 'null', '"x"', '5', '{"redirect_uris":["https://a.test/"],}', '\u0000']) {
    const { status, json } = await post(body);
    t.same([status, json.error], [400, 'invalid_client_metadata'], JSON.stringify(body));
    t.notOk('success' in json);
  }
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/cbor']) {
    const { status, json } = await post('{}', { 'Content-Type': type });
    t.same([status, json.error], [400, 'invalid_client_metadata'], type);
  }
  const large = await post({ redirect_uris: [URI], junk: 'x'.repeat(70_000) });
  t.same([large.status, large.json.error], [413, 'invalid_request']);
});

await t.test('C-001 X-API-Version means nothing here', async (t) => {
  const headers = { 'Content-Type': 'application/json; charset=utf-8', 'X-API-Version': '9' };
  t.equal((await post({ redirect_uris: [URI] }, headers)).status, 201);
});

await t.test('C-007 a client lasts over a restart, and ends when it is not used for long', async (t) => {
  const used = (await post({ client_name: 'used', redirect_uris: [URI] })).json;
  const unused = (await post({ client_name: 'unused', redirect_uris: [URI] })).json;
  const staff = await spool.operator.ask<{ client_id: string }>('POST', '/ops/clients', {
    name: 'by hand',
    redirect_uris: [URI],
  });
  await spool.close();
  await spool.open();
  const { clients } = spool.server.services;
  t.equal((await clients.find(String(unused.client_id)))?.name, 'unused');
  await spool.operator.advanceClock(LIMITS.client_unused_life_ms / 2);
  t.ok(await clients.authenticate({ client_id: String(used.client_id), secret: null }));
  await spool.operator.advanceClock(LIMITS.client_unused_life_ms / 2);
  t.equal(await clients.find(String(unused.client_id)), null);
  t.equal((await clients.find(String(used.client_id)))?.name, 'used');
  t.ok(await clients.find(staff.client_id), 'what staff made, staff end');
  const listed = await spool.operator.ask<{ items: { name: string }[] }>('GET', '/ops/clients?limit=100');
  const names = listed.items.map(({ name }) => name);
  t.ok(names.includes('used') && names.includes('by hand') && !names.includes('unused'));
  await spool.operator.advanceClock(LIMITS.client_unused_life_ms);
  t.equal(await clients.find(String(used.client_id)), null, 'nor is this one used any longer');
});

t.test('C-012 registration is limited per network', async (t) => {
  const spool = await TestSpool.start({ RATE_REGISTRATIONS: '2' });
  t.teardown(() => spool.end());
  const register = () =>
    fetch(`${spool.base_url}/oauth/register`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ redirect_uris: [URI] }),
    });
  const statuses = [(await register()).status, (await register()).status];
  t.same(statuses, [201, 201]);
  const limited = await register();
  t.equal(limited.status, 429);
  t.match(limited.headers.get('retry-after'), /^\d+$/);
  t.match(await limited.json(), { error: 'temporarily_unavailable' });
});
