import { randomBytes, randomUUID } from 'node:crypto';
import t from 'tap';
import { CallRefused } from '../../../kits/typescript/src/call.js';
import { type BindingView, type IntentView, sha256Of } from '../../../kits/typescript/src/device_client.js';
import type { InboxMail } from '../../../kits/typescript/src/operator_client.js';
import { ROUTES } from '../../../routes/index.js';
import type { Route } from '../../../src/edge/http/route.js';
import { bearer, tell } from '../../fixtures/answers.js';
import type { AppClient, SignedIn } from '../../fixtures/app_client.js';
import { Browser, codeOf, jsonOf, OauthApp, type Tokens } from '../../fixtures/oauth.js';
import { record } from '../../fixtures/recording.js';
import { TestSpool } from '../../fixtures/spool.js';
import { until } from '../../fixtures/until.js';

type Me = {
  id: string;
  name: string | null;
  permissions: string[];
  sharing_enabled: boolean;
  workspaces: { id: string; name: string; private: boolean; role: string }[];
};
type Event = {
  type: string;
  occurred_at: string;
  resource: { type: string; id: string };
  data: Record<string, unknown>;
};
type Page<Item> = { items: Item[]; cursor: string | null };

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const WEEK_MS = 7 * DAY_MS;
const RESTORE_URL = 'https://restore.example/back';
const DELETED = { status: 403, error: { code: 'ACCOUNT_DELETED' } };

const spool = await TestSpool.start({ RATE_LIMITS: 'off', RESTORE_URL });
t.teardown(() => spool.end());
const { base_url } = spool.server;
const ios = OauthApp.first(spool, 'svc-ios');
const web = OauthApp.first(spool, 'svc-web');
const advance = (ms: number) => spool.operator.advanceClock(ms);
const now = async () => Date.parse((await advance(0)).now);
const reach = async (at_ms: number) => advance(Math.max(0, at_ms - (await now())));
const native = async (email: string, scope?: string) =>
  bearer(spool, (await ios.signInNatively(email, scope === undefined ? {} : { scope })).access_token);
const sharing = async (...emails: string[]) => {
  for (const email of emails)
    await spool.operator.ask('PUT', `/ops/accounts/${email}/entitlements/workspace.sharing`, { enabled: true });
};
const eventsOf = async (app: AppClient, type?: string) =>
  (await app.ask<Page<Event>>('GET', `/events?limit=100${type === undefined ? '' : `&type=${type}`}`)).items;
const typesOf = async (app: AppClient) => (await eventsOf(app)).map(({ type }) => type);
/** Somebody's workspace with these members, who all come to have sharing. */
const workspaceOf = async (owner: AppClient, members: [email: string, app: AppClient, role: string][]) => {
  const { id } = await owner.ask<{ id: string }>('POST', '/workspaces', { name: 'Team' });
  for (const [email, app, role] of members) {
    const invited = await owner.ask<{ id: string }>('POST', `/workspaces/${id}/invitations`, { email, role });
    await app.ask('POST', `/me/invitations/${invited.id}/accept`);
  }
  return id;
};
const membersOf = async (app: AppClient, id: string) =>
  (await app.ask<Page<{ email: string }>>('GET', `/workspaces/${id}/members`)).items.map(({ email }) => email);
/** Deletes, waits the seven days and the erasure, and signs in again. */
const erased = async (email: string, app: AppClient) => {
  t.equal((await tell(app, 'DELETE', '/me')).status, 204);
  await advance(WEEK_MS + MINUTE_MS);
  return spool.signIn(email);
};

await t.test('D-014 D-015 A-024 A-025 the sign-in must be recent: 9:50 and 10:01 minutes', async (t) => {
  const late = await spool.signIn('late@x.test');
  const late_ms = await now();
  const early = await spool.signIn('early@x.test');
  await reach(late_ms + 10 * MINUTE_MS - 10_000);
  t.equal((await tell(early.app, 'DELETE', '/me')).status, 204);
  await reach(late_ms + 10 * MINUTE_MS + 1_000);
  const refused = { status: 403, error: { code: 'REAUTHENTICATION_REQUIRED' } };
  t.match(await tell(late.app, 'DELETE', '/me'), refused);
  const { refresh_token } = late.session;
  const renewed = await late.app.ask<SignedIn>('POST', '/auth/refresh', { refresh_token });
  t.match(await tell(bearer(spool, renewed.access_token), 'DELETE', '/me'), refused, 'refreshing renews nothing');
  t.equal((await tell(late.app, 'GET', '/me')).status, 200, 'nothing has changed');
  t.same(await typesOf(late.app), ['account.created']);
  t.equal((await tell((await spool.signIn('late@x.test')).app, 'DELETE', '/me')).status, 204);
  t.match(await tell(late.app, 'GET', '/me'), DELETED);
});

