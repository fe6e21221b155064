import pino from 'pino';
import t from 'tap';
import { StoreUnavailable } from '../../src/engine/store/store.js';
import { Storage } from '../driver/storage.js';
import { Browser, codeOf, jsonOf, OauthApp, postForm, type Tokens } from '../fixtures/oauth.js';
import { TestSpool } from '../fixtures/spool.js';
import { until } from '../fixtures/until.js';

t.test('no token, code, secret or address reaches the log, whatever goes wrong', async (t) => {
  const { proxy, env } = await Storage.open(t);
  const lines: string[] = [];
  const log = pino({ level: 'trace' }, { write: (line: string) => lines.push(line) });
  const spool = await TestSpool.start({ RATE_LIMITS: 'off', ...env }, log);
  t.teardown(() => spool.end());
  const { services, base_url } = spool.server;
  const email = 'unlogged@x.test';
  const secrets: Record<string, string> = { email };

  const ios = OauthApp.first(spool, 'svc-ios');
  const { auth_session, verifier } = await ios.challenge(email);
  const otp = await spool.readCode(email);
  const entered = jsonOf<{ authorization_code: string }>(await ios.challengeStep({ auth_session, otp }));
  const tokens = jsonOf<Tokens>(await ios.exchange(entered.authorization_code, verifier));
  const app = await OauthApp.registered(spool, { token_endpoint_auth_method: 'client_secret_basic' });
  const browser = new Browser(base_url);
  const begun = await app.begin(browser);
  const form_token = /name="form_token" value="([^"]+)"/.exec(begun.shown.html)?.[1] ?? '';
  const back = await app.enterCode(browser, begun.shown, email);
  Object.assign(secrets, { auth_session, verifier, otp, form_token, code: entered.authorization_code });
  Object.assign(secrets, { access: tokens.access_token, refresh: tokens.refresh_token, 'browser code': codeOf(back) });
  for (const [name, value] of browser.cookies) secrets[name] = value;

  const everything = async () => {
    const basic = `Basic ${Buffer.from('svc-agent:a-secret-that-is-wrong').toString('base64')}`;
    secrets['client secret'] = 'a-secret-that-is-wrong';
    secrets['client secret, encoded'] = basic.slice(6);
    const client = spool.client();
    client.access_token = tokens.access_token;
    for (const ask of [
      () => ios.challengeStep({ auth_session, otp }),
      () => ios.exchange(entered.authorization_code, verifier),
      () => ios.refresh(tokens.refresh_token),
      () => postForm(`${base_url}/oauth/introspect`, { token: tokens.access_token }, { Authorization: basic }),
      () => client.send('GET', '/me'),
      () => browser.open(app.authorizePath({ code_challenge: 'x', state: entered.authorization_code })),
      () => browser.post(begun.shown.url, { form_token, action: 'code', code: otp }),
      () => spool.client().send('POST', '/auth/verify-otp', { body: { email, token: otp } }),
    ]) {
      await ask();
    }
  };
  await everything();
  proxy.cut();
  await until('it is noticed', async () => !(await services.storage_health.isReady()));
  await everything();
  proxy.restore();
  await until('it is back', () => services.storage_health.isReady());
  const { ask } = services.runtime;
  for (const fault of [new StoreUnavailable('away'), new TypeError('a bug')]) {
    services.runtime.ask = () => Promise.reject(fault);
    await everything();
  }
  services.runtime.ask = ask;

  const logged = lines.join('');
  t.match(logged, 'request failed', 'there is a log');
  t.match(logged, 'a bug', 'with what went wrong');
  for (const [name, secret] of Object.entries(secrets)) {
    t.ok(secret.length >= 6, name);
    if (secret === otp) t.notMatch(logged, new RegExp(`(?<![0-9a-z.-])${otp}(?![0-9a-z.-])`), name);
    else t.notOk(logged.includes(secret), name);
  }
});
