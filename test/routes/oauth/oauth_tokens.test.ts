import { createHash, randomBytes } from 'node:crypto';
import t from 'tap';
import { LIMITS } from '../../../src/domain/limits.js';
import { Browser, basic, codeOf, jsonOf, OauthApp, pkce, postForm, type Tokens } from '../../fixtures/oauth.js';
import { TestSpool } from '../../fixtures/spool.js';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

const spool = await TestSpool.start({ RATE_LIMITS: 'off' });
t.teardown(() => spool.end());
const ios = OauthApp.first(spool, 'svc-ios');
const web = OauthApp.first(spool, 'svc-web');
const mac = OauthApp.first(spool, 'svc-mac');
let people = 0;
const somebody = () => `p${++people}@x.test`;
const errorOf = async (answer: ReturnType<OauthApp['token']>) => {
  const { status, body } = await answer;
  return `${status} ${JSON.parse(body.toString()).error}`;
};
const refreshed = async (app: OauthApp, token: string, more = {}) => jsonOf<Tokens>(await app.refresh(token, more));
const statusOf = async (access_token: string, path = '/me') => {
  const app = spool.client();
  app.access_token = access_token;
  return (await app.send('GET', path)).status;
};
/** A code of native sign-in, not exchanged yet. */
const nativeCode = async (email = somebody()) => {
  const { auth_session, verifier } = await ios.challenge(email);
  const answer = await ios.challengeStep({ auth_session, otp: await spool.readCode(email) });
  return { code: jsonOf<{ authorization_code: string }>(answer).authorization_code, verifier };
};

await t.test(
  'C-061 wrong or missing verifier, client, redirect address, code: and the right one still works',
  async (t) => {
    const browser = new Browser(spool.server.base_url);
    const { shown, verifier } = await web.begin(browser);
    const code = codeOf(await web.enterCode(browser, shown, somebody()));
    t.equal(await errorOf(web.exchange(code, pkce().verifier)), '400 invalid_grant');
    t.equal(await errorOf(web.exchange(code, 'short')), '400 invalid_grant');
    t.equal(await errorOf(web.exchange(code, '')), '400 invalid_request');
    t.equal(await errorOf(web.exchange('', verifier)), '400 invalid_request');
    t.equal(await errorOf(web.exchange(`${code}x`, verifier)), '400 invalid_grant');
    t.equal(await errorOf(web.exchange(code, verifier, { redirect_uri: '' })), '400 invalid_grant');
    t.equal(await errorOf(web.exchange(code, verifier, { redirect_uri: 'https://x.test/' })), '400 invalid_grant');
    t.equal(await errorOf(ios.exchange(code, verifier, { redirect_uri: web.redirect_uri ?? '' })), '400 invalid_grant');
    t.equal((await web.exchange(code, verifier)).status, 200);
  },
);

await t.test('C-062 a code lives sixty seconds and works once', async (t) => {
  const late = await nativeCode();
  await spool.operator.advanceClock(MINUTE_MS);
  t.equal(await errorOf(ios.exchange(late.code, late.verifier)), '400 invalid_grant');

  const { code, verifier } = await nativeCode();
  const answers = await Promise.all(Array.from({ length: 10 }, () => ios.exchange(code, verifier)));
  const won = answers.filter(({ status }) => status === 200);
  t.equal(won.length, 1, 'one of ten at once');
  const tokens = jsonOf<Tokens>(won[0] as (typeof won)[0]);
  t.equal(await statusOf(tokens.access_token), 200, 'its tokens work afterwards');
  await spool.operator.advanceClock(11_000);
  t.equal(await errorOf(ios.exchange(code, pkce().verifier)), '400 invalid_grant');
  t.equal(await statusOf(tokens.access_token), 200, 'who lacks the verifier harms nothing');
  t.equal(await errorOf(ios.exchange(code, verifier)), '400 invalid_grant');
  t.equal(await statusOf(tokens.access_token), 401, 'a later reuse ends the grant');
  t.equal(await errorOf(ios.refresh(tokens.refresh_token)), '400 invalid_grant');
});

