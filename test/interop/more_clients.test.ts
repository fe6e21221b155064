import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { CodeChallengeMethod, OAuth2Client } from 'arctic';
import ClientOAuth2 from 'client-oauth2';
// @ts-expect-error Its types are those of its handlers for web frameworks alone.
import grant from 'grant/lib/grant.js';
import { Issuer } from 'openid-client-5';
// @ts-expect-error It has no types.
import PassportStrategy from 'passport-oauth2';
import t from 'tap';
import { OauthApp, pkce } from '../fixtures/oauth.js';
import { Person } from '../fixtures/person.js';
import { TestSpool } from '../fixtures/spool.js';

/*
 * Clients as their documentation has them, one sign-in and one refresh each: passport-oauth2, grant, client-oauth2,
 * arctic 3, openid-client 5, Auth.js, and of Python requests-oauthlib and Authlib. They differ in how they authenticate:
 * some know the body alone, some HTTP Basic alone, for public clients too.
 */

type GrantRun = (step: object) => Promise<{
  location?: string;
  session: object;
  state: { response?: { access_token?: string; refresh_token?: string } };
}>;

/** Its types would bring in those of browsers, for all tests. */
const AUTH_JS: string = '@auth/core';
const PYTHON = '/usr/bin/python3';
const SCOPE = 'account:manage';
/** Debian's packages, by the module. */
const PACKAGES = { requests_oauthlib: 'python3-requests-oauthlib', authlib: 'python3-authlib' } as const;

