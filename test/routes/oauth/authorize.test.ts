import { decodeJwt } from 'jose';
import t from 'tap';
import { Browser, codeOf, jsonOf, OauthApp, pkce, type Shown, type Tokens } from '../../fixtures/oauth.js';
import { TestSpool } from '../../fixtures/spool.js';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

const spool = await TestSpool.start({ RATE_LIMITS: 'off' });
t.teardown(() => spool.end());
const { base_url } = spool.server;
const web = OauthApp.first(spool, 'svc-web');
const agent = OauthApp.first(spool, 'svc-agent');
let people = 0;
const somebody = () => `b${++people}@x.test`;
const newBrowser = () => new Browser(base_url);
const answerOf = ({ location }: Shown) => Object.fromEntries(new URL(location ?? 'none:').searchParams);
const statusOf = async (access_token: string, path = '/me') => {
  const app = spool.client();
  app.access_token = access_token;
  return (await app.send('GET', path)).status;
};
const tokensOf = async (app: OauthApp, back: Shown, verifier: string) =>
  jsonOf<Tokens>(await app.exchange(codeOf(back), verifier));
/** Which page it is. */
const pageOf = ({ html }: Shown) =>
  html.includes('name="email"')
    ? 'email'
    : html.includes('name="code"')
      ? 'code'
      : html.includes('value="continue"')
        ? 'accounts'
        : html.includes('value="approve"')
          ? 'consent'
          : 'other';
const signedIn = async (email: string) => {
  const browser = newBrowser();
  const tokens = await web.signIn(email, {}, browser);
  return { browser, tokens };
};

await t.test('C-020 C-031 C-032 a first-party app: email, code, and straight back', async (t) => {
  const browser = newBrowser();
  const { shown, verifier } = await web.begin(browser);
  t.equal(pageOf(shown), 'email');
  const back = await web.enterCode(browser, shown, somebody());
  const { code, ...rest } = answerOf(back);
  t.ok(code);
  t.same(rest, { state: 's 1', iss: base_url });
  t.ok(back.location?.startsWith(`${web.redirect_uri}?`));
  t.equal(back.status, 303);
  const tokens = await tokensOf(web, back, verifier);
  t.equal(tokens.scope.split(' ').length, 21);
  t.equal(await statusOf(tokens.access_token), 200);
});

await t.test('D-076 the address that a page of ours has asked for gets its code at once', async (t) => {
  const ours = { 'Sec-Fetch-Site': 'same-origin' };
  const { verifier, challenge } = pkce();
  const asking = web.authorizePath({ code_challenge: challenge, code_challenge_method: 'S256' });
  const path = asking.replace('/authorize', '/sign-in');
  const [email, other] = [somebody(), somebody()];
  const browser = newBrowser();
  const asked = await browser.post(path, { email }, ours);
  t.equal(pageOf(asked), 'code');
  const back = await browser.press(asked, 'code', { code: await spool.readCode(email) });
  t.equal(await statusOf((await tokensOf(web, back, verifier)).access_token), 200);
  t.ok(codeOf(await browser.post(path, { email }, ours)), 'whoever has a session of this address goes on with it');
  t.equal(pageOf(await browser.post(path, { email: other }, ours)), 'code', 'nobody else does');

  const wrong = await browser.post(path, { email: 'ann@nowhere' }, ours);
  t.equal(wrong.status, 400);
  t.equal(pageOf(wrong), 'email');
  t.match(wrong.html, 'value="ann@nowhere"');
  const again = await browser.press(wrong, 'email', { email: other });
  t.equal(pageOf(again), 'code', 'the page of the problem goes on');

  const strange = newBrowser();
  const victim = somebody();
  for (const site of ['cross-site', 'same-site', 'none', ''] as const) {
    const shown = await strange.post(path, { email: victim }, site === '' ? {} : { 'Sec-Fetch-Site': site });
    t.equal(pageOf(shown), 'email', site);
  }
  await spool.operator.advanceClock(0); // all mails that are due have been sent
  t.same(await spool.operator.codes(victim), [], 'forms of other sites have no code sent');
  t.equal((await browser.post('/oauth/sign-in?client_id=nobody', { email }, ours)).status, 400);
});

