import { randomUUID } from 'node:crypto';
import net from 'node:net';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { type CallAnswer, call } from '../../../kits/typescript/src/http_call.js';
import { LIMITS } from '../../../src/domain/limits.js';
import { randomId } from '../../../src/engine/random/random.js';
import { CaptchaProvider } from '../../fixtures/captcha_provider.js';
import { Browser, basic, codeOf, jsonOf, OauthApp, pkce, type Shown, type Tokens } from '../../fixtures/oauth.js';
import { TestSpool } from '../../fixtures/spool.js';

const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };
/** What every object has without being asked. */
const INHERITED = ['constructor', 'toString', 'valueOf', 'hasOwnProperty', '__proto__', '__defineGetter__'];

function part(page: Shown, pattern: RegExp): string {
  const found = pattern.exec(page.html)?.[1];
  if (found === undefined) throw new Error(`no ${pattern} in:\n${page.html}`);
  return found;
}
const formToken = (page: Shown) => part(page, /name="form_token" value="([^"]+)"/);
const actionOf = (page: Shown) => part(page, /action="([^"]+)"/);

function right(): Record<string, string> {
  return { code_challenge: pkce().challenge, code_challenge_method: 'S256' };
}

const spool = await TestSpool.start({ RATE_LIMITS: 'off' });
t.teardown(() => spool.end());
const { base_url } = spool.server;
const web = OauthApp.first(spool, 'svc-web');
const ios = OauthApp.first(spool, 'svc-ios');
const agent = OauthApp.first(spool, 'svc-agent');
let people = 0;
const somebody = () => `v${++people}@x.test`;
const send = (method: string, path: string, body?: string, headers: Record<string, string> = FORM) =>
  call({ method, url: new URL(path, spool.base_url), headers, body: body === undefined ? body : Buffer.from(body) });
const statusOf = async (access_token: string, path = '/me') => {
  const app = spool.client();
  app.access_token = access_token;
  return (await app.send('GET', path)).status;
};
const nativeCode = async (email = somebody()) => {
  const { auth_session, verifier } = await ios.challenge(email);
  const answer = await ios.challengeStep({ auth_session, otp: await spool.readCode(email) });
  return { auth_session, verifier, code: jsonOf<{ authorization_code: string }>(answer).authorization_code };
};

