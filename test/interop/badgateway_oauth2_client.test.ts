import { generateCodeVerifier, OAuth2Client, type OAuth2Token } from '@badgateway/oauth2-client';
import t from 'tap';
import { LIMITS } from '../../src/domain/limits.js';
import { OauthApp } from '../fixtures/oauth.js';
import { Person } from '../fixtures/person.js';
import { TestSpool } from '../fixtures/spool.js';

/*
 * @badgateway/oauth2-client 3. It finds the endpoints by itself, and takes the way to authenticate from the metadata.
 * It form-encodes ids and secrets for Basic to the letter: `svc%2Dagent`. It does not look at `iss`, cannot register
 * and knows no end-session; `resource` is lost when a code is exchanged from a redirect. It shows tokens of the API by
 * its `OAuth2Fetch`, which brings nothing new to the server and is not used here.
 */

const told = (oauth2Code: string) => ({ name: 'Error', oauth2Code });

t.test('@badgateway/oauth2-client', async (t) => {
  const spool = await TestSpool.start({ RATE_LIMITS: 'off' });
  t.teardown(() => spool.end());
  const { base_url } = spool.server;
  let people = 0;
  const somebody = () => new Person(spool, `bad${++people}@x.test`);
  const clientOf = ({ client_id, secret }: OauthApp) =>
    new OAuth2Client({
      server: base_url,
      clientId: client_id,
      ...(secret === null ? {} : { clientSecret: secret }),
    });
  const authorize = async (
    app: OauthApp,
    extraParams: Record<string, string> = {},
    { person = somebody(), consent = 'approve' }: { person?: Person; consent?: 'approve' | 'deny' } = {},
  ) => {
    const client = clientOf(app);
    const codeVerifier = await generateCodeVerifier();
    const redirectUri = app.redirect_uri ?? '';
    const checks = { redirectUri, codeVerifier, state: 'a state' };
    const address = await client.authorizationCode.getAuthorizeUri({ ...checks, extraParams });
    return { client, checks, back: await person.visit(address, consent) };
  };
  const signIn = async (...asked: Parameters<typeof authorize>) => {
    const { client, checks, back } = await authorize(...asked);
    return { client, tokens: await client.authorizationCode.getTokenFromCodeRedirect(back, checks) };
  };
  const statusOf = async ({ accessToken }: OAuth2Token) => {
    const app = spool.client();
    app.access_token = accessToken;
    return (await app.send('GET', '/me')).status;
  };

  await t.test('C-060 C-064 C-069 a third-party client without a secret, from sign-in to revocation', async (t) => {
    const app = await OauthApp.registered(spool);
    const { client, tokens } = await signIn(app, { scope: 'account:manage', resource: base_url });
    t.same(tokens.scope, ['account:manage']);
    t.equal(await statusOf(tokens), 200);
    await spool.operator.advanceClock(LIMITS.oauth_access_life_ms);
    t.equal(await statusOf(tokens), 401);
    const [next, same] = await Promise.all([client.refreshToken(tokens), client.refreshToken(tokens)]);
    t.not(next?.refreshToken, tokens.refreshToken);
    t.equal(next?.refreshToken, same?.refreshToken);
    t.equal(await statusOf(next), 200);
    const narrow = await client.refreshToken(next, { scope: [] });
    t.same(narrow.scope, ['account:manage']);
    await client.revoke(narrow, 'refresh_token');
    t.equal(await statusOf(narrow), 401);
    await t.rejects(client.refreshToken(narrow), { ...told('invalid_grant'), httpCode: 400 });
    await client.revoke(narrow);
  });

  await t.test('C-016 C-073 C-078 svc-agent, by HTTP Basic with its id form-encoded', async (t) => {
    const agent = OauthApp.first(spool, 'svc-agent');
    const person = somebody();
    const { client, tokens } = await signIn(agent, {}, { person });
    t.equal(client.settings.authenticationMethod, 'client_secret_basic');
    t.match(await client.introspect(tokens), { active: true, client_id: 'svc-agent', username: person.email });
    const next = await client.refreshToken(tokens);
    await client.revoke(next);
    t.same(await client.introspect(next), { active: false });
    const interop = clientOf(agent);
    interop.settings.authenticationMethod = 'client_secret_basic_interop';
    t.same(await interop.introspect(next), { active: false }, 'its id as it is');
    for (const change of [
      { clientSecret: 'wrong' },
      { authenticationMethod: 'client_secret_post' as const },
      { clientId: 'svc%2Dagent' },
    ]) {
      const other = clientOf(agent);
      Object.assign(other.settings, change);
      await t.rejects(other.introspect(next), { ...told('invalid_client'), httpCode: 401 });
    }
  });

  await t.test('C-016 a third-party client with a secret', async (t) => {
    const app = await OauthApp.registered(spool, { token_endpoint_auth_method: 'client_secret_basic' });
    const { client, tokens } = await signIn(app);
    t.ok((await client.refreshToken(tokens)).accessToken);
    await t.rejects(client.introspect(tokens), told('invalid_client'), 'only our own servers may');
  });

  await t.test('C-030 C-042 C-061 C-062 errors', async (t) => {
    const app = await OauthApp.registered(spool);
    await t.rejects(signIn(app, {}, { consent: 'deny' }), told('access_denied'));
    await t.rejects(signIn(app, { prompt: 'none' }), told('login_required'));
    await t.rejects(signIn(app, { resource: 'https://elsewhere.test' }), told('invalid_target'));
    const { client, checks, back } = await authorize(app);
    const { authorizationCode } = client;
    await t.rejects(authorizationCode.getTokenFromCodeRedirect(back, { ...checks, state: 'another' }));
    const codeVerifier = await generateCodeVerifier();
    const invalid = told('invalid_grant');
    await t.rejects(authorizationCode.getTokenFromCodeRedirect(back, { ...checks, codeVerifier }), invalid);
    t.ok(await authorizationCode.getTokenFromCodeRedirect(back, checks));
    await t.rejects(authorizationCode.getTokenFromCodeRedirect(back, checks), invalid);
    await t.rejects(client.clientCredentials(), /clientSecret/);
    await t.rejects(client.password({ username: 'x', password: 'y' }), told('unsupported_grant_type'));
  });
});
