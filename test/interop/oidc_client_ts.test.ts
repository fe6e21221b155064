import { InMemoryWebStorage, OidcClient, type OidcClientSettings, WebStorageStateStore } from 'oidc-client-ts';
import t from 'tap';
import { LIMITS } from '../../src/domain/limits.js';
import { OauthApp } from '../fixtures/oauth.js';
import { Person } from '../fixtures/person.js';
import { TestSpool } from '../fixtures/spool.js';

/*
 * oidc-client-ts 3, its OidcClient (UserManager needs a window). Made for OpenID Connect: it takes our metadata by
 * `metadataUrl`, and a sign-in without `openid` in its scope goes without ID token. It cannot register, introspect or
 * look at `iss`. With a secret it authenticates by Basic for tokens, but sends the secret in the body for revocation
 * as well, which we refuse: revocation works for public clients.
 */

const told = (error: string) => ({ name: 'ErrorResponse', error });

t.test('oidc-client-ts', async (t) => {
  const spool = await TestSpool.start({ RATE_LIMITS: 'off' });
  t.teardown(() => spool.end());
  const { base_url } = spool.server;
  let people = 0;
  const somebody = () => new Person(spool, `oidc${++people}@x.test`);
  const clientOf = (app: OauthApp, settings: Partial<OidcClientSettings> = {}) =>
    new OidcClient({
      authority: base_url,
      metadataUrl: `${base_url}/.well-known/oauth-authorization-server`,
      client_id: app.client_id,
      redirect_uri: app.redirect_uri ?? '',
      scope: 'account:manage turns:read',
      resource: base_url,
      stateStore: new WebStorageStateStore({ store: new InMemoryWebStorage() }),
      ...(app.secret === null ? {} : { client_secret: app.secret, client_authentication: 'client_secret_basic' }),
      ...settings,
    });
  const authorize = async (
    client: OidcClient,
    args: Parameters<OidcClient['createSigninRequest']>[0] = {},
    { person = somebody(), consent = 'approve' }: { person?: Person; consent?: 'approve' | 'deny' } = {},
  ) => {
    const { url } = await client.createSigninRequest({ state: { kept: 'by the app' }, ...args });
    return (await person.visit(url, consent)).href;
  };
  const signIn = async (...asked: Parameters<typeof authorize>) =>
    asked[0].processSigninResponse(await authorize(...asked));
  type Answer = Awaited<ReturnType<typeof signIn>>;
  const refresh = (client: OidcClient, { refresh_token = '', scope = '', profile }: Partial<Answer>) =>
    client.useRefreshToken({
      state: { refresh_token, scope, session_state: null, profile: profile ?? { sub: '' }, data: undefined } as never,
    });
  const statusOf = async ({ access_token }: { access_token: string }) => {
    const app = spool.client();
    app.access_token = access_token;
    return (await app.send('GET', '/me')).status;
  };

  await t.test('C-060 C-064 C-069 a third-party client without a secret, from sign-in to revocation', async (t) => {
    const client = clientOf(await OauthApp.registered(spool));
    const tokens = await signIn(client);
    t.same(tokens.userState, { kept: 'by the app' });
    t.equal(tokens.scope, 'account:manage turns:read');
    t.equal(await statusOf(tokens), 200);
    await spool.operator.advanceClock(LIMITS.oauth_access_life_ms);
    t.equal(await statusOf(tokens), 401);
    const [next, same] = await Promise.all([refresh(client, tokens), refresh(client, tokens)]);
    t.not(next?.refresh_token, tokens.refresh_token);
    t.equal(next?.refresh_token, same?.refresh_token);
    t.equal(await statusOf(next), 200);
    await client.revokeToken(next.refresh_token ?? '', 'refresh_token');
    t.equal(await statusOf(next), 401);
    await t.rejects(refresh(client, next), told('invalid_grant'));
    await client.revokeToken('nothing');
  });

  await t.test('C-016 svc-agent, by HTTP Basic alone', async (t) => {
    const app = OauthApp.first(spool, 'svc-agent');
    const client = clientOf(app);
    const next = await refresh(client, await signIn(client));
    t.equal(await statusOf(next), 200);
    const in_body = told('invalid_client');
    await t.rejects(client.revokeToken(next.refresh_token ?? ''), in_body, 'the secret is in the body');
    t.equal(await statusOf(next), 200);
    await t.rejects(refresh(clientOf(app, { client_authentication: 'client_secret_post' }), next), in_body);
  });

  await t.test('C-014 a third-party client with a secret, in either way', async (t) => {
    const app = await OauthApp.registered(spool, { token_endpoint_auth_method: 'client_secret_post' });
    const client = clientOf(app);
    const next = await refresh(client, await signIn(client));
    const last = await refresh(clientOf(app, { client_authentication: 'client_secret_post' }), next);
    t.equal(await statusOf(last), 200);
    await client.revokeToken(last.refresh_token ?? '');
    t.equal(await statusOf(last), 401);
  });

  await t.test('C-030 C-042 C-062 errors', async (t) => {
    const app = await OauthApp.registered(spool);
    const client = clientOf(app);
    await t.rejects(signIn(client, {}, { consent: 'deny' }), told('access_denied'));
    await t.rejects(signIn(client, { prompt: 'none' }), told('login_required'));
    await t.rejects(signIn(client, { resource: 'https://elsewhere.test' }), told('invalid_target'));
    await t.rejects(signIn(client, { scope: 'openid' }), told('invalid_scope'), 'there are no ID tokens');
    const back = await authorize(client);
    const twice = await Promise.allSettled([
      client.processSigninResponse(back, undefined, false),
      client.processSigninResponse(back, undefined, false),
    ]);
    t.same(twice.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected']);
    await t.rejects(client.processSigninResponse(back.replace(/state=[^&]+/, 'state=other')), /state/);
  });

  await t.test('C-041 C-050 the session of our own app, silent sign-in, and its end', async (t) => {
    const web = OauthApp.first(spool, 'svc-web');
    const post_logout_redirect_uri = new URL('/bye', web.redirect_uri ?? '').href;
    const client = clientOf(web, { post_logout_redirect_uri });
    const person = somebody();
    await signIn(client, {}, { person });
    t.equal(await statusOf(await signIn(client, { prompt: 'none' }, { person })), 200);
    const { url } = await client.createSignoutRequest({ client_id: web.client_id, state: 'over' });
    const back = await person.visit(url);
    t.equal(back.origin + back.pathname, post_logout_redirect_uri);
    t.equal((await client.processSignoutResponse(back.href)).userState, 'over');
    await t.rejects(signIn(client, { prompt: 'none' }, { person }), told('login_required'));
  });
});
