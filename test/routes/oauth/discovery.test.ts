import { decodeProtectedHeader, importJWK, jwtVerify } from 'jose';
import * as openid from 'openid-client';
import t from 'tap';
import { LIMITS } from '../../../src/domain/limits.js';
import type { AccessClaims } from '../../../src/engine/secrets/access_tokens.js';
import { TestSpool } from '../../fixtures/spool.js';

const LEGACY = 'http://legacy.test:7777';
const AS_PATH = '/.well-known/oauth-authorization-server';
const RESOURCE_PATH = '/.well-known/oauth-protected-resource';
const JWKS_PATH = '/.well-known/jwks.json';

t.test('what clients find out by themselves', async (t) => {
  const spool = await TestSpool.start({ RATE_LIMITS: 'off', LEGACY_BASE_URL: LEGACY });
  t.teardown(() => spool.end());
  const { base_url } = spool.server;
  const client = spool.client();
  const get = async (path: string, headers = {}) => {
    const answer = await client.send('GET', path, { headers });
    t.equal(answer.status, 200, path);
    return { ...answer, json: JSON.parse(answer.body.toString()) };
  };

  await t.test('the start page is HTML for browsers', async (t) => {
    const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
    const page = await client.send('GET', '/', { headers: { Accept: browser } });
    t.match(page.headers, { 'content-type': 'text/html; charset=utf-8', vary: 'Accept' });
    t.match(page.headers['content-security-policy'], "default-src 'none'");
    const again = { Accept: browser, 'If-None-Match': page.headers.etag as string };
    t.equal((await client.send('GET', '/', { headers: again })).status, 304);
  });

  await t.test('the start page is a list of addresses for programs, and each leads somewhere', async (t) => {
    for (const headers of [{ Accept: '*/*' }, {}]) {
      const answer = await client.send('GET', '/', { headers });
      t.equal(answer.status, 200);
      t.match(answer.headers, { 'content-type': 'text/plain; charset=utf-8', vary: 'Accept' });
      const urls = [...answer.body.toString().matchAll(/ (https?:\/\/\S+)$/gm)].map(([, url = '']) => url);
      t.ok(urls.includes(`${base_url}/app`) && urls.includes(`${base_url}/guides/devices`));
      for (const url of urls) {
        const { status } = await fetch(url, { headers: { accept: 'text/html' }, redirect: 'manual' });
        t.ok(url.endsWith('/mcp') ? status === 405 || status === 401 : status < 400, `${url} ${status}`);
      }
    }
  });

  await t.test('C-003 C-004 C-006 the authorization server, in plain JSON', async (t) => {
    const { json, headers } = await get(AS_PATH);
    t.match(headers['content-type'], /^application\/json/);
    const { scopes_supported: _, ...rest } = json;
    t.same(rest, {
      issuer: base_url,
      authorization_endpoint: `${base_url}/oauth/authorize`,
      token_endpoint: `${base_url}/oauth/token`,
      registration_endpoint: `${base_url}/oauth/register`,
      introspection_endpoint: `${base_url}/oauth/introspect`,
      revocation_endpoint: `${base_url}/oauth/token`,
      authorization_challenge_endpoint: `${base_url}/oauth/authorize-challenge`,
      end_session_endpoint: `${base_url}/oauth/end-session`,
      jwks_uri: `${base_url}${JWKS_PATH}`,
      response_types_supported: ['code'],
      response_modes_supported: ['query'],
      grant_types_supported: ['authorization_code', 'refresh_token'],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'client_secret_post'],
      revocation_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'client_secret_post'],
      introspection_endpoint_auth_methods_supported: ['client_secret_basic'],
      authorization_response_iss_parameter_supported: true,
      client_id_metadata_document_supported: true,
      protected_resources: [base_url, `${base_url}/mcp`],
    });
  });

  await t.test('C-003 the same at paths where clients of /mcp look for it', async (t) => {
    const { json } = await get(AS_PATH);
    for (const path of [`${AS_PATH}/mcp`, `${AS_PATH}/mcp/`, `/mcp${AS_PATH}`]) t.same((await get(path)).json, json);
    const of_mcp = (await get(`${RESOURCE_PATH}/mcp`)).json;
    for (const path of [`${RESOURCE_PATH}/mcp/`, `/mcp${RESOURCE_PATH}`]) t.same((await get(path)).json, of_mcp);
    t.equal((await client.send('GET', `${AS_PATH}/other`)).status, 404);
  });

  await t.test('C-005 current scope names only', async (t) => {
    const { json } = await get(AS_PATH);
    const layers = ['audio', 'turns', 'insights', 'files', 'profile', 'pipelines', 'debug'];
    t.same(
      json.scopes_supported.toSorted(),
      [
        ...layers.flatMap((layer) => [`${layer}:read`, `${layer}:write`]),
        ...['account:manage', 'devices:manage', 'endpoints:manage', 'pipelines:experimental'],
        ...['workspace:read', 'workspace:members', 'workspace:manage'],
      ].toSorted(),
    );
  });

  await t.test('an OpenID client finds it, and everything it needs', async (t) => {
    const config = await openid.discovery(new URL(base_url), 'svc-web', undefined, undefined, {
      algorithm: 'oauth2',
      execute: [openid.allowInsecureRequests],
    });
    t.equal(config.serverMetadata().issuer, base_url);
    t.equal(config.serverMetadata().supportsPKCE(), true);
    t.equal(config.serverMetadata().revocation_endpoint, `${base_url}/oauth/token`);
  });

  await t.test('the protected resources: the origin at the root, the MCP server at its path', async (t) => {
    const root = (await get(RESOURCE_PATH)).json;
    t.match(root, { resource: base_url, authorization_servers: [base_url], bearer_methods_supported: ['header'] });
    t.ok(root.scopes_supported.includes('account:manage'));
    t.notOk(
      root.scopes_supported.some((scope: string) => scope.startsWith('workspace:')),
      'anybody may ask for these',
    );
    const mcp = (await get(`${RESOURCE_PATH}/mcp`)).json;
    t.match(mcp, { resource: `${base_url}/mcp`, authorization_servers: [base_url] });
    t.same(
      mcp.scopes_supported,
      ['turns:read', 'insights:read', 'profile:read', 'pipelines:read'],
      'what reading needs',
    );
    t.equal((await client.send('GET', `${RESOURCE_PATH}/other`)).status, 404);
  });

  await t.test('each address speaks of itself, any other of the base', async (t) => {
    const legacy = { Host: new URL(LEGACY).host };
    t.match((await get(AS_PATH, legacy)).json, { issuer: LEGACY, token_endpoint: `${LEGACY}/oauth/token` });
    t.match((await get(`${RESOURCE_PATH}/mcp`, legacy)).json, {
      resource: `${LEGACY}/mcp`,
      authorization_servers: [LEGACY],
    });
    t.equal((await get(AS_PATH, { Host: 'elsewhere.test' })).json.issuer, base_url);
  });

  await t.test('C-001 X-API-Version is not looked at', async (t) => {
    for (const path of [AS_PATH, RESOURCE_PATH, `${RESOURCE_PATH}/mcp`, JWKS_PATH]) {
      const { headers } = await get(path, { 'X-API-Version': '9' });
      t.notOk(headers['x-api-version']);
    }
  });

  await t.test('kept for a while by caches, and read by pages of any origin with any header', async (t) => {
    for (const path of [AS_PATH, RESOURCE_PATH, `${RESOURCE_PATH}/mcp`, JWKS_PATH]) {
      const { headers } = await get(path, { Origin: 'https://any.test', 'MCP-Protocol-Version': '2025-11-25' });
      t.equal(headers['cache-control'], 'public, max-age=300');
      t.notOk(headers.pragma);
      t.equal(headers['access-control-allow-origin'], '*');
      t.notOk(headers['access-control-allow-credentials']);
      const preflight = await client.send('OPTIONS', path, {
        headers: {
          Origin: 'https://any.test',
          'Access-Control-Request-Method': 'GET',
          'Access-Control-Request-Headers': 'mcp-protocol-version',
        },
      });
      t.equal(preflight.status, 204);
      t.equal(preflight.headers['access-control-allow-origin'], '*');
      t.equal(preflight.headers['access-control-allow-headers'], '*');
      t.match(preflight.headers['access-control-allow-methods'], /GET/);
    }
    const rest = await client.send('OPTIONS', '/me', {
      headers: { Origin: 'https://any.test', 'Access-Control-Request-Method': 'GET' },
    });
    t.notOk(rest.headers['access-control-allow-origin'], 'the API is as CORS_ORIGINS says');
    t.match(await client.send('POST', AS_PATH), { status: 405, headers: { allow: 'GET' } });
  });

  await t.test('the JWKS verifies tokens, also of the key before the last', async (t) => {
    const { access_tokens, clock } = spool.server.services;
    const issue = () => access_tokens.issue(claimsAt(clock.now()));
    const [before, { kid }] = [await issue(), await spool.operator.ask<{ kid: string }>('POST', '/ops/keys/rotate')];
    const after = await issue();
    t.equal(decodeProtectedHeader(after).kid, kid, 'rotated by command, it signs at once');
    t.not(decodeProtectedHeader(before).kid, kid);
    const { keys } = (await get(JWKS_PATH)).json as { keys: { kid: string }[] };
    t.equal(keys.length, 2);
    for (const token of [before, after]) {
      const jwk = keys.find((key) => key.kid === decodeProtectedHeader(token).kid);
      t.match(jwk, { kty: 'EC', crv: 'P-256', alg: 'ES256', use: 'sig' });
      t.notOk('d' in (jwk as object));
      await jwtVerify(token, await importJWK(jwk as object, 'ES256'), { issuer: base_url, typ: 'at+jwt' });
      t.ok(await access_tokens.verify(token, 'base'));
    }
    await spool.operator.advanceClock(LIMITS.oauth_access_life_ms + 6 * 60_000);
    t.equal((await get(JWKS_PATH)).json.keys.length, 1, 'nothing it signed is alive');
    await spool.operator.advanceClock(LIMITS.signing_key_life_ms - LIMITS.signing_key_published_ahead_ms);
    t.equal((await get(JWKS_PATH)).json.keys.length, 2, 'by age, ahead of its time');
    t.equal(decodeProtectedHeader(await issue()).kid, kid);
    await spool.operator.advanceClock(LIMITS.signing_key_published_ahead_ms);
    t.not(decodeProtectedHeader(await issue()).kid, kid);
    t.not((await client.send('POST', '/ops/keys/rotate')).status, 200, 'not on the public port');
  });
});

function claimsAt(now_ms: number): AccessClaims {
  const id = '019470a0-1111-7222-8333-444400000007';
  return {
    grant_id: id,
    generation: 1,
    account_id: id,
    client_id: 'svc-web',
    scopes: ['turns:read'],
    audience: 'api',
    issuer: 'base',
    verified_at_ms: now_ms,
    issued_at_ms: now_ms,
    expires_at_ms: now_ms + LIMITS.oauth_access_life_ms,
  };
}
