import { hash } from 'node:crypto';
import { z } from 'zod';
import { type Grant, type IssuedGrant, type Narrowing, NO_CODE, NO_TOKEN } from '../../../actors/oauth/grant.js';
import { issuerUrl } from '../../access/issuer.js';
import type { Client } from '../../access/oauth_client.js';
import { count } from '../../access/response_schemas.js';
import { audienceOf, type Issuer } from '../../domain/audiences.js';
import { LIMITS } from '../../domain/limits.js';
import { isOauthError, type OauthError, oauthError } from '../../domain/oauth_errors.js';
import { orNull } from '../../domain/refusals.js';
import { offlineAccessIn, scopeList } from '../../domain/scopes.js';
import { deriveToken, isGenuine, parseToken } from '../../engine/secrets/tokens.js';
import type { Fence } from '../../engine/store/store.js';
import type { FeatureServices } from '../services.js';

/** Exchange, refresh and revocation of tokens. docs/rules.md, "OAuth: tokens and native sign-in". */

export const tokensShape = z
  .strictObject({
    access_token: z.string().describe('A JWT (RFC 9068) for the API or for /mcp.'),
    token_type: z.literal('Bearer').describe('How it is shown: `Authorization: Bearer …`.'),
    expires_in: count.describe('Seconds that the access token epochs.'),
    refresh_token: z.string().describe('What gets the next tokens, once.'),
    scope: z.string().describe('Names with spaces between them, as the client asked for them.'),
  })
  .meta({ id: 'OauthTokens' });

type TokensResult = z.infer<typeof tokensShape> | OauthError;

/** The request of a client, and the issuer that receives it. */
type TokenQuery = { issuer: Issuer } & Partial<
  Record<
    'code' | 'code_verifier' | 'redirect_uri' | 'refresh_token' | 'scope' | 'resource' | 'token',
    string | undefined
  >
>;

/** RFC 7636, 4.1. */
const VERIFIER_FORM = /^[A-Za-z0-9._~-]{43,128}$/;