await t.test(
  'C-021 C-022 C-025 C-026 C-032 C-045 C-108 X-04 what is wrong is told by redirect, with state and issuer',
  async (t) => {
    const { challenge } = pkce();
    const right = { code_challenge: challenge, code_challenge_method: 'S256' };
    for (const app of [web, agent, await OauthApp.registered(spool)]) {
      for (const [error, wrong] of [
        ['invalid_request', { code_challenge: undefined }],
        ['invalid_request', { code_challenge: 'x'.repeat(42) }],
        ['invalid_request', { code_challenge_method: undefined }],
        ['invalid_request', { code_challenge_method: 'plain' }],
        ['invalid_request', { response_type: undefined }],
        ['unsupported_response_type', { response_type: 'token' }],
        ['invalid_target', { resource: 'https://x.test' }],
        ['invalid_target', { resource: `${base_url}/mcp-other` }],
        ['invalid_target', { resource: `${base_url}/mcp#x` }],
        ['invalid_scope', { scope: 'no:such' }],
        ['invalid_scope', { scope: 'sources:write' }],
        ['invalid_request', { installation_label: 'x'.repeat(81) }],
        ['invalid_request', { prompt: 'none login' }],
      ] as const) {
        const shown = await newBrowser().open(app.authorizePath({ ...right, ...wrong }));
        t.equal(shown.status, 303);
        const { error_description, ...rest } = answerOf(shown);
        t.same(rest, { error, state: 's 1', iss: base_url }, `${app.client_id} ${JSON.stringify(wrong)}`);
        t.ok(error_description);
      }
    }
    const twice = await newBrowser().open(`${web.authorizePath(right)}&scope=audio:read&scope=turns:read`);
    t.equal(answerOf(twice).error, 'invalid_request');
    const label = await web.begin(newBrowser(), { installation_label: 'é'.repeat(80) });
    t.equal(pageOf(label.shown), 'email');
  },
);

await t.test('C-017 C-023 C-049 X-04 an unknown client or address never redirects', async (t) => {
  const { challenge } = pkce();
  const right = { code_challenge: challenge, code_challenge_method: 'S256' };
  const third = await OauthApp.registered(spool);
  for (const path of [
    web.authorizePath({ ...right, client_id: 'nobody' }),
    web.authorizePath({ ...right, client_id: undefined }),
    web.authorizePath({ ...right, redirect_uri: undefined }),
    web.authorizePath({ ...right, redirect_uri: `${web.redirect_uri}/more` }),
    agent.authorizePath({ ...right, redirect_uri: 'https://x.test/cb' }),
    third.authorizePath({ ...right, redirect_uri: `${third.redirect_uri}?x=1` }),
    third.authorizePath({ ...right, redirect_uri: 'HTTPS://app.example/callback' }),
    third.authorizePath({ ...right, redirect_uri: 'javascript:alert(1)' }),
    new OauthApp(spool, { client_id: 'svc-ios' }).authorizePath({ ...right, redirect_uri: 'com.x:/cb' }),
    `${web.authorizePath(right)}&client_id=svc-app`,
    `${web.authorizePath(right)}&redirect_uri=https://x.test/`,
    '/oauth/authorize',
    '/oauth/authorize?client_id=%zz',
    '/oauth/authorize?client_id=%3Cscript%3E',
  ]) {
    const shown = await newBrowser().open(path);
    t.equal(shown.status, 400, path);
    t.equal(shown.location, null);
    t.match(shown.headers['content-type'], 'text/html');
    t.notMatch(shown.html, /<script>|javascript:/);
    t.equal(shown.headers['x-frame-options'], 'DENY');
    t.match(shown.headers['content-security-policy'], "frame-ancestors 'none'");
  }
});

await t.test('C-024 a loopback address may have another port', async (t) => {
  const app = await OauthApp.registered(spool, { redirect_uris: ['http://127.0.0.1/cb'] });
  const browser = newBrowser();
  const { shown, verifier } = await app.begin(browser, { redirect_uri: 'http://127.0.0.1:5123/cb' });
  const back = await app.enterCode(browser, shown, somebody());
  t.match(back.location, /^http:\/\/127\.0\.0\.1:5123\/cb\?code=/);
  const other_port = await app.exchange(codeOf(back), verifier, { redirect_uri: 'http://127.0.0.1/cb' });
  t.equal(jsonOf(other_port).error, 'invalid_grant', 'the code is bound to the address as it was asked for');
  const right = await app.exchange(codeOf(back), verifier, { redirect_uri: 'http://127.0.0.1:5123/cb' });
  t.equal(right.status, 200);
  for (const uri of ['http://localhost:5123/cb', 'http://[::1]/cb', 'http://127.0.0.1/other', 'http://127.1/cb']) {
    t.equal((await app.begin(browser, { redirect_uri: uri })).shown.status, 400, uri);
  }
});

