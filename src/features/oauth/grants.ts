import { z } from 'zod';
import type { Account } from '../../../actors/accounts/account_state.js';
import { type Grant, grantIndex, isLive } from '../../../actors/oauth/grant.js';
import { type PageQuery, type Position, pageOf } from '../../access/cursors.js';
import { id, moment } from '../../access/response_schemas.js';
import { partitionOfId } from '../../domain/ids.js';
import { orNull, Refused, refuse } from '../../domain/refusals.js';
import { accountNamed } from '../accounts/account_of_email.js';
import type { FeatureServices } from '../services.js';

/** Grants of an account: what clients may do for it. */

const UNKNOWN = refuse('NOT_FOUND', 'The account has no such grant.');

export const grantShape = z
  .strictObject({
    id,
    client_id: z.string().describe('The client that was allowed in.'),
    name: z.string(),
    scopes: z.array(z.string()).describe('As the client asked for them.'),
    audience: z.enum(['api', 'mcp']).describe('What its tokens are for.'),
    issuer: z.enum(['base', 'legacy']).describe('Where it was made, and works.'),
    created_at: moment,
  })
  .meta({ id: 'Grant' });

type GrantView = z.infer<typeof grantShape>;

export type GrantRow = Position & { grant: Grant };

/** A page of an account's living grants, newest first. */
export async function listGrants(
  { actors, store }: Pick<FeatureServices, 'actors' | 'store'>,
  { id: account_id, epochs }: Account,
  { limit, cursor }: PageQuery,
): Promise<{ rows: GrantRow[]; cursor: string | null }> {
  const place = { owner: account_id, partition: partitionOfId(account_id) };
  const rows: GrantRow[] = [];
  let after = cursor;
  // One that ended between the list and the look at it leaves a gap, which the next of the list fills.
  while (rows.length <= limit) {
    const wanted = limit + 1 - rows.length;
    const listed = await store.list(place, grantIndex(epochs.grants), { after, descending: true, limit: wanted });
    const grants = await Promise.all(listed.map(({ member }) => orNull(actors.grant(member).view(), 'UNAUTHORIZED')));
    for (const [index, grant] of grants.entries()) {
      const position = listed[index] as Position;
      if (grant !== null && isLive(grant)) rows.push({ ...position, grant });
    }
    if (listed.length < wanted) break;
    after = listed.at(-1);
  }
  return pageOf(rows, limit);
}

/** A page of an account's grants as staff see them, newest first. `named` is the account's id or email. */
export async function listGrantsForStaff(
  services: Pick<FeatureServices, 'actors' | 'store'>,
  named: string,
  query: PageQuery,
): Promise<{ account_id: string; items: GrantView[]; cursor: string | null }> {
  const account = await accountNamed(services, named);
  const { rows, cursor } = await listGrants(services, account, query);
  return { account_id: account.id, items: rows.map(grantView), cursor };
}

/** Ends a grant for staff. */
export async function endGrant(
  services: Pick<FeatureServices, 'actors'>,
  named: string,
  grant_id: string,
): Promise<void> {
  const account = await accountNamed(services, named);
  const by = { account_id: account.id, grants_epoch: account.epochs.grants };
  const { revoked } = await services.actors.grant(grant_id).revoke({ by });
  if (!revoked) throw new Refused(UNKNOWN);
}

/** Ends all grants and browser sessions of an account for staff. */
export async function endGrants(services: Pick<FeatureServices, 'actors'>, named: string) {
  const account = await accountNamed(services, named);
  return services.actors.account(account.id).end_grants();
}

function grantView({ member, grant }: GrantRow): GrantView {
  const { client_id, name, scopes, audience, issuer, created_at_ms } = grant;
  return {
    id: member,
    client_id,
    name,
    scopes: [...scopes],
    audience,
    issuer,
    created_at: new Date(created_at_ms).toISOString(),
  };
}
