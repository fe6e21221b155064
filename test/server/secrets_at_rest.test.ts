import { join } from 'node:path';
import t from 'tap';
import type { SignedIn } from '../fixtures/app_client.js';
import { Browser, codeOf, jsonOf, OauthApp, type Tokens } from '../fixtures/oauth.js';
import { TestSpool } from '../fixtures/spool.js';
import { appendOnlyFiles, secretsIn } from '../fixtures/stored_secrets.js';

t.test('no token, code or claim that was issued rests in Redis', async (t) => {
  const spool = await TestSpool.start({ RATE_LIMITS: 'off' });
  t.teardown(() => spool.end());
  const secrets: Record<string, string> = {};
  const app = spool.client();
  const email = 'secrets@x.test';
  const session = await app.signIn(email, async () => {
    secrets.code = await spool.readCode(email);
    return secrets.code;
  });
  const renewed = await app.ask<SignedIn>('POST', '/auth/refresh', { refresh_token: session.refresh_token });
  for (const [name, { access_token, refresh_token }] of Object.entries({ first: session, renewed })) {
    secrets[`${name} access`] = access_token;
    secrets[`${name} refresh`] = refresh_token;
  }
  const { claim, code } = await app.call('POST /devices/claims', { body: { kind: 'owner' } });
  secrets.claim = claim;
  const { device } = await spool.device();
  await device.ask('POST', '/device/claims/redeem', { claim });

  secrets['address for omi'] = (await app.call('POST /me/omi')).url.split('/').at(-1) ?? '';

  const made = { name: 'client', redirect_uris: ['https://a.test/'], confidential: true };
  const { client_secret } = await spool.operator.ask<{ client_secret: string }>('POST', '/ops/clients', made);
  secrets['client secret'] = client_secret;

  const ios = OauthApp.first(spool, 'svc-ios');
  const { auth_session, verifier } = await ios.challenge('native@x.test');
  secrets.auth_session = auth_session;
  secrets['native code'] = await spool.readCode('native@x.test');
  const entered = await ios.challengeStep({ auth_session, otp: secrets['native code'] });
  const { authorization_code } = jsonOf<{ authorization_code: string }>(entered);
  secrets['authorization code'] = authorization_code;
  const tokens = jsonOf<Tokens>(await ios.exchange(authorization_code, verifier));
  const turned = jsonOf<Tokens>(await ios.refresh(tokens.refresh_token));
  secrets['OAuth refresh'] = tokens.refresh_token;
  secrets['OAuth refresh, renewed'] = turned.refresh_token;
  const web = OauthApp.first(spool, 'svc-web');
  const browser = new Browser(spool.server.base_url);
  const { shown } = await web.begin(browser);
  secrets['form token'] = /name="form_token" value="([^"]+)"/.exec(shown.html)?.[1] ?? '';
  secrets['browser code'] = codeOf(await web.enterCode(browser, shown, 'browser@x.test'));
  secrets['session cookie'] = browser.cookies.get('spool_session') ?? '';
  const wholes = [tokens.access_token, turned.access_token, verifier, browser.cookies.get('spool_browser') ?? ''];
  for (const secret of Object.values(secrets)) t.ok(secret.length >= 6);

  const stored = appendOnlyFiles(join(spool.folder, 'redis'));
  t.ok(stored.includes(email), 'what is no secret is found there: the search works');
  t.same(secretsIn(stored, Object.entries(secrets)), []);
  t.same(secretsIn(Buffer.concat([stored, Buffer.from(secrets.claim ?? '')]), [['claim', claim]]), ['claim']);
  t.notOk(stored.includes(code), 'the pairing code of the claim');
  for (const whole of wholes) {
    const last = whole.split('.').at(-1) ?? '';
    t.notOk(stored.includes(last), 'signatures, verifiers and what ties a sign-in to a browser');
    t.notOk(stored.includes(Buffer.from(last, 'base64url')));
  }
});
