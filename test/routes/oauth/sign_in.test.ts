import t from 'tap';
import { LIMITS } from '../../../src/domain/limits.js';
import type { AppClient, SignedIn } from '../../fixtures/app_client.js';
import { CaptchaProvider } from '../../fixtures/captcha_provider.js';
import { Browser, OauthApp } from '../../fixtures/oauth.js';
import { TestSpool } from '../../fixtures/spool.js';

const WRONG = '000000';

const spool = await TestSpool.start({ RATE_LIMITS: 'off' });
t.teardown(() => spool.end());
const anybody = spool.client();
const post = (path: string, body: unknown) => anybody.send('POST', path, { body });
const status = async (path: string, body: unknown) => (await post(path, body)).status;
const verify = (email: string, token: string) => post('/auth/verify-otp', { email, token });
const advance = (ms: number) => spool.operator.advanceClock(ms);

await t.test('A-001 A-003 a code is mailed and the answer says so', async (t) => {
  const answer = await post('/auth/otp', { email: 'first@x.test' });
  t.equal(answer.status, 200);
  t.same(JSON.parse(answer.body.toString()), { success: true, data: { sent: true, expires_in: 600 } });
  t.match(await spool.readCode('first@x.test'), /^\d{6}$/);
});

await t.test('A-002 the answer is the same whether or not there is an account', async (t) => {
  await spool.signIn('known@x.test');
  const answers = await Promise.all(['known@x.test', 'unknown@x.test'].map((email) => post('/auth/otp', { email })));
  const [known, unknown] = answers.map(({ status, headers, body }) => ({
    status,
    names: Object.keys(headers),
    body: body.toString(),
  }));
  t.same(known, unknown);
});

await t.test('A-005 a captcha_token is ignored while no CAPTCHA is configured', async (t) => {
  t.equal(await status('/auth/otp', { email: 'captcha@x.test', captcha_token: 'anything' }), 200);
});

await t.test('A-006 a missing or malformed email is refused and named', async (t) => {
  for (const body of [
    {},
    { email: 5 },
    { email: 'x' },
    { email: 'a@b' },
    { email: `${'a'.repeat(250)}@x.test` },
    ...['a@x..test', 'a@.x.test', 'a@x.test.', 'a@-x.test', 'a@x-.test', 'a@x.7', '.a@x.test', 'a.@x.test'].map(
      (email) => ({ email }),
    ),
    { email: 'a..b@x.test' },
    { email: `a@${'x'.repeat(64)}.test` },
    [],
    'text',
    null,
  ]) {
    const answer = await post('/auth/otp', body);
    t.equal(answer.status, 400, JSON.stringify(body));
    const { error } = JSON.parse(answer.body.toString());
    t.equal(error.code, 'BAD_REQUEST');
    t.ok(error.details.length > 0);
  }
});

await t.test('A-006 addresses of all kinds that there are', async (t) => {
  for (const email of ["o'neil+x.y-z@x.test", 'a_b@mail.x-y.example', 'jürgen@müller.example', 'a@1.2.x1', '1@x.co']) {
    t.equal(await status('/auth/otp', { email }), 200, email);
  }
});

await t.test('A-007 A-008 X-34 the right code gives a Session of exactly these members', async (t) => {
  const { session } = await spool.signIn('session@x.test');
  t.same(Object.keys(session).sort(), [
    'access_token',
    'expires_at',
    'expires_in',
    'refresh_token',
    'token_type',
    'user',
  ]);
  t.same(Object.keys(session.user).sort(), ['email', 'id']);
  t.equal(session.token_type, 'bearer');
  const now_s = spool.server.services.clock.now() / 1000;
  t.ok(Math.abs(session.expires_at - now_s - session.expires_in) < 3);
  t.match(session.access_token, /^[A-Za-z0-9_-]+$/);
  t.equal(session.user.email, 'session@x.test');
});

