import { z } from 'zod';
import type { PageQuery } from '../../access/cursors.js';
import type { Principal } from '../../access/principal.js';
import { id, moment } from '../../access/response_schemas.js';
import { Refused, refuse } from '../../domain/refusals.js';
import type { FeatureServices } from '../services.js';
import { type GrantRow, listGrants } from './grants.js';

/** Connected apps, and signing out of them. Rules D-038 to D-052. */

const UNKNOWN = refuse('NOT_FOUND', 'There is no such connected app.');
const NOT_EVERYWHERE = refuse('FORBIDDEN', 'Signing out everywhere needs the permission account:manage.', {
  scope: ['account:manage'],
});

export const connectionShape = z
  .strictObject({
    id,
    client_id: z.string().describe('The OAuth client that was allowed in.'),
    name: z.string().describe("The installation's label, or the client's name."),
    scopes: z.array(z.string()).describe('As the client asked for them.'),
    created_at: moment,
    current: z.boolean().describe('Whether the calling token belongs to it.'),
  })
  .meta({ id: 'ConnectedApp' });

type ConnectionView = z.infer<typeof connectionShape>;

/** A page of the apps that are connected to the account, newest first. */
export async function listConnections(
  services: Pick<FeatureServices, 'actors' | 'store'>,
  who: Principal,
  query: PageQuery,
): Promise<{ items: ConnectionView[]; cursor: string | null }> {
  const { rows, cursor } = await listGrants(services, who.account, query);
  return { items: rows.map((row) => connectionView(row, who)), cursor };
}

/** Disconnects an app: ends its grant and its tokens. */
export async function endConnection(
  { actors }: Pick<FeatureServices, 'actors'>,
  who: Principal,
  id: string,
): Promise<void> {
  const by = { account_id: who.account_id, grants_epoch: who.account.epochs.grants };
  const { revoked } = await actors.grant(id).revoke({ by }, who.fences);
  if (!revoked) throw new Refused(UNKNOWN);
}

/** Signs out the calling app. `everywhere`: signs out everything, app sessions too if an app session calls. */
export async function signOut(
  services: Pick<FeatureServices, 'actors'>,
  who: Principal,
  { everywhere }: { everywhere: boolean },
): Promise<unknown> {
  if (!everywhere) return endCaller(services, who);
  if (!who.permissions.includes('account:manage')) throw new Refused(NOT_EVERYWHERE);
  const app_sessions = who.kind === 'app_session';
  return services.actors.account(who.account_id).sign_out_everywhere({ app_sessions }, who.fences);
}

/** Ends only the calling app: its session, or its whole grant. */
function endCaller({ actors }: Pick<FeatureServices, 'actors'>, who: Principal): Promise<unknown> {
  const { account_id, credential_id } = who;
  if (who.kind === 'app_session') return actors.appSession(credential_id).end();
  return actors.grant(credential_id).revoke({ by: { account_id, grants_epoch: who.account.epochs.grants } });
}

/** The Connected app of the interface. */
function connectionView({ member, grant }: GrantRow, who: Principal): ConnectionView {
  const { client_id, name, scopes, created_at_ms } = grant;
  return {
    id: member,
    client_id,
    name,
    scopes: [...scopes],
    created_at: new Date(created_at_ms).toISOString(),
    current: who.kind === 'oauth' && who.credential_id === member,
  };
}
