import { randomBytes, randomUUID } from 'node:crypto';
import { Writable } from 'node:stream';
import pino from 'pino';
import t from 'tap';
import { LIMITS } from '../../../src/domain/limits.js';
import { bearer, tell } from '../../fixtures/answers.js';
import type { AppClient } from '../../fixtures/app_client.js';
import { OauthApp } from '../../fixtures/oauth.js';
import { TestSpool } from '../../fixtures/spool.js';

type Token = {
  id: string;
  name: string;
  permissions: string[];
  last_four: string;
  created_at: string;
  expires_at: string | null;
  last_used_at: string | null;
};
type Made = { token: Token; value: string };
type Page = { items: Token[]; cursor: string | null };
type Events = { items: { type: string; resource: unknown; data: Record<string, unknown> }[] };

const MINUTE_MS = 60_000;
const WIDE = ['account:manage', 'turns:read', 'devices:manage'];

const logged: string[] = [];
const stream = new Writable({
  write(chunk, _encoding, done) {
    logged.push(String(chunk));
    done();
  },
});
const spool = await TestSpool.start({ RATE_LIMITS: 'off' }, pino({ level: 'trace' }, stream));
t.teardown(() => spool.end());
const ios = OauthApp.first(spool, 'svc-ios');
const make = (app: AppClient, more: Record<string, unknown> = {}) =>
  app.ask<Made>('POST', '/me/tokens', { name: 'tool', permissions: ['turns:read'], expires_at: null, ...more });
const nowMs = async () => Date.parse((await spool.operator.advanceClock(0)).now);
const inMs = async (ms: number) => new Date((await nowMs()) + ms).toISOString();
const switchOn = (email: string, name: string, enabled: boolean) =>
  spool.operator.ask('PUT', `/ops/accounts/${email}/entitlements/${name}`, { enabled });
const mcp = async (value: string, method: string, params: Record<string, unknown> = {}) => {
  const answer = await spool.client().send('POST', '/mcp', {
    body: { jsonrpc: '2.0', id: 1, method, params },
    headers: { Authorization: `Bearer ${value}`, Accept: 'application/json, text/event-stream' },
  });
  const text = answer.body.toString();
  return { status: answer.status, json: text === '' ? null : JSON.parse(text) };
};
const toolsOf = async (value: string) =>
  (await mcp(value, 'tools/list')).json.result.tools.map(({ name }: { name: string }) => name).sort();

await t.test('B-001 B-002 B-003 B-022 B-026 one is made, shown once, and listed without its value', async (t) => {
  const { app } = await spool.signIn('made@x.test');
  t.same(await app.ask('GET', '/me/tokens'), { items: [], cursor: null });
  const expires_at = await inMs(3_600_000);
  const answer = await tell<Made>(app, 'POST', '/me/tokens', {
    ...{ name: '  My tool ', permissions: ['turns:read', 'audio:read', 'turns:read'], expires_at },
  });
  t.equal(answer.status, 201);
  const { token, value } = answer.data;
  t.same(Object.keys(answer.data), ['token', 'value']);
  t.match(value, /^svc_pat_[A-Za-z0-9_-]+$/);
  t.same(Object.keys(token), [
    ...['id', 'name', 'permissions', 'last_four', 'created_at', 'expires_at', 'last_used_at'],
  ]);
  t.match(token, { name: 'My tool', permissions: ['audio:read', 'turns:read'], expires_at, last_used_at: null });
  t.equal(token.last_four, value.slice(-4));
  const never = await make(app, { expires_at: undefined, permissions: WIDE });
  t.equal(never.token.expires_at, null, 'null, or nothing said, means never');
  const listed = await tell<Page>(app, 'GET', '/me/tokens');
  t.same(listed.data, { items: [never.token, token], cursor: null }, 'the newest first');
  t.equal((await tell(bearer(spool, value), 'GET', '/events')).status, 200);
  t.equal((await make(app, { expires_at: '9999-12-31T23:59:59.999Z' })).token.expires_at, '9999-12-31T23:59:59.999Z');
});