await t.test('C-096 C-038 D-014 D-015 native sign-in, and a code in the browser, are recent for as long', async (t) => {
  const [early, late] = [await ios.signInNatively('early2@x.test'), await ios.signInNatively('late2@x.test')];
  const browser = new Browser(base_url);
  await web.signIn('browser2@x.test', {}, browser);
  await advance(10 * MINUTE_MS - 20_000);
  t.equal((await tell(bearer(spool, early.access_token), 'DELETE', '/me')).status, 204);
  await advance(21_000);
  const refused = { status: 403, error: { code: 'REAUTHENTICATION_REQUIRED' } };
  t.match(await tell(bearer(spool, late.access_token), 'DELETE', '/me'), refused);
  const renewed = jsonOf<Tokens>(await ios.refresh(late.refresh_token));
  t.match(await tell(bearer(spool, renewed.access_token), 'DELETE', '/me'), refused);
  t.equal((await tell(await native('late2@x.test'), 'DELETE', '/me')).status, 204);
  const silent = await web.begin(browser);
  const old = jsonOf<Tokens>(await web.exchange(codeOf(silent.shown), silent.verifier));
  t.match(await tell(bearer(spool, old.access_token), 'DELETE', '/me'), refused, 'its code was entered long ago');
  const asked = await web.begin(browser, { prompt: 'login' });
  const back = await web.enterCode(browser, asked.shown, 'browser2@x.test');
  const fresh = jsonOf<Tokens>(await web.exchange(codeOf(back), asked.verifier));
  t.equal((await tell(bearer(spool, fresh.access_token), 'DELETE', '/me')).status, 204);
});

await t.test('D-016 D-017 D-018 D-025 D-031 X-35 shared workspaces, and which refusal comes first', async (t) => {
  const [owner, member] = [await spool.signIn('owner@x.test'), await spool.signIn('member@x.test')];
  await sharing('owner@x.test', 'member@x.test');
  const id = await workspaceOf(owner.app, [['member@x.test', member.app, 'admin']]);
  const narrow = await native('owner@x.test', 'turns:read');
  await advance(11 * MINUTE_MS);
  t.match(await tell(narrow, 'DELETE', '/me'), { status: 403, error: { code: 'FORBIDDEN' } });
  t.match(await tell(owner.app, 'DELETE', '/me'), { status: 403, error: { code: 'REAUTHENTICATION_REQUIRED' } });
  const { app } = await spool.signIn('owner@x.test');
  const { value } = await app.ask<{ value: string }>('POST', '/me/tokens', {
    ...{ name: 'x', permissions: ['account:manage'] },
  });
  const before = { me: await app.ask('GET', '/me'), events: await eventsOf(app) };
  for (let tries = 0; tries < 3; tries++)
    t.match(await tell(app, 'DELETE', '/me'), { status: 409, error: { code: 'WORKSPACE_OWNER_REQUIRED' } });
  t.same({ me: await app.ask('GET', '/me'), events: await eventsOf(app) }, before, 'nothing has changed');
  t.equal((await tell(bearer(spool, value), 'GET', '/me')).status, 200);
  t.equal((await tell(app, 'PATCH', `/workspaces/${id}`, { name: 'Team 2' })).status, 200, 'the workspace goes on');
  t.equal(
    (await tell(app, 'POST', `/workspaces/${id}/invitations`, { email: 'a@x.test', role: 'member' })).status,
    201,
  );
  const account_id = member.session.user.id;
  t.equal((await tell(app, 'POST', `/workspaces/${id}/transfer`, { account_id })).status, 204);
  t.equal((await tell(app, 'DELETE', '/me')).status, 204);
  t.same(await membersOf(member.app, id), ['member@x.test']);
  t.equal((await tell(app, 'POST', '/me/restore')).status, 204);
  const me = await app.ask<Me>('GET', '/me');
  t.same(
    me.workspaces.map(({ private: is_private, role }) => [is_private, role]),
    [[true, 'owner']],
    'an ended membership stays ended',
  );
  t.equal((await tell(app, 'GET', `/workspaces/${id}`)).status, 404);
  t.same(await membersOf(member.app, id), ['member@x.test']);
});

