import t from 'tap';
import { Storage } from '../driver/storage.js';
import { Browser, codeOf, jsonOf, OauthApp, pkce, type Tokens } from '../fixtures/oauth.js';
import { TestSpool } from '../fixtures/spool.js';
import { until } from '../fixtures/until.js';

type Answer = { status: number; headers: Record<string, string | string[] | undefined>; body: Buffer };

t.test('C-097 Redis away at each step of a sign-in: nothing is refused for it, nothing is lost', async (t) => {
  const { proxy, env } = await Storage.open(t);
  const spool = await TestSpool.start({ RATE_LIMITS: 'off', ...env });
  t.teardown(() => spool.end());
  const { services, base_url } = spool.server;
  const ios = OauthApp.first(spool, 'svc-ios');
  const web = OauthApp.first(spool, 'svc-web');
  const agent = OauthApp.first(spool, 'svc-agent');
  const statusOf = async (access_token: string) => {
    const app = spool.client();
    app.access_token = access_token;
    return (await app.send('GET', '/me')).status;
  };
  /** Cuts Redis off while it asks, and waits until it is there again. */
  const whileAway = async <T>(ask: () => Promise<T>): Promise<T> => {
    proxy.cut();
    await until('it is noticed', async () => !(await services.storage_health.isReady()));
    try {
      return await ask();
    } finally {
      proxy.restore();
      await until('it is back', () => services.storage_health.isReady());
    }
  };
  const isAway = (t: Tap, answer: Answer, step: string) => {
    t.equal(answer.status, 503, step);
    t.match(answer.headers['retry-after'], /^\d+$/, `${step}: when to come again`);
    if (String(answer.headers['content-type']).startsWith('application/json')) {
      t.equal(jsonOf(answer as never).error, 'temporarily_unavailable', step);
    } else t.match(answer.body.toString(), /<h1>/, `${step}: a page`);
  };

  await t.test('native sign-in, exchange, refresh, revocation, introspection', async (t) => {
    const { verifier, challenge } = pkce();
    const begin = () =>
      ios.challengeStep({
        response_type: 'code',
        email: 'away@x.test',
        code_challenge: challenge,
        code_challenge_method: 'S256',
      });
    isAway(t, await whileAway(begin), 'begin');
    const { auth_session } = jsonOf<{ auth_session: string }>(await begin());
    const otp = await spool.readCode('away@x.test');
    const finish = () => ios.challengeStep({ auth_session, otp });
    isAway(t, await whileAway(finish), 'finish');
    const { authorization_code } = jsonOf<{ authorization_code: string }>(await finish());
    const exchange = () => ios.exchange(authorization_code, verifier);
    isAway(t, await whileAway(exchange), 'exchange');
    const tokens = jsonOf<Tokens>(await exchange());
    isAway(t, await whileAway(() => agent.introspect(tokens.access_token)), 'introspection');
    t.match(jsonOf(await agent.introspect(tokens.access_token)), { active: true });
    const refresh = () => ios.refresh(tokens.refresh_token);
    isAway(t, await whileAway(refresh), 'refresh');
    const renewed = jsonOf<Tokens>(await refresh());
    t.equal(await statusOf(renewed.access_token), 200, 'the old refresh token worked');
    const revoke = () => ios.token({ token: renewed.refresh_token });
    isAway(t, await whileAway(revoke), 'revocation');
    t.equal(await statusOf(renewed.access_token), 200);
    t.equal((await revoke()).status, 200);
    t.equal(await statusOf(renewed.access_token), 401);
  });

  await t.test('the pages', async (t) => {
    const browser = new Browser(base_url);
    const app = await OauthApp.registered(spool);
    const { challenge } = pkce();
    const path = app.authorizePath({ code_challenge: challenge, code_challenge_method: 'S256' });
    isAway(t, await whileAway(() => browser.open(path)), 'authorize');
    let page = await browser.open(path);
    isAway(t, await whileAway(() => browser.press(page, 'email', { email: 'pages@x.test' })), 'email');
    page = await browser.press(page, 'email', { email: 'pages@x.test' });
    const code = await spool.readCode('pages@x.test');
    isAway(t, await whileAway(() => browser.press(page, 'code', { code })), 'code');
    page = await browser.press(page, 'code', { code });
    isAway(t, await whileAway(() => browser.press(page, 'approve')), 'approve');
    t.ok(codeOf(await browser.press(page, 'approve')));
    isAway(t, await whileAway(async () => (await web.begin(browser, { prompt: 'none' })).shown), 'prompt=none');
    t.ok(codeOf((await web.begin(browser, { prompt: 'none' })).shown), 'the session is still there');
    const bye = `/oauth/end-session?client_id=svc-web&post_logout_redirect_uri=${encodeURIComponent(web.redirect_uri ?? '')}`;
    isAway(t, await whileAway(() => browser.open(bye)), 'end-session');
    t.ok(codeOf((await web.begin(browser, { prompt: 'none' })).shown), 'and has not ended');
    const registration = { redirect_uris: ['https://a.example/cb'] };
    isAway(
      t,
      await whileAway(() => spool.client().send('POST', '/oauth/register', { body: registration })),
      'register',
    );
  });

  await t.test('a commit whose answer is lost: once in effect, and whoever asks again goes on', async (t) => {
    for (let round = 0; round < 5; round++) {
      const { auth_session, verifier } = await ios.challenge(`lost${round}@x.test`);
      const otp = await spool.readCode(`lost${round}@x.test`);
      const lost = async (ask: () => Promise<Answer>) => {
        const before = proxy.swallowed;
        proxy.swallowReplyTo('spool_commit');
        const answer = await ask();
        t.equal(proxy.swallowed, before + 1, 'the answer of Redis was lost');
        t.ok(answer.status === 200 || answer.status === 503, `${answer.status}`);
        await until('it is back', () => services.storage_health.isReady());
        return answer.status === 200 ? answer : ask();
      };
      const entered = await lost(() => ios.challengeStep({ auth_session, otp }));
      t.equal(entered.status, 200);
      const { authorization_code } = jsonOf<{ authorization_code: string }>(entered as never);
      const exchanged = await lost(() => ios.exchange(authorization_code, verifier));
      t.equal(exchanged.status, 200);
      const tokens = jsonOf<Tokens>(exchanged as never);
      const renewed = jsonOf<Tokens>((await lost(() => ios.refresh(tokens.refresh_token))) as never);
      const again = jsonOf<Tokens>(await ios.refresh(tokens.refresh_token));
      t.equal(again.refresh_token, renewed.refresh_token, 'one successor');
      t.equal(await statusOf(renewed.access_token), 200);
    }
  });

  await t.test('C-097 mails that cannot be sent: sign-in says so', async (t) => {
    services.mail.healthy = () => false;
    const answer = await ios.challengeStep({ ...pkce(), response_type: 'code' });
    t.equal(answer.status, 400, 'what is wrong with the request comes first');
    const { challenge } = pkce();
    const right = {
      response_type: 'code',
      code_challenge: challenge,
      code_challenge_method: 'S256',
      email: 'm@x.test',
    };
    isAway(t, await ios.challengeStep(right), 'native');
    const browser = new Browser(base_url);
    const { shown } = await web.begin(browser);
    isAway(t, await browser.press(shown, 'email', { email: 'm@x.test' }), 'page');
  });
});

type Tap = Pick<typeof t, 'equal' | 'match'>;