await t.test('names that every object has mean nothing, wherever a name is looked up', async (t) => {
  const browser = new Browser(base_url);
  const { shown } = await web.begin(browser);
  for (const name of INHERITED) {
    const pressed = await browser.post(actionOf(shown), { form_token: formToken(shown), action: name });
    t.equal(pressed.status, 400, `action ${name}`);
    t.match(pressed.headers['content-type'], 'text/html');
    const granted = await send('POST', '/oauth/token', `client_id=svc-ios&grant_type=${name}`);
    t.match([granted.status, jsonOf(granted).error], [400, 'unsupported_grant_type'], `grant_type ${name}`);
    const client = await send('POST', '/oauth/token', `client_id=${name}&token=x`);
    t.match([client.status, jsonOf(client).error], [401, 'invalid_client'], `client ${name}`);
    t.equal((await send('GET', web.authorizePath({ ...right(), client_id: name }))).status, 400);
    const scope = new URL((await send('GET', web.authorizePath({ ...right(), scope: name }))).headers.location ?? '');
    t.equal(scope.searchParams.get('error'), 'invalid_scope', `scope ${name}`);
    const ignored = await send('GET', `${web.authorizePath(right())}&${name}=1`);
    t.match(ignored.headers.location, /^\/oauth\/sign-in\//, `a parameter called ${name}`);
  }
});

await t.test('C-002 a wrong method is told so in the words of its address, and not cached', async (t) => {
  for (const [method, path, words] of [
    ['GET', '/oauth/token', 'json'],
    ['PUT', '/oauth/introspect', 'json'],
    ['DELETE', '/oauth/register', 'json'],
    ['GET', '/oauth/authorize-challenge', 'json'],
    ['POST', '/.well-known/oauth-authorization-server', 'json'],
    ['POST', '/oauth/authorize', 'html'],
    ['POST', '/oauth/end-session', 'html'],
    ['PUT', `/oauth/sign-in/${randomUUID()}`, 'html'],
  ] as const) {
    const answer = await send(method, path);
    t.equal(answer.status, 405, `${method} ${path}`);
    t.ok(answer.headers.allow);
    t.match(answer.headers['content-type'], words);
    t.equal(answer.headers['cache-control'], 'no-store');
    t.equal(answer.headers['x-api-version'], undefined);
    if (words === 'json') t.same(Object.keys(jsonOf(answer)), ['error', 'error_description']);
  }
});

await t.test('answers echo nothing that could be mistaken for ours', async (t) => {
  const odd = '<img src=x onerror=alert(1)>';
  const long = 'a'.repeat(5_000);
  const app = await OauthApp.registered(spool);
  for (const name of [odd, long]) {
    const twice = `${encodeURIComponent(name)}=1&${encodeURIComponent(name)}=2`;
    const refused = await send('POST', '/oauth/token', twice);
    t.match([refused.status, jsonOf(refused).error], [400, 'invalid_request']);
    t.notMatch(refused.body.toString(), name);
    const back = await send('GET', `${app.authorizePath(right())}&${twice}`);
    const { searchParams } = new URL(back.headers.location ?? '');
    t.equal(searchParams.get('error'), 'invalid_request');
    t.equal(searchParams.get('error_description'), 'A parameter may be given only once.');
  }
  const marked = encodeURIComponent(odd);
  for (const answer of [
    await send('GET', `/oauth/authorize?client_id=${marked}&redirect_uri=${marked}&state=${marked}`),
    await send('GET', `/oauth/authorize?${marked}`, undefined, { 'X-Request-ID': `"><script>x</script>` }),
    await send('GET', `/oauth/end-session?client_id=${marked}&post_logout_redirect_uri=${marked}`),
    await send('GET', `/oauth/sign-in/${marked}`),
    await send('POST', '/oauth/register', `{"client_name": "${odd}`, { 'Content-Type': 'application/json' }),
    await send('POST', '/oauth/register', odd, { 'Content-Type': 'application/json' }),
    await send('POST', '/oauth/authorize-challenge', `client_id=${marked}&email=${marked}`),
    await send('POST', '/oauth/token', `client_id=svc-ios&grant_type=refresh_token&refresh_token=${marked}`),
  ]) {
    t.notMatch(answer.body.toString(), /<img src=x|<script>x/);
    t.ok(answer.status >= 400 && answer.status < 500);
  }
});

await t.test('C-051 an address to return to that no header can carry is refused, and ends nothing', async (t) => {
  const browser = new Browser(base_url);
  await web.signIn(somebody(), {}, browser);
  const origin = encodeURIComponent(new URL(web.redirect_uri ?? '').origin);
  for (const tail of [
    '/%E4%B8%AD',
    '/%c3%bc',
    '/%00',
    '/%7f',
    '/%0d%0aSet-Cookie:x=1',
    '/a%20b',
    '%5c@x.test/',
    '%09/',
  ]) {
    const shown = await browser.open(`/oauth/end-session?client_id=svc-web&post_logout_redirect_uri=${origin}${tail}`);
    t.equal(shown.status, 400, tail);
    t.match(shown.headers['content-type'], 'text/html');
    t.equal(shown.location, null);
  }
  t.ok(codeOf((await web.begin(browser, { prompt: 'none' })).shown), 'the session is there');
});

await t.test('C-024 a loopback address may differ by its port, and by no trick', async (t) => {
  const app = await OauthApp.registered(spool, { redirect_uris: ['http://127.0.0.1/cb'] });
  const open = (redirect_uri: string) => send('GET', app.authorizePath({ ...right(), redirect_uri }));
  t.equal((await open('http://127.0.0.1:65535/cb')).status, 303);
  for (const redirect_uri of [
    'http://127.0.0.1:65536/cb',
    'http://127.0.0.1:0/cb',
    'http://127.0.0.1:080/cb',
    'http://127.0.0.1:80@x.test/cb',
    'http://127.0.0.1:80\\@x.test/cb',
    'http://127.0.0.1.x.test/cb',
    'http://127.0.0.1:5/cb#x',
    'http://127.0.0.1:5/cb?x',
    'http://127.0.0.1:5/cb/',
    'http://127.0.0.1:5/x/../cb',
    'http://127.0.0.1:5//cb',
    'https://127.0.0.1/cb',
    'HTTP://127.0.0.1/cb',
    'http://127.0.0.1\t/cb',
    ' http://127.0.0.1/cb',
    'http://2130706433/cb',
    'http://0x7f.1/cb',
    'http://127.0.0.1:5/cb\n',
    'http://127.0.0.1:5/cb\u0000',
  ]) {
    const answer = await open(redirect_uri);
    t.equal(answer.status, 400, redirect_uri);
    t.equal(answer.headers.location, undefined);
  }
});

await t.test('C-061 a verifier has 43 to 128 plain characters, and no other is tried', async (t) => {
  const { code, verifier } = await nativeCode();
  for (const wrong of [
    verifier.slice(0, 42),
    `${verifier}=`,
    `${verifier.slice(0, 42)}é`,
    `${verifier.slice(0, 42)} `,
    `${verifier}\u0000`,
    'x'.repeat(129),
  ]) {
    t.equal(jsonOf(await ios.exchange(code, wrong)).error, 'invalid_grant', wrong);
  }
  t.equal((await ios.exchange(code, verifier)).status, 200, 'which did the code no harm');
});

await t.test('C-045 a resource is the same however its address is spelled, and nothing beside it is', async (t) => {
  const { host } = new URL(base_url);
  const audience = async (resource: string) => {
    const { refresh_token } = await ios.signInNatively(somebody());
    return jsonOf(await ios.refresh(refresh_token, { resource })).error ?? 'taken';
  };
  for (const resource of [`HTTP://${host.toUpperCase()}`, `${base_url}/`, `${base_url}/mcp/`, `http://${host}/mcp`]) {
    t.equal(await audience(resource), 'taken', resource);
  }
  for (const resource of [
    `${base_url}/MCP`,
    `${base_url}/mcp/x`,
    `${base_url}/%6dcp`,
    `${base_url}//mcp`,
    `${base_url}/mcp?x`,
    `${base_url}/mcp#`,
    `${base_url}:1`,
    `https://${host}`,
    `http://u@${host}`,
    `http://${host}.x.test`,
    `http:\\\\${host}`,
    host,
    '/mcp',
  ]) {
    t.equal(await audience(resource), 'invalid_target', resource);
  }
  const same = encodeURIComponent(base_url);
  const path = `${web.authorizePath(right())}&resource=${same}&resource=`;
  t.match((await send('GET', path + same)).headers.location, /^\/oauth\/sign-in\//, 'the same twice is once');
  t.match((await send('GET', `${path}${same}%2Fmcp`)).headers.location, /error=invalid_target/, 'two are too many');
  const { refresh_token } = await ios.signInNatively(somebody());
  const form = `grant_type=refresh_token&client_id=svc-ios&refresh_token=${refresh_token}&resource=${same}`;
  t.equal(jsonOf(await send('POST', '/oauth/token', `${form}&resource=${same}%2Fmcp`)).error, 'invalid_target');
  t.equal((await send('POST', '/oauth/token', `${form}&resource=${same}`)).status, 200);
});

await t.test('C-080 no token does the work of another kind', async (t) => {
  const email = somebody();
  const browser = new Browser(base_url);
  const { session } = await spool.signIn(email);
  const page = (await web.begin(browser)).shown;
  await web.signIn(email, { prompt: 'login' }, browser);
  const { code, verifier } = await nativeCode(email);
  const tokens = await ios.signInNatively(email);
  const { auth_session } = await ios.challenge(email);
  const otp = await spool.readCode(email);
  const all = {
    code,
    'refresh token': tokens.refresh_token,
    'access token': tokens.access_token,
    auth_session,
    'form token': formToken(page),
    'session cookie': browser.cookies.get('spool_session') ?? '',
    'browser cookie': browser.cookies.get('spool_browser') ?? '',
    'app access token': session.access_token,
    'app refresh token': session.refresh_token,
  };
  /** Whether a token is taken at each place that takes one of them. The one that belongs there is left out. */
  const places: Record<string, { own: (keyof typeof all)[]; taken: (token: string) => Promise<boolean> }> = {
    exchange: { own: ['code'], taken: async (token) => (await ios.exchange(token, verifier)).status === 200 },
    refresh: { own: ['refresh token'], taken: async (token) => (await ios.refresh(token)).status === 200 },
    'step 2': {
      own: ['auth_session'],
      taken: async (token) => (await ios.challengeStep({ auth_session: token, otp })).status === 200,
    },
    REST: { own: ['access token', 'app access token'], taken: async (token) => (await statusOf(token)) === 200 },
    'app refresh': {
      own: ['app refresh token'],
      taken: async (refresh_token) =>
        (await spool.client().send('POST', '/auth/refresh', { body: { refresh_token } })).status === 200,
    },
    form: {
      own: ['form token'],
      taken: async (form_token) => {
        const fields = { form_token, action: 'email', email: 'x' };
        return (await browser.post(actionOf(page), fields)).status !== 403;
      },
    },
    'session cookie': {
      own: ['session cookie'],
      taken: async (token) => {
        const other = new Browser(base_url);
        other.cookies.set('spool_session', token);
        return (await web.begin(other, { prompt: 'none' })).shown.location?.includes('code=') === true;
      },
    },
    introspection: {
      own: ['access token'],
      taken: async (token) => jsonOf(await agent.introspect(token)).active === true,
    },
  };
  for (const [place, { own, taken }] of Object.entries(places)) {
    for (const [kind, token] of Object.entries(all)) {
      if (!own.includes(kind as keyof typeof all)) t.notOk(await taken(token), `${kind} at ${place}`);
    }
  }
  for (const [place, { own, taken }] of Object.entries(places)) {
    for (const kind of own) t.ok(await taken(all[kind]), `${kind} at ${place}, where it belongs`);
  }
});

await t.test('C-061 a code counts for the client that asked for it alone, also of the same person', async (t) => {
  const email = somebody();
  const [one, two] = [await OauthApp.registered(spool), await OauthApp.registered(spool)];
  const browser = new Browser(base_url);
  const { shown, verifier } = await one.begin(browser);
  const back = await one.enterCode(browser, shown, email);
  const stolen = await two.exchange(codeOf(back), verifier);
  t.equal(jsonOf(stolen).error, 'invalid_grant');
  t.equal((await one.exchange(codeOf(back), verifier)).status, 200);
});

await t.test('C-028 nobody comes past the consent page, and no form says what is consented to', async (t) => {
  const email = somebody();
  const app = await OauthApp.registered(spool, { scope: 'turns:read' });
  const browser = new Browser(base_url);
  await web.signIn(email, {}, browser);
  const { shown, verifier } = await app.begin(browser);
  const forged = {
    redirect_uri: 'https://x.test/',
    client_id: 'svc-web',
    scope: 'account:manage',
    resource: base_url,
    code_challenge: pkce().challenge,
    needs_consent: 'false',
  };
  const press = (page: Shown, action: string, typed = {}) =>
    browser.post(actionOf(page), { form_token: formToken(page), action, ...typed, ...forged });
  for (const action of ['approve', 'continue', 'code']) {
    const page = await press(shown, action, { code: '123456' });
    t.equal(page.location, null, `${action} before anything else`);
  }
  const code_page = await press(shown, 'email', { email });
  t.equal((await press(code_page, 'approve')).location, null, 'approve before the code');
  t.equal((await press(code_page, 'continue')).location, null);
  const consent = await press(code_page, 'code', { code: await spool.readCode(email) });
  t.match(consent.html, 'value="approve"');
  t.equal((await press(consent, 'continue')).location, null);
  const back = await press(consent, 'approve');
  t.match(back.location, /^https:\/\/app\.example\/callback\?code=/);
  const tokens = jsonOf<Tokens>(await app.exchange(codeOf(back), verifier));
  t.equal(tokens.scope, 'turns:read');
  t.equal(await statusOf(tokens.access_token), 401, 'for /mcp, as it was asked for');
  await spool.operator.advanceClock(LIMITS.oauth_code_replay_harmless_ms);
  t.equal((await press(consent, 'approve')).location, null, 'back and approved once more');
  t.equal((await press(consent, 'deny')).location, null);
});

await t.test('C-035 the code of one sign-in is none at another, of the same address or not', async (t) => {
  const email = somebody();
  const [one, two] = [await ios.challenge(email), await ios.challenge(email)];
  const otp = await spool.readCode(email);
  const newest = await ios.challengeStep({ auth_session: two.auth_session, otp });
  const older = await ios.challengeStep({ auth_session: one.auth_session, otp });
  t.same([newest.status, older.status].sort(), [200, 403], 'it is the code of one of the two');
  const browser = new Browser(base_url);
  const page = await browser.press((await web.begin(browser)).shown, 'email', { email: somebody() });
  t.match((await browser.press(page, 'code', { code: otp })).html, 'wrong or has expired');
});

await t.test('C-074 a second Authorization header, or a client named in the address, changes nothing', async (t) => {
  const { refresh_token } = await agent.signIn(somebody());
  const form = `grant_type=refresh_token&refresh_token=${refresh_token}`;
  const { Authorization: wrong } = basic('svc-agent', 'wrong');
  const { Authorization: other } = basic('svc-app', 'x');
  const raw = async (path: string, headers: string[]) => {
    const socket = net.connect(Number(new URL(spool.base_url).port), '127.0.0.1');
    const lines = ['Host: x', 'Connection: close', `Content-Type: ${FORM['Content-Type']}`, ...headers];
    socket.end(`POST ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\nContent-Length: ${form.length}\r\n\r\n${form}`);
    return /^HTTP\/1\.1 (\d+)/.exec(await text(socket))?.[1];
  };
  t.equal(await raw('/oauth/token', [`Authorization: ${wrong}`, `Authorization: ${other}`]), '401');
  t.equal(await raw('/oauth/token?client_id=svc-ios', []), '401');
  t.equal(await raw('/oauth/token?client_id=svc-agent', [`Authorization: ${wrong}, ${other}`]), '401');
  t.equal((await agent.refresh(refresh_token)).status, 200);
});

await t.test('inputs of any length get an answer, and none of them is ours to fix', async (t) => {
  const app = await OauthApp.registered(spool);
  const path = app.authorizePath(right());
  const { refresh_token } = await ios.signInNatively(somebody());
  const x = 'x'.repeat(60_000);
  const long = 's'.repeat(15_000);
  const scopes = Array.from({ length: 5_000 }, () => 'turns:read').join('+');
  const expected: [string, Promise<CallAnswer>, number, RegExp][] = [
    ['state', send('GET', path.replace('s+1', 's'.repeat(15_000))), 303, /^\/oauth\/sign-in\//],
    [
      'state that comes back',
      send('GET', `${path.replace('s+1', long)}&prompt=none`),
      303,
      new RegExp(`state=${long}`),
    ],
    ['scope', send('GET', `${path}&scope=${'y'.repeat(9_000)}`), 303, /error=invalid_scope/],
    ['prompt', send('GET', `${path}&prompt=${'none+'.repeat(1_500)}`), 303, /error=login_required/],
    ['64 parameters', send('GET', `${path}${'&a=1'.repeat(58)}`), 303, /error=invalid_request/],
    ['65 parameters', send('GET', `${path}${'&a=1'.repeat(59)}`), 400, /^$/],
    ['redirect_uri', send('GET', app.authorizePath({ ...right(), redirect_uri: x.slice(0, 8_000) })), 400, /^$/],
    ['a head of 16 KB', send('GET', `${path}&a=${'b'.repeat(16_384)}`), 431, /^$/],
    ['cookies of 8 KB', send('GET', path, undefined, { Cookie: `a=${'b'.repeat(8_000)}` }), 303, /^\/oauth/],
    ['700 cookies', send('GET', path, undefined, { Cookie: 'spool_browser=a; '.repeat(700) }), 303, /^\/oauth/],
    ['a refresh token', ios.refresh(x), 400, /^$/],
    ['a revoked token', ios.token({ token: x }), 200, /^$/],
    ['a client', ios.token({ client_id: x, token: 'x' }), 401, /^$/],
    ['a code', ios.exchange(x, pkce().verifier), 400, /^$/],
    ['a scope', ios.token({ grant_type: 'refresh_token', refresh_token, scope: x }), 400, /^$/],
    [
      'a scope over and over',
      send(
        'POST',
        '/oauth/token',
        `client_id=svc-ios&grant_type=refresh_token&refresh_token=${refresh_token}&scope=${scopes}`,
      ),
      200,
      /^$/,
    ],
    ['an introspected token', agent.introspect(x), 200, /^$/],
    ['an auth_session', ios.challengeStep({ auth_session: x, otp: '123456' }), 400, /^$/],
    ['a form', send('POST', '/oauth/token', `a=${x}${x}`), 413, /^$/],
    [
      'a registration',
      send('POST', '/oauth/register', JSON.stringify([x, x]), { 'Content-Type': 'application/json' }),
      413,
      /^$/,
    ],
  ];
  for (const [says, sent, status, location] of expected) {
    const answer = await sent;
    t.equal(answer.status, status, says);
    t.match(answer.headers.location ?? '', location, says);
  }
});

await t.test('nothing that is said here is kept by a cache, and CORS says for whom it is', async (t) => {
  const json = { 'Content-Type': 'application/json' };
  for (const [says, sent] of [
    ['a token', agent.token({ grant_type: 'refresh_token', refresh_token: 'x' })],
    ['no client', send('POST', '/oauth/token', 'grant_type=refresh_token')],
    ['another type', send('POST', '/oauth/token', '{}', json)],
    ['introspection', agent.introspect('x')],
    ['no introspection', send('POST', '/oauth/introspect', 'token=x')],
    ['a registration', send('POST', '/oauth/register', '{"redirect_uris":["https://a.test/"]}', json)],
    ['no registration', send('POST', '/oauth/register', '{}', json)],
    ['step 1', ios.challengeStep({ ...right(), response_type: 'code', email: somebody() })],
    ['no step', ios.challengeStep({})],
    ['authorize', send('GET', web.authorizePath(right()))],
    ['no authorize', send('GET', '/oauth/authorize')],
    ['sent back', send('GET', web.authorizePath({ ...right(), prompt: 'none' }))],
    ['end-session', send('GET', '/oauth/end-session')],
    ['a page', send('GET', `/oauth/sign-in/${randomId({ partition: 0, now_ms: Date.now() })}`)],
  ] as const) {
    const { headers } = await sent;
    t.equal(headers['cache-control'], 'no-store', says);
    t.equal(headers.vary, 'Origin', `${says}: pages of some origins get it`);
    t.equal(headers['access-control-allow-credentials'], undefined, `${says}: never with cookies`);
  }
});

t.test('staff stop a client: whatever it has or has begun ends', async (t) => {
  const spool = await TestSpool.start({ RATE_LIMITS: 'off' });
  t.teardown(() => spool.end());
  const { base_url } = spool.server;
  const agent = OauthApp.first(spool, 'svc-agent');
  const staff = (verb: 'disable' | 'enable', { client_id }: OauthApp) =>
    spool.operator.ask('POST', `/ops/clients/${client_id}/${verb}`);
  const statusOf = async (access_token: string, path: string) => {
    const app = spool.client();
    app.access_token = access_token;
    return (await app.send('GET', path)).status;
  };

  await t.test('in the browser, at every page', async (t) => {
    const app = await OauthApp.registered(spool, { scope: 'turns:read' });
    const email = 'stopped@x.test';
    const tokens = await app.signIn(email, { resource: base_url });
    const browser = new Browser(base_url);
    const { shown: email_page } = await app.begin(browser);
    const code_page = await browser.press(email_page, 'email', { email });
    const code = await spool.readCode(email);
    const ready = await app.begin(browser);
    const at_consent = await browser.press(ready.shown, 'email', { email });
    const consent = await browser.press(at_consent, 'code', { code: await spool.readCode(email) });
    const given = await app.begin(browser);
    const back = await app.enterCode(browser, given.shown, email);
    t.equal(await statusOf(tokens.access_token, '/events'), 200);

    await staff('disable', app);
    for (const [page, action, typed] of [
      [email_page, 'email', { email }],
      [code_page, 'code', { code }],
      [code_page, 'resend', {}],
      [consent, 'approve', {}],
      [consent, 'deny', {}],
    ] as const) {
      const pressed = await browser.press(page, action, typed);
      t.equal(pressed.status, 403, action);
      t.equal(pressed.location, null, `${action}: nobody is led to it`);
    }
    t.equal((await app.begin(browser)).shown.status, 400);
    t.equal(await statusOf(tokens.access_token, '/events'), 401);
    t.same(jsonOf(await agent.introspect(tokens.access_token)), { active: false });
    for (const answer of [
      await app.exchange(codeOf(back), given.verifier),
      await app.refresh(tokens.refresh_token),
      await app.token({ token: tokens.refresh_token }),
    ]) {
      t.match([answer.status, jsonOf(answer).error], [401, 'invalid_client']);
    }

    await staff('enable', app);
    t.equal(await statusOf(tokens.access_token, '/events'), 200, 'it was stopped, not ended');
    t.ok(codeOf(await browser.press(consent, 'approve')));
    t.equal((await app.exchange(codeOf(back), given.verifier)).status, 200);
    t.equal((await app.refresh(tokens.refresh_token)).status, 200);
  });

  await t.test('in an app of our own, in the middle of native sign-in', async (t) => {
    const ios = OauthApp.first(spool, 'svc-ios');
    const { auth_session, verifier } = await ios.challenge('native@x.test');
    const otp = await spool.readCode('native@x.test');
    await staff('disable', ios);
    for (const answer of [await ios.challengeStep({ auth_session, otp }), await ios.challengeStep({})]) {
      t.match([answer.status, jsonOf(answer).error], [400, 'unauthorized_client']);
    }
    await staff('enable', ios);
    const entered = await ios.challengeStep({ auth_session, otp });
    const { authorization_code } = jsonOf<{ authorization_code: string }>(entered);
    t.equal((await ios.exchange(authorization_code, verifier)).status, 200, 'no try was spent');
  });

  await t.test('an app of our own gets nothing out of a session while it is stopped', async (t) => {
    const web = OauthApp.first(spool, 'svc-web');
    const browser = new Browser(base_url);
    await web.signIn('session@x.test', {}, browser);
    await staff('disable', web);
    const { shown } = await web.begin(browser, { prompt: 'none' });
    t.match([shown.status, shown.location], [400, null]);
    await staff('enable', web);
  });
});

t.test('C-018 which address a request came to: by its host, however that is written', async (t) => {
  const [BASE_URL, LEGACY_BASE_URL] = ['https://api.example', 'https://legacy.example'];
  const plain = await TestSpool.start({ RATE_LIMITS: 'off', BASE_URL, LEGACY_BASE_URL });
  t.teardown(() => plain.end());
  const issuerAt = async (spool: TestSpool, headers: Record<string, string>) => {
    const url = new URL('/.well-known/oauth-authorization-server', spool.base_url);
    return jsonOf(await call({ method: 'GET', url, headers })).issuer;
  };
  for (const Host of ['legacy.example', 'LEGACY.Example', 'legacy.example:443', 'Legacy.example:443']) {
    t.equal(await issuerAt(plain, { Host }), LEGACY_BASE_URL, Host);
  }
  for (const headers of [
    { Host: 'legacy.example:80' },
    { Host: 'legacy.example.x.test' },
    { Host: 'x.test' },
    { Host: 'api.example', 'X-Forwarded-Host': 'legacy.example' },
    { Host: 'api.example', Forwarded: 'host=legacy.example' },
    { Host: 'x.test', 'X-Forwarded-Host': 'y.test', 'X-Forwarded-Proto': 'http' },
  ]) {
    t.equal(await issuerAt(plain, headers as Record<string, string>), BASE_URL, JSON.stringify(headers));
  }

  await t.test('a request line with a host of its own leads to ours all the same', async (t) => {
    for (const target of ['http://x.test/oauth/authorize?a=b', '/oauth/authorize?a=b']) {
      const socket = net.connect(Number(new URL(plain.base_url).port), '127.0.0.1');
      socket.end(`GET ${target} HTTP/1.1\r\nHost: legacy.example\r\nConnection: close\r\n\r\n`);
      const [, location] = /^location: (.*)\r$/im.exec(await text(socket)) ?? [];
      t.equal(location, `${BASE_URL}/oauth/authorize?a=b`, target);
    }
  });

  await t.test('a proxy that is trusted says it, nobody else', async (t) => {
    const behind = await TestSpool.start({
      ...{ BASE_URL, LEGACY_BASE_URL, TRUSTED_PROXIES: '127.0.0.1' },
      RATE_SIGN_INS_BEGUN: '2',
    });
    t.teardown(() => behind.end());
    t.equal(await issuerAt(behind, { Host: 'x.test', 'X-Forwarded-Host': 'legacy.example' }), LEGACY_BASE_URL);
    const app = await OauthApp.registered(behind);
    const begin = (from: string) =>
      call({
        method: 'GET',
        url: new URL(app.authorizePath(right()), behind.base_url),
        headers: { 'X-Forwarded-For': from },
      });
    for (let n = 0; n < 2; n++) t.equal((await begin('203.0.113.1')).status, 303);
    t.equal((await begin('203.0.113.1')).status, 429);
    t.equal((await begin('198.51.100.7, 203.0.113.1')).status, 429, 'what comes from beyond the proxy is hearsay');
    t.equal((await begin('203.0.113.2')).status, 303, 'another network');
  });
});

t.test('C-056 beginning to sign in is limited per network', async (t) => {
  const spool = await TestSpool.start({ RATE_SIGN_INS_BEGUN: '3' });
  t.teardown(() => spool.end());
  const web = OauthApp.first(spool, 'svc-web');
  const browser = new Browser(spool.server.base_url);
  await web.signIn('often@x.test', {}, browser);
  const open = (headers: Record<string, string> = {}, more = {}) =>
    call({ method: 'GET', url: new URL(web.authorizePath({ ...right(), ...more }), spool.base_url), headers });
  for (let n = 2; n <= 3; n++) t.equal((await open()).status, 303);
  const limited = await open({ 'X-Forwarded-For': '203.0.113.9' });
  t.equal(limited.status, 429, 'whatever network it says it comes from');
  t.match(limited.body.toString(), /wait a minute/i);
  t.match(limited.headers['retry-after'], /^\d+$/);
  t.equal((await open({}, { prompt: 'none' })).status, 303, 'what keeps nothing is not counted');
  t.equal((await open({}, { scope: 'none' })).status, 303);
  t.ok(codeOf((await web.begin(browser)).shown), 'nor is who is signed in');
});

t.test('over https no other host of the domain, and no odd spelling, plants our cookies', async (t) => {
  const spool = await TestSpool.start({ RATE_LIMITS: 'off', BASE_URL: 'https://api.example' });
  t.teardown(() => spool.end());
  const app = await OauthApp.registered(spool);
  const open = (path: string, cookie: string) =>
    call({
      method: 'GET',
      url: new URL(path, spool.base_url),
      headers: { Cookie: Buffer.from(cookie).toString('latin1') },
    });
  const begun = await open(app.authorizePath(right()), '');
  const [, value = ''] = /^__Host-spool_browser=([^;]+)/.exec(begun.headers['set-cookie']?.[0] ?? '') ?? [];
  const page = begun.headers.location ?? '';
  t.equal((await open(page, `__Host-spool_browser=${value}`)).status, 200);
  for (const cookie of [
    `spool_browser=${value}`,
    `\u00a0__Host-spool_browser=${value}`,
    `\u2000__Host-spool_browser=${value}`,
    `=__Host-spool_browser=${value}`,
    `__host-spool_browser=${value}`,
    `"__Host-spool_browser"=${value}`,
    `$Version=1; $__Host-spool_browser=${value}`,
    `__Host-spool_browser=x; __Host-spool_browser=${value}`,
    `__Host-spool_browser = ${value}x`,
  ]) {
    t.equal((await open(page, cookie)).status, 403, JSON.stringify(cookie));
  }
});

t.test('C-084 what fails at the CAPTCHA counts as well: its provider is not asked without end', async (t) => {
  const provider = await CaptchaProvider.start(t);
  provider.answer = { status: 200, body: '{"success":false}' };
  const spool = await TestSpool.start({ RATE_CODES_SENT: '2', ...provider.env });
  t.teardown(() => spool.end());
  const browser = new Browser(spool.server.base_url);
  const { shown } = await OauthApp.first(spool, 'svc-web').begin(browser);
  const statuses: number[] = [];
  for (let n = 0; n < 4; n++) {
    statuses.push((await browser.press(shown, 'email', { email: 'bot@x.test', captcha_token: 'x' })).status);
  }
  t.same(statuses, [400, 400, 429, 429]);
  t.equal(provider.asked.length, 2);
});
