import t from 'tap';
import { Browser, jsonOf, OauthApp, type Tokens } from '../../fixtures/oauth.js';
import { TestSpool } from '../../fixtures/spool.js';

type Connections = { items: Record<string, unknown>[]; cursor: string | null };

t.test('connected apps and signing out', async (t) => {
  const spool = await TestSpool.start({ RATE_LIMITS: 'off' });
  t.teardown(() => spool.end());
  const ios = OauthApp.first(spool, 'svc-ios');
  const web = OauthApp.first(spool, 'svc-web');
  const agent = OauthApp.first(spool, 'svc-agent');
  const as = (access_token: string) => {
    const app = spool.client();
    app.access_token = access_token;
    return app;
  };
  const statusOf = async (access_token: string) => (await as(access_token).send('GET', '/me')).status;
  const errorOf = async (answer: ReturnType<OauthApp['token']>) => jsonOf(await answer).error;

  await t.test(
    'C-100 C-101 C-102 C-117 X-09 a token can do what its scopes allow, although an app session can do more',
    async (t) => {
      const email = 'scopes@x.test';
      const { app: session } = await spool.signIn(email);
      const narrow = as(
        (await ios.signInNatively(email, { scope: 'audio:write insights:read turns:write' })).access_token,
      );
      for (const [method, path, body] of [
        ['GET', '/events', undefined],
        ['GET', '/devices', undefined],
        ['POST', '/devices/claims', { kind: 'owner' }],
        ['GET', '/me', undefined],
        ['GET', '/me/connections', undefined],
      ] as const) {
        const refused = await narrow.send(method, path, { body });
        t.equal(refused.status, 403, `${method} ${path}`);
        t.match(JSON.parse(refused.body.toString()), { error: { code: 'FORBIDDEN' } });
        t.match(refused.headers['www-authenticate'], /error="insufficient_scope", scope="/);
        t.ok((await session.send(method, path, { body })).status < 300);
      }
      t.equal(
        (await as((await ios.signInNatively(email, { scope: 'events:read' })).access_token).send('GET', '/events'))
          .status,
        200,
      );
    },
  );

  await t.test('D-006 the permissions that GET /me shows are the token’s', async (t) => {
    const tokens = await ios.signInNatively('perm@x.test', { scope: 'account:manage contacts:read recall:read' });
    t.match(await as(tokens.access_token).ask('GET', '/me'), { permissions: ['turns:read', 'account:manage'] });
  });

  await t.test('D-038 D-039 D-041 D-042 the list: newest first, in pages', async (t) => {
    const email = 'list@x.test';
    const { app: before } = await spool.signIn(email);
    t.same(await before.ask('GET', '/me/connections'), { items: [], cursor: null });
    const all: Tokens[] = [];
    for (let n = 0; n < 26; n++) {
      all.push(
        await ios.signInNatively(email, { installation_label: `phone ${n}`, scope: 'account:manage turns:read' }),
      );
      await spool.operator.advanceClock(150_000); // an address is sent so many codes and no more
    }
    const { app: session } = await spool.signIn(email);
    const first = await session.ask<Connections>('GET', '/me/connections');
    t.equal(first.items.length, 25);
    t.same(
      first.items.map(({ name }) => name),
      Array.from({ length: 25 }, (_, n) => `phone ${25 - n}`),
    );
    t.same(Object.keys(first.items[0] ?? {}), ['id', 'client_id', 'name', 'scopes', 'created_at', 'current']);
    t.match(first.items[0], { client_id: 'svc-ios', scopes: ['account:manage', 'turns:read'], current: false });
    t.match(first.items[0]?.created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    t.ok(
      first.items.every(({ current }) => current === false),
      'an app session is no connection',
    );
    const second = await session.ask<Connections>('GET', `/me/connections?cursor=${first.cursor}`);
    t.match(second, { items: [{ name: 'phone 0' }], cursor: null });
    const own = await as(all[25]?.access_token ?? '').ask<Connections>('GET', '/me/connections?limit=100');
    t.same(
      own.items.filter(({ current }) => current).map(({ name }) => name),
      ['phone 25'],
    );
    for (const query of ['limit=0', 'limit=101', 'limit=x', 'cursor=x']) {
      t.equal((await session.send('GET', `/me/connections?${query}`)).status, 400, query);
    }
  });

  await t.test('D-043 D-044 X-28 disconnecting ends the grant and its tokens at once', async (t) => {
    const email = 'gone@x.test';
    const { app: session } = await spool.signIn(email);
    const [tokens, kept] = [await ios.signInNatively(email), await web.signIn(email)];
    const { items } = await session.ask<Connections>('GET', '/me/connections');
    const id = items.find(({ client_id }) => client_id === 'svc-ios')?.id as string;
    const stranger = (await spool.signIn('stranger@x.test')).app;
    for (const [app, wrong] of [
      [stranger, id],
      [session, '0190a1b2-0000-7000-8000-000000000000'],
      [session, 'not-an-id'],
    ] as const) {
      const answer = await app.send('DELETE', `/me/connections/${wrong}`);
      t.equal(answer.status, 404);
      t.match(JSON.parse(answer.body.toString()), { error: { code: 'NOT_FOUND' } });
    }
    t.equal(await statusOf(tokens.access_token), 200);
    t.equal((await session.send('DELETE', `/me/connections/${id}`)).status, 204);
    t.equal(await statusOf(tokens.access_token), 401);
    t.equal(await errorOf(ios.refresh(tokens.refresh_token)), 'invalid_grant');
    t.equal(await statusOf(kept.access_token), 200);
    t.equal((await session.send('DELETE', `/me/connections/${id}`)).status, 404);
    t.equal((await session.ask<Connections>('GET', '/me/connections')).items.length, 1);
  });

  await t.test('a connection whose refresh token ran out is gone', async (t) => {
    const { app } = await spool.signIn('old@x.test');
    await ios.signInNatively('old@x.test');
    await spool.operator.advanceClock(30 * 24 * 3_600_000);
    const { app: later } = await spool.signIn('old@x.test');
    t.same((await later.ask<Connections>('GET', '/me/connections')).items, []);
    app.close();
  });

  await t.test('C-053 D-046 D-047 signing out ends the calling app alone', async (t) => {
    const email = 'alone@x.test';
    const browser = new Browser(spool.server.base_url);
    const [session, other] = [await spool.signIn(email), await spool.signIn(email)];
    const narrow = await ios.signInNatively(email, { scope: 'turns:read' });
    const [second, kept] = [await ios.signInNatively(email), await web.signIn(email, {}, browser)];
    t.equal((await as(narrow.access_token).send('POST', '/me/sign-out')).status, 204, 'needs no scope');
    t.equal(await errorOf(ios.refresh(narrow.refresh_token)), 'invalid_grant');
    t.equal((await as(narrow.access_token).send('GET', '/events')).status, 401);
    t.equal((await as(second.access_token).send('POST', '/me/sign-out', { body: {} })).status, 204);
    t.equal(await statusOf(second.access_token), 401);
    t.equal((await session.app.send('POST', '/me/sign-out', { body: { everywhere: false } })).status, 204);
    t.equal((await session.app.send('GET', '/me')).status, 401);
    t.equal((await other.app.send('GET', '/me')).status, 200);
    t.equal(await statusOf(kept.access_token), 200);
    t.ok((await agent.begin(browser, { prompt: 'none' })).shown.location?.includes('code='), 'the browser stays');
  });

  await t.test('D-048 D-050 D-052 everywhere', async (t) => {
    const email = 'every@x.test';
    const browser = new Browser(spool.server.base_url);
    const [session, other] = [await spool.signIn(email), await spool.signIn(email)];
    const narrow = await ios.signInNatively(email, { scope: 'turns:read' });
    t.equal((await other.app.send('POST', '/me/sign-out', { body: { everywhere: 'yes' } })).status, 400);
    const refused = await as(narrow.access_token).send('POST', '/me/sign-out', { body: { everywhere: true } });
    t.equal(refused.status, 403);
    t.match(JSON.parse(refused.body.toString()), { error: { code: 'FORBIDDEN' } });
    t.equal((await as(narrow.access_token).send('GET', '/events')).status, 200, 'nothing ended');

    await spool.operator.advanceClock(600_000); // an address is sent so many codes and no more
    const third = await OauthApp.registered(spool);
    const [phone, mcp] = [await ios.signInNatively(email), await third.signIn(email)];
    const in_browser = await web.signIn(email, {}, browser);
    t.equal((await as(phone.access_token).send('POST', '/me/sign-out', { body: { everywhere: true } })).status, 204);
    for (const { access_token } of [phone, in_browser, narrow]) t.equal(await statusOf(access_token), 401);
    t.equal(await errorOf(third.refresh(mcp.refresh_token)), 'invalid_grant', 'MCP connections too');
    t.match((await agent.begin(browser, { prompt: 'none' })).shown.location, 'login_required');
    t.equal((await session.app.send('GET', '/me')).status, 200, 'app sessions stay');

    await spool.operator.advanceClock(600_000);
    const late = await ios.signInNatively(email);
    t.equal((await session.app.send('POST', '/me/sign-out', { body: { everywhere: true } })).status, 204);
    t.equal((await session.app.send('GET', '/me')).status, 401);
    t.equal((await other.app.send('GET', '/me')).status, 401);
    t.equal(await statusOf(late.access_token), 401);
    t.equal((await (await spool.signIn(email)).app.send('GET', '/me')).status, 200, 'signing in again works');
  });

  await t.test('a code that was given before signing out everywhere is worth nothing after it', async (t) => {
    const email = 'race@x.test';
    const { app } = await spool.signIn(email);
    const { auth_session, verifier } = await ios.challenge(email);
    const answer = await ios.challengeStep({ auth_session, otp: await spool.readCode(email) });
    await app.ask('POST', '/me/sign-out', { everywhere: true });
    const { authorization_code } = jsonOf<{ authorization_code: string }>(answer);
    t.equal(await errorOf(ios.exchange(authorization_code, verifier)), 'invalid_grant');
  });

  await t.test('A-030 X-15 logging out is for app sessions', async (t) => {
    const tokens = await ios.signInNatively('logout@x.test');
    t.equal((await as(tokens.access_token).send('POST', '/auth/logout')).status, 403);
    t.equal(await statusOf(tokens.access_token), 200);
  });
});