await t.test(
  'C-028 C-029 C-034 C-046 a third-party client: always a code, always consent, /mcp by default',
  async (t) => {
    const email = somebody();
    const { browser } = await signedIn(email);
    const app = await OauthApp.registered(spool, { redirect_uris: ['https://third.example:444/cb?keep=1'] });
    const { shown, verifier } = await app.begin(browser);
    t.equal(pageOf(shown), 'email', 'a session is nothing to it');
    const code_page = await browser.press(shown, 'email', { email });
    const consent = await browser.press(code_page, 'code', { code: await spool.readCode(email) });
    t.equal(pageOf(consent), 'consent');
    t.match(consent.html, 'third.example:444');
    t.match(consent.html, 'Example App');
    const back = await browser.press(consent, 'approve');
    t.match(back.location, /^https:\/\/third\.example:444\/cb\?keep=1&code=/);
    const tokens = await tokensOf(app, back, verifier);
    t.equal(tokens.scope, 'audio:read turns:read insights:read');
    t.equal(await statusOf(tokens.access_token, '/events'), 401);
    const other = await app.signIn(email, { resource: base_url, scope: 'turns:read' }, browser);
    t.equal(await statusOf(other.access_token, '/events'), 200);
  },
);

await t.test('X-33 a code entered for a third party signs the browser in to our own apps', async (t) => {
  const [email, browser] = [somebody(), newBrowser()];
  await (await OauthApp.registered(spool)).signIn(email, {}, browser);
  const { shown, verifier } = await web.begin(browser, { prompt: 'none' });
  t.equal(await statusOf((await tokensOf(web, shown, verifier)).access_token), 200);
});

await t.test('C-030 denied consent', async (t) => {
  const app = await OauthApp.registered(spool);
  const browser = newBrowser();
  const email = somebody();
  const { shown } = await app.begin(browser);
  const code_page = await browser.press(shown, 'email', { email });
  const consent = await browser.press(code_page, 'code', { code: await spool.readCode(email) });
  t.match(answerOf(await browser.press(consent, 'deny')), { error: 'access_denied', state: 's 1', iss: base_url });
  t.match(answerOf(await browser.press(consent, 'approve')), { error: 'access_denied' }, 'what is denied stays so');
});

await t.test('C-013 C-110 workspace scopes are for three of our own apps', async (t) => {
  const third = await OauthApp.registered(spool, { scope: 'workspace:read audio:read' }).catch(() => null);
  for (const app of [agent, third ?? (await OauthApp.registered(spool))]) {
    for (const scope of ['workspace:read', 'workspace:members', 'workspace:manage']) {
      t.equal(answerOf((await app.begin(newBrowser(), { scope })).shown).error, 'invalid_scope', app.client_id);
    }
  }
  t.equal(pageOf((await web.begin(newBrowser(), { scope: 'workspace:manage' })).shown), 'email');
});

await t.test('C-033 C-027 C-026 each installation is a connection of its own', async (t) => {
  const email = somebody();
  const { browser } = await signedIn(email);
  const label = '€'.repeat(80);
  const { shown, verifier } = await web.begin(browser, { installation_label: label });
  const tokens = await tokensOf(web, shown, verifier);
  const app = spool.client();
  app.access_token = tokens.access_token;
  const { items } = await app.ask<{ items: { name: string; client_id: string; current: boolean }[] }>(
    'GET',
    '/me/connections',
  );
  t.equal(items.length, 2);
  t.match(items, [
    { name: label, client_id: 'svc-web', current: true },
    { name: /^[^€]+$/, client_id: 'svc-web', current: false },
  ]);
});

await t.test('C-035 five wrong codes end the sign-in; C-093 malformed ones count nothing', async (t) => {
  const browser = newBrowser();
  const email = somebody();
  const { shown } = await web.begin(browser);
  let page = await browser.press(shown, 'email', { email });
  const right = await spool.readCode(email);
  const wrong = right === '000000' ? '111111' : '000000';
  for (const code of ['12', 'abcdef', '', '1234567']) page = await browser.press(page, 'code', { code });
  for (let n = 1; n <= 4; n++) {
    page = await browser.press(page, 'code', { code: wrong });
    t.equal(pageOf(page), 'code', `wrong ${n}`);
  }
  const before = page;
  page = await browser.press(page, 'code', { code: wrong });
  t.match(page.html, 'Too many wrong codes');
  t.equal(pageOf(await browser.press(before, 'code', { code: right })), 'other');
  t.equal(pageOf(await browser.press(before, 'resend')), 'other', 'nor does a new code help');
  t.match(answerOf(await browser.press(page, 'leave')), { error: 'access_denied' });
  t.equal(pageOf((await web.begin(browser)).shown), 'email', 'nobody is signed in');
});