await t.test('D-025 D-026 D-029 D-037 workspaces that nobody else belongs to wait with it', async (t) => {
  const [{ app }, invited] = [await spool.signIn('alone@x.test'), await spool.signIn('invited@x.test')];
  await sharing('alone@x.test', 'invited@x.test');
  const id = await workspaceOf(app, []);
  await app.ask('POST', `/workspaces/${id}/invitations`, { email: 'invited@x.test', role: 'admin' });
  const invitations = () => invited.app.ask<Page<{ id: string }>>('GET', '/me/invitations');
  const [{ id: invitation } = { id: '' }] = (await invitations()).items;
  const before = (await app.ask<Me>('GET', '/me')).workspaces;
  t.equal((await tell(app, 'DELETE', '/me')).status, 204);
  t.same((await invitations()).items, []);
  t.equal((await tell(invited.app, 'POST', `/me/invitations/${invitation}/accept`)).status, 404);
  t.equal((await tell(app, 'POST', '/me/restore')).status, 204);
  t.same((await app.ask<Me>('GET', '/me')).workspaces, before);
  t.same((await app.ask<Page<unknown>>('GET', `/workspaces/${id}/invitations`)).items, [], 'it stays revoked');
  t.same((await invitations()).items, []);
  t.equal((await tell(app, 'PATCH', `/workspaces/${id}`, { name: 'Again' })).status, 200, 'it is no longer dormant');
  const again = await erased('alone@x.test', (await spool.signIn('alone@x.test')).app);
  t.equal((await tell(again.app, 'POST', '/me/restore')).status, 204);
  const fresh = await again.app.ask<Me>('GET', '/me');
  t.equal(fresh.workspaces.length, 1);
  t.notOk(before.some((workspace) => workspace.id === fresh.workspaces[0]?.id));
  t.same(
    (await eventsOf(again.app)).map(({ type, data, resource }) => [type, data, resource.type]),
    before.map(() => ['workspace.deleted', { reason: 'account_deleted' }, 'workspace']),
  );
  t.same(new Set((await eventsOf(again.app)).map(({ resource }) => resource.id)), new Set(before.map((w) => w.id)));
  t.equal((await spool.operator.send('DELETE', `/ops/workspaces/${id}`)).status, 404);
  for (const workspace of [...before, ...fresh.workspaces].filter((w) => w.private)) {
    const status = workspace.id === fresh.workspaces[0]?.id ? 409 : 404;
    t.equal((await spool.operator.send('DELETE', `/ops/workspaces/${workspace.id}`)).status, status);
  }
});

await t.test(
  'D-019 D-020 D-021 A-034 D-051 J-011 J-018 B-024 C-055 X-11 X-12 every account route answers ACCOUNT_DELETED, but three',
  async (t) => {
    const email = 'walk@x.test';
    const { app } = await spool.signIn(email);
    const other = (await spool.signIn(email)).app;
    const { value } = await app.ask<{ value: string }>('POST', '/me/tokens', {
      ...{ name: 'x', permissions: ['account:manage', 'turns:read'] },
    });
    const old = await native(email);
    const from = await now();
    t.equal((await tell(app, 'DELETE', '/me')).status, 204);
    const till = await now();
    const { erase_at } = (await tell(app, 'GET', '/me')).error;
    const erase_at_ms = Date.parse(erase_at ?? '');
    t.ok(erase_at_ms >= from + WEEK_MS && erase_at_ms <= till + WEEK_MS);
    t.equal(erase_at, new Date(erase_at_ms).toISOString());
    const third = await OauthApp.registered(spool, { scope: 'turns:read' });
    await advance(11 * MINUTE_MS); // an address is sent so many codes and no more
    const callers: Record<string, AppClient> = {
      'its session': app,
      'another session': other,
      'a token of now': await native(email),
      'a narrow token': await native(email, 'audio:write'),
    };
    const mcp_only = bearer(spool, (await third.signIn(email)).access_token);
    const own = ROUTES.public.filter(
      ({ credential, dialect }) => ['account', 'app', 'session'].includes(credential) && dialect !== 'openai',
    );
    t.ok(own.length > 25);
    const open = own.filter(({ deleted_too }) => deleted_too);
    t.same(open.map(({ path }) => path).sort(), ['/auth/logout', '/me/restore', '/me/sign-out']);
    const send = async (caller: AppClient, { method, path }: Route) =>
      tell(caller, method, path.replaceAll(/:[a-z_]+/g, randomUUID()), method === 'GET' ? undefined : {});
    for (const route of own.filter((route) => !open.includes(route))) {
      for (const [name, caller] of Object.entries(callers)) {
        // A token of the API's audience is none on /mcp: what is no credential there is 401 before all else.
        const answer = await send(caller, route);
        if (route.path === '/mcp' && answer.status === 401) t.match(name, /token/);
        else t.match(answer, { status: 403, error: { code: 'ACCOUNT_DELETED', erase_at } }, `${name} ${route.path}`);
      }
    }
    for (const route of own) {
      for (const [name, caller] of Object.entries({ 'the PAT': bearer(spool, value), 'an old token': old }))
        t.equal((await send(caller, route)).status, 401, `${name} ${route.path}`);
    }
    t.match(await tell(mcp_only, 'POST', '/mcp', {}), { status: 403, error: { code: 'ACCOUNT_DELETED', erase_at } });
    for (const [method, path, body] of [
      ['GET', '/events?limit=0', undefined],
      ['PATCH', '/me', { name: 5 }],
      ['DELETE', '/me/connections/no-id', undefined],
      ['POST', '/me/tokens', []],
    ] as const)
      t.match(await tell(app, method, path, body), DELETED, `${path}, whatever else is wrong`);
    t.equal((await app.send('GET', '/me', { headers: { 'X-API-Version': '2' } })).status, 400, 'but the version');
    t.equal((await tell(spool.client(), 'GET', '/me')).status, 401);
    t.match(await tell(callers['a narrow token'] as AppClient, 'POST', '/me/sign-out', { everywhere: true }), {
      status: 403,
      error: { code: 'FORBIDDEN' },
    });
    t.equal((await tell(callers['a narrow token'] as AppClient, 'POST', '/me/sign-out')).status, 204);
    t.equal((await tell(other, 'POST', '/auth/logout')).status, 204);
    t.equal((await tell(other, 'GET', '/me')).status, 401);
    t.equal((await tell(app, 'POST', '/me/sign-out', { everywhere: true })).status, 204);
    t.equal((await tell(app, 'GET', '/me')).status, 401);
    t.equal((await tell(callers['a token of now'] as AppClient, 'POST', '/me/restore')).status, 401, 'it was ended');
    t.equal((await tell(await native(email), 'POST', '/me/restore')).status, 204);
  },
);