await t.test('B-016 X-18 pipelines:write includes pipelines:experimental, with developer access', async (t) => {
  const { app, session } = await spool.signIn('pipes@x.test');
  const { value } = await make(app, { permissions: ['pipelines:write', 'account:manage'] });
  const held = async () => (await tell<{ permissions: string[] }>(bearer(spool, value), 'GET', '/me')).data.permissions;
  t.same(await held(), ['account:manage', 'pipelines:write']);
  await spool.operator.ask('PUT', `/ops/accounts/${session.user.id}/entitlements/developer.tools`, { enabled: true });
  t.same(await held(), ['account:manage', 'pipelines:write', 'pipelines:experimental']);
});

await t.test('B-014 B-015 B-026 what is not valid is refused, and its field named', async (t) => {
  const { app } = await spool.signIn('wrong@x.test');
  const good = { name: 'x', permissions: ['turns:read'], expires_at: null };
  for (const [field, value] of [
    ['name', undefined],
    ['name', 5],
    ['name', null],
    ['name', ''],
    ['name', ' \t\u3000'],
    ['name', 'x'.repeat(81)],
    ['name', '\u{1f600}'.repeat(81)],
    ['name', 'a\u0000b'],
    ['permissions', undefined],
    ['permissions', null],
    ['permissions', 'turns:read'],
    ['permissions', {}],
    ['permissions', []],
    ['permissions', ['workspace:read']],
    ['permissions', ['turns:read', 'workspace:members']],
    ['permissions', ['workspace:manage']],
    ['permissions', ['events:read']],
    ['permissions', ['contacts:read']],
    ['permissions', ['recall:read']],
    ['permissions', ['foo']],
    ['permissions', ['TURNS:READ']],
    ['permissions', [null]],
    ['permissions', Array.from({ length: 1_000 }, () => 'turns:read')],
    ['expires_at', await inMs(-1)],
    ['expires_at', await inMs(0)],
    ['expires_at', '2020-01-01T00:00:00Z'],
    ['expires_at', 'tomorrow'],
    ['expires_at', ''],
    ['expires_at', 1_900_000_000],
    ['expires_at', '2099-02-30T00:00:00Z'],
    ['expires_at', '2099-01-01'],
    ['expires_at', '2099-01-01T00:00:00'],
    ['expires_at', '+012099-01-01T00:00:00Z'],
    ['expires_at', false],
  ] as const) {
    const what = `${field} ${JSON.stringify(value)?.slice(0, 40)}`;
    const { status, error } = await tell(app, 'POST', '/me/tokens', { ...good, [field]: value });
    t.equal(status, 400, what);
    t.match(error, { code: 'BAD_REQUEST', message: new RegExp(`^${field}`) }, what);
    t.match(error.details?.[0]?.path, new RegExp(`^${field}(\\.\\d+)?$`), what);
  }
  for (const body of [[], null, 'x', 5]) t.equal((await tell(app, 'POST', '/me/tokens', body)).status, 400);
  for (const name of ['x'.repeat(80), '\u{1f600}'.repeat(80), `  ${'y'.repeat(80)}  `]) {
    t.equal((await tell(app, 'POST', '/me/tokens', { ...good, name })).status, 201);
  }
  t.equal((await app.ask<Page>('GET', '/me/tokens')).items.length, 3, 'nothing else was made');
});