await t.test('C-063 access tokens last an hour', async (t) => {
  const { access_token, refresh_token } = await ios.signInNatively(somebody());
  await spool.operator.advanceClock(59 * MINUTE_MS);
  t.equal(await statusOf(access_token), 200);
  await spool.operator.advanceClock(MINUTE_MS + 1_000);
  t.equal(await statusOf(access_token), 401);
  t.equal((await ios.refresh(refresh_token)).status, 200);
});

await t.test('C-064 X-32 refresh tokens rotate, and last thirty days each', async (t) => {
  const { refresh_token } = await ios.signInNatively(somebody());
  await spool.operator.advanceClock(29 * DAY_MS);
  const second = await refreshed(ios, refresh_token);
  t.not(second.refresh_token, refresh_token);
  await spool.operator.advanceClock(29 * DAY_MS);
  const third = await refreshed(ios, second.refresh_token);
  t.equal(await statusOf(third.access_token), 200);
  await spool.operator.advanceClock(30 * DAY_MS);
  t.equal(await errorOf(ios.refresh(third.refresh_token)), '400 invalid_grant');
});

await t.test('C-064 parallel refreshes get one successor, and every caller can go on', async (t) => {
  const { refresh_token } = await ios.signInNatively(somebody());
  const answers = await Promise.all(Array.from({ length: 10 }, () => refreshed(ios, refresh_token)));
  t.equal(new Set(answers.map((tokens) => tokens.refresh_token)).size, 1);
  const statuses = await Promise.all(answers.map((tokens) => statusOf(tokens.access_token)));
  t.same(new Set(statuses), new Set([200]));
});

await t.test('C-065 a lost answer may be asked for again in time; later reuse ends the grant', async (t) => {
  const { refresh_token } = await ios.signInNatively(somebody());
  const lost = await refreshed(ios, refresh_token);
  await spool.operator.advanceClock(9 * MINUTE_MS);
  const again = await refreshed(ios, refresh_token);
  t.equal(again.refresh_token, lost.refresh_token, 'ten minutes while nothing of it was used');
  t.equal(await statusOf(again.access_token), 200);
  t.equal(await errorOf(ios.refresh(refresh_token)), '400 invalid_grant', 'then no longer');
  t.equal(await statusOf(again.access_token), 401);
  t.equal(await errorOf(ios.refresh(lost.refresh_token)), '400 invalid_grant');

  const other = await ios.signInNatively(somebody());
  const used = await refreshed(ios, other.refresh_token);
  t.equal(await statusOf(used.access_token), 200);
  await spool.operator.advanceClock(50_000);
  t.equal((await refreshed(ios, other.refresh_token)).refresh_token, used.refresh_token, 'a minute once it was');
  await spool.operator.advanceClock(10_000);
  t.equal(await errorOf(ios.refresh(other.refresh_token)), '400 invalid_grant');
  t.equal(await statusOf(used.access_token), 401);

  const third = await ios.signInNatively(somebody());
  const child = await refreshed(ios, third.refresh_token);
  const grandchild = await refreshed(ios, child.refresh_token);
  t.equal(await errorOf(ios.refresh(third.refresh_token)), '400 invalid_grant', 'a grandparent at any time');
  t.equal(await statusOf(grandchild.access_token), 401);
});