await t.test('A-031 A-032 A-033 C-055 D-035 X-10 signing in and refreshing go on, and restore nothing', async (t) => {
  const email = 'still@x.test';
  const { app, session } = await spool.signIn(email);
  t.equal((await tell(app, 'DELETE', '/me')).status, 204);
  const again = await spool.signIn(email);
  t.equal(again.session.user.id, session.user.id);
  t.match(await tell(again.app, 'GET', '/me'), DELETED);
  const { refresh_token } = session;
  const renewed = await spool.client().ask<SignedIn>('POST', '/auth/refresh', { refresh_token });
  t.match(await tell(bearer(spool, renewed.access_token), 'GET', '/me'), DELETED);
  const browser = new Browser(base_url);
  const in_browser = await web.signIn(email, {}, browser);
  t.match(await tell(bearer(spool, in_browser.access_token), 'GET', '/me'), DELETED);
  const refreshed = jsonOf<Tokens>(await web.refresh(in_browser.refresh_token));
  t.match(await tell(bearer(spool, refreshed.access_token), 'GET', '/me'), DELETED);
  const narrow = await native(email, 'turns:read');
  t.match(await tell(narrow, 'GET', '/events'), DELETED);
  t.match(await tell(narrow, 'POST', '/me/restore'), { status: 403, error: { code: 'FORBIDDEN' } });
  const third = await OauthApp.registered(spool, { scope: 'account:manage' });
  const wide = await third.signIn(email, { scope: 'account:manage', resource: base_url });
  t.equal((await tell(bearer(spool, wide.access_token), 'POST', '/me/restore')).status, 204);
  t.equal((await tell(app, 'GET', '/me')).status, 200);
  t.equal((await tell(bearer(spool, refreshed.access_token), 'GET', '/me')).status, 200, 'made while it was deleted');
});

await t.test('D-022 D-023 X-13 grants, the browser session and tokens end; introspection says so', async (t) => {
  const email = 'grants@x.test';
  const { app } = await spool.signIn(email);
  const browser = new Browser(base_url);
  const agent = OauthApp.first(spool, 'svc-agent');
  const in_browser = await web.signIn(email, {}, browser);
  const phone = await ios.signInNatively(email);
  const pending = await web.begin(browser);
  t.match(jsonOf(await agent.introspect(phone.access_token)), { active: true });
  t.equal((await tell(app, 'DELETE', '/me')).status, 204);
  for (const [client, { access_token, refresh_token }] of [
    [web, in_browser],
    [ios, phone],
  ] as const) {
    t.equal((await tell(bearer(spool, access_token), 'GET', '/me')).status, 401);
    t.match(jsonOf(await client.refresh(refresh_token)), { error: 'invalid_grant' });
    t.same(jsonOf(await agent.introspect(access_token)), { active: false });
  }
  t.match(jsonOf(await web.exchange(codeOf(pending.shown), pending.verifier)), { error: 'invalid_grant' });
  const { shown } = await web.begin(browser, { prompt: 'none' });
  t.equal(new URL(shown.location ?? '').searchParams.get('error'), 'login_required');
  const late = await ios.signInNatively(email);
  t.same(jsonOf(await agent.introspect(late.access_token)), { active: false }, 'a token of now');
  t.equal((await tell(app, 'POST', '/me/restore')).status, 204);
  t.match(jsonOf(await agent.introspect(late.access_token)), { active: true });
  t.same(jsonOf(await agent.introspect(phone.access_token)), { active: false });
});

await t.test('D-027 the mail: who, until when, and where it can be had back', async (t) => {
  const email = 'mailed@x.test';
  const { app } = await spool.signIn(email);
  await app.ask('PATCH', '/me', { name: 'Not In The Mail' });
  t.equal((await tell(app, 'DELETE', '/me')).status, 204);
  const { erase_at } = (await tell(app, 'GET', '/me')).error;
  const mails = async () =>
    (await spool.operator.ask<{ items: InboxMail[] }>('GET', '/inbox?limit=100')).items.filter(
      ({ to, subject }) => to === email && /deleted/.test(subject),
    );
  await until('the mail', async () => (await mails()).length > 0);
  await advance(MINUTE_MS);
  const [mail, ...more] = await mails();
  t.same(more, []);
  t.match(mail?.text, RESTORE_URL);
  const [, day, month, year] = /^\w+, (\d+) (\w+) (\d+)/.exec(new Date(erase_at ?? '').toUTCString()) ?? [];
  t.match(mail?.text, new RegExp(`${Number(day)} ${month}\\w* ${year}, ${erase_at?.slice(11, 16)} UTC`));
  t.notMatch(mail?.text, 'Not In The Mail');
  t.notMatch(mail?.text, /^\d{6}$/m);
});

