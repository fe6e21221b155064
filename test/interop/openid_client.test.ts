import * as openid from 'openid-client';
import t from 'tap';
import { LIMITS } from '../../src/domain/limits.js';
import { OauthApp } from '../fixtures/oauth.js';
import { Person } from '../fixtures/person.js';
import { TestSpool } from '../fixtures/spool.js';

/*
 * openid-client 6. Two things it has to be told: `algorithm: 'oauth2'`, since there is no openid-configuration here, and
 * ClientSecretBasic, since a secret alone means client_secret_post to it. Sign-in gives no ID token: what it does with
 * those, with userinfo, PAR, DPoP and client credentials has no counterpart here.
 */

const REDIRECT_URI = 'https://app.example/callback';
const CHALLENGED = { code: 'OAUTH_WWW_AUTHENTICATE_CHALLENGE', status: 401 };
const REDIRECTED = { code: 'OAUTH_AUTHORIZATION_RESPONSE_ERROR' };

t.test('openid-client', async (t) => {
  const spool = await TestSpool.start({ RATE_LIMITS: 'off' });
  t.teardown(() => spool.end());
  const { base_url } = spool.server;
  const issuer = new URL(base_url);
  const options: openid.DiscoveryRequestOptions = { algorithm: 'oauth2', execute: [openid.allowInsecureRequests] };
  const agent = OauthApp.first(spool, 'svc-agent');
  const redirects = new Map<openid.Configuration, string>();
  let people = 0;
  const somebody = () => new Person(spool, `openid${++people}@x.test`);

  const ours = async (client_id: 'svc-web' | 'svc-agent', auth: openid.ClientAuth = openid.None()) => {
    const config = await openid.discovery(issuer, client_id, undefined, auth, options);
    redirects.set(config, OauthApp.first(spool, client_id).redirect_uri ?? '');
    return config;
  };
  const registered = async (metadata: Partial<openid.ClientMetadata> = {}, auth?: openid.ClientAuth) => {
    const asked = { client_name: 'Interop', redirect_uris: [REDIRECT_URI], ...metadata };
    const config = await openid.dynamicClientRegistration(issuer, asked, auth, options);
    redirects.set(config, REDIRECT_URI);
    return config;
  };
  /** Where the browser came back to, and what the exchange has to hold it to. */
  const authorize = async (
    config: openid.Configuration,
    person: Person,
    parameters: Record<string, string> = {},
    consent: 'approve' | 'deny' = 'approve',
  ) => {
    const pkceCodeVerifier = openid.randomPKCECodeVerifier();
    const expectedState = openid.randomState();
    const url = openid.buildAuthorizationUrl(config, {
      redirect_uri: redirects.get(config) ?? '',
      code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
      state: expectedState,
      ...parameters,
    });
    return { back: await person.visit(url, consent), checks: { pkceCodeVerifier, expectedState } };
  };
  const signIn = async (config: openid.Configuration, person: Person, parameters: Record<string, string> = {}) => {
    const { back, checks } = await authorize(config, person, parameters);
    return openid.authorizationCodeGrant(config, back, checks);
  };
  const me = (config: openid.Configuration, token: string) =>
    openid.fetchProtectedResource(config, token, new URL('/me', base_url), 'GET');

  await t.test('discovery, told that this is OAuth', async (t) => {
    const config = await ours('svc-web');
    t.equal(config.serverMetadata().issuer, base_url);
    t.ok(config.serverMetadata().supportsPKCE());
    await t.rejects(
      openid.discovery(issuer, 'svc-web', undefined, undefined, { execute: options.execute ?? [] }),
      { code: 'OAUTH_RESPONSE_IS_NOT_CONFORM' },
      'without being told it asks for openid-configuration alone',
    );
  });

  await t.test('C-007 C-060 a client that registered itself, without a secret', async (t) => {
    const config = await registered({ token_endpoint_auth_method: 'none' });
    t.notOk(config.clientMetadata().client_secret);
    const person = somebody();
    const tokens = await signIn(config, person, { resource: base_url, scope: 'account:manage turns:read' });
    t.match(tokens, { token_type: 'bearer', expires_in: 3600, scope: 'account:manage turns:read' });
    t.match(await (await me(config, tokens.access_token)).json(), { data: { email: person.email } });

    const narrow = await openid.refreshTokenGrant(config, tokens.refresh_token ?? '', { scope: 'turns:read' });
    t.equal(narrow.scope, 'turns:read');
    await t.rejects(me(config, narrow.access_token), { ...CHALLENGED, status: 403 });
    const next = await openid.refreshTokenGrant(config, narrow.refresh_token ?? '', { resource: base_url });
    t.equal((await me(config, next.access_token)).status, 200);

    await openid.tokenRevocation(config, 'no token of ours');
    await openid.tokenRevocation(config, next.refresh_token ?? '', { token_type_hint: 'refresh_token' });
    await t.rejects(me(config, next.access_token), CHALLENGED);
    await t.rejects(openid.refreshTokenGrant(config, next.refresh_token ?? ''), {
      code: 'OAUTH_RESPONSE_BODY_ERROR',
      error: 'invalid_grant',
      status: 400,
    });
  });

  await t.test('C-016 a client that registered itself, with a secret', async (t) => {
    const config = await registered(
      { token_endpoint_auth_method: 'client_secret_basic' },
      // It is known only after registration: the library fills it in.
      openid.ClientSecretBasic(),
    );
    t.ok(config.clientMetadata().client_secret);
    const tokens = await signIn(config, somebody());
    t.equal(tokens.scope, 'audio:read turns:read insights:read');
    t.ok(await openid.refreshTokenGrant(config, tokens.refresh_token ?? ''));
    await t.rejects(openid.tokenIntrospection(config, tokens.access_token), CHALLENGED, 'only our own servers may');
  });

  await t.test('C-073 C-074 C-078 introspection by svc-agent, whose id it form-encodes', async (t) => {
    const secret = openid.ClientSecretBasic(agent.secret ?? '');
    const config = await ours('svc-agent', secret);
    const person = somebody();
    const tokens = await signIn(config, person);
    t.match(await openid.tokenIntrospection(config, tokens.access_token), {
      active: true,
      token_type: 'Bearer',
      client_id: 'svc-agent',
      username: person.email,
    });
    await openid.tokenRevocation(config, tokens.access_token, { token_type_hint: 'access_token' });
    t.same(await openid.tokenIntrospection(config, tokens.access_token), { active: false });
    t.same(await openid.tokenIntrospection(config, tokens.refresh_token ?? ''), { active: false });

    await t.rejects(
      openid.tokenIntrospection(await ours('svc-agent', openid.ClientSecretBasic('wrong')), 'x'),
      CHALLENGED,
    );
    await t.rejects(
      openid.tokenIntrospection(await ours('svc-agent', openid.ClientSecretPost(agent.secret ?? '')), 'x'),
      CHALLENGED,
      'a secret in the body',
    );
  });

  await t.test('C-030 C-042 what is told by the redirect', async (t) => {
    const config = await registered();
    const denied = await authorize(config, somebody(), {}, 'deny');
    await t.rejects(openid.authorizationCodeGrant(config, denied.back, denied.checks), {
      ...REDIRECTED,
      error: 'access_denied',
    });
    for (const [parameters, error] of [
      [{ prompt: 'none' }, 'login_required'],
      [{ prompt: 'none login' }, 'invalid_request'],
      [{ scope: 'workspace:read' }, 'invalid_scope'],
      [{ resource: 'https://elsewhere.test' }, 'invalid_target'],
      [{ code_challenge_method: 'plain' }, 'invalid_request'],
    ] as const) {
      const { back, checks } = await authorize(config, somebody(), parameters);
      await t.rejects(
        openid.authorizationCodeGrant(config, back, checks),
        { ...REDIRECTED, error },
        JSON.stringify(parameters),
      );
    }
  });

  await t.test('C-061 C-062 what is told by the token endpoint', async (t) => {
    const config = await registered();
    const { back, checks } = await authorize(config, somebody());
    const invalid_grant = { code: 'OAUTH_RESPONSE_BODY_ERROR', error: 'invalid_grant' };
    const other = { ...checks, pkceCodeVerifier: openid.randomPKCECodeVerifier() };
    await t.rejects(openid.authorizationCodeGrant(config, back, other), invalid_grant);
    const tokens = await openid.authorizationCodeGrant(config, back, checks);
    await t.rejects(openid.authorizationCodeGrant(config, back, checks), invalid_grant);
    const next = await openid.refreshTokenGrant(config, tokens.refresh_token ?? '');
    t.ok(next.refresh_token, 'at once, that is harmless');
    await t.rejects(openid.refreshTokenGrant(config, 'nothing'), invalid_grant);
    await t.rejects(openid.refreshTokenGrant(config, next.refresh_token ?? '', { resource: base_url }), {
      ...invalid_grant,
      error: 'invalid_target',
    });
  });

  await t.test('it holds every answer of the browser to the issuer', async (t) => {
    const config = await registered();
    for (const consent of ['approve', 'deny'] as const) {
      const { back, checks } = await authorize(config, somebody(), {}, consent);
      t.equal(back.searchParams.get('iss'), base_url);
      for (const iss of [null, `${base_url}/`, 'https://elsewhere.test']) {
        const other = new URL(back);
        if (iss === null) other.searchParams.delete('iss');
        else other.searchParams.set('iss', iss);
        await t.rejects(openid.authorizationCodeGrant(config, other, checks), { code: 'OAUTH_INVALID_RESPONSE' });
      }
      if (consent === 'approve') t.ok(await openid.authorizationCodeGrant(config, back, checks));
    }
  });

  await t.test('C-041 C-050 the session of our own app, and its end', async (t) => {
    const config = await ours('svc-web');
    const person = somebody();
    const tokens = await signIn(config, person);
    t.ok((await signIn(config, person, { prompt: 'none' })).access_token, 'without a page');
    const post_logout_redirect_uri = new URL('/bye', redirects.get(config)).href;
    const url = openid.buildEndSessionUrl(config, { post_logout_redirect_uri, state: 'over' });
    t.equal((await person.visit(url)).href, `${post_logout_redirect_uri}?state=over`);
    await t.rejects(signIn(config, person, { prompt: 'none' }), { ...REDIRECTED, error: 'login_required' });
    t.equal((await me(config, tokens.access_token)).status, 200, 'grants stay');
  });

  await t.test('an hour later', async (t) => {
    const config = await ours('svc-web');
    const tokens = await signIn(config, somebody());
    await spool.operator.advanceClock(LIMITS.oauth_access_life_ms);
    await t.rejects(me(config, tokens.access_token), CHALLENGED);
    const [one, two] = await Promise.all([
      openid.refreshTokenGrant(config, tokens.refresh_token ?? ''),
      openid.refreshTokenGrant(config, tokens.refresh_token ?? ''),
    ]);
    t.equal(one?.refresh_token, two?.refresh_token);
    for (const { access_token } of [one, two]) t.equal((await me(config, access_token)).status, 200);
  });
});