await t.test('A-009 A-013 a wrong code and one for an address without codes are refused alike', async (t) => {
  await post('/auth/otp', { email: 'wrong@x.test' });
  const code = await spool.readCode('wrong@x.test');
  const answers = [
    await verify('wrong@x.test', code === WRONG ? '000001' : WRONG),
    await verify('never@x.test', WRONG),
  ];
  for (const answer of answers) t.equal(answer.status, 401);
  t.equal(answers[0]?.body.toString(), answers[1]?.body.toString());
  t.equal((await verify('wrong@x.test', code)).status, 200);
});

await t.test('A-010 a malformed code is refused and spends no try', async (t) => {
  await post('/auth/otp', { email: 'malformed@x.test' });
  for (const token of ['12a456', '12345', '1234567', 123456, null, ' 12345', '１２３４５']) {
    t.equal(await status('/auth/verify-otp', { email: 'malformed@x.test', token }), 400, String(token));
  }
  t.equal((await verify('malformed@x.test', await spool.readCode('malformed@x.test'))).status, 200);
});

await t.test('A-011 a code works once, also when it is tried many times at once', async (t) => {
  await post('/auth/otp', { email: 'once@x.test' });
  const code = await spool.readCode('once@x.test');
  const answers = await Promise.all(Array.from({ length: 8 }, () => verify('once@x.test', code)));
  t.same(answers.map((answer) => answer.status).sort(), [200, 401, 401, 401, 401, 401, 401, 401]);
});

await t.test('A-012 five wrong codes end the codes for their network, ten minutes end them for all', async (t) => {
  await post('/auth/otp', { email: 'tries@x.test' });
  const code = await spool.readCode('tries@x.test');
  const other = code === WRONG ? '000001' : WRONG;
  for (let tries = 0; tries < LIMITS.code_wrong_per_network_max; tries++)
    t.equal((await verify('tries@x.test', other)).status, 401);
  t.equal((await verify('tries@x.test', code)).status, 401);

  await post('/auth/otp', { email: 'late@x.test' });
  const late = await spool.readCode('late@x.test');
  await advance(LIMITS.code_life_ms);
  t.equal((await verify('late@x.test', late)).status, 401);
});

await t.test('the last three codes of an address are valid, and the one that succeeds ends the others', async (t) => {
  const codes: string[] = [];
  for (let sent = 0; sent < 4; sent++) {
    await post('/auth/otp', { email: 'three@x.test' });
    codes.push(await spool.readCode('three@x.test'));
  }
  const [first, second, third] = codes as [string, string, string, string];
  t.equal((await verify('three@x.test', first)).status, 401, 'the fourth pushed the first out');
  t.equal((await verify('three@x.test', second)).status, 200);
  t.equal((await verify('three@x.test', third)).status, 401);
});

await t.test('RATE_LIMITS=off lifts the budget of an address, not the limit on wrong tries', async (t) => {
  const email = 'unlimited@x.test';
  for (let sent = 0; sent < LIMITS.codes_sent_per_network_max; sent++) await post('/auth/otp', { email });
  await spool.readCode(email);
  await post('/auth/otp', { email });
  const code = await spool.readCode(email);
  for (let tries = 0; tries < LIMITS.code_wrong_per_network_max; tries++)
    await verify(email, code === WRONG ? '000001' : WRONG);
  t.equal((await verify(email, code)).status, 401);
});

await t.test(
  'A-014 A-017 E-025 the first sign-in makes the account, its private workspace and account.created',
  async (t) => {
    const { app, session } = await spool.signIn('new@x.test');
    const me = await app.ask<{ id: string; workspaces: unknown[] }>('GET', '/me');
    t.equal(me.id, session.user.id);
    t.match(me.workspaces, [{ private: true, role: 'owner' }]);
    const { items } = await app.ask<{ items: { type: string; account_id: string }[] }>('GET', '/events');
    t.match(items, [{ type: 'account.created', account_id: me.id }]);
    t.equal(items.length, 1);
  },
);

await t.test('A-015 A-016 the same address, however it is written, reaches the same account', async (t) => {
  const { session } = await spool.signIn('Case@X.test'.toLowerCase());
  await post('/auth/otp', { email: '  CASE@x.TEST ' });
  const again = await verify(' Case@X.test', await spool.readCode('case@x.test'));
  const { data } = JSON.parse(again.body.toString()) as { data: SignedIn };
  t.equal(data.user.id, session.user.id);
  const app = spool.client();
  app.access_token = data.access_token;
  const { items } = await app.ask<{ items: unknown[] }>('GET', '/events?type=account.created');
  t.equal(items.length, 1);
});