await t.test('C-093 a code is taken in the forms in which people type and paste it', async (t) => {
  const digitsFrom = (zero: number) => (code: string) =>
    code.replaceAll(/\d/g, (digit) => String.fromCodePoint(zero + Number(digit)));
  for (const written of [
    digitsFrom(0xff10),
    digitsFrom(0x660),
    (code: string) => `${code.slice(0, 3)}-${code.slice(3)}`,
    (code: string) => `\u200e${code.slice(0, 3)} ${code.slice(3)}\u200b`,
  ]) {
    const browser = newBrowser();
    const email = somebody();
    const { shown } = await web.begin(browser);
    const page = await browser.press(shown, 'email', { email });
    const [, pattern = ''] = / pattern="([^"]+)"/.exec(page.html) ?? [];
    const code = written(await spool.readCode(email));
    t.match(code, new RegExp(`^(?:${pattern})$`, 'u'), 'the browser lets it through');
    t.ok(answerOf(await browser.press(page, 'code', { code })).code, JSON.stringify(code));
  }
});

await t.test('a problem is shown by redirect: loading it again tries nothing', async (t) => {
  const browser = newBrowser();
  const email = somebody();
  const { shown } = await web.begin(browser);
  const kept = await browser.press(shown, 'email', { email: 'nobody' });
  t.equal(kept.status, 400);
  t.match(kept.html, 'value="nobody"', 'what was typed stays');
  const clean = await browser.press(shown, 'email', { email });
  t.notMatch((await browser.open(`${clean.url}?problem=wrong`)).html, 'role="alert"', 'nothing was wrong yet');
  const right = await spool.readCode(email);
  const page = await browser.press(clean, 'code', { code: right === '000000' ? '111111' : '000000' });
  t.equal(page.status, 200);
  t.equal(page.url, `${clean.url}?problem=wrong`);
  for (let n = 0; n < 9; n++) t.match((await browser.open(page.url)).html, '4 times');
  t.match((await browser.press(page, 'code', { code: 'abc' })).html, 'Enter the six digits');
  t.notMatch((await browser.open(`${clean.url}?problem=%3Cb%3E`)).html, /role="alert"|<b>/);
  t.ok(codeOf(await browser.press(page, 'code', { code: right })));
  t.match((await browser.open(page.url)).html, 'finished');
});

await t.test('a new code, another email, blanks in the code', async (t) => {
  const browser = newBrowser();
  const [first, second] = [somebody(), somebody()];
  const { shown } = await web.begin(browser);
  t.equal(pageOf(await browser.press(shown, 'email', { email: 'nobody' })), 'email');
  let page = await browser.press(shown, 'email', { email: first });
  await spool.readCode(first);
  page = await browser.press(page, 'resend');
  t.match(page.html, 'on its way');
  await spool.readCode(first);
  page = await browser.press(page, 'other_email');
  t.equal(pageOf(page), 'email');
  page = await browser.press(page, 'email', { email: second });
  t.match(page.html, second);
  const code = await spool.readCode(second);
  const back = await browser.press(page, 'code', { code: ` ${code.slice(0, 3)} ${code.slice(3)}` });
  t.ok(codeOf(back));
});

await t.test('of several codes sent, one whose mail came late counts as well, for its own sign-in', async (t) => {
  const [browser, other] = [newBrowser(), newBrowser()];
  const email = somebody();
  const page = await browser.press((await web.begin(browser)).shown, 'email', { email });
  const first = await spool.readCode(email);
  const resent = await browser.press(page, 'resend');
  const second = await spool.readCode(email);
  const elsewhere = await other.press((await web.begin(other)).shown, 'email', { email });
  if (first !== second) {
    t.equal(pageOf(await other.press(elsewhere, 'code', { code: first })), 'code', 'not for another');
  }
  t.ok(codeOf(await browser.press(resent, 'code', { code: first })));
});