await t.test(
  'D-028 D-029 D-031 D-034 B-024 restoring within the week brings back all but what was ended',
  async (t) => {
    const email = 'restored@x.test';
    const { app } = await spool.signIn(email);
    await app.ask('PATCH', '/me', { name: 'Ann' });
    await sharing(email);
    t.equal((await tell(app, 'POST', '/me/restore')).status, 204, 'an active account: no effect');
    const bound = await spool.boundDevice(app);
    const { chunk_id, bytes } = await record(bound.device, bound);
    const { value } = await app.ask<{ value: string }>('POST', '/me/tokens', {
      name: 'x',
      permissions: ['turns:read'],
    });
    const old = await native(email);
    const before = { me: await app.ask<Me>('GET', '/me'), streams: await app.ask('GET', '/audio/streams') };
    const events = await eventsOf(app);
    t.notMatch(JSON.stringify(events), 'account.restored');
    t.equal((await tell((await spool.signIn(email)).app, 'DELETE', '/me')).status, 204);
    await advance(WEEK_MS - MINUTE_MS);
    const { app: later } = await spool.signIn(email);
    t.match(await tell(later, 'GET', '/me'), { ...DELETED, error: { erase_at: /^2/ } });
    t.equal((await tell(later, 'POST', '/me/restore')).status, 204);
    t.equal((await tell(later, 'POST', '/me/restore')).status, 204);
    t.same({ me: await later.ask('GET', '/me'), streams: await later.ask('GET', '/audio/streams') }, before);
    t.same((await later.send('GET', `/audio/chunks/${chunk_id}/content`)).body, bytes);
    t.equal((await later.ask<Page<unknown>>('GET', '/devices')).items.length, 1);
    const since = (await eventsOf(later)).slice(0, -events.length);
    t.same(
      since.map(({ type }) => type),
      ['account.restored', 'personal_access_token.revoked', 'account.deleted'].sort(
        (a, b) => since.findIndex(({ type }) => type === a) - since.findIndex(({ type }) => type === b),
      ),
    );
    t.match(since.find(({ type }) => type === 'personal_access_token.revoked')?.data, { reason: 'account_deleted' });
    t.same((await eventsOf(later)).slice(-events.length), events);
    t.equal((await tell(bearer(spool, value), 'GET', '/events')).status, 401);
    t.equal((await tell(bearer(spool, old.access_token ?? ''), 'GET', '/me')).status, 401);
    t.same(await later.ask('GET', '/me/tokens'), { items: [], cursor: null });
    t.same(await later.ask('GET', '/me/connections'), { items: [], cursor: null });
    await advance(WEEK_MS);
    const { app: last } = await spool.signIn(email);
    t.same((await last.ask<Me>('GET', '/me')).workspaces, before.me.workspaces, 'and it is not erased later on');
  },
);