await t.test('A-014 two first sign-ins at once make one account', async (t) => {
  await post('/auth/otp', { email: 'race@x.test' });
  await post('/auth/otp', { email: 'race@x.test' });
  const newest = await spool.readCode('race@x.test');
  const answers = await Promise.all([verify('race@x.test', newest), verify('race@x.test', newest)]);
  t.same(answers.map((answer) => answer.status).sort(), [200, 401]);
});

await t.test('A-019 a refresh replaces both tokens', async (t) => {
  const { session } = await spool.signIn('refresh@x.test');
  const renewed = await anybody.ask<SignedIn>('POST', '/auth/refresh', { refresh_token: session.refresh_token });
  t.not(renewed.access_token, session.access_token);
  t.not(renewed.refresh_token, session.refresh_token);
  t.equal(renewed.user.id, session.user.id);
  t.equal(await meStatus(spool, renewed.access_token), 200);
});

await t.test('A-020 the used token gives the same successor for a minute, and ends the session later', async (t) => {
  const { session } = await spool.signIn('reuse@x.test');
  const refresh = (refresh_token: string) => anybody.ask<SignedIn>('POST', '/auth/refresh', { refresh_token });
  const parallel = await Promise.all(Array.from({ length: 5 }, () => refresh(session.refresh_token)));
  t.equal(new Set(parallel.map(({ refresh_token }) => refresh_token)).size, 1, 'one successor for all');
  t.equal(new Set(parallel.map(({ access_token }) => access_token)).size, 5, 'a fresh access token for each');
  for (const { access_token } of parallel) t.equal(await meStatus(spool, access_token), 200);
  const successor = parallel[0] as SignedIn;
  await advance(LIMITS.refresh_retry_ms);
  t.equal(await status('/auth/refresh', { refresh_token: session.refresh_token }), 401);
  t.equal(await status('/auth/refresh', { refresh_token: successor.refresh_token }), 401, 'the session has ended');
  t.equal(await meStatus(spool, successor.access_token), 401);
});

await t.test(
  'A-020 while nothing of the successor was used, its predecessor may come again for ten minutes',
  async (t) => {
    const { session } = await spool.signIn('lost@x.test');
    const lost = await anybody.ask<SignedIn>('POST', '/auth/refresh', { refresh_token: session.refresh_token });
    await advance(LIMITS.refresh_retry_unused_ms - 20_000);
    const again = await anybody.ask<SignedIn>('POST', '/auth/refresh', { refresh_token: session.refresh_token });
    t.equal(again.refresh_token, lost.refresh_token);
  },
);

await t.test('A-021 A-022 tokens that are no refresh tokens are refused', async (t) => {
  const { session } = await spool.signIn('tokens@x.test');
  const flipped = session.refresh_token.slice(0, -1) + (session.refresh_token.endsWith('A') ? 'B' : 'A');
  // The last character has bits that no byte needs: another one would decode to the same token.
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const spare = session.refresh_token.slice(0, -1) + alphabet[alphabet.indexOf(session.refresh_token.at(-1) ?? '') ^ 1];
  for (const refresh_token of ['', 'spr_', 'x', session.access_token, flipped, spare, `${session.refresh_token}A`]) {
    t.equal(await status('/auth/refresh', { refresh_token }), 401, refresh_token.slice(0, 8));
  }
  for (const body of [{}, { refresh_token: 5 }, { refresh_token: null }])
    t.equal(await status('/auth/refresh', body), 400);
});

await t.test('A-021 a refresh token lives thirty days after its last turn', async (t) => {
  const { session } = await spool.signIn('month@x.test');
  await advance(LIMITS.app_refresh_life_ms - 60_000);
  const renewed = await anybody.ask<SignedIn>('POST', '/auth/refresh', { refresh_token: session.refresh_token });
  await advance(LIMITS.app_refresh_life_ms);
  t.equal(await status('/auth/refresh', { refresh_token: renewed.refresh_token }), 401);
});

