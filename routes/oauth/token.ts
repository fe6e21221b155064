import { hash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { type Grant, type IssuedGrant, type Narrowing, NO_CODE, NO_TOKEN } from '../../actors/oauth/grant.js';
import { issuerOf, issuerUrl } from '../../src/access/issuer.js';
import type { Client } from '../../src/access/oauth_client.js';
import { count } from '../../src/access/response_schemas.js';
import { audienceOf } from '../../src/domain/audiences.js';
import { LIMITS } from '../../src/domain/limits.js';
import { isOauthError, type OauthError, oauthError } from '../../src/domain/oauth_errors.js';
import { orNull } from '../../src/domain/refusals.js';
import { scopeList } from '../../src/domain/scopes.js';
import type { Answer } from '../../src/edge/http/route.js';
import { deriveToken, isGenuine, parseToken } from '../../src/engine/secrets/tokens.js';
import type { Fence } from '../../src/engine/store/store.js';
import { authenticateClient } from '../../src/features/oauth/client_authentication.js';
import { openRoute, type Route } from '../rows.js';
import type { Services } from '../services.js';

/** Exchange, refresh and revocation at one address. docs/rules.md, "OAuth: tokens and native sign-in". */

const text = z.string().optional();
const form = z.object({
  grant_type: text.describe('authorization_code or refresh_token; absent to revoke `token`.'),
  client_id: text.describe('Who asks, where no secret is shown in the header.'),
  client_secret: text.describe('Of a third party that does not show it in the header (HTTP Basic).'),
  code: text.describe('The code of the redirect, or of native sign-in.'),
  code_verifier: text.describe('What the challenge was made of (RFC 7636).'),
  redirect_uri: text.describe('The one that the code was sent to; none for native sign-in.'),
  refresh_token: text.describe('The last one that the client was given.'),
  scope: text.describe('Names with spaces between them; narrows a refreshed access token.'),
  resource: text.describe('The address of the API, or of its MCP server (RFC 8707); narrows the audience.'),
  token: text.describe('To revoke: an access token or a refresh token.'),
  token_type_hint: text.describe('Taken and not needed.'),
});
type Form = z.output<typeof form>;

const tokensShape = z
  .strictObject({
    access_token: z.string().describe('A JWT (RFC 9068) for the API or for /mcp.'),
    token_type: z.literal('Bearer').describe('How it is shown: `Authorization: Bearer …`.'),
    expires_in: count.describe('Seconds that the access token lives.'),
    refresh_token: z.string().describe('What gets the next tokens, once.'),
    scope: z.string().describe('Names with spaces between them, as the client asked for them.'),
  })
  .meta({ id: 'OauthTokens' });

/** RFC 7636, 4.1. */
const VERIFIER_FORM = /^[A-Za-z0-9._~-]{43,128}$/;

export const TOKEN_ROUTES: readonly Route[] = [
  openRoute({
    method: 'POST',
    path: '/oauth/token',
    summary: 'Exchanges a code, refreshes tokens, or revokes one.',
    notes:
      '`grant_type` is `authorization_code` or `refresh_token`; without it, `token` is revoked and the answer is empty. Each use of a refresh token gives another one. A confidential client authenticates by HTTP Basic; one of a third party may send `client_secret` instead.',
    credential: 'none',
    client: 'any',
    dialect: 'oauth',
    takes: 'form',
    body: form,
    answer: z.union([tokensShape, z.strictObject({})]),
    example: {
      grant_type: 'authorization_code',
      client_id: 'the-client',
      code: 'spo_…',
      code_verifier: 'the-verifier-that-the-challenge-was-made-of',
      redirect_uri: 'https://app.example/callback',
    },
    refusals: [
      'invalid_client',
      'invalid_grant',
      'unauthorized_client',
      'unsupported_grant_type',
      'invalid_scope',
      'invalid_target',
    ],
    async handler({ services, request, body }) {
      const { grant_type, token } = body;
      if (grant_type === undefined && token === undefined) {
        return oauthError('invalid_request', 'grant_type is missing; to revoke, send token instead.');
      }
      const act = grant_type === undefined ? revoke : GRANT_TYPES.get(grant_type);
      if (act === undefined) {
        return oauthError('unsupported_grant_type', `grant_type must be ${[...GRANT_TYPES.keys()].join(' or ')}.`);
      }
      const client = await authenticateClient(services, request, body);
      return isOauthError(client) ? client : act({ services, request, client, body });
    },
  }),
];

type TokenCall = { services: Services; request: FastifyRequest; client: Client; body: Form };

const GRANT_TYPES = new Map<string, (call: TokenCall) => Promise<Answer>>([
  ['authorization_code', exchange],
  ['refresh_token', refresh],
]);

async function exchange(call: TokenCall): Promise<Answer> {
  const { services, client, body } = call;
  const { code, code_verifier, redirect_uri = null } = body;
  if (code === undefined) return oauthError('invalid_request', 'code is missing.');
  if (code_verifier === undefined) return oauthError('invalid_request', 'code_verifier is missing.');
  if (!VERIFIER_FORM.test(code_verifier)) return NO_CODE;
  const found = await grantOf(call, 'authorization_code', code);
  if (found === null) return NO_CODE;
  const asked = narrowingOf(call, { ...body, scope: undefined });
  if (isOauthError(asked)) return asked;
  const exchanged = await services.actors.grant(found.id).exchange(
    {
      client_id: client.client_id,
      challenge: hash('sha256', code_verifier, 'base64url'),
      redirect_uri,
      asked,
    },
    found.fences,
  );
  return issue(services, found, exchanged);
}

async function refresh(call: TokenCall): Promise<Answer> {
  const { services, client, body } = call;
  if (body.refresh_token === undefined) return oauthError('invalid_request', 'refresh_token is missing.');
  const found = await grantOf(call, 'oauth_refresh', body.refresh_token);
  if (found === null) return NO_TOKEN;
  const asked = narrowingOf(call, body);
  if (isOauthError(asked)) return asked;
  const refreshed = await services.actors
    .grant(found.id)
    .refresh({ client_id: client.client_id, generation: found.counter, asked }, found.fences);
  return issue(services, found, refreshed);
}

/** RFC 7009: whatever the token is, it does not work for this client afterwards. An access token takes its grant along. */
async function revoke(call: TokenCall): Promise<Answer> {
  const { services, request, client, body } = call;
  const token = body.token ?? '';
  const found = (await grantOf(call, 'oauth_refresh', token)) ?? (await grantOf(call, 'authorization_code', token));
  const claims = found === null ? await services.access_tokens.verify(token, issuerOf(services, request)) : null;
  const grant_id = found?.id ?? claims?.grant_id;
  if (grant_id === undefined) return {};
  await services.actors.grant(grant_id).revoke({ by: { client_id: client.client_id } });
  return {};
}

type FoundGrant = { id: string; counter: number; grant: Grant; fences: Fence[] };

/** The living grant that a genuine code or refresh token leads to, at this issuer; null when there is none. */
async function grantOf(
  { services, request }: Pick<TokenCall, 'services' | 'request'>,
  kind: 'authorization_code' | 'oauth_refresh',
  token: string,
): Promise<FoundGrant | null> {
  const { actors, keys } = services;
  const parsed = parseToken(kind, token);
  if (parsed === null) return kind === 'oauth_refresh' ? importedGrantOf({ services, request }, token) : null;
  const grant = await orNull(actors.grant(parsed.id).view(), 'UNAUTHORIZED');
  if (grant === null) return null;
  if (!isGenuine(keys, kind, parsed, grant)) return null;
  return livingGrant({ services, request }, { id: parsed.id, counter: parsed.counter, grant });
}

/** Behind a token that an earlier system gave out: it is the first of its grant. */
async function importedGrantOf(
  call: Pick<TokenCall, 'services' | 'request'>,
  token: string,
): Promise<FoundGrant | null> {
  const { actors } = call.services;
  const imported = await orNull(actors.importedToken(hash('sha256', token, 'hex')).view(), 'NOT_FOUND');
  if (imported === null) return null;
  const grant = await orNull(actors.grant(imported.grant_id).view(), 'UNAUTHORIZED');
  if (grant === null) return null;
  return livingGrant(call, { id: imported.grant_id, counter: 1, grant });
}

/** A grant works at the issuer that it was made at, while its account's grants have not all been ended. */
async function livingGrant(
  { services, request }: Pick<TokenCall, 'services' | 'request'>,
  { id, counter, grant }: { id: string; counter: number; grant: Grant },
): Promise<FoundGrant | null> {
  if (grant.issuer !== issuerOf(services, request)) return null;
  const { account_id, born } = grant;
  const account = await orNull(services.actors.account(account_id).view(), 'UNAUTHORIZED');
  if (account === null) return null;
  if (account.lives.grants !== born.grants) return null;
  const fences: Fence[] = [{ fence: 'epoch', account_id, epoch: 'grants', value: born.grants }];
  return { id, counter, grant, fences };
}

/** What is asked for of what was granted. */
function narrowingOf({ services, request }: TokenCall, { scope, resource }: Form): Narrowing | OauthError {
  const issuer_url = issuerUrl(services, issuerOf(services, request));
  const audience = resource === undefined ? null : audienceOf(issuer_url, resource);
  if (resource !== undefined && audience === null) {
    return oauthError('invalid_target', `resource must be one of ${issuer_url} and ${issuer_url}/mcp.`);
  }
  const scopes = scopeList(scope ?? '');
  return { scopes: scopes.length === 0 ? null : scopes, audience };
}

/** The token response. Scope names are those that the client asked for (rule C-067). */
async function issue(
  services: Services,
  { id }: FoundGrant,
  issued: IssuedGrant | OauthError,
): Promise<z.infer<typeof tokensShape> | OauthError> {
  if (isOauthError(issued)) return issued;
  const { grant, scopes, audience } = issued;
  const { access_tokens, keys, clock } = services;
  const issued_at_ms = clock.now();
  const { account_id, client_id, issuer, verified_at_ms, key_id, seed } = grant;
  const { generation } = grant.stage;
  const access_token = await access_tokens.issue({
    grant_id: id,
    generation,
    account_id,
    client_id,
    scopes,
    audience,
    issuer,
    verified_at_ms,
    issued_at_ms,
    expires_at_ms: issued_at_ms + LIMITS.oauth_access_life_ms,
  });
  return {
    access_token,
    token_type: 'Bearer',
    expires_in: LIMITS.oauth_access_life_ms / 1000,
    refresh_token: deriveToken(keys, 'oauth_refresh', { id, counter: generation, key_id, seed }),
    scope: scopes.join(' '),
  };
}