await t.test('D-033 D-020 X-23 after the erasure: nothing but a fresh start', async (t) => {
  const email = 'fresh@x.test';
  const { app, session } = await spool.signIn(email);
  await app.ask('PATCH', '/me', { name: 'Ann' });
  await sharing(email);
  const { device, device_id, epoch } = await spool.boundDevice(app);
  const { chunk_id, source_stream_ref } = await record(device, { epoch });
  await app.ask('POST', '/me/tokens', { name: 'x', permissions: ['turns:read'] });
  const before = await app.ask<Me>('GET', '/me');
  const cursor = (await app.ask<Page<Event>>('GET', '/events?after=latest')).cursor;
  const { app: late, session: while_deleted } = await erased(email, app);
  const { refresh_token } = session;
  const refreshed = await spool.client().ask<SignedIn>('POST', '/auth/refresh', { refresh_token });
  const old = bearer(spool, refreshed.access_token);
  t.match(await tell(old, 'GET', '/me'), { status: 403, error: { code: 'ACCOUNT_DELETED', erase_at: null } });
  t.equal(while_deleted.user.id, session.user.id);
  t.match(await tell(late, 'GET', '/me'), { status: 403, error: { code: 'ACCOUNT_DELETED', erase_at: null } });
  t.match(await tell(await native(email, 'turns:read'), 'POST', '/me/restore'), { status: 403 });
  for (const path of ['/device/binding', '/device/heartbeat']) {
    const refusal = device.ask(path.endsWith('t') ? 'POST' : 'GET', path);
    await t.rejects(refusal, { status: 403, code: 'DEVICE_UNBOUND' }, path);
  }
  t.equal((await tell(old, 'POST', '/me/restore')).status, 204, 'a session from before the deletion begins afresh');
  const me = await late.ask<Me>('GET', '/me');
  t.match(me, { id: before.id, name: null, sharing_enabled: true }, 'what staff switched stays');
  t.same(await old.ask<Me>('GET', '/me'), me);
  t.equal(me.workspaces.length, 1);
  t.match(me.workspaces[0], { private: true, role: 'owner' });
  t.not(me.workspaces[0]?.id, before.workspaces[0]?.id, 'ids are never used again');
  for (const path of ['/devices', '/audio/streams', '/me/tokens'])
    t.same((await late.ask<Page<unknown>>('GET', path)).items, [], path);
  t.equal((await tell(late, 'GET', `/audio/chunks/${chunk_id}/content`)).status, 404);
  t.same(
    (await eventsOf(late)).map(({ type, resource }) => [type, resource.id]),
    [['workspace.deleted', before.workspaces[0]?.id]],
    'neither account.created nor account.restored',
  );
  t.match(await tell(late, 'GET', `/events?after=${cursor}`), { status: 400 }, 'the log is another one');
  await t.rejects(device.ask('GET', `/device/streams/${source_stream_ref}/gaps?binding_epoch=${epoch}`), {
    status: 403,
    code: 'DEVICE_UNBOUND',
  });
  const { claim } = await late.ask<{ claim: string }>('POST', '/devices/claims', { kind: 'owner' });
  const binding = await device.ask<BindingView>('POST', '/device/claims/redeem', { claim });
  await record(device, { epoch: binding.binding_epoch });
  t.match(await late.ask('GET', '/devices'), { items: [{ id: device_id }] }, 'the recorder serves again');
  t.equal((await late.ask<Page<unknown>>('GET', '/audio/streams')).items.length, 1);
  const { app: again } = await erased(email, (await spool.signIn(email)).app);
  t.equal((await tell(again, 'POST', '/me/restore')).status, 204, 'and all of it once more');
  const third = await again.ask<Me>('GET', '/me');
  t.notOk([before, me].some(({ workspaces }) => workspaces[0]?.id === third.workspaces[0]?.id));
  t.same((await again.ask<Page<unknown>>('GET', '/audio/streams')).items, []);
});

await t.test('D-032 D-020 D-021 while it is being erased: 409, and no moment of any other answer', async (t) => {
  const email = 'erasing@x.test';
  const { app, session } = await spool.signIn(email);
  const { device, epoch } = await spool.boundDevice(app);
  for (let n = 0; n < 3; n++) await record(device, { epoch });
  t.equal((await tell(app, 'DELETE', '/me')).status, 204);
  await advance(WEEK_MS - MINUTE_MS);
  const early = await spool.signIn(email);
  const { blobs } = spool.server.services;
  const { removeFolder } = blobs;
  let goOn = () => {};
  const gate = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const reached = new Promise<void>((resolve) => {
    blobs.removeFolder = async (prefix) => {
      resolve();
      await gate;
      return removeFolder.call(blobs, prefix);
    };
  });
  const moved = advance(2 * MINUTE_MS);
  await reached;
  t.match(await tell(early.app, 'POST', '/me/restore'), {
    status: 409,
    error: { code: 'ACCOUNT_DELETION_IN_PROGRESS' },
  });
  const { app: late } = await spool.signIn(email);
  for (let tries = 0; tries < 3; tries++)
    t.match(await tell(late, 'POST', '/me/restore'), {
      status: 409,
      error: { code: 'ACCOUNT_DELETION_IN_PROGRESS' },
    });
  t.match(await tell(late, 'GET', '/me'), { status: 403, error: { code: 'ACCOUNT_DELETED', erase_at: null } });
  t.match(await tell(late, 'DELETE', '/me'), DELETED);
  t.match(await tell(await native(email), 'POST', '/me/restore'), { status: 409 });
  t.match(await spool.operator.ask('GET', '/ops/erasures'), {
    items: [{ account_id: session.user.id, removed: { devices: 1 }, in_hand: true }],
  });
  blobs.removeFolder = removeFolder;
  goOn();
  await moved;
  t.same(await spool.operator.ask('GET', '/ops/erasures'), { items: [], cursor: null });
  t.equal((await tell(late, 'POST', '/me/restore')).status, 204);
  t.same((await late.ask<Page<unknown>>('GET', '/audio/streams')).items, []);
});