await t.test('C-036 C-041 a session brings other first-party apps back without a code', async (t) => {
  const { browser } = await signedIn(somebody());
  for (const parameters of [{}, { prompt: 'none' }, { prompt: 'consent' }, { prompt: 'foo' }, { prompt: 'none foo' }]) {
    const { shown, verifier } = await agent.begin(browser, parameters);
    const tokens = await tokensOf(agent, shown, verifier);
    t.equal(await statusOf(tokens.access_token), 200, JSON.stringify(parameters));
  }
});

await t.test('C-040 C-041 C-042 C-043 C-044 prompt', async (t) => {
  const { browser } = await signedIn(somebody());
  const third = await OauthApp.registered(spool);
  for (const [app, at, prompt, error] of [
    [web, newBrowser(), 'none', 'login_required'],
    [web, newBrowser(), 'none foo', 'login_required'],
    [third, browser, 'none', 'login_required'],
    [third, newBrowser(), 'none', 'login_required'],
    [web, browser, 'none login', 'invalid_request'],
    [web, browser, 'select_account none', 'invalid_request'],
    [third, browser, 'none login', 'invalid_request'],
  ] as const) {
    const { shown } = await app.begin(at, { prompt });
    t.match(answerOf(shown), { error, iss: base_url }, `${app.client_id} ${prompt}`);
  }
  for (const [app, at, prompt, page] of [
    [web, browser, 'login', 'email'],
    [web, browser, 'login select_account', 'email'],
    [web, browser, 'select_account', 'accounts'],
    [web, browser, 'LOGIN', 'other'],
    [web, newBrowser(), 'select_account', 'email'],
    [third, browser, 'select_account', 'email'],
    [third, browser, 'consent', 'email'],
  ] as const) {
    const { shown } = await app.begin(at, { prompt });
    t.equal(pageOf(shown), page, `${app.client_id} ${prompt}`);
  }
});

await t.test('C-039 select_account: go on as who is signed in, or with another email', async (t) => {
  const [email, other] = [somebody(), somebody()];
  const { browser } = await signedIn(email);
  const { shown, verifier } = await web.begin(browser, { prompt: 'select_account' });
  t.match(shown.html, email);
  const tokens = await tokensOf(web, await browser.press(shown, 'continue'), verifier);
  t.equal(await statusOf(tokens.access_token), 200);
  const again = await web.begin(browser, { prompt: 'select_account' });
  const page = await browser.press(again.shown, 'other_email');
  const switched = await tokensOf(web, await web.enterCode(browser, page, other), again.verifier);
  const me = spool.client();
  me.access_token = switched.access_token;
  t.match(await me.ask('GET', '/me'), { email: other });
  const next = await web.begin(browser, { prompt: 'select_account' });
  t.match(next.shown.html, other, 'the browser is theirs now');
});

await t.test('C-039 C-066 only a new code makes a token say that somebody has just signed in', async (t) => {
  const enteredAt = ({ access_token }: Tokens) => Number(decodeJwt(access_token).auth_time);
  const { browser, tokens } = await signedIn(somebody());
  const entered = enteredAt(tokens);
  await spool.operator.advanceClock(11 * MINUTE_MS);
  const offered = await web.begin(browser, { prompt: 'select_account' });
  const continued = await tokensOf(web, await browser.press(offered.shown, 'continue'), offered.verifier);
  t.equal(enteredAt(continued), entered, 'going on as who is signed in');
  const other = await agent.begin(browser);
  t.equal(enteredAt(await tokensOf(agent, other.shown, other.verifier)), entered, 'at another of our apps');
  t.equal(enteredAt(jsonOf<Tokens>(await web.refresh(continued.refresh_token))), entered, 'refreshing');
  const again = await web.signIn(somebody(), { prompt: 'login' }, browser);
  t.ok(enteredAt(again) >= entered + 11 * 60, 'a new code does');
});

await t.test('a session that ended while its account was offered asks for the email', async (t) => {
  const { browser, tokens } = await signedIn(somebody());
  const { shown } = await web.begin(browser, { prompt: 'select_account' });
  const app = spool.client();
  app.access_token = tokens.access_token;
  await app.ask('POST', '/me/sign-out', { everywhere: true });
  t.equal(pageOf(await browser.press(shown, 'continue')), 'email');
});

