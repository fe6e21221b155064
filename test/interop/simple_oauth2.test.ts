import { type AccessToken, AuthorizationCode } from 'simple-oauth2';
import t from 'tap';
import { LIMITS } from '../../src/domain/limits.js';
import { OauthApp, pkce } from '../fixtures/oauth.js';
import { Person } from '../fixtures/person.js';
import { TestSpool } from '../fixtures/spool.js';

/*
 * simple-oauth2 5, for confidential clients alone: it always shows a secret, so a public client cannot use it. It takes
 * addresses by hand and knows nothing of discovery, registration, PKCE (parameters that it does not know are passed on,
 * which is enough), `state`, `iss`, introspection and end-session. Errors are those of its HTTP client: a status, and
 * the body. It decides by the machine's clock when a token has expired, which no moved clock of ours changes.
 */

t.test('simple-oauth2', async (t) => {
  const spool = await TestSpool.start({ RATE_LIMITS: 'off' });
  t.teardown(() => spool.end());
  const { base_url } = spool.server;
  let people = 0;
  const clientOf = (
    { client_id, secret }: OauthApp,
    options: NonNullable<ConstructorParameters<typeof AuthorizationCode>[0]['options']> = {},
  ) =>
    new AuthorizationCode({
      client: { id: client_id, secret: secret ?? '' },
      auth: {
        tokenHost: base_url,
        tokenPath: '/oauth/token',
        revokePath: '/oauth/token',
        authorizePath: '/oauth/authorize',
      },
      options,
    });
  const authorize = async (app: OauthApp, client: AuthorizationCode, more: Record<string, string> = {}) => {
    const { verifier, challenge } = pkce();
    const redirect_uri = app.redirect_uri ?? '';
    const asked = { redirect_uri, state: 's', code_challenge: challenge, code_challenge_method: 'S256', ...more };
    const person = new Person(spool, `simple${++people}@x.test`);
    const back = await person.visit(client.authorizeURL(asked));
    return { code: back.searchParams.get('code') ?? '', redirect_uri, code_verifier: verifier };
  };
  const statusOf = async ({ token }: AccessToken) => {
    const app = spool.client();
    app.access_token = String(token.access_token);
    return (await app.send('GET', '/me')).status;
  };
  const refused = (status: number, error: string) => ({
    message: new RegExp(`: ${status} `),
    data: { payload: { error } },
  });

  for (const mode of ['strict', 'loose'] as const) {
    await t.test(`C-016 C-060 C-064 C-069 confidential clients, by HTTP Basic with ${mode} encoding`, async (t) => {
      for (const app of [
        OauthApp.first(spool, 'svc-agent'),
        await OauthApp.registered(spool, { token_endpoint_auth_method: 'client_secret_basic' }),
      ]) {
        const client = clientOf(app, { credentialsEncodingMode: mode });
        const tokens = await client.getToken(await authorize(app, client, { resource: base_url }));
        t.match(tokens.token, { token_type: 'Bearer', expires_in: 3600 });
        t.notOk(tokens.expired());
        await spool.operator.advanceClock(LIMITS.oauth_access_life_ms);
        t.equal(await statusOf(tokens), 401);
        const [next, same] = await Promise.all([tokens.refresh(), tokens.refresh()]);
        t.not(next?.token.refresh_token, tokens.token.refresh_token);
        t.equal(next?.token.refresh_token, same?.token.refresh_token);
        t.not(await statusOf(next), 401);
        await next.revoke('refresh_token');
        t.equal(await statusOf(next), 401);
        await next.revoke('access_token');
        await t.rejects(next.refresh(), refused(400, 'invalid_grant'));
      }
    });
  }

  await t.test('it revokes both of its tokens at once', async () => {
    const app = OauthApp.first(spool, 'svc-agent');
    const client = clientOf(app);
    await (await client.getToken(await authorize(app, client))).revokeAll();
  });

  await t.test('C-061 C-062 errors', async (t) => {
    const app = OauthApp.first(spool, 'svc-agent');
    const client = clientOf(app);
    const given = await authorize(app, client);
    const { verifier } = pkce();
    const wrong = { ...given, code_verifier: verifier };
    await t.rejects(client.getToken(wrong), refused(400, 'invalid_grant'));
    const { code_verifier: _, ...without } = given;
    await t.rejects(client.getToken(without), refused(400, 'invalid_request'), 'PKCE is for confidential clients too');
    const post = clientOf(app, { authorizationMethod: 'body' });
    await t.rejects(post.getToken(given), refused(401, 'invalid_client'), 'a secret in the body');
    const json = clientOf(app, { bodyFormat: 'json' });
    await t.rejects(json.getToken(given), refused(400, 'invalid_request'), 'a body in JSON');
    t.ok(await client.getToken(given));
    await t.rejects(client.getToken(given), refused(400, 'invalid_grant'));
    t.equal(
      (await authorize(app, client, { prompt: 'none' })).code,
      '',
      "the error in the redirect is the app's to read",
    );
  });
});