await t.test('D-029 D-031 staff may end a workspace that waits with its account', async (t) => {
  const email = 'staffed@x.test';
  const { app } = await spool.signIn(email);
  await sharing(email);
  const [kept, ended] = [await workspaceOf(app, []), await workspaceOf(app, [])];
  const { workspaces } = await app.ask<Me>('GET', '/me');
  const private_id = workspaces.find((workspace) => workspace.private)?.id;
  const end = async (id: string | undefined) => (await spool.operator.send('DELETE', `/ops/workspaces/${id}`)).status;
  t.equal((await tell(app, 'DELETE', '/me')).status, 204);
  t.equal(await end(private_id), 409);
  t.equal(await end(ended), 204);
  t.equal(await end(ended), 404);
  for (const unknown of [randomUUID(), 'x', private_id?.slice(1)]) t.equal(await end(unknown), 404);
  t.equal((await tell(app, 'POST', '/me/restore')).status, 204);
  t.same(
    (await app.ask<Me>('GET', '/me')).workspaces.map(({ id }) => id),
    [private_id, kept],
  );
  const reasons = (await eventsOf(app, 'workspace.deleted')).map(({ resource, data }) => [resource.id, data.reason]);
  t.same(reasons, [[ended, 'staff_deleted']]);
  t.equal((await tell(app, 'GET', `/workspaces/${ended}`)).status, 404);
  t.equal(await end(kept), 204, 'and of an active account');
  t.equal(await end(private_id), 409);
});

await t.test('D-036 an invitation to it stays pending until it is restored and accepts', async (t) => {
  const [{ app }, owner] = [await spool.signIn('guest@x.test'), await spool.signIn('host@x.test')];
  await sharing('guest@x.test', 'host@x.test');
  const id = await workspaceOf(owner.app, []);
  t.equal((await tell(app, 'DELETE', '/me')).status, 204);
  const invitation = { email: 'guest@x.test', role: 'member' };
  const invited = await owner.app.ask<{ id: string }>('POST', `/workspaces/${id}/invitations`, invitation);
  t.match(await tell(app, 'GET', '/me'), DELETED, 'being invited restores nothing');
  t.match(await tell(app, 'POST', `/me/invitations/${invited.id}/accept`), DELETED);
  t.equal((await owner.app.ask<Page<unknown>>('GET', `/workspaces/${id}/invitations`)).items.length, 1);
  t.equal((await tell(app, 'POST', '/me/restore')).status, 204);
  t.equal((await tell(app, 'POST', `/me/invitations/${invited.id}/accept`)).status, 204);
  t.same((await membersOf(owner.app, id)).sort(), ['guest@x.test', 'host@x.test']);
});

await t.test(
  'H-008 J-018 every device route answers ACCOUNT_DELETED, and serves again after the restore',
  async (t) => {
    const { app } = await spool.signIn('recorder@x.test');
    const { device, epoch: binding_epoch } = await spool.boundDevice(app);
    const stored = await record(device, { epoch: binding_epoch });
    const { source_stream_ref } = stored;
    const bytes = randomBytes(32);
    const audio = { codec: 'opus', container: 'ogg' };
    const intent = {
      ...{ source_chunk_ref: randomUUID(), source_stream_ref, binding_epoch, sequence: 1 },
      ...{ source_start_ms: 1000, publication_start_ms: 1000, source_end_ms: 2000, ...audio },
      ...{ size_bytes: bytes.length, sha256: sha256Of(bytes) },
    };
    const chunk = { sequence: 2, source_start_ms: 2000, publication_start_ms: 2000, source_end_ms: 3000, ...audio };
    const { upload_path, chunk_id } = await device.ask<IntentView>('POST', '/device/chunks/intents', intent);
    const { claim } = await app.ask<{ claim: string }>('POST', '/devices/claims', { kind: 'owner' });
    const stream = { captured_at: '2026-11-01T10:00:00Z', clock_uncertainty_ms: 0, binding_epoch };
    const calls: Record<string, () => Promise<unknown>> = {
      'POST /device/claims/redeem': () => device.ask('POST', '/device/claims/redeem', { claim }),
      'GET /device/binding': () => device.ask('GET', '/device/binding'),
      'POST /device/heartbeat': () => device.ask('POST', '/device/heartbeat'),
      'POST /device/streams': () =>
        device.ask('POST', '/device/streams', { ...stream, source_stream_ref: randomUUID() }),
      'POST /device/streams/end': () =>
        device.ask('POST', '/device/streams/end', { source_stream_ref, end_ms: 5_000, binding_epoch }),
      'POST /device/chunks/intents': () => device.ask('POST', '/device/chunks/intents', intent),
      'POST /device/chunks': () =>
        device.ask('POST', '/device/chunks', {
          ...{ binding_epoch, source_stream_ref },
          chunks: [{ ...chunk, source_chunk_ref: randomUUID(), bytes: bytes.toString('base64') }],
        }),
      'PUT /device/chunks/:chunk_id/content': () => device.upload(upload_path, bytes),
      'GET /device/chunks/:chunk_id': () => device.ask('GET', `/device/chunks/${stored.chunk_id}`),
      'POST /device/chunks/status': () =>
        device.ask('POST', '/device/chunks/status', {
          ...{ binding_epoch, source_stream_ref, source_chunk_refs: [stored.source_chunk_ref] },
        }),
      'POST /device/session/end': () => device.ask('POST', '/device/session/end', { binding_epoch }),
      'GET /device/streams/:source_stream_ref/gaps': () =>
        device.ask('GET', `/device/streams/${source_stream_ref}/gaps?binding_epoch=${binding_epoch}`),
    };
    // A certificate is the device's own affair, whoever it records for.
    const bound = ROUTES.device.filter(({ path }) => path !== '/device/certificates/renew');
    const rows = bound.map(({ method, path }) => `${method} ${path}`);
    t.same(Object.keys(calls).sort(), [...rows].sort(), 'every route of the table is called');
    t.equal((await tell(app, 'DELETE', '/me')).status, 204);
    const { erase_at } = (await tell(app, 'GET', '/me')).error;
    for (const [row, send] of Object.entries(calls)) {
      const refusal = await send().then(
        () => null,
        (error: unknown) => error,
      );
      t.match(refusal, { status: 403, code: 'ACCOUNT_DELETED' }, row);
      t.ok(refusal instanceof CallRefused, row);
    }
    const raw = await device.send('GET', '/device/binding', { headers: { Accept: 'application/json' } });
    t.match(JSON.parse(raw.body.toString()), { error: { code: 'ACCOUNT_DELETED', erase_at } });
    await advance(DAY_MS / 2);
    t.equal((await tell((await spool.signIn('recorder@x.test')).app, 'POST', '/me/restore')).status, 204);
    delete calls['POST /device/claims/redeem']; // ran out meanwhile
    delete calls['POST /device/session/end']; // a personal device has none
    for (const [row, send] of Object.entries(calls)) await t.resolves(send(), row);
    t.match(await device.ask('GET', `/device/chunks/${chunk_id}`), { status: 'stored' });
  },
);