await t.test('C-037 the session lasts thirty days, longer by use, never beyond ninety', async (t) => {
  const { browser } = await signedIn(somebody());
  const completes = async () => (await web.begin(browser, { prompt: 'none' })).shown.location?.includes('code=');
  await spool.operator.advanceClock(31 * DAY_MS);
  t.notOk(await completes(), 'unused for 31 days');
  const used = await signedIn(somebody());
  const uses = async () => (await web.begin(used.browser, { prompt: 'none' })).shown.location?.includes('code=');
  for (const day of [20, 40, 60, 80]) {
    await spool.operator.advanceClock(20 * DAY_MS);
    t.ok(await uses(), `day ${day}`);
  }
  await spool.operator.advanceClock(9 * DAY_MS);
  t.ok(await uses(), 'day 89');
  await spool.operator.advanceClock(1 * DAY_MS + 1_000);
  t.notOk(await uses(), 'day 90');
});

await t.test('C-050 C-051 C-052 C-053 C-054 end-session', async (t) => {
  const { browser, tokens } = await signedIn(somebody());
  const end = (address: string | undefined, client_id: string | undefined = 'svc-web', at = browser) =>
    at.open(
      `/oauth/end-session?${new URLSearchParams({ ...(client_id && { client_id }), ...(address && { post_logout_redirect_uri: address }) })}`,
    );
  const { origin } = new URL(web.redirect_uri ?? '');
  for (const [address, client_id] of [
    ['https://x.test/bye', 'svc-web'],
    [origin.replace(/:\d+$/, ':1'), 'svc-web'],
    [origin.replace('http:', 'https:'), 'svc-web'],
    ['javascript:alert(1)', 'svc-web'],
    ['com.example.app:/x', 'svc-web'],
    [`${origin.replace('//', '//user@')}/x`, 'svc-web'],
    [undefined, 'svc-web'],
    [`${origin}/bye`, 'nobody'],
    [`${origin}/bye`, ''],
  ] as const) {
    const shown = await end(address, client_id);
    t.equal(shown.status, 400, `${address} ${client_id}`);
    t.equal(shown.location, null);
  }
  t.ok((await web.begin(browser, { prompt: 'none' })).shown.location?.includes('code='), 'it has not ended');
  const shown = await end(`${origin}/bye?x=1`);
  t.equal(shown.status, 303);
  t.equal(shown.location, `${origin}/bye?x=1`);
  t.match(answerOf((await web.begin(browser, { prompt: 'none' })).shown), { error: 'login_required' });
  t.equal(await statusOf(tokens.access_token), 200, 'grants stay');
  t.equal((await end(`${origin}/bye`, 'svc-web', newBrowser())).status, 303, 'without a session too');
  const custom = await OauthApp.registered(spool, { redirect_uris: ['com.example.app:/cb'] });
  t.equal((await end('com.other.app:/cb', custom.client_id)).status, 400, 'schemes of their own have no origin');
});

await t.test('cookies: only for us, unreadable for scripts, made anew at each sign-in', async (t) => {
  const browser = newBrowser();
  const { shown } = await web.begin(browser);
  t.same([...browser.cookies.keys()], ['spool_browser'], 'nobody is signed in yet');
  browser.cookies.set('spool_session', 'spb_forged');
  await web.enterCode(browser, shown, somebody());
  const first = browser.cookies.get('spool_session');
  t.match(first, /^spb_/);
  await web.signIn(somebody(), { prompt: 'login' }, browser);
  t.not(browser.cookies.get('spool_session'), first);
  const stolen = newBrowser();
  stolen.cookies.set('spool_session', first ?? '');
  t.match(
    answerOf((await web.begin(stolen, { prompt: 'none' })).shown),
    { error: 'login_required' },
    'the old one is dead',
  );
});

await t.test('a form counts only from the browser and the sign-in that it belongs to', async (t) => {
  const browser = newBrowser();
  const one = (await web.begin(browser)).shown;
  const two = (await web.begin(browser)).shown;
  const token = (page: Shown) => /name="form_token" value="([^"]+)"/.exec(page.html)?.[1] ?? '';
  const action = (page: Shown) => /action="([^"]+)"/.exec(page.html)?.[1] ?? '';
  const email = somebody();
  t.equal((await browser.post(action(one), { form_token: token(two), action: 'email', email })).status, 403);
  t.equal((await browser.post(action(one), { action: 'email', email })).status, 403);
  t.equal((await newBrowser().post(action(one), { form_token: token(one), action: 'email', email })).status, 403);
  t.equal((await newBrowser().open(action(one))).status, 403);
  t.equal((await browser.post(action(one), { form_token: token(one), action: 'nothing' })).status, 400);
  t.equal(pageOf(await browser.press(one, 'email', { email })), 'code');
  t.equal(pageOf(await browser.press(two, 'email', { email: somebody() })), 'code', 'two tabs, each its own');
  t.match((await browser.open(action(one))).html, email);
});