await t.test('B-003 the list comes in pages, newest first', async (t) => {
  const { app } = await spool.signIn('pages@x.test');
  const ids: string[] = [];
  for (let n = 0; n < 7; n++) ids.unshift((await make(app, { name: `t${n}` })).token.id);
  const walked: string[] = [];
  let cursor: string | null = null;
  let pages = 0;
  do {
    const at: Page = await app.ask<Page>('GET', `/me/tokens?limit=3${cursor === null ? '' : `&cursor=${cursor}`}`);
    walked.push(...at.items.map(({ id }) => id));
    cursor = at.cursor;
    pages++;
    if (pages === 1) {
      await make(app, { name: 'newer' }); // shifts nothing of the pages to come
      await app.ask('DELETE', `/me/tokens/${ids[4]}`);
    }
  } while (cursor !== null);
  t.same(walked, [...ids.slice(0, 4), ...ids.slice(5)]);
  t.equal(pages, 2);
  for (const query of ['limit=0', 'limit=101', 'limit=1.5', 'limit=x', 'limit=', 'cursor=x', 'cursor=', 'cursor=W10']) {
    t.match(await tell(app, 'GET', `/me/tokens?${query}`), { status: 400, error: { code: 'BAD_REQUEST' } }, query);
  }
  t.equal((await app.ask<Page>('GET', '/me/tokens?limit=100')).cursor, null);
});

await t.test('B-005 D-045 who may make, list and revoke', async (t) => {
  const email = 'callers@x.test';
  const { app } = await spool.signIn(email);
  const { token } = await make(app);
  const third = await OauthApp.registered(spool, { scope: 'account:manage turns:read' });
  const body = { name: 'x', permissions: ['turns:read'], expires_at: null };
  const forbidden = {
    narrow: bearer(spool, (await ios.signInNatively(email, { scope: 'turns:read' })).access_token),
    third: bearer(
      spool,
      (await third.signIn(email, { scope: 'account:manage turns:read', resource: spool.server.base_url })).access_token,
    ),
  };
  t.equal((await tell(forbidden.third, 'GET', '/me')).status, 200, 'it does hold account:manage');
  for (const [name, caller] of Object.entries(forbidden)) {
    for (const [method, path, sent] of [
      ['POST', '/me/tokens', body],
      ['POST', '/me/tokens', {}],
      ['GET', '/me/tokens', undefined],
      ['GET', '/me/tokens?limit=0', undefined],
      ['DELETE', `/me/tokens/${token.id}`, undefined],
      ['DELETE', `/me/tokens/${randomUUID()}`, undefined],
    ] as const) {
      t.match(await tell(caller, method, path, sent), { status: 403, error: { code: 'FORBIDDEN' } }, `${name} ${path}`);
    }
  }
  const own = bearer(spool, (await ios.signInNatively(email, { scope: 'account:manage turns:read' })).access_token);
  const made = await make(own);
  t.match(await tell(own, 'POST', '/me/tokens', { ...body, permissions: ['turns:read', 'audio:read'] }), {
    status: 403,
    error: { code: 'FORBIDDEN' },
  });
  t.equal((await own.ask<Page>('GET', '/me/tokens')).items.length, 2);
  t.equal((await tell(own, 'DELETE', `/me/tokens/${token.id}`)).status, 204);
  t.equal((await tell(app, 'DELETE', `/me/tokens/${made.token.id}`)).status, 204);
  t.equal((await tell(spool.client(), 'GET', '/me/tokens')).status, 401);
  t.match(
    await tell(app, 'POST', '/me/tokens', { ...body, permissions: ['debug:read'] }),
    { status: 403 },
    'no more than the caller holds',
  );
  await switchOn(email, 'developer.tools', true);
  t.equal((await make(app, { permissions: ['debug:read', 'pipelines:experimental'] })).token.permissions.length, 2);
});

await t.test('B-004 B-023 D-060 revoking: its own alone, at once', async (t) => {
  const [{ app }, { app: stranger }] = [await spool.signIn('revoke@x.test'), await spool.signIn('revoke2@x.test')];
  const { token, value } = await make(app);
  const program = bearer(spool, value);
  t.match(await tell(stranger, 'DELETE', `/me/tokens/${token.id}`), { status: 404, error: { code: 'NOT_FOUND' } });
  t.equal((await tell(program, 'GET', '/events')).status, 200);
  for (const id of [randomUUID(), 'x', token.id.slice(1)]) {
    t.match(await tell(app, 'DELETE', `/me/tokens/${id}`), { status: 404, error: { code: 'NOT_FOUND' } });
  }
  t.equal((await tell(app, 'DELETE', `/me/tokens/${token.id.toUpperCase()}`)).status, 204);
  t.match(await tell(program, 'GET', '/events'), { status: 401, error: { code: 'UNAUTHORIZED' } });
  t.equal((await tell(app, 'DELETE', `/me/tokens/${token.id}`)).status, 404);
  t.same((await app.ask<Page>('GET', '/me/tokens')).items, []);
});

