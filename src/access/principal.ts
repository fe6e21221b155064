import { hash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { type Account, eraseAtMs, isOpen } from '../../actors/accounts/account_state.js';
import type { AppSession } from '../../actors/accounts/app_session.js';
import type { Grant } from '../../actors/oauth/grant.js';
import { audienceUrl, type Issuer } from '../domain/audiences.js';
import { type Permission, permissionsOf } from '../domain/permissions.js';
import { orNull, type Refusal, Refused, refuse } from '../domain/refusals.js';
import { permissionsOfScopes, recalls, TRANSCRIBES } from '../domain/scopes.js';
import { RecentlyUsed } from '../engine/pools/recently_used.js';
import type { Actors } from '../engine/runtime/actors.js';
import type { AccessClaims, AccessTokens } from '../engine/secrets/access_tokens.js';
import type { ServerKeys } from '../engine/secrets/server_keys.js';
import {
  isGenuine,
  isSecret,
  PERSONAL_ACCESS_TOKEN_PREFIX,
  parseSecret,
  parseToken,
} from '../engine/secrets/tokens.js';
import type { Fence } from '../engine/store/store.js';
import { issuerOf, issuerUrl, type PublicAddresses } from './issuer.js';
import type { Client as OauthClient } from './oauth_client.js';

/** The caller of an account route, as of this request. */
export type Principal = {
  kind: 'app_session' | 'oauth' | 'personal_access_token';
  /** The id of the app session, the grant, or the token. */
  credential_id: string;
  /** The client that acts for the account, with the names of its granted scopes; null if there is no client. */
  client: { client_id: string; first_party: boolean; scopes: readonly string[] } | null;
  account_id: string;
  account: Account;
  permissions: readonly Permission[];
  /** Whether the caller may search and recall. */
  recalls: boolean;
  /** Whether the caller may have audio transcribed that is not kept. */
  transcribes: boolean;
  /** The time at which the emailed code behind the credential was entered; null if there was none. */
  verified_at_ms: number | null;
  /** Fences every commit made for this credential by the epochs it was authorised under. */
  fences: Fence[];
};

/** The device behind a request, as of this request, and the certificate that proves it. */
export type DeviceIdentity = { device_id: string; kind: 'personal' | 'shared'; fingerprint: string };

const REMEMBERED_MAX = 50_000;
const NO_TOKEN = refuse('UNAUTHORIZED', 'This route needs an Authorization header with a bearer token.');
const BAD_TOKEN = refuse('UNAUTHORIZED', 'The token is unknown, expired or revoked.');

/**
 * Callers by the states from which they were built. Each request still reads all these states; if they are the same
 * objects as before, the caller is the same too. A state is never modified, so the same object is the same state.
 */
export class KnownCallers {
  /**
   * App tokens found genuine, by hash: only that they are ours, and whose. Every request still checks that they are
   * valid.
   */
  readonly app_tokens = new RecentlyUsed<{ session_id: string; serial: number; account_id: string }>(REMEMBERED_MAX);
  readonly principals = new WeakMap<AppSession | AccessTokenHolder, Principal>();
  readonly holders = new WeakMap<AccessClaims, AccessTokenHolder>();
}

/** The services that identify the caller. */
export type AccessDeps = {
  actors: Pick<Actors, 'account' | 'appSession' | 'grant' | 'personalAccessToken'>;
  keys: ServerKeys;
  known_callers: KnownCallers;
  access_tokens: Pick<AccessTokens, 'verify'>;
  /** A client that may act now; null for a client that is unknown, has ended or is disabled. */
  clients: { find(client_id: string): Promise<OauthClient | null> };
  addresses(): PublicAddresses;
};

/** The caller behind the Authorization header, or the reason for which there is none. */
export async function principalOf(
  services: AccessDeps,
  request: FastifyRequest,
  at: 'rest' | 'mcp',
): Promise<Principal> {
  const header = request.headers.authorization;
  if (header === undefined) throw new Refused(NO_TOKEN);
  const token = /^Bearer +([\x21-\x7e]{1,4096})$/i.exec(header)?.[1];
  if (token === undefined) throw new Refused(NO_TOKEN);
  if (token.startsWith(PERSONAL_ACCESS_TOKEN_PREFIX)) return tokenPrincipal(services, token);
  if (!token.startsWith('sps_')) return oauthPrincipal(services, { token, issuer: issuerOf(services, request), at });
  return appSessionPrincipal(services, token);
}

async function appSessionPrincipal({ keys, known_callers, actors }: AccessDeps, token: string): Promise<Principal> {
  const key = hash('sha256', token, 'base64');
  let known = known_callers.app_tokens.get(key);
  if (known === undefined) {
    const parsed = parseToken('app_access', token);
    if (parsed === null) throw new Refused(BAD_TOKEN);
    const session = await actors.appSession(parsed.id).secret();
    if (!isGenuine(keys, 'app_access', parsed, session)) throw new Refused(BAD_TOKEN);
    known = { session_id: parsed.id, serial: parsed.counter, account_id: session.account_id };
    known_callers.app_tokens.set(key, known);
  }
  const [session, account] = await Promise.all([
    actors.appSession(known.session_id).use({ serial: known.serial }),
    accountNow(actors, known.account_id),
  ]);
  const before = known_callers.principals.get(session);
  if (before?.account === account) return before;
  if (session.issued_under.app_sessions !== account.epochs.app_sessions) throw new Refused(BAD_TOKEN);
  const { account_id } = session;
  const permissions = permissionsOf(account.entitlements);
  const caller: Principal = {
    kind: 'app_session',
    credential_id: known.session_id,
    client: null,
    account_id,
    account,
    permissions,
    recalls: recalls({ permissions, held: permissions }),
    transcribes: true,
    verified_at_ms: session.verified_at_ms,
    fences: [
      { fence: 'epoch', account_id, epoch: 'account', value: account.epochs.account },
      { fence: 'epoch', account_id, epoch: 'app_sessions', value: session.issued_under.app_sessions },
    ],
  };
  known_callers.principals.set(session, caller);
  return caller;
}

async function tokenPrincipal({ keys, actors }: AccessDeps, text: string): Promise<Principal> {
  const parsed = parseSecret('personal_access_token', text);
  if (parsed === null) throw new Refused(BAD_TOKEN);
  const found = await orNull(actors.personalAccessToken(parsed.id).view(), 'UNAUTHORIZED');
  if (found === null) throw new Refused(BAD_TOKEN);
  if (!isSecret(keys, 'personal_access_token', parsed, found.secret_hash)) throw new Refused(BAD_TOKEN);
  const { account_id, issued_under } = found;
  const account = await accountNow(actors, account_id);
  const stands = account.tokens.some(({ id }) => id === parsed.id) && issued_under.tokens === account.epochs.tokens;
  if (!stands) throw new Refused(BAD_TOKEN);
  const token = await orNull(actors.personalAccessToken(parsed.id).use(), 'UNAUTHORIZED');
  if (token === null) throw new Refused(BAD_TOKEN);
  // What it lists are current names of scopes, one of which includes another permission.
  const allowed = permissionsOfScopes(token.permissions);
  const held = permissionsOf(account.entitlements);
  const permissions = held.filter((name) => allowed.includes(name));
  return {
    kind: 'personal_access_token',
    credential_id: parsed.id,
    client: null,
    account_id,
    account,
    permissions,
    recalls: recalls({ permissions, held, scopes: token.permissions }),
    transcribes: token.permissions.includes(TRANSCRIBES),
    verified_at_ms: null,
    fences: [
      { fence: 'epoch', account_id, epoch: 'account', value: account.epochs.account },
      { fence: 'epoch', account_id, epoch: 'tokens', value: issued_under.tokens },
    ],
  };
}

/** The account itself, without a credential: for what reads on its behalf. It makes no commit that a credential fences. */
export function ownPrincipal(account: Account, permissions: readonly Permission[]): Principal {
  return {
    kind: 'app_session',
    credential_id: '',
    client: null,
    account_id: account.id,
    account,
    permissions,
    recalls: false,
    transcribes: false,
    verified_at_ms: null,
    fences: [],
  };
}

function accountNow(actors: AccessDeps['actors'], account_id: string): Promise<Account> {
  return actors.account(account_id).view();
}

/** The answer for a deleted account to every request except signing out and restoring. */
export function accountDeleted(account: Account): Refusal | null {
  if (isOpen(account)) return null;
  const at_ms = eraseAtMs(account);
  const erase_at = at_ms === null ? null : new Date(at_ms).toISOString();
  return refuse('ACCOUNT_DELETED', 'The account is deleted.', { extra: { erase_at } });
}

async function oauthPrincipal(
  services: AccessDeps,
  { token, issuer, at }: { token: string; issuer: Issuer; at: 'rest' | 'mcp' },
): Promise<Principal> {
  const holder = await accessTokenHolder(services, token, issuer);
  const { claims, grant, client, account, permissions } = holder;
  if (at === 'rest' && claims.audience !== 'api') throw new Refused(otherAudience(services));
  const before = services.known_callers.principals.get(holder);
  if (before !== undefined) return before;
  const { account_id } = grant;
  const caller: Principal = {
    kind: 'oauth',
    credential_id: claims.grant_id,
    client: { client_id: grant.client_id, first_party: client.party === 'first', scopes: claims.scopes },
    account_id,
    account,
    permissions,
    recalls: recalls({ permissions, held: permissionsOf(account.entitlements), scopes: claims.scopes }),
    transcribes: claims.scopes.includes(TRANSCRIBES),
    verified_at_ms: grant.verified_at_ms,
    fences: [
      { fence: 'epoch', account_id, epoch: 'account', value: account.epochs.account },
      { fence: 'epoch', account_id, epoch: 'grants', value: grant.issued_under.grants },
    ],
  };
  services.known_callers.principals.set(holder, caller);
  return caller;
}

/** Clients that do not name a resource get tokens for /mcp, and a hint how to request others. */
function otherAudience(services: AccessDeps): Refusal {
  // Authorizations are made at the present address alone.
  const resource = audienceUrl(issuerUrl(services, 'base'), 'api');
  const how = `authorize again with resource=${resource} to get one for this API`;
  return refuse('UNAUTHORIZED', `The token was made for /mcp alone: ${how}.`);
}

/** The grant, the client and the account of an OAuth access token, all of which are active now. */
export type AccessTokenHolder = {
  claims: AccessClaims;
  grant: Grant;
  client: OauthClient;
  account: Account;
  /** The permissions that its scopes allow and the account holds. */
  permissions: readonly Permission[];
};

export async function accessTokenHolder(
  { access_tokens, clients, known_callers, actors }: AccessDeps,
  token: string,
  issuer: Issuer,
): Promise<AccessTokenHolder> {
  const claims = await access_tokens.verify(token, issuer);
  if (claims === null) throw new Refused(BAD_TOKEN);
  // The token names all three, so that they are asked at once.
  const [grant, account, client] = await Promise.all([
    actors.grant(claims.grant_id).use({ generation: claims.generation }),
    accountNow(actors, claims.account_id),
    clients.find(claims.client_id),
  ]);
  const before = known_callers.holders.get(claims);
  if (before?.grant === grant && before.account === account && before.client === client) return before;
  if (client === null || grant.issued_under.grants !== account.epochs.grants) throw new Refused(BAD_TOKEN);
  const allowed = permissionsOfScopes(claims.scopes);
  const permissions = permissionsOf(account.entitlements).filter((name) => allowed.includes(name));
  const holder: AccessTokenHolder = { claims, grant, client, account, permissions };
  known_callers.holders.set(claims, holder);
  return holder;
}