await t.test('C-066 C-067 C-120 refreshing keeps what was granted, and can only narrow it', async (t) => {
  const email = somebody();
  const tokens = await ios.signInNatively(email, { scope: 'events:read account:manage audio:read' });
  t.equal(tokens.scope, 'events:read account:manage audio:read');
  const connection = async (access_token: string) => {
    const app = spool.client();
    app.access_token = access_token;
    return (await app.ask<{ items: { id: string; scopes: string[] }[] }>('GET', '/me/connections')).items[0];
  };
  const before = await connection(tokens.access_token);
  t.same(before?.scopes, ['events:read', 'account:manage', 'audio:read']);
  t.equal(
    await errorOf(ios.refresh(tokens.refresh_token, { scope: 'account:manage turns:write' })),
    '400 invalid_scope',
  );
  const narrow = await refreshed(ios, tokens.refresh_token, { scope: 'events:read' });
  t.equal(narrow.scope, 'events:read');
  t.equal(await statusOf(narrow.access_token), 403);
  t.equal(await statusOf(narrow.access_token, '/events'), 200);
  t.equal(await errorOf(ios.refresh(tokens.refresh_token)), '400 invalid_grant', 'a retry must ask for the same');
  t.equal((await refreshed(ios, tokens.refresh_token, { scope: 'events:read' })).refresh_token, narrow.refresh_token);
  const wide = await refreshed(ios, narrow.refresh_token);
  t.equal(wide.scope, 'events:read account:manage audio:read', 'the refresh token keeps all of it');
  t.same(await connection(wide.access_token), before);
});

await t.test(
  'C-120 a refresh keeps offline_access where it was asked for, and still refuses scopes beyond the grant',
  async (t) => {
    const { refresh_token } = await ios.signInNatively(somebody(), { scope: 'events:read audio:read offline_access' });
    const narrow = await refreshed(ios, refresh_token, { scope: 'events:read offline_access' });
    t.equal(narrow.scope, 'events:read offline_access');
    const without = await refreshed(ios, narrow.refresh_token, { scope: 'events:read' });
    t.equal(without.scope, 'events:read');
    const wide = await refreshed(ios, without.refresh_token, { scope: 'offline_access' });
    t.equal(wide.scope, 'events:read audio:read offline_access');
    t.equal(await errorOf(ios.refresh(wide.refresh_token, { scope: 'offline_access openid' })), '400 invalid_scope');
  },
);

await t.test('another client gets nothing for a refresh token, and harms nothing', async (t) => {
  const { refresh_token } = await ios.signInNatively(somebody());
  t.equal(await errorOf(mac.refresh(refresh_token)), '400 invalid_grant');
  t.equal(await errorOf(ios.refresh(refresh_token, { resource: 'https://elsewhere.test' })), '400 invalid_target');
  t.equal((await ios.refresh(refresh_token, { resource: `${spool.server.base_url}/` })).status, 200);
});

await t.test('C-047 C-048 X-31 a refresh may narrow the audience to /mcp, never widen it', async (t) => {
  const { refresh_token } = await ios.signInNatively(somebody());
  const { base_url } = spool.server;
  const narrow = await refreshed(ios, refresh_token, { resource: `${base_url}/mcp` });
  t.equal(await statusOf(narrow.access_token), 401);
  t.equal(await statusOf((await refreshed(ios, narrow.refresh_token)).access_token), 200);
  const app = await OauthApp.registered(spool);
  const tokens = await app.signIn(somebody());
  t.equal(await statusOf(tokens.access_token), 401, 'the default of third-party clients');
  t.equal(await errorOf(app.refresh(tokens.refresh_token, { resource: base_url })), '400 invalid_target');
});