await t.test(
  'B-006 B-007 B-008 B-009 B-010 B-011 B-012 A-030 D-045 D-018 D-035 X-15 what a token can not do, although it holds account:manage',
  async (t) => {
    const email = 'forbidden@x.test';
    const { app } = await spool.signIn(email);
    await switchOn(email, 'workspace.sharing', true);
    const grant = await ios.signInNatively(email);
    const { items } = await app.ask<Page>('GET', '/me/connections');
    const [{ token, value }, other] = [await make(app, { permissions: WIDE }), await make(app)];
    const program = bearer(spool, value);
    t.equal((await tell(program, 'GET', '/me')).status, 200);
    t.equal((await tell(program, 'PATCH', '/me', { name: 'Ann' })).status, 200);
    for (const [method, path, body] of [
      ['POST', '/me/tokens', { name: 'x', permissions: ['turns:read'], expires_at: null }],
      ['POST', '/me/tokens', {}],
      ['GET', '/me/tokens', undefined],
      ['DELETE', `/me/tokens/${other.token.id}`, undefined],
      ['DELETE', `/me/tokens/${randomUUID()}`, undefined],
      ['POST', '/me/sign-out', undefined],
      ['POST', '/me/sign-out', { everywhere: true }],
      ['POST', '/auth/logout', undefined],
      ['DELETE', '/me', undefined],
      ['POST', '/me/restore', undefined],
      ['GET', '/me/connections', undefined],
      ['DELETE', `/me/connections/${items[0]?.id}`, undefined],
      ['GET', '/workspaces', undefined],
      ['POST', '/workspaces', { name: 'x' }],
      ['GET', '/me/invitations', undefined],
    ] as const) {
      const answer = await tell(program, method, path, body);
      t.match(answer, { status: 403, error: { code: 'FORBIDDEN' } }, `${method} ${path}`);
    }
    t.equal((await tell(app, 'GET', '/me')).status, 200, 'nothing was ended');
    t.equal((await tell(bearer(spool, grant.access_token), 'GET', '/me')).status, 200);
    t.equal((await app.ask<Page>('GET', '/me/tokens')).items.length, 2);
    t.equal((await tell(program, 'DELETE', `/me/tokens/${token.id}`)).status, 204, 'it can end itself');
    t.equal((await tell(program, 'GET', '/me')).status, 401);
    t.equal((await tell(program, 'DELETE', `/me/tokens/${token.id}`)).status, 401);
    const narrow = bearer(spool, other.value);
    t.equal((await tell(narrow, 'DELETE', `/me/tokens/${other.token.id}`)).status, 204, 'without account:manage too');
  },
);