t.test('more OAuth clients', async (t) => {
  const spool = await TestSpool.start({ RATE_LIMITS: 'off' });
  t.teardown(() => spool.end());
  const { base_url } = spool.server;
  const authorize_url = `${base_url}/oauth/authorize`;
  const token_url = `${base_url}/oauth/token`;
  let people = 0;
  const visit = (address: string | URL) => new Person(spool, `more${++people}@x.test`).visit(address);
  const statusOf = async (access_token: string) => {
    const app = spool.client();
    app.access_token = access_token;
    return (await app.send('GET', '/me')).status;
  };
  const confidential = (method: string, redirect_uri?: string) =>
    OauthApp.registered(spool, {
      token_endpoint_auth_method: method,
      ...(redirect_uri === undefined ? {} : { redirect_uris: [redirect_uri] }),
    });
  const own = { scope: SCOPE, resource: base_url };

  await t.test('passport-oauth2, with a secret in the body whatever was registered', async (t) => {
    for (const method of ['client_secret_post', 'client_secret_basic']) {
      const app = await confidential(method);
      const strategy = new PassportStrategy(
        ...[
          {
            ...{ authorizationURL: authorize_url, tokenURL: token_url, callbackURL: app.redirect_uri },
            ...{ clientID: app.client_id, clientSecret: app.secret, pkce: true, state: true, scope: SCOPE },
          },
          (access: string, refresh: string, _profile: unknown, done: (error: null, user: object) => void) =>
            done(null, { access, refresh }),
        ],
      );
      strategy.authorizationParams = () => ({ resource: base_url });
      const session = {};
      const run = (query: Record<string, string>) =>
        new Promise<{ location?: string; user?: { access: string; refresh: string } }>((resolve, reject) => {
          const at = Object.create(strategy);
          Object.assign(at, { redirect: (location: string) => resolve({ location }), error: reject });
          Object.assign(at, {
            success: (user: { access: string; refresh: string }) => resolve({ user }),
            fail: reject,
          });
          at.authenticate({ query, session }, {});
        });
      const back = await visit((await run({})).location ?? '');
      const { user } = await run(Object.fromEntries(back.searchParams));
      t.equal(await statusOf(user?.access ?? ''), 200, method);
      const next = await new Promise<string>((resolve, reject) =>
        strategy._oauth2.getOAuthAccessToken(
          user?.refresh,
          { grant_type: 'refresh_token' },
          (error: unknown, access: string) => (error ? reject(error) : resolve(access)),
        ),
      );
      t.equal(await statusOf(next), 200, method);
    }
  });

  await t.test('grant, with a secret in the body or in the header, and public', async (t) => {
    const redirect_uri = 'https://app.example/connect/spool/callback';
    for (const method of ['client_secret_post', 'client_secret_basic', 'none']) {
      const app = await confidential(method, redirect_uri);
      const run: GrantRun = grant({
        config: {
          defaults: { origin: 'https://app.example', transport: 'state' },
          spool: {
            ...{ authorize_url, access_url: token_url, oauth: 2, key: app.client_id, scope: [SCOPE] },
            ...{ pkce: true, state: true, custom_params: { resource: base_url }, redirect_uri },
            ...(app.secret === null ? {} : { secret: app.secret }),
            ...(method === 'client_secret_basic' ? { token_endpoint_auth_method: method } : {}),
          },
        },
      });
      const step = { method: 'GET', body: {}, state: {} };
      const begun = await run({ ...step, params: { provider: 'spool' }, query: {}, session: {} });
      const back = await visit(begun.location ?? '');
      const query = Object.fromEntries(back.searchParams);
      const params = { provider: 'spool', override: 'callback' };
      const { state } = await run({ ...step, params, query, session: begun.session });
      const { response } = state;
      t.equal(await statusOf(response?.access_token ?? ''), 200, `${method}: ${JSON.stringify(response)}`);
      t.ok(response?.refresh_token);
    }
  });

  await t.test('client-oauth2, public: HTTP Basic with an empty password, also to refresh', async (t) => {
    const app = await OauthApp.registered(spool);
    const { verifier, challenge } = pkce();
    const client = new ClientOAuth2({
      ...{ clientId: app.client_id, authorizationUri: authorize_url, accessTokenUri: token_url, scopes: [SCOPE] },
      ...{ redirectUri: app.redirect_uri ?? '', state: 'a state' },
      query: { code_challenge: challenge, code_challenge_method: 'S256', resource: base_url },
    });
    const back = await visit(client.code.getUri());
    const token = await client.code.getToken(back.href, { body: { code_verifier: verifier }, query: {} } as never);
    t.equal(await statusOf(token.accessToken), 200);
    const plain = new ClientOAuth2({ clientId: app.client_id, accessTokenUri: token_url });
    const next = await plain.createToken(token.accessToken, token.refreshToken, 'bearer', {}).refresh();
    t.equal(await statusOf(next.accessToken), 200);
  });

  await t.test('arctic, with a secret and without', async (t) => {
    // It sets Content-Length itself, which Node's fetch does not stand where another undici is loaded, as in this process.
    const { fetch } = globalThis;
    t.teardown(() => Object.assign(globalThis, { fetch }));
    Object.assign(globalThis, {
      fetch(request: Request) {
        request.headers.delete('Content-Length');
        return fetch(request);
      },
    });
    for (const app of [await OauthApp.registered(spool), await confidential('client_secret_basic')]) {
      const client = new OAuth2Client(app.client_id, app.secret, app.redirect_uri);
      const { verifier } = pkce();
      const S256 = CodeChallengeMethod.S256;
      const url = client.createAuthorizationURLWithPKCE(authorize_url, 'a state', S256, verifier, [SCOPE]);
      url.searchParams.set('resource', base_url);
      const code = (await visit(url)).searchParams.get('code') ?? '';
      const tokens = await client.validateAuthorizationCode(token_url, code, verifier);
      const next = await client.refreshAccessToken(token_url, tokens.refreshToken(), []);
      t.equal(await statusOf(next.accessToken()), 200);
      await client.revokeToken(token_url, next.refreshToken());
      t.equal(await statusOf(next.accessToken()), 401);
    }
  });

  await t.test('openid-client 5, in every way to authenticate', async (t) => {
    const issuer = await Issuer.discover(`${base_url}/.well-known/oauth-authorization-server`);
    for (const method of ['none', 'client_secret_basic', 'client_secret_post'] as const) {
      const app = await confidential(method);
      const redirect_uri = app.redirect_uri ?? '';
      const client = new issuer.Client({
        ...{ client_id: app.client_id, redirect_uris: [redirect_uri], token_endpoint_auth_method: method },
        ...(app.secret === null ? {} : { client_secret: app.secret }),
      });
      const { verifier, challenge } = pkce();
      const pair = { code_challenge: challenge, code_challenge_method: 'S256' };
      const back = await visit(client.authorizationUrl({ ...own, ...pair, state: 'a state' }));
      const checks = { code_verifier: verifier, state: 'a state', response_type: 'code' };
      const tokens = await client.oauthCallback(redirect_uri, client.callbackParams(back.href), checks);
      const next = await client.refresh(tokens);
      t.equal(await statusOf(next.access_token ?? ''), 200, method);
      await client.revoke(next.refresh_token ?? '', 'refresh_token');
      t.equal(await statusOf(next.access_token ?? ''), 401, method);
    }
  });

  await t.test('Auth.js, with a secret', async (t) => {
    const origin = 'http://localhost:5999';
    const app = await confidential('client_secret_basic', `${origin}/auth/callback/spool`);
    const seen: Record<string, unknown>[] = [];
    const config = {
      ...{ basePath: '/auth', trustHost: true, secret: 'a secret of its own cookies', logger: {} },
      providers: [
        {
          ...{ id: 'spool', name: 'Spool', type: 'oauth' as const, issuer: base_url, checks: ['pkce', 'state'] },
          ...{ clientId: app.client_id, clientSecret: app.secret, token: token_url },
          authorization: { url: authorize_url, params: own },
          userinfo: {
            url: `${base_url}/me`,
            async request({ tokens }: { tokens: { access_token: string } }) {
              seen.push(tokens);
              const answer = await fetch(`${base_url}/me`, {
                headers: { Authorization: `Bearer ${tokens.access_token}` },
              });
              return ((await answer.json()) as { data: object }).data;
            },
          },
          profile: ({ id, email }: { id: string; email: string }) => ({ id, email }),
        },
      ],
    };
    const { Auth } = await import(AUTH_JS);
    const jar = new Map<string, string>();
    const send = async (path: string, init: RequestInit = {}) => {
      const Cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
      const request = new Request(new URL(path, origin), { ...init, headers: { ...init.headers, Cookie } });
      const answer = (await Auth(request, config as never)) as Response;
      for (const line of answer.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
        jar.set(name, value);
      }
      return answer;
    };
    const { csrfToken } = (await (await send('/auth/csrf')).json()) as { csrfToken: string };
    const body = new URLSearchParams({ csrfToken });
    const begun = await send('/auth/signin/spool', { method: 'POST', body });
    const back = await visit(begun.headers.get('location') ?? '');
    const done = await send(back.href);
    t.equal(done.headers.get('location'), origin);
    t.match(seen, [{ refresh_token: /^spo_|^sp/ }]);
    t.match(await (await send('/auth/session')).json(), { user: { email: `more${people}@x.test` } });
  });

  for (const library of ['requests_oauthlib', 'authlib'] as const) {
    await t.test(`${library}, of Python`, async (t) => {
      if (spawnSync(PYTHON, ['-c', `import requests, ${library}`]).status !== 0) {
        console.log(`not run: sign-in with ${library}, since the package ${PACKAGES[library]} is not installed`);
        return;
      }
      for (const method of ['none', 'client_secret_basic', 'client_secret_post']) {
        const app = await confidential(method);
        const { client_id, redirect_uri, secret: client_secret } = app;
        const told = await signInByPython(library, {
          ...{ base_url, client_id, client_secret, redirect_uri, method, scope: SCOPE },
        });
        t.match(told, { status: 200, first: { token_type: 'Bearer' }, next: { token_type: 'Bearer' } }, method);
        t.equal(await statusOf(told.next.access_token), 200, method);
      }
    });
  }

  type Told = { first: object; next: { access_token: string }; status: number };
  async function signInByPython(library: string, given: object): Promise<Told> {
    const program = new URL('../../../test/interop/python_clients.py', import.meta.url).pathname;
    const child = spawn(PYTHON, ['-W', 'ignore', program, library, JSON.stringify(given)], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const exited = once(child, 'exit');
    const lines: string[] = [];
    for await (const line of createInterface({ input: child.stdout })) {
      lines.push(line);
      if (lines.length === 1) child.stdin.end(`${await visit(line)}\n`);
    }
    await exited;
    return JSON.parse(lines[1] ?? '{}') as Told;
  }
});