await t.test('A-023 J-005 the sign-in routes need no bearer and carry the version', async (t) => {
  const answer = await post('/auth/otp', { email: 'version@x.test' });
  t.equal(answer.headers['x-api-version'], '1');
  t.equal(answer.status, 200);
});

await t.test('A-026 A-027 A-028 X-14 logout ends this session only', async (t) => {
  const one = await spool.signIn('two@x.test');
  const other = await spool.signIn('two@x.test');
  const answer = await one.app.send('POST', '/auth/logout');
  t.equal(answer.status, 204);
  t.equal(answer.body.length, 0);
  t.equal(await status('/auth/refresh', { refresh_token: one.session.refresh_token }), 401);
  t.equal(await meStatus(spool, one.session.access_token), 401);
  t.equal(await meStatus(spool, other.session.access_token), 200);
  t.equal(await status('/auth/refresh', { refresh_token: other.session.refresh_token }), 200);
});

await t.test('A-029 logout needs a bearer', async (t) => {
  t.equal((await anybody.send('POST', '/auth/logout')).status, 401);
});

await t.test('A-036 past expires_in an access token is refused', async (t) => {
  const { app, session } = await spool.signIn('hour@x.test');
  await advance((session.expires_in - 5) * 1000);
  t.equal((await app.send('GET', '/me')).status, 200);
  await advance(5_000);
  t.equal((await app.send('GET', '/me')).status, 401);
});

await t.test('A-037 a token in the address is no credential', async (t) => {
  const { session } = await spool.signIn('url@x.test');
  t.equal((await anybody.send('GET', `/me?access_token=${session.access_token}`)).status, 401);
});

await t.test('J-010 X-16 other headers than a bearer, and broken tokens, are refused', async (t) => {
  const { session } = await spool.signIn('bearer@x.test');
  const token = session.access_token;
  const metadata = `resource_metadata="${spool.server.base_url}/.well-known/oauth-protected-resource"`;
  for (const Authorization of [
    '',
    'Bearer',
    'Bearer ',
    `Basic ${token}`,
    token,
    `Bearer ${token}x`,
    `Bearer ${token} x`,
    'Bearer sps_',
    `Bearer ${session.refresh_token}`,
  ]) {
    const answer = await anybody.send('GET', '/me', { headers: { Authorization } });
    t.equal(answer.status, 401, Authorization.slice(0, 12));
    t.equal(answer.headers['www-authenticate'], `Bearer realm="spool", error="invalid_token", ${metadata}`);
    t.match(JSON.parse(answer.body.toString()), { success: false, error: { code: 'UNAUTHORIZED' } });
  }
  t.equal((await anybody.send('GET', '/me')).headers['www-authenticate'], `Bearer realm="spool", ${metadata}`);
});

await t.test('J-017 accounts, sessions and events are there after a restart', async (t) => {
  const { app, session } = await spool.signIn('restart@x.test');
  await app.ask('PATCH', '/me', { name: 'Kept' });
  await spool.close();
  await spool.open();
  const again = spool.client();
  again.access_token = session.access_token;
  t.match(await again.ask('GET', '/me'), { id: session.user.id, name: 'Kept' });
  t.equal((await again.ask<{ items: unknown[] }>('GET', '/events')).items.length, 2);
  const renewed = await again.ask<SignedIn>('POST', '/auth/refresh', { refresh_token: session.refresh_token });
  t.equal(renewed.user.id, session.user.id);
});

t.test('A-035 J-015 X-17 sending and checking codes is limited per network', async (t) => {
  const spool = await TestSpool.start({ RATE_CODES_SENT: '3', RATE_CODES_CHECKED: '2' });
  t.teardown(() => spool.end());
  const app = spool.client();
  const send = () => app.send('POST', '/auth/otp', { body: { email: 'limit@x.test' } });
  for (let sent = 0; sent < 3; sent++) t.equal((await send()).status, 200);
  const over = await send();
  t.equal(over.status, 429);
  t.equal(JSON.parse(over.body.toString()).error.code, 'TOO_MANY_REQUESTS');
  t.ok(Number(over.headers['retry-after']) > 0);
  const check = () => app.send('POST', '/auth/verify-otp', { body: { email: 'limit@x.test', token: WRONG } });
  for (let checked = 0; checked < 2; checked++) t.equal((await check()).status, 401);
  t.equal((await check()).status, 429);
});