await t.test('B-013 B-016 B-017 it carries what it lists, as long as the account holds it', async (t) => {
  const email = 'live@x.test';
  const { app } = await spool.signIn(email);
  const { value } = await make(app, { permissions: WIDE });
  const program = bearer(spool, value);
  const permissions = async () => (await program.ask<{ permissions: string[] }>('GET', '/me')).permissions;
  t.same(await permissions(), ['turns:read', 'account:manage', 'devices:manage']);
  t.equal((await tell(program, 'GET', '/events')).status, 200);
  t.equal((await tell(program, 'GET', '/devices')).status, 200);
  t.equal((await tell(program, 'GET', '/audio/streams')).status, 200, 'turns:read will do');
  await switchOn(email, 'transcripts.access', false);
  t.match(await tell(program, 'GET', '/events'), { status: 403, error: { code: 'FORBIDDEN' } });
  t.same(await permissions(), ['account:manage', 'devices:manage']);
  t.same(await toolsOf(value), ['list_devices', 'list_recorder_sessions', 'who_am_i']);
  await switchOn(email, 'transcripts.access', true);
  t.equal((await tell(program, 'GET', '/events')).status, 200);
  const narrow = bearer(spool, (await make(app)).value);
  for (const path of ['/me', '/devices', '/workspaces'])
    t.match(await tell(narrow, 'GET', path), { status: 403, error: { code: 'FORBIDDEN' } }, path);
  await switchOn(email, 'developer.tools', true);
  const debug = bearer(spool, (await make(app, { permissions: ['account:manage', 'debug:read'] })).value);
  t.match(await debug.ask('GET', '/me'), { permissions: ['account:manage', 'debug:read'] });
  await switchOn(email, 'developer.tools', false);
  t.same((await debug.ask<{ permissions: string[] }>('GET', '/me')).permissions, ['account:manage']);
});

await t.test('B-025 B-016 on /mcp: the tools that its permissions reach', async (t) => {
  const { app, session } = await spool.signIn('mcp@x.test');
  const all = await make(app, { permissions: WIDE });
  t.same(await toolsOf(all.value), [
    ...['fetch', 'get_transcript', 'list_contacts', 'list_devices', 'list_events', 'list_recorder_sessions'],
    ...['list_sources', 'list_streams', 'list_turns', 'who_am_i'],
  ]);
  const who = await mcp(all.value, 'tools/call', { name: 'who_am_i', arguments: {} });
  t.match(who.json.result.structuredContent, { account_id: session.user.id, email: 'mcp@x.test' });
  const audio = await make(app, { permissions: ['audio:read'] });
  t.same(await toolsOf(audio.value), ['list_sources', 'list_streams', 'who_am_i']);
  const nothing = await make(app, { permissions: ['files:read'] });
  t.same(await toolsOf(nothing.value), ['who_am_i']);
  const shown = (await mcp(nothing.value, 'tools/call', { name: 'who_am_i', arguments: {} })).json.result;
  t.notMatch(JSON.stringify(shown), 'mcp@x.test');
  const refused = (await mcp(nothing.value, 'tools/call', { name: 'list_events', arguments: {} })).json;
  t.ok(refused.error !== undefined || refused.result.isError === true, JSON.stringify(refused).slice(0, 200));
  await app.ask('DELETE', `/me/tokens/${all.token.id}`);
  t.equal((await mcp(all.value, 'tools/list')).status, 401);
});