/** Exchanges a code for tokens. */
export async function exchangeCode(
  services: Pick<FeatureServices, 'access_tokens' | 'actors' | 'addresses' | 'clock' | 'keys'>,
  client: Client,
  query: TokenQuery,
): Promise<TokensResult> {
  const { code, code_verifier, redirect_uri = null, issuer, resource } = query;
  if (code === undefined) return oauthError('invalid_request', 'code is missing.');
  if (code_verifier === undefined) return oauthError('invalid_request', 'code_verifier is missing.');
  if (!VERIFIER_FORM.test(code_verifier)) return NO_CODE;
  const found = await grantOf(services, { kind: 'authorization_code', token: code, issuer });
  if (found === null) return NO_CODE;
  const asked = narrowingOf(services, { issuer, resource });
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

/** Exchanges a refresh token for the next tokens. */
export async function refreshTokens(
  services: Pick<FeatureServices, 'access_tokens' | 'actors' | 'addresses' | 'clock' | 'keys'>,
  client: Client,
  query: TokenQuery,
): Promise<TokensResult> {
  const { refresh_token, issuer } = query;
  if (refresh_token === undefined) return oauthError('invalid_request', 'refresh_token is missing.');
  const found = await grantOf(services, { kind: 'oauth_refresh', token: refresh_token, issuer });
  if (found === null) return NO_TOKEN;
  const asked = narrowingOf(services, query);
  if (isOauthError(asked)) return asked;
  const refreshed = await services.actors
    .grant(found.id)
    .refresh({ client_id: client.client_id, generation: found.counter, asked }, found.fences);
  return issue(services, found, refreshed);
}

/** RFC 7009: revokes any token for this client. An access token ends its grant as well. */
export async function revokeToken(
  services: Pick<FeatureServices, 'access_tokens' | 'actors' | 'keys'>,
  client: Client,
  { token = '', issuer }: TokenQuery,
): Promise<Record<string, never>> {
  const found =
    (await grantOf(services, { kind: 'oauth_refresh', token, issuer })) ??
    (await grantOf(services, { kind: 'authorization_code', token, issuer }));
  const claims = found === null ? await services.access_tokens.verify(token, issuer) : null;
  const grant_id = found?.id ?? claims?.grant_id;
  if (grant_id === undefined) return {};
  await services.actors.grant(grant_id).revoke({ by: { client_id: client.client_id } });
  return {};
}

type FoundGrant = { id: string; counter: number; grant: Grant; fences: Fence[] };

/** The living grant that a genuine code or refresh token leads to, at this issuer; null when there is none. */
async function grantOf(
  services: Pick<FeatureServices, 'actors' | 'keys'>,
  { kind, token, issuer }: { kind: 'authorization_code' | 'oauth_refresh'; token: string; issuer: Issuer },
): Promise<FoundGrant | null> {
  const { actors, keys } = services;
  const parsed = parseToken(kind, token);
  if (parsed === null) return kind === 'oauth_refresh' ? importedGrantOf(services, { token, issuer }) : null;
  const grant = await orNull(actors.grant(parsed.id).view(), 'UNAUTHORIZED');
  if (grant === null) return null;
  if (!isGenuine(keys, kind, parsed, grant)) return null;
  return livingGrant(services, { id: parsed.id, counter: parsed.counter, grant, issuer });
}

/** The grant of a token from an earlier system, which is the first token of its grant. */
async function importedGrantOf(
  services: Pick<FeatureServices, 'actors'>,
  { token, issuer }: { token: string; issuer: Issuer },
): Promise<FoundGrant | null> {
  const { actors } = services;
  const imported = await orNull(actors.importedToken(hash('sha256', token, 'hex')).view(), 'NOT_FOUND');
  if (imported === null) return null;
  const grant = await orNull(actors.grant(imported.grant_id).view(), 'UNAUTHORIZED');
  if (grant === null) return null;
  return livingGrant(services, { id: imported.grant_id, counter: 1, grant, issuer });
}

/** A grant works at the issuer that it was made at, while its account's grants have not all been ended. */
async function livingGrant(
  services: Pick<FeatureServices, 'actors'>,
  { id, counter, grant, issuer }: { id: string; counter: number; grant: Grant; issuer: Issuer },
): Promise<FoundGrant | null> {
  if (grant.issuer !== issuer) return null;
  const { account_id, issued_under } = grant;
  const account = await orNull(services.actors.account(account_id).view(), 'UNAUTHORIZED');
  if (account === null) return null;
  if (account.epochs.grants !== issued_under.grants) return null;
  const fences: Fence[] = [{ fence: 'epoch', account_id, epoch: 'grants', value: issued_under.grants }];
  return { id, counter, grant, fences };
}

/** The part of the granted scopes and audience that the request asks for. */
function narrowingOf(
  services: Pick<FeatureServices, 'addresses'>,
  { issuer, scope, resource }: Pick<TokenQuery, 'issuer' | 'scope' | 'resource'>,
): Narrowing | OauthError {
  const issuer_url = issuerUrl(services, issuer);
  const audience = resource === undefined ? null : audienceOf(issuer_url, resource);
  if (resource !== undefined && audience === null) {
    return oauthError('invalid_target', `resource must be one of ${issuer_url} and ${issuer_url}/mcp.`);
  }
  const scopes = scopeList(scope ?? '');
  return { scopes: scopes.length === 0 ? null : [...scopes, ...offlineAccessIn(scope ?? '')], audience };
}

/** The token response. Scope names are those that the client asked for (rule C-067). */
async function issue(
  services: Pick<FeatureServices, 'access_tokens' | 'clock' | 'keys'>,
  { id }: FoundGrant,
  issued: IssuedGrant | OauthError,
): Promise<TokensResult> {
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