t.test('an address has a budget of codes, over all ways to sign in, that a sign-in refills', async (t) => {
  const spool = await TestSpool.start();
  t.teardown(() => spool.end());
  const email = 'budget@x.test';
  const app = spool.client();
  const send = async () => (await app.send('POST', '/auth/otp', { body: { email } })).status;
  const mailed = async () => {
    await spool.operator.advanceClock(0); // all mails that are due have been sent
    return (await spool.operator.codes(email)).length;
  };
  const budget = LIMITS.codes_sent_per_network_max;
  const ios = OauthApp.first(spool, 'svc-ios');
  const web = OauthApp.first(spool, 'svc-web');
  const browser = new Browser(spool.base_url);
  const page = await browser.press((await web.begin(browser)).shown, 'email', { email });
  t.match(page.html, 'Enter the six-digit code for');
  await ios.challenge(email);
  for (let sent = 2; sent < budget; sent++) t.equal(await send(), 200);
  t.equal(await mailed(), budget);
  const [code = ''] = await spool.operator.codes(email);
  t.equal(await send(), 200, 'over it the answer is the same');
  t.ok((await ios.challenge(email)).auth_session);
  const again = await browser.press(page, 'resend');
  t.match(again.html, /No code was sent[^<]*Wait a minute/);
  t.notMatch(again.html, 'on its way');
  const other = new Browser(spool.base_url);
  const first = await other.press((await web.begin(other)).shown, 'email', { email });
  t.match(first.html, /No code was sent[^<]*Wait a minute/);
  t.notMatch(first.html, 'We’ve sent');
  t.equal(await mailed(), budget);

  t.equal((await app.send('POST', '/auth/verify-otp', { body: { email, token: code } })).status, 200);
  t.match((await other.press(first, 'resend')).html, 'on its way');
  t.equal(await mailed(), budget + 1);
  await spool.operator.advanceClock(0);
});

async function meStatus(spool: TestSpool, access_token: string): Promise<number> {
  const app: AppClient = spool.client();
  app.access_token = access_token;
  return (await app.send('GET', '/me')).status;
}

t.test('A-004 with a CAPTCHA configured, its token must have passed', async (t) => {
  const provider = await CaptchaProvider.start(t);
  const spool = await TestSpool.start(provider.env);
  t.teardown(() => spool.end());
  const app = spool.client();
  const send = (more: object) => app.send('POST', '/auth/otp', { body: { email: 'captcha@x.test', ...more } });
  const refused = await send({});
  t.equal(refused.status, 400);
  t.match(JSON.parse(refused.body.toString()), {
    error: { code: 'BAD_REQUEST', details: [{ path: 'captcha_token' }] },
  });
  t.equal(provider.asked.length, 0, 'nobody is provider.asked about nothing');
  provider.answer = { status: 200, body: '{"success":false,"error-codes":["invalid-input-response"]}' };
  t.equal((await send({ captcha_token: 'wrong' })).status, 400);
  for (const broken of [
    { status: 500, body: '' },
    { status: 200, body: 'no JSON' },
  ]) {
    provider.answer = broken;
    const away = await send({ captcha_token: 'x' });
    t.equal(away.status, 503);
    t.ok(away.headers['retry-after']);
  }
  await spool.operator.advanceClock(0);
  t.same((await spool.operator.ask<{ items: unknown[] }>('GET', '/inbox')).items, [], 'no mail went out');
  provider.answer = { status: 200, body: '{"success":true}' };
  t.equal((await send({ captcha_token: 'passed' })).status, 200);
  t.same(Object.fromEntries(provider.asked.at(-1) ?? []), {
    secret: 'its secret',
    response: 'passed',
    remoteip: '127.0.0.1',
  });
});
