import { z } from 'zod';
import { type AccessTokenHolder, accessTokenHolder, accountDeleted } from '../../access/principal.js';
import { id } from '../../access/response_schemas.js';
import { isEnabled } from '../../domain/permissions.js';
import { orNull } from '../../domain/refusals.js';
import type { ObjectCacheKind } from '../../engine/runtime/caches.js';
import { CachedJson } from '../../engine/wire/cached_json.js';
import type { FeatureServices } from '../services.js';
import type { Clients } from './clients/clients.js';

const AGENT = 'svc-agent';

export const introspectionShape = z.union([
  z
    .strictObject({
      active: z.literal(true).describe('It may be used now.'),
      token_type: z.literal('Bearer').describe('How it is shown.'),
      client_id: z.string().describe('Whom it was issued to.'),
      sub: id.describe('The account.'),
      username: z.string().describe("The account's email."),
      scope: z.string().describe('The permissions that it gives now, with spaces between them.'),
      agent_enabled: z.boolean().optional().describe("For tokens of the agent's client alone."),
    })
    .meta({ id: 'ActiveToken' }),
  z.strictObject({ active: z.literal(false).describe('It is worth nothing; the reason is not given.') }),
]);

type IntrospectionView = z.infer<typeof introspectionShape>;
type HolderServices = Pick<FeatureServices, 'access_tokens' | 'actors' | 'addresses' | 'keys' | 'known_callers'> & {
  clients: Clients;
};

const INACTIVE = new CachedJson<IntrospectionView>({ active: false });
/** The view of each token's holder; a change of the holder makes another object. */
const VIEWS: ObjectCacheKind<AccessTokenHolder, CachedJson<IntrospectionView>> = { name: 'introspections' };

/** Introspects an access token (RFC 7662); returns the same object until the view changes. */
export async function introspect(
  services: HolderServices & Pick<FeatureServices, 'runtime'>,
  token: string,
): Promise<CachedJson<IntrospectionView>> {
  const holder = await orNull(holderAtAny(services, token), 'UNAUTHORIZED');
  // Only what is known to be over is inactive: a problem on our side says nothing about a token.
  if (holder === null) return INACTIVE;
  const cache = services.runtime.caches.byObject(VIEWS);
  const answer = cache.get(holder) ?? new CachedJson(introspectionView(holder));
  cache.set(holder, answer);
  return answer;
}

/** Our own servers ask about tokens of both issuers at one address. */
async function holderAtAny(services: HolderServices, token: string): Promise<AccessTokenHolder> {
  const holder = accessTokenHolder(services, token, 'base');
  if (services.addresses().legacy_base_url === null) return holder;
  return (await orNull(holder, 'UNAUTHORIZED')) ?? accessTokenHolder(services, token, 'legacy');
}

function introspectionView({ account, claims, permissions }: AccessTokenHolder): IntrospectionView {
  // Nobody may act for it but to sign out and to restore it, and that is asked for here.
  if (accountDeleted(account) !== null) return { active: false };
  return {
    active: true,
    token_type: 'Bearer',
    client_id: claims.client_id,
    sub: account.id,
    username: account.email,
    scope: permissions.join(' '),
    ...(claims.client_id === AGENT ? { agent_enabled: isEnabled(account.entitlements, 'agent.experimental') } : {}),
  };
}