await t.test('C-068 unknown grant types, missing and repeated parameters', async (t) => {
  t.equal(await errorOf(ios.token({ grant_type: 'password' })), '400 unsupported_grant_type');
  t.equal(await errorOf(ios.token({})), '400 invalid_request');
  t.equal(await errorOf(ios.token({ grant_type: 'refresh_token' })), '400 invalid_request');
  t.equal(
    await errorOf(ios.token({ grant_type: 'refresh_token', client_id: '', refresh_token: 'x' })),
    '401 invalid_client',
  );
  const raw = (body: string, type = 'application/x-www-form-urlencoded') =>
    fetch(`${ios.base_url}/oauth/token`, { method: 'POST', body, headers: { 'Content-Type': type } });
  const form = 'client_id=svc-ios&grant_type=refresh_token&refresh_token=x';
  for (const [body, type, status, error] of [
    [`${form}&refresh_token=y`, undefined, 400, 'invalid_request'],
    [`${form}&client_id=svc-ios`, undefined, 400, 'invalid_request'],
    [`${form}&resource=%zz`, undefined, 400, 'invalid_request'],
    [form, 'application/x-www-form-urlencoded;charset=UTF-8', 400, 'invalid_grant'],
    [form, 'application/json, application/x-www-form-urlencoded', 400, 'invalid_request'],
    ['{"grant_type":"refresh_token"}', 'application/json', 400, 'invalid_request'],
    [`${form}&x=${'y'.repeat(100_000)}`, undefined, 413, 'invalid_request'],
  ] as const) {
    const answer = await raw(body, type);
    t.equal(answer.status, status, body.slice(0, 90));
    t.equal(((await answer.json()) as { error: string }).error, error);
    t.equal(answer.headers.get('cache-control'), 'no-store');
  }
  t.equal((await fetch(`${ios.base_url}/oauth/token`)).status, 405);
});

await t.test('C-001 C-002 OAuth has no version header and no envelope', async (t) => {
  const answer = await postForm(`${ios.base_url}/oauth/token`, { grant_type: 'x' }, { 'X-API-Version': '9' });
  t.equal(answer.status, 400);
  t.equal(answer.headers['x-api-version'], undefined);
  t.same(Object.keys(jsonOf(answer)), ['error', 'error_description']);
});

await t.test('C-069 C-071 C-072 revoking a refresh token ends its grant, and only that', async (t) => {
  const email = somebody();
  const [first, second] = [await ios.signInNatively(email), await ios.signInNatively(email)];
  const answer = await ios.token({ token: first.refresh_token, token_type_hint: 'refresh_token' });
  t.equal(answer.status, 200);
  t.same(jsonOf(answer), {});
  t.equal(await statusOf(first.access_token), 401);
  t.equal(await errorOf(ios.refresh(first.refresh_token)), '400 invalid_grant');
  t.equal(await statusOf(second.access_token), 200);
  const app = spool.client();
  app.access_token = second.access_token;
  t.equal((await app.ask<{ items: unknown[] }>('GET', '/me/connections')).items.length, 1);
});

await t.test('C-070 revoking what is unknown or of another client changes nothing', async (t) => {
  const tokens = await ios.signInNatively(somebody());
  for (const [app, token] of [
    [ios, 'nothing'],
    [ios, randomBytes(40).toString('base64url')],
    [mac, tokens.refresh_token],
    [mac, tokens.access_token],
  ] as const) {
    t.equal((await app.token({ token })).status, 200);
    t.equal(await statusOf(tokens.access_token), 200);
  }
  t.equal(await errorOf(new OauthApp(spool, { client_id: 'nobody' }).token({ token: 'x' })), '401 invalid_client');
});

await t.test('revoking by the previous refresh token, by an access token, under a wrong hint', async (t) => {
  for (const pick of [
    (old: Tokens, _new: Tokens) => old.refresh_token,
    (_old: Tokens, now: Tokens) => now.access_token,
    (_old: Tokens, now: Tokens) => now.refresh_token,
  ]) {
    const old = await ios.signInNatively(somebody());
    const now = await refreshed(ios, old.refresh_token);
    t.equal((await ios.token({ token: pick(old, now), token_type_hint: 'access_token' })).status, 200);
    t.equal(await statusOf(now.access_token), 401);
    t.equal(await errorOf(ios.refresh(old.refresh_token)), '400 invalid_grant', 'nothing is answered from before');
  }
});

await t.test('revocation and refresh at once: whoever wins, nothing is left alive', async (t) => {
  for (let round = 0; round < 10; round++) {
    const { refresh_token } = await ios.signInNatively(somebody());
    const [answer] = await Promise.all([ios.refresh(refresh_token), ios.token({ token: refresh_token })]);
    if (answer.status !== 200) continue;
    const { access_token, refresh_token: next } = jsonOf<Tokens>(answer);
    t.equal(await statusOf(access_token), 401);
    t.equal(await errorOf(ios.refresh(next)), '400 invalid_grant');
  }
});