await t.test('D-014 D-021 D-022 X-11 nothing that races with the deletion outlives it', async (t) => {
  const codes: string[] = [];
  for (let round = 0; round < 6; round++) {
    const email = `race${round}@x.test`;
    const { app } = await spool.signIn(email);
    const other = (await spool.signIn(email)).app;
    await sharing(email);
    if (round % 2 === 1) await workspaceOf(app, []);
    const bound = await spool.boundDevice(app);
    const token = { name: 'x', permissions: ['turns:read'] };
    const stream = { captured_at: '2026-11-01T10:00:00Z', clock_uncertainty_ms: 0, binding_epoch: bound.epoch };
    const from = (n: number) => (n % 2 === 0 ? app : other);
    const [deletions, made] = await Promise.all([
      Promise.all([0, 1].map((n) => tell(from(n), 'DELETE', '/me'))),
      Promise.all([
        ...Array.from({ length: 4 }, (_, n) => tell<{ value?: string }>(from(n), 'POST', '/me/tokens', token)),
        ...Array.from({ length: 3 }, (_, n) => tell(from(n), 'POST', '/workspaces', { name: `W${n}` })),
        ...Array.from({ length: 3 }, (_, n) => tell(from(n), 'PATCH', '/me', { name: `N${n}` })),
        tell(app, 'POST', '/devices/claims', { kind: 'owner' }),
        ...Array.from({ length: 2 }, () =>
          bound.device.ask('POST', '/device/streams', { ...stream, source_stream_ref: randomUUID() }).then(
            () => ({ status: 200, error: null, data: null }),
            ({ status, code }: CallRefused) => ({ status, error: { code }, data: null }),
          ),
        ),
      ]),
    ]);
    for (const { status, error } of deletions) codes.push(`${status} ${error?.code ?? ''}`.trim());
    t.ok(
      deletions.some(({ status }) => status === 204),
      JSON.stringify(deletions),
    );
    for (const { status, error } of [...deletions, ...made]) {
      const is_fine = status < 300 || (status === 403 && error?.code === 'ACCOUNT_DELETED') || status === 503;
      t.ok(is_fine, `${status} ${error?.code}`);
    }
    t.match(await tell(app, 'GET', '/me'), DELETED);
    const values = made.flatMap(({ data }) =>
      (data as { value?: string })?.value ? [(data as { value: string }).value] : [],
    );
    for (const value of values) t.equal((await tell(bearer(spool, value), 'GET', '/events')).status, 401);
    const { app: late } = await erased_late(email);
    const me = await late.ask<Me>('GET', '/me');
    t.match(me, { name: null, sharing_enabled: true });
    t.equal(me.workspaces.length, 1);
    for (const path of ['/devices', '/audio/streams', '/me/tokens'])
      t.same((await late.ask<Page<unknown>>('GET', path)).items, [], path);
    for (const value of values) t.equal((await tell(bearer(spool, value), 'GET', '/events')).status, 401);
    t.same([...new Set(await typesOf(late))], ['workspace.deleted']);
  }
  t.comment(codes.join(', '));
  t.same(
    codes.filter((code) => code !== '204' && code !== '403 ACCOUNT_DELETED'),
    [],
  );
});

/** Waits the week of one that is deleted, and restores it then. */
async function erased_late(email: string) {
  await advance(WEEK_MS + MINUTE_MS);
  const late = await spool.signIn(email);
  t.equal((await tell(late.app, 'POST', '/me/restore')).status, 204);
  return late;
}