await t.test('B-021 B-023 what is none, not any more, or not quite one: 401, on REST and on /mcp', async (t) => {
  const { app } = await spool.signIn('none@x.test');
  const { app: other } = await spool.signIn('none2@x.test');
  const [{ value }, revoked, short] = [
    await make(app),
    await make(app),
    await make(app, { expires_at: await inMs(2 * MINUTE_MS) }),
  ];
  await app.ask('DELETE', `/me/tokens/${revoked.token.id}`);
  const secret = value.slice('svc_pat_'.length);
  const bytes = Buffer.from(secret, 'base64url');
  const foreign = Buffer.from((await make(other)).value.slice('svc_pat_'.length), 'base64url');
  const tampered = Array.from({ length: bytes.length }, (_, index) => {
    const copy = Buffer.from(bytes);
    copy[index] = (copy[index] ?? 0) ^ 1;
    return `svc_pat_${copy.toString('base64url')}`;
  });
  const wrong = [
    'svc_pat_',
    'svc_pat_x',
    `svc_pat_${randomBytes(bytes.length).toString('base64url')}`,
    `svc_pat_${secret}A`,
    `svc_pat_${secret.slice(0, -1)}`,
    `svc_pat_${secret}=`,
    `SVC_PAT_${secret}`,
    secret,
    `svc_pat_${Buffer.concat([bytes.subarray(0, 16), foreign.subarray(16)]).toString('base64url')}`,
    `svc_pat_${Buffer.concat([foreign.subarray(0, 16), bytes.subarray(16)]).toString('base64url')}`,
    revoked.value,
    ...tampered.filter((_, index) => index % 7 === 0 || index > 14),
  ];
  t.equal((await tell(bearer(spool, value), 'GET', '/events')).status, 200);
  for (const text of wrong) {
    const answer = await bearer(spool, text).send('GET', '/events');
    t.equal(answer.status, 401, text);
    t.match(answer.headers['www-authenticate'], /^Bearer/);
    t.match(JSON.parse(answer.body.toString()), { error: { code: 'UNAUTHORIZED' } });
    t.equal((await mcp(text, 'tools/list')).status, 401, text);
  }
  t.equal((await tell(spool.client(), 'GET', `/events?access_token=${value}`)).status, 401);
  const program = bearer(spool, short.value);
  await spool.operator.advanceClock(MINUTE_MS);
  t.equal((await tell(program, 'GET', '/events')).status, 200);
  await spool.operator.advanceClock(MINUTE_MS);
  t.equal((await tell(program, 'GET', '/events')).status, 401);
  t.equal((await mcp(short.value, 'tools/list')).status, 401);
  t.notOk((await app.ask<Page>('GET', '/me/tokens')).items.some(({ id }) => id === short.token.id));
  t.equal((await tell(app, 'DELETE', `/me/tokens/${short.token.id}`)).status, 404);
  const { items } = await app.ask<Events>('GET', '/events?type=personal_access_token.revoked');
  t.same(
    items.map(({ data }) => data.last_four),
    [revoked.token.last_four],
    'running out is no event',
  );
});

await t.test('B-002 fifty living ones and no more; those that ran out do not count', async (t) => {
  const { app } = await spool.signIn('fifty@x.test');
  const expires_at = await inMs(MINUTE_MS);
  const few = LIMITS.tokens_per_account_max - 2;
  for (let n = 0; n < few; n++) await make(app);
  const raced = await Promise.all(
    Array.from({ length: 5 }, () =>
      tell<Made>(app, 'POST', '/me/tokens', { name: 'x', permissions: ['turns:read'], expires_at }),
    ),
  );
  t.same(raced.map(({ status }) => status).sort(), [201, 201, 409, 409, 409]);
  t.match(raced.find(({ status }) => status === 409)?.error, { code: 'CONFLICT' });
  await spool.operator.advanceClock(MINUTE_MS);
  await make(app);
  const last = await make(app);
  t.equal((await tell(app, 'POST', '/me/tokens', { name: 'x', permissions: ['turns:read'] })).status, 409);
  await app.ask('DELETE', `/me/tokens/${last.token.id}`);
  t.equal((await tell(app, 'POST', '/me/tokens', { name: 'x', permissions: ['turns:read'] })).status, 201);
});

await t.test('B-003 last_used_at is written at most once a minute', async (t) => {
  const { app } = await spool.signIn('used@x.test');
  const { token, value } = await make(app);
  const used = async () => (await app.ask<Page>('GET', '/me/tokens')).items[0]?.last_used_at;
  t.equal(await used(), null);
  const program = bearer(spool, value);
  await program.ask('GET', '/events');
  const first = await used();
  t.ok(Date.parse(first ?? '') >= Date.parse(token.created_at));
  await spool.operator.advanceClock(MINUTE_MS / 2);
  await program.ask('GET', '/events');
  t.equal(await used(), first);
  await spool.operator.advanceClock(MINUTE_MS / 2);
  t.equal((await tell(program, 'GET', '/me')).status, 403, 'a use that is refused is one too');
  const second = await used();
  t.ok(Date.parse(second ?? '') >= Date.parse(first ?? '') + MINUTE_MS);
});