await t.test('a code typed twice at once leads back with one code, one session, one grant', async (t) => {
  const browser = newBrowser();
  const email = somebody();
  const { shown, verifier } = await web.begin(browser);
  const page = await browser.press(shown, 'email', { email });
  const code = await spool.readCode(email);
  const backs = await Promise.all([1, 2, 3].map(() => browser.press(page, 'code', { code })));
  t.equal(new Set(backs.map(codeOf)).size, 1);
  const tokens = await tokensOf(web, backs[0] as Shown, verifier);
  const app = spool.client();
  app.access_token = tokens.access_token;
  t.equal((await app.ask<{ items: unknown[] }>('GET', '/me/connections')).items.length, 1);
  t.ok((await web.begin(browser, { prompt: 'none' })).shown.location?.includes('code='));
  await spool.operator.advanceClock(11_000);
  t.match((await browser.press(page, 'code', { code })).html, 'finished', 'later it only says so');
});

await t.test('a form of a code that is sent again does not bring back an earlier session', async (t) => {
  const browser = newBrowser();
  const [first, second] = [somebody(), somebody()];
  const one = await browser.press((await web.begin(browser)).shown, 'email', { email: first });
  const code = await spool.readCode(first);
  t.ok(codeOf(await browser.press(one, 'code', { code })));
  const two = (await web.begin(browser, { prompt: 'login' })).shown;
  t.ok(codeOf(await web.enterCode(browser, two, second)));
  const living = browser.cookies.get('spool_session');
  t.ok(living);
  t.ok(codeOf(await browser.press(one, 'code', { code })), 'the same answer, within ten seconds');
  t.equal(browser.cookies.get('spool_session'), living);
  t.match((await web.begin(browser, { prompt: 'select_account' })).shown.html, second);
  browser.cookies.delete('spool_session');
  await browser.press(one, 'code', { code });
  t.equal(browser.cookies.get('spool_session'), undefined, 'one that has ended is not shown');
});

await t.test('C-009 an address of an app, with two slashes or in another letter case', async (t) => {
  for (const [registered, redirect_uri] of [
    ['com.example.app://callback', 'com.example.app://callback'],
    ['Com.Example.App:/callback', 'com.example.app:/callback'],
  ] as const) {
    const { client_id } = await OauthApp.registered(spool, { redirect_uris: [registered] });
    const app = new OauthApp(spool, { client_id, redirect_uri });
    const browser = newBrowser();
    const { shown, verifier } = await app.begin(browser);
    const back = await app.enterCode(browser, shown, somebody());
    t.ok(back.location?.startsWith(`${redirect_uri}?code=`), redirect_uri);
    t.ok((await tokensOf(app, back, verifier)).refresh_token);
  }
});

await t.test('C-067 a scope by another name than the client has registered', async (t) => {
  const app = await OauthApp.registered(spool, { scope: 'suggestions:read turns:read' });
  for (const scope of ['insights:read', 'contacts:read', 'suggestions:read events:read']) {
    t.equal((await app.signIn(somebody(), { scope })).scope, scope);
  }
  const { shown } = await app.begin(newBrowser(), { scope: 'turns:read audio:read turns:write' });
  t.match(answerOf(shown), { error: 'invalid_scope', error_description: /^audio:read, turns:write: / });
});

await t.test(
  'C-034 C-120 offline_access comes back to who asked for it, and alone it asks for what is registered',
  async (t) => {
    const app = await OauthApp.registered(spool, { scope: 'turns:read audio:read offline_access' });
    for (const [scope, granted] of [
      ['turns:read offline_access', 'turns:read offline_access'],
      ['offline_access audio:read', 'audio:read offline_access'],
      ['audio:read', 'audio:read'],
      ['offline_access', 'turns:read audio:read offline_access'],
    ] as const) {
      const tokens = await app.signIn(somebody(), { scope });
      t.equal(tokens.scope, granted, scope);
      t.ok(tokens.refresh_token, scope);
    }
    const { shown } = await app.begin(newBrowser(), { scope: 'offline_access turns:write' });
    t.match(answerOf(shown), { error: 'invalid_scope', error_description: /^turns:write: / });
  },
);

