import * as oauth from 'oauth4webapi';
import t from 'tap';
import { LIMITS } from '../../src/domain/limits.js';
import { OauthApp } from '../fixtures/oauth.js';
import { Person } from '../fixtures/person.js';
import { TestSpool } from '../fixtures/spool.js';

/*
 * oauth4webapi 3, each request and each check by itself: it is what openid-client is made of, and also does the side of
 * a resource server. It has to be told `algorithm: 'oauth2'` for discovery, and that plain HTTP will do. It builds no
 * addresses: those of the authorization and the end-session endpoint are the app's own work. No ID tokens are given here.
 */

const REDIRECT_URI = 'https://app.example/callback';
const HTTP = { [oauth.allowInsecureRequests]: true };

t.test('oauth4webapi', async (t) => {
  const spool = await TestSpool.start({ RATE_LIMITS: 'off' });
  t.teardown(() => spool.end());
  const { base_url } = spool.server;
  const issuer = new URL(base_url);
  const as = await oauth.processDiscoveryResponse(
    issuer,
    await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...HTTP }),
  );
  const agent = OauthApp.first(spool, 'svc-agent');
  const agent_auth = oauth.ClientSecretBasic(agent.secret ?? '');
  let people = 0;
  const somebody = () => new Person(spool, `web${++people}@x.test`);

  const register = async (metadata: Partial<oauth.Client> = {}) =>
    oauth.processDynamicClientRegistrationResponse(
      await oauth.dynamicClientRegistrationRequest(
        as,
        { client_name: 'Interop', redirect_uris: [REDIRECT_URI], ...metadata } as Partial<oauth.Client>,
        HTTP,
      ),
    );
  const authorize = async (
    client: oauth.Client,
    { redirect_uri = REDIRECT_URI, ...parameters }: Record<string, string> = {},
    { person = somebody(), consent = 'approve' }: { person?: Person; consent?: 'approve' | 'deny' } = {},
  ) => {
    const verifier = oauth.generateRandomCodeVerifier();
    const state = oauth.generateRandomState();
    const url = new URL(as.authorization_endpoint ?? '');
    const all = {
      client_id: client.client_id,
      redirect_uri,
      response_type: 'code',
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      state,
      ...parameters,
    };
    for (const [name, value] of Object.entries(all)) url.searchParams.set(name, value);
    return { back: await person.visit(url, consent), state, verifier, redirect_uri };
  };
  const exchange = async (
    client: oauth.Client,
    auth: oauth.ClientAuth,
    { back, state, verifier, redirect_uri }: Awaited<ReturnType<typeof authorize>>,
  ) => {
    const parameters = oauth.validateAuthResponse(as, client, back, state);
    const answer = await oauth.authorizationCodeGrantRequest(
      as,
      client,
      auth,
      parameters,
      redirect_uri,
      verifier,
      HTTP,
    );
    return oauth.processAuthorizationCodeResponse(as, client, answer);
  };
  const refresh = async (client: oauth.Client, auth: oauth.ClientAuth, token = '') =>
    oauth.processRefreshTokenResponse(as, client, await oauth.refreshTokenGrantRequest(as, client, auth, token, HTTP));
  const introspect = async (client: oauth.Client, auth: oauth.ClientAuth, token = '') =>
    oauth.processIntrospectionResponse(as, client, await oauth.introspectionRequest(as, client, auth, token, HTTP));
  /**
   * What a resource server makes of a request with this token. It reads the keys each time: for a minute after it has
   * read them, a library like this one does not look again for a key that it does not know. Keys that come by age are
   * published long before; one that comes by command signs at once, and what is checked elsewhere fails until then.
   */
  const judged = (token: string, audience: string) =>
    oauth.validateJwtAccessToken(
      { ...as },
      new Request('https://resource.test/', { headers: { Authorization: `Bearer ${token}` } }),
      audience,
      HTTP,
    );

  await t.test('C-003 discovery of the server, and of what it protects', async (t) => {
    t.equal(as.issuer, base_url);
    for (const resource of [base_url, `${base_url}/mcp`]) {
      const address = new URL(resource);
      const found = await oauth.processResourceDiscoveryResponse(
        address,
        await oauth.resourceDiscoveryRequest(address, HTTP),
      );
      t.equal(found.resource, resource);
      t.same(found.authorization_servers, [base_url]);
    }
  });

  await t.test('C-007 C-060 C-064 C-069 a client that registered itself, from sign-in to revocation', async (t) => {
    const client = await register({ token_endpoint_auth_method: 'none' });
    const auth = oauth.None();
    const tokens = await exchange(client, auth, await authorize(client));
    t.match(tokens, { token_type: 'bearer', expires_in: 3600, scope: 'audio:read turns:read insights:read' });
    const next = await refresh(client, auth, tokens.refresh_token);
    t.not(next.refresh_token, tokens.refresh_token);
    const hint = { token_type_hint: 'refresh_token' };
    const answer = await oauth.revocationRequest(as, client, auth, next.refresh_token ?? '', {
      additionalParameters: hint,
      ...HTTP,
    });
    t.equal(await oauth.processRevocationResponse(answer), undefined);
    await t.rejects(refresh(client, auth, next.refresh_token), {
      code: 'OAUTH_RESPONSE_BODY_ERROR',
      error: 'invalid_grant',
    });
  });

  await t.test('C-047 C-048 access tokens are JWTs that any resource server can judge (RFC 9068)', async (t) => {
    const client = await register();
    const mcp = await exchange(client, oauth.None(), await authorize(client));
    t.match(await judged(mcp.access_token, `${base_url}/mcp`), {
      iss: base_url,
      aud: `${base_url}/mcp`,
      client_id: client.client_id,
    });
    await t.rejects(judged(mcp.access_token, base_url), { code: 'OAUTH_JWT_CLAIM_COMPARISON_FAILED' });
    const api = await exchange(client, oauth.None(), await authorize(client, { resource: base_url }));
    t.ok(await judged(api.access_token, base_url));
    await spool.operator.ask('POST', '/ops/keys/rotate');
    const after = await refresh(client, oauth.None(), api.refresh_token);
    t.ok(await judged(after.access_token, base_url), 'of a key that came later');
    t.ok(await judged(api.access_token, base_url), 'of the key before');
    await t.rejects(judged(`${after.access_token.slice(0, -8)}AAAAAAAA`, base_url));
  });

  await t.test('C-016 C-073 C-078 our own confidential client, by HTTP Basic with its id form-encoded', async (t) => {
    const client = { client_id: 'svc-agent' };
    const person = somebody();
    const redirect_uri = agent.redirect_uri ?? '';
    const tokens = await exchange(client, agent_auth, await authorize(client, { redirect_uri }, { person }));
    t.match(await introspect(client, agent_auth, tokens.access_token), {
      active: true,
      username: person.email,
      client_id: 'svc-agent',
      agent_enabled: false,
    });
    t.same(await introspect(client, agent_auth, 'garbage'), { active: false });
    await spool.operator.advanceClock(LIMITS.oauth_access_life_ms);
    t.same(await introspect(client, agent_auth, tokens.access_token), { active: false });
    const next = await refresh(client, agent_auth, tokens.refresh_token);
    t.match(await introspect(client, agent_auth, next.access_token), { active: true });
    const challenged = { code: 'OAUTH_WWW_AUTHENTICATE_CHALLENGE', status: 401 };
    await t.rejects(refresh(client, oauth.ClientSecretBasic('wrong'), next.refresh_token), challenged);
    for (const auth of [oauth.None(), oauth.ClientSecretPost(agent.secret ?? '')]) {
      await t.rejects(refresh(client, auth, next.refresh_token), challenged);
    }
  });

  await t.test('C-030 C-042 C-061 errors', async (t) => {
    const client = await register();
    const told = (error: string) => ({ code: 'OAUTH_AUTHORIZATION_RESPONSE_ERROR', error });
    const denied = await authorize(client, {}, { consent: 'deny' });
    await t.rejects(exchange(client, oauth.None(), denied), told('access_denied'));
    const silent = await authorize(client, { prompt: 'none' });
    await t.rejects(exchange(client, oauth.None(), silent), told('login_required'));
    const good = await authorize(client);
    const invalid = { code: 'OAUTH_RESPONSE_BODY_ERROR', error: 'invalid_grant' };
    const verifier = oauth.generateRandomCodeVerifier();
    await t.rejects(exchange(client, oauth.None(), { ...good, verifier }), invalid);
    await t.rejects(exchange(client, oauth.None(), { ...good, redirect_uri: `${REDIRECT_URI}/x` }), invalid);
    const another = await register();
    await t.rejects(exchange(another, oauth.None(), good), invalid);
    t.ok(await exchange(client, oauth.None(), good));
  });

  await t.test('ten exchanges of one code at once: one wins', async (t) => {
    const client = await register();
    const authorized = await authorize(client);
    const ends = await Promise.allSettled(Array.from({ length: 10 }, () => exchange(client, oauth.None(), authorized)));
    const [won, ...more] = ends.filter((end) => end.status === 'fulfilled');
    t.same(more, []);
    t.ok(await refresh(client, oauth.None(), won?.value.refresh_token), 'and keeps its grant');
  });

  await t.test('it holds answers to state and issuer', async (t) => {
    const client = await register();
    const authorized = await authorize(client);
    const wrong = { code: 'OAUTH_INVALID_RESPONSE' };
    for (const name of ['iss', 'state']) {
      const without = new URL(authorized.back);
      without.searchParams.delete(name);
      await t.rejects(exchange(client, oauth.None(), { ...authorized, back: without }), wrong);
      const other = new URL(authorized.back);
      other.searchParams.set(name, 'https://elsewhere.test');
      await t.rejects(exchange(client, oauth.None(), { ...authorized, back: other }), wrong);
    }
    t.ok(await exchange(client, oauth.None(), authorized));
  });
});