await t.test('B-018 B-019 B-020 B-024 B-027 D-049 what is told of tokens, and signing out everywhere', async (t) => {
  const email = 'told@x.test';
  const name = 'name-marker-5e1f';
  const { app } = await spool.signIn(email);
  const expires_at = await inMs(3_600_000);
  const [a, b, c] = [await make(app, { name, expires_at }), await make(app, { name }), await make(app, { name })];
  t.same(await app.ask('GET', '/me/connections'), { items: [], cursor: null });
  await app.ask('DELETE', `/me/tokens/${a.token.id}`);
  const narrow = bearer(spool, (await ios.signInNatively(email, { scope: 'turns:read' })).access_token);
  t.equal((await tell(narrow, 'POST', '/me/sign-out', { everywhere: true })).status, 403);
  t.equal((await tell(bearer(spool, b.value), 'GET', '/events')).status, 200);
  const own = bearer(spool, (await ios.signInNatively(email)).access_token);
  t.equal((await tell(own, 'POST', '/me/sign-out', { everywhere: true })).status, 204);
  for (const { value } of [b, c]) t.equal((await tell(bearer(spool, value), 'GET', '/events')).status, 401);
  t.same((await app.ask<Page>('GET', '/me/tokens')).items, [], 'the app session stays, the tokens are gone');
  const last = await make(app, { name });
  t.equal((await tell(app, 'POST', '/me/sign-out', { everywhere: true })).status, 204);
  t.equal((await tell(app, 'GET', '/me')).status, 401);
  t.equal((await tell(bearer(spool, last.value), 'GET', '/events')).status, 401);
  const { app: again } = await spool.signIn(email);
  const { items } = await again.ask<Events>('GET', '/events');
  const of = (type: string) =>
    items
      .filter((event) => event.type === `personal_access_token.${type}`)
      .map(({ resource, data }) => ({ resource, data }));
  const record = ({ token }: Made, more = {}) => ({
    resource: { type: 'personal_access_token', id: token.id },
    data: { last_four: token.last_four, expires_at: token.expires_at, ...more },
  });
  t.same(of('created'), [record(last), record(c), record(b), record(a)]);
  const everywhere = { reason: 'sign_out_everywhere' };
  t.same(new Set(of('revoked').map((one) => JSON.stringify(one))).size, 4);
  t.same(of('revoked')[0], record(last, everywhere));
  t.same(of('revoked')[3], record(a, { reason: 'user' }));
  t.same(
    of('revoked')
      .slice(1, 3)
      .map(({ data }) => data.reason),
    ['sign_out_everywhere', 'sign_out_everywhere'],
  );
  for (const secret of [name, ...[a, b, c, last].map(({ value }) => value)]) t.notMatch(JSON.stringify(items), secret);
  t.notMatch(JSON.stringify(items), /hash|secret/);
});

await t.test('B-002 B-020 a restart keeps them, and no log has their value', async (t) => {
  const email = 'restart@x.test';
  const { app, session } = await spool.signIn(email);
  const [kept, gone] = [await make(app, { name: 'kept-name-77' }), await make(app)];
  await app.ask('DELETE', `/me/tokens/${gone.token.id}`);
  await bearer(spool, kept.value).ask('GET', '/events');
  const listed = await app.ask('GET', '/me/tokens');
  await spool.close();
  await spool.open();
  t.equal((await tell(bearer(spool, kept.value), 'GET', '/events')).status, 200);
  t.equal((await tell(bearer(spool, gone.value), 'GET', '/events')).status, 401);
  t.same(await bearer(spool, session.access_token).ask('GET', '/me/tokens'), listed);
  const { runtime } = spool.server.services;
  const { askDownstream: askSettled } = runtime;
  runtime.askDownstream = () => Promise.reject(new Error('broken on purpose'));
  t.equal((await tell(bearer(spool, kept.value), 'DELETE', `/me/tokens/${kept.token.id}`)).status, 500);
  runtime.askDownstream = askSettled;
  const log = logged.join('');
  t.match(log, 'broken on purpose');
  for (const secret of ['svc_pat_', kept.value.slice(8), kept.value.slice(-30), 'kept-name-77'])
    t.notOk(log.includes(secret), secret);
});