await t.test('C-135 a client id that is an address of this machine is read by nobody', async (t) => {
  const client_id = 'https://127.0.0.1:9/client.json';
  const query = new URLSearchParams({
    client_id,
    redirect_uri: 'https://notes.example/callback',
    response_type: 'code',
  });
  const answer = await fetch(`${spool.server.base_url}/oauth/authorize?${query}`, { redirect: 'manual' });
  t.equal(answer.status, 400);
  t.match(await answer.text(), /document, at the address that is its client_id/);
});

await t.test(
  'C-135 a client of a document gets tokens by its address, and its document is read where it begins alone',
  async (t) => {
    const { services } = spool.server;
    const client_id = 'https://notes.example/client.json';
    const find = services.client_documents.find.bind(services.client_documents);
    let reads = 0;
    services.client_documents.find = async () => {
      reads += 1;
      const redirect_uris = ['https://notes.example/callback'];
      const scopes = ['turns:read', 'insights:read'];
      return {
        ...{ client_id, name: 'Notes', party: 'third', native: false, redirect_uris, scopes, default_scopes: scopes },
        token_endpoint_auth_method: 'none',
      };
    };
    t.teardown(() => {
      services.client_documents.find = find;
    });
    const app = new OauthApp(spool, { client_id, redirect_uri: 'https://notes.example/callback' });
    const tokens = await app.signIn(somebody(), { scope: 'turns:read' });
    t.equal(tokens.scope, 'turns:read');
    const again = await jsonOf<Tokens>(await app.refresh(tokens.refresh_token));
    t.ok(again.access_token);
    t.equal(reads, 1);
    const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    const answer = await fetch(`${spool.server.base_url}/mcp`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${again.access_token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(list),
    });
    t.equal(answer.status, 200);
  },
);

await t.test('the pages live an hour, a code ten minutes', async (t) => {
  const browser = newBrowser();
  const email = somebody();
  const { shown } = await web.begin(browser);
  const page = await browser.press(shown, 'email', { email });
  const code = await spool.readCode(email);
  await spool.operator.advanceClock(10 * MINUTE_MS);
  t.equal(pageOf(await browser.press(page, 'code', { code })), 'code', 'expired');
  const resent = await browser.press(page, 'resend');
  t.ok(codeOf(await browser.press(resent, 'code', { code: await spool.readCode(email) })));
  const late = (await web.begin(newBrowser())).shown;
  const other = newBrowser();
  const kept = (await web.begin(other, { prompt: 'login' })).shown;
  await spool.operator.advanceClock(60 * MINUTE_MS);
  t.equal((await other.press(kept, 'email', { email })).status, 404);
  t.equal((await other.open(late.url)).status, 404);
});

t.test('C-056 too many codes from one network: the pages ask to wait a minute', async (t) => {
  const spool = await TestSpool.start({ RATE_CODES_SENT: '2', RATE_CODES_CHECKED: '2' });
  t.teardown(() => spool.end());
  const web = OauthApp.first(spool, 'svc-web');
  const browser = new Browser(spool.server.base_url);
  const { shown } = await web.begin(browser);
  let page = shown;
  for (const email of ['a@x.test', 'b@x.test']) page = await browser.press(shown, 'email', { email });
  const waits = await browser.press(shown, 'email', { email: 'c@x.test' });
  t.equal(waits.status, 429);
  t.match(waits.html, /wait a minute/i);
  t.match(waits.headers['retry-after'], /^\d+$/);
  for (let n = 0; n < 2; n++) await browser.press(page, 'code', { code: '000000' });
  t.equal((await browser.press(page, 'code', { code: '000000' })).status, 429);
});

t.test('over https the cookies are bound to the host', async (t) => {
  const spool = await TestSpool.start({ RATE_LIMITS: 'off', BASE_URL: 'https://api.example' });
  t.teardown(() => spool.end());
  const app = await OauthApp.registered(spool);
  const { challenge } = pkce();
  const path = app.authorizePath({ code_challenge: challenge, code_challenge_method: 'S256' });
  const answer = await spool.client().send('GET', path);
  const [cookie = ''] = answer.headers['set-cookie'] ?? [];
  t.match(cookie, /^__Host-spool_browser=[^;]+; Path=\/; HttpOnly; Secure; SameSite=Lax$/);
  t.match(answer.headers.location, /^\/oauth\/sign-in\//);
});