await t.test('C-016 our own confidential clients authenticate with HTTP Basic, and no other way', async (t) => {
  const agent = OauthApp.first(spool, 'svc-agent');
  const { refresh_token } = await agent.signIn(somebody());
  const url = `${agent.base_url}/oauth/token`;
  const form = { grant_type: 'refresh_token', refresh_token, client_id: 'svc-agent' };
  for (const [more, headers] of [
    [{}, {}],
    [{}, basic('svc-agent', 'wrong')],
    [{ client_secret: 'wrong' }, {}],
  ] as const) {
    const answer = await postForm(url, { ...form, ...more }, headers);
    t.equal(answer.status, 401);
    t.equal(jsonOf(answer).error, 'invalid_client');
    t.match(answer.headers['www-authenticate'], /^Basic realm=/, 'it says how');
  }
  t.equal((await agent.refresh(refresh_token)).status, 200);
});

t.test('introspection', async (t) => {
  const LEGACY_BASE_URL = 'http://legacy.test:7777';
  const spool = await TestSpool.start({ RATE_LIMITS: 'off', LEGACY_BASE_URL });
  t.teardown(() => spool.end());
  const agent = OauthApp.first(spool, 'svc-agent');
  const ios = OauthApp.first(spool, 'svc-ios');
  const introspected = async (token: string) => jsonOf(await agent.introspect(token));

  await t.test('C-073 C-075 C-076 C-104 C-105 C-106 what stands behind a token, in current names', async (t) => {
    const scope = 'events:read suggestions:read contacts:write account:manage';
    const tokens = await ios.signInNatively('in@x.test', { scope });
    const me = spool.client();
    me.access_token = tokens.access_token;
    const { id, permissions } = await me.ask<{ id: string; permissions: string[] }>('GET', '/me');
    t.same(permissions, ['turns:read', 'turns:write', 'insights:read', 'account:manage']);
    t.same(await introspected(tokens.access_token), {
      active: true,
      token_type: 'Bearer',
      client_id: 'svc-ios',
      sub: id,
      username: 'in@x.test',
      scope: permissions.join(' '),
    });
    const own = await agent.signIn('in@x.test');
    t.match(await introspected(own.access_token), { client_id: 'svc-agent', agent_enabled: false });
    await spool.operator.ask('PUT', `/ops/accounts/${id}/entitlements/agent.experimental`, { enabled: true });
    t.match(await introspected(own.access_token), { agent_enabled: true });
  });

  await t.test('C-018 a token of the legacy address is known at both', async (t) => {
    const account = (await spool.signIn('old@x.test')).session.user.id;
    const refresh_token = 'a token of the earlier system';
    const refresh_token_sha256 = createHash('sha256').update(refresh_token).digest('hex');
    const grant = {
      ...{ client_id: 'svc-ios', account, scope: 'events:read', audience: 'api', issuer: 'legacy' },
      ...{ created_at: '2026-01-01T12:00:00Z', refresh_token_sha256 },
    };
    await spool.operator.ask('POST', '/ops/grants/import', { grants: [grant] });
    const Host = new URL(LEGACY_BASE_URL).host;
    const form = { client_id: 'svc-ios', grant_type: 'refresh_token', refresh_token };
    const tokens = jsonOf<Tokens>(await postForm(`${agent.base_url}/oauth/token`, form, { Host }));
    const ours = await ios.signInNatively('old@x.test');
    for (const token of [tokens.access_token, ours.access_token]) {
      for (const headers of [{}, { Host }]) {
        const own = basic('svc-agent', agent.secret ?? '');
        const answer = await postForm(`${agent.base_url}/oauth/introspect`, { token }, { ...own, ...headers });
        t.match(jsonOf(answer), { active: true, sub: account, client_id: 'svc-ios' }, JSON.stringify(headers));
      }
    }
    t.same(await introspected(tokens.refresh_token), { active: false });
    await spool.operator.advanceClock(LIMITS.oauth_access_life_ms);
    t.same(await introspected(tokens.access_token), { active: false });
  });

  await t.test('C-077 C-113 C-116 X-18 the scope is what works now', async (t) => {
    const scope = 'turns:read debug:read pipelines:write account:manage';
    const { access_token } = await ios.signInNatively('live@x.test', { scope });
    const app = spool.client();
    app.access_token = access_token;
    const staff = (name: string, enabled: boolean) =>
      spool.operator.ask('PUT', `/ops/accounts/live@x.test/entitlements/${name}`, { enabled });
    const now = async () => {
      const { permissions } = await app.ask<{ permissions: string[] }>('GET', '/me');
      t.equal((await introspected(access_token)).scope, permissions.join(' '));
      return permissions;
    };
    t.same(await now(), ['turns:read', 'account:manage', 'pipelines:write']);
    await staff('developer.tools', true);
    t.same(await now(), ['turns:read', 'account:manage', 'pipelines:write', 'pipelines:experimental', 'debug:read']);
    await staff('transcripts.access', false);
    t.same(await now(), ['account:manage', 'pipelines:write', 'pipelines:experimental', 'debug:read']);
    t.equal((await app.send('GET', '/events')).status, 403);
  });

  await t.test('C-074 C-079 only confidential first-party clients, by HTTP Basic', async (t) => {
    const url = `${agent.base_url}/oauth/introspect`;
    const third = await OauthApp.registered(spool, { token_endpoint_auth_method: 'client_secret_basic' });
    const refused = [
      await postForm(url, { token: 'x' }),
      await postForm(url, { token: 'x' }, basic('svc-agent', 'wrong')),
      await postForm(url, { token: 'x' }, basic('svc-web', '')),
      await postForm(url, { token: 'x', client_id: 'svc-ios' }),
      await third.introspect('x'),
    ];
    for (const answer of refused) {
      t.equal(answer.status, 401);
      t.equal(jsonOf(answer).error, 'invalid_client');
      t.equal(answer.headers['cache-control'], 'no-store');
    }
    const empty = await agent.introspect('');
    t.equal(empty.status, 400);
    t.equal(jsonOf(empty).error, 'invalid_request');
  });

  await t.test('C-078 C-080 whatever else is exactly inactive', async (t) => {
    const { app, session } = await spool.signIn('out@x.test');
    const live = await ios.signInNatively('out@x.test');
    const revoked = await ios.signInNatively('out@x.test');
    await ios.token({ token: revoked.refresh_token });
    const { auth_session, verifier } = await ios.challenge('out@x.test');
    const entered = await ios.challengeStep({ auth_session, otp: await spool.readCode('out@x.test') });
    const { authorization_code } = jsonOf<{ authorization_code: string }>(entered);
    const [head, payload, signature = ''] = live.access_token.split('.');
    const forged = `${head}.${payload}.${signature.replace(/^./, (first) => (first === 'A' ? 'B' : 'A'))}`;
    for (const token of [
      'garbage',
      'svc_pat_garbage',
      'a.b.c',
      forged,
      revoked.access_token,
      live.refresh_token,
      authorization_code,
      session.access_token,
      session.refresh_token,
      'x'.repeat(5_000),
    ]) {
      const answer = await agent.introspect(token);
      t.equal(answer.status, 200);
      t.same(jsonOf(answer), { active: false });
    }
    t.match(await introspected(live.access_token), { active: true });
    t.equal((await ios.exchange(authorization_code, verifier)).status, 200, 'the code is unharmed');
    await app.ask('POST', '/me/sign-out', { everywhere: true });
    t.same(await introspected(live.access_token), { active: false });
    const late = await ios.signInNatively('out@x.test');
    await spool.operator.advanceClock(61 * MINUTE_MS);
    t.same(await introspected(late.access_token), { active: false });
  });
});
