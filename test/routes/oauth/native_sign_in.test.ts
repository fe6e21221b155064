import t from 'tap';
import { CaptchaProvider } from '../../fixtures/captcha_provider.js';
import { Browser, jsonOf, OauthApp, pkce, postForm } from '../../fixtures/oauth.js';
import { TestSpool } from '../../fixtures/spool.js';

const MINUTE_MS = 60_000;
const ORIGIN = 'https://app.example';

t.test('native sign-in', async (t) => {
  const spool = await TestSpool.start({ RATE_LIMITS: 'off', CORS_ORIGINS: ORIGIN });
  t.teardown(() => spool.end());
  const ios = OauthApp.first(spool, 'svc-ios');
  const right = () => {
    const { challenge } = pkce();
    return { response_type: 'code', code_challenge: challenge, code_challenge_method: 'S256', email: 'nat@x.test' };
  };
  /** Six digits that are not the code. */
  const other = (code: string) => (code === '000000' ? '111111' : '000000');

  await t.test('C-082 C-083 step 1 answers alike and mails, known or not', async (t) => {
    await spool.signIn('known@x.test');
    for (const email of ['known@x.test', 'unknown@x.test']) {
      const answer = await ios.challengeStep({ ...right(), email });
      t.equal(answer.status, 403, email);
      t.equal(answer.headers['cache-control'], 'no-store');
      const { auth_session, error_description, ...rest } = jsonOf<Record<string, string>>(answer);
      t.same(rest, { error: 'insufficient_authorization', expires_in: 600 });
      t.match(auth_session, /^[A-Za-z0-9_-]{43,}$/);
      t.ok(error_description);
      t.match(await spool.readCode(email), /^\d{6}$/);
    }
  });

  await t.test('C-088 C-092 C-094 C-098 C-060 X-34 the right code once, then ordinary tokens of the API', async (t) => {
    const { auth_session, verifier } = await ios.challenge('one@x.test', { installation_label: "Ann's phone" });
    const otp = await spool.readCode('one@x.test');
    const answer = await ios.challengeStep({ auth_session, otp });
    t.equal(answer.status, 200);
    const { authorization_code, ...rest } = jsonOf<{ authorization_code: string }>(answer);
    t.same(rest, {});
    const again = await ios.challengeStep({ auth_session, otp });
    t.equal(again.status, 400);
    t.equal(jsonOf(again).error, 'invalid_session');
    const exchanged = await ios.exchange(authorization_code, verifier);
    t.equal(exchanged.status, 200);
    t.equal(exchanged.headers['cache-control'], 'no-store');
    t.equal(exchanged.headers.pragma, 'no-cache');
    const tokens = jsonOf<Record<string, string>>(exchanged);
    t.match(tokens, { token_type: 'Bearer', expires_in: 3600 });
    t.equal(tokens.scope?.split(' ').length, 21, 'all of its registered scopes');
    const app = spool.client();
    app.access_token = tokens.access_token as string;
    t.match(await app.ask('GET', '/me'), { email: 'one@x.test' });
    t.match(await app.ask('GET', '/me/connections'), { items: [{ name: "Ann's phone", current: true }] });
  });

  await t.test('C-089 C-090 X-05 four wrong codes keep the session, the fifth ends it', async (t) => {
    const { auth_session } = await ios.challenge('five@x.test');
    const otp = await spool.readCode('five@x.test');
    for (let wrong = 1; wrong <= 4; wrong++) {
      const answer = await ios.challengeStep({ auth_session, otp: other(otp) });
      t.equal(answer.status, 403, `wrong ${wrong}`);
      t.match(jsonOf(answer), { error: 'insufficient_authorization', auth_session });
    }
    for (const code of [other(otp), otp]) {
      const answer = await ios.challengeStep({ auth_session, otp: code });
      t.equal(answer.status, 400);
      t.equal(jsonOf(answer).error, 'invalid_session');
    }
  });

  await t.test('C-089 after four wrong codes the right one still works', async (t) => {
    const { auth_session } = await ios.challenge('four@x.test');
    const otp = await spool.readCode('four@x.test');
    for (let wrong = 1; wrong <= 4; wrong++) await ios.challengeStep({ auth_session, otp: other(otp) });
    t.equal((await ios.challengeStep({ auth_session, otp })).status, 200);
  });

  await t.test('C-090 wrong and right codes at once: five are judged, and a right one counts once', async (t) => {
    const { auth_session } = await ios.challenge('many@x.test');
    const otp = await spool.readCode('many@x.test');
    const guesses = [...Array.from({ length: 12 }, () => other(otp)), otp, otp];
    const answers = await Promise.all(guesses.map((guess) => ios.challengeStep({ auth_session, otp: guess })));
    t.ok(answers.filter(({ status }) => status === 200).length <= 1);
    t.ok(answers.filter(({ status }) => status === 403).length <= 4);
    t.equal(jsonOf(await ios.challengeStep({ auth_session, otp })).error, 'invalid_session');
  });

  await t.test('C-091 X-06 after ten minutes it is over', async (t) => {
    const { auth_session } = await ios.challenge('late@x.test');
    const otp = await spool.readCode('late@x.test');
    await spool.operator.advanceClock(10 * MINUTE_MS);
    const answer = await ios.challengeStep({ auth_session, otp });
    t.equal(answer.status, 400);
    t.equal(jsonOf(answer).error, 'invalid_session');
  });

  await t.test('C-092 what is no session is none', async (t) => {
    const { auth_session } = await ios.challenge('none@x.test');
    for (const wrong of ['x', `${auth_session}A`, auth_session.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'))]) {
      const answer = await ios.challengeStep({ auth_session: wrong, otp: '123456' });
      t.equal(answer.status, 400);
      t.equal(jsonOf(answer).error, 'invalid_session', wrong);
    }
    const mac = OauthApp.first(spool, 'svc-mac');
    const otp = await spool.readCode('none@x.test');
    t.equal(jsonOf(await mac.challengeStep({ auth_session, otp })).error, 'invalid_session', 'of another client');
    t.equal((await ios.challengeStep({ auth_session, otp })).status, 200, 'which does it no harm');
  });

  await t.test('C-093 a malformed code is told so and counts nothing', async (t) => {
    const { auth_session } = await ios.challenge('form@x.test');
    for (const otp of ['12', '1234567', 'abcdef', '1234５', undefined]) {
      for (let n = 0; n < 2; n++) {
        const answer = await ios.challengeStep({ auth_session, otp });
        t.equal(answer.status, 400);
        t.equal(jsonOf(answer).error, 'invalid_request');
      }
    }
    t.equal((await ios.challengeStep({ auth_session, otp: await spool.readCode('form@x.test') })).status, 200);
  });

  await t.test('C-081 C-085 step 1 names what is missing or malformed', async (t) => {
    for (const [field, value] of [
      ['response_type', undefined],
      ['response_type', 'token'],
      ['code_challenge', undefined],
      ['code_challenge', 'short'],
      ['code_challenge_method', undefined],
      ['code_challenge_method', 'plain'],
      ['email', undefined],
      ['email', 'nobody'],
      ['installation_label', 'x'.repeat(81)],
    ] as const) {
      const answer = await ios.challengeStep({ ...right(), [field]: value });
      t.equal(answer.status, 400, `${field}=${value}`);
      t.equal(answer.headers['cache-control'], 'no-store');
      const { error, error_description } = jsonOf<Record<string, string>>(answer);
      t.equal(error, 'invalid_request');
      t.match(error_description, field);
    }
    const json = await spool.client().send('POST', '/oauth/authorize-challenge', { body: right() });
    t.equal(json.status, 400, 'JSON');
    t.equal(jsonOf(json).error, 'invalid_request');
    t.equal(json.headers['cache-control'], 'no-store');
  });

  await t.test('C-086 C-087 X-30 other clients and other scopes', async (t) => {
    const registered = await OauthApp.registered(spool);
    const others = [OauthApp.first(spool, 'svc-web'), OauthApp.first(spool, 'svc-agent'), registered];
    for (const app of [...others, new OauthApp(spool, { client_id: 'nobody' })]) {
      const answer = await app.challengeStep(right());
      t.equal(answer.status, 400, app.client_id);
      t.equal(jsonOf(answer).error, 'unauthorized_client');
    }
    const mac = OauthApp.first(spool, 'svc-mac');
    for (const scope of ['workspace:read', 'no:such', 'audio:read sources:write']) {
      const answer = await mac.challengeStep({ ...right(), scope });
      t.equal(answer.status, 400, scope);
      t.equal(jsonOf(answer).error, 'invalid_scope');
    }
  });

  await t.test('C-095 it neither uses nor makes a browser session', async (t) => {
    const web = OauthApp.first(spool, 'svc-web');
    const browser = new Browser(spool.server.base_url);
    await web.signIn('cookie@x.test', {}, browser);
    const before = new Map(browser.cookies);
    const cookie = [...before].map(([name, value]) => `${name}=${value}`).join('; ');
    const form = { ...right(), client_id: 'svc-ios', email: 'cookie@x.test' };
    const answer = await postForm(`${spool.server.base_url}/oauth/authorize-challenge`, form, { Cookie: cookie });
    t.equal(answer.status, 403, 'a code is asked for all the same');
    t.equal(answer.headers['set-cookie'], undefined);
    const { auth_session, verifier } = await ios.challenge('fresh@x.test');
    const entered = await ios.challengeStep({ auth_session, otp: await spool.readCode('fresh@x.test') });
    t.equal(entered.headers['set-cookie'], undefined);
    const { authorization_code } = jsonOf<{ authorization_code: string }>(entered);
    t.equal((await ios.exchange(authorization_code, verifier)).headers['set-cookie'], undefined);
    const { shown } = await web.begin(new Browser(spool.server.base_url), { prompt: 'none' });
    t.match(shown.location, /error=login_required/);
  });

  await t.test('pages of allowed origins may read what is said there', async (t) => {
    for (const path of ['/oauth/authorize-challenge', '/oauth/token']) {
      const allowed = async (Origin: string) =>
        (await postForm(spool.server.base_url + path, right(), { Origin })).headers['access-control-allow-origin'];
      t.equal(await allowed(ORIGIN), ORIGIN, path);
      t.equal(await allowed('https://evil.example'), undefined, path);
    }
  });

  await t.test('a code of native sign-in is exchanged without a redirect address only', async (t) => {
    const { auth_session, verifier } = await ios.challenge('uri@x.test');
    const entered = await ios.challengeStep({ auth_session, otp: await spool.readCode('uri@x.test') });
    const { authorization_code } = jsonOf<{ authorization_code: string }>(entered);
    const wrong = await ios.exchange(authorization_code, verifier, { redirect_uri: 'https://app.example/callback' });
    t.equal(jsonOf(wrong).error, 'invalid_grant');
    t.equal((await ios.exchange(authorization_code, verifier)).status, 200);
  });
});

t.test('C-084 with a CAPTCHA configured its token is required and checked', async (t) => {
  const provider = await CaptchaProvider.start(t);
  const spool = await TestSpool.start({ RATE_LIMITS: 'off', ...provider.env });
  t.teardown(() => spool.end());
  const ios = OauthApp.first(spool, 'svc-ios');
  const { challenge } = pkce();
  const step = (captcha_token: string | undefined) =>
    ios.challengeStep({
      response_type: 'code',
      code_challenge: challenge,
      code_challenge_method: 'S256',
      email: 'captcha@x.test',
      captcha_token,
    });
  const refused = (status: number) => ({ status, body: '{"success":false}' });
  for (const [token, verdict, status, error] of [
    [undefined, null, 400, 'invalid_request'],
    ['a machine', refused(200), 400, 'invalid_request'],
    ['broken', refused(500), 503, 'temporarily_unavailable'],
    ['a person', { status: 200, body: '{"success":true}' }, 403, 'insufficient_authorization'],
  ] as const) {
    if (verdict !== null) provider.answer = verdict;
    const answer = await step(token);
    t.equal(answer.status, status, `token ${token}`);
    t.equal(jsonOf(answer).error, error);
  }
  t.equal(provider.asked.length, 3, 'what is missing need not be asked about');
  t.equal(provider.asked.at(-1)?.get('response'), 'a person');
});

t.test('C-097 too many steps from one network', async (t) => {
  const spool = await TestSpool.start({ RATE_NATIVE_STEPS: '3' });
  t.teardown(() => spool.end());
  const ios = OauthApp.first(spool, 'svc-ios');
  for (let step = 1; step <= 3; step++) t.equal((await ios.challengeStep({})).status, 400);
  const answer = await ios.challengeStep({});
  t.equal(answer.status, 429);
  t.equal(jsonOf(answer).error, 'temporarily_unavailable');
  t.match(answer.headers['retry-after'], /^\d+$/);
});
