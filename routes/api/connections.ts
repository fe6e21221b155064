import { z } from 'zod';
import { type Grant, grantIndex, isLive } from '../../actors/oauth/grant.js';
import { listCursor, type Position, pageOf } from '../../src/access/cursors.js';
import type { Principal } from '../../src/access/principal.js';
import { listLimit } from '../../src/access/request_schemas.js';
import { id, moment, pageShape } from '../../src/access/response_schemas.js';
import { partitionOfId } from '../../src/domain/ids.js';
import { orNull, Refused, refuse, throwRefusal } from '../../src/domain/refusals.js';
import { accountRoute, type Route } from '../rows.js';
import type { Services } from '../services.js';

/** Connected apps, and signing out of them. Rules D-038 to D-052. */

const UNKNOWN = refuse('NOT_FOUND', 'There is no such connected app.');
const NOT_EVERYWHERE = refuse('FORBIDDEN', 'Signing out everywhere needs the permission account:manage.', {
  scope: ['account:manage'],
});

const connectionShape = z
  .strictObject({
    id,
    client_id: z.string().describe('The OAuth client that was allowed in.'),
    name: z.string().describe("The installation's label, or the client's name."),
    scopes: z.array(z.string()).describe('As the client asked for them.'),
    created_at: moment,
    current: z.boolean().describe('Whether the calling token belongs to it.'),
  })
  .meta({ id: 'ConnectedApp' });

export const CONNECTION_ROUTES: readonly Route[] = [
  accountRoute({
    method: 'GET',
    path: '/me/connections',
    summary: 'The apps that are connected to the account, newest first.',
    credential: 'app',
    permission: ['account:manage'],
    query: z.object({ limit: listLimit, cursor: listCursor }),
    answer: pageShape(connectionShape),
    async handler({ services, who, query: { limit, cursor } }) {
      const { account_id } = who;
      const grants = await listGrants(services, { account_id, grants_life: who.account.lives.grants, limit, cursor });
      return { items: grants.rows.map((row) => connectionView(row, who)), cursor: grants.cursor };
    },
  }),

  accountRoute({
    method: 'DELETE',
    path: '/me/connections/:id',
    summary: 'Disconnects an app: ends its grant and its tokens.',
    credential: 'app',
    permission: ['account:manage'],
    status: 204,
    async handler({ services, who, params }) {
      const by = { account_id: who.account_id, grants_life: who.account.lives.grants };
      const answer = await services.actors.grant(params.id as string).revoke({ by }, who.fences);
      return answer.revoked ? null : throwRefusal(UNKNOWN);
    },
  }),

  accountRoute({
    method: 'POST',
    path: '/me/sign-out',
    summary: 'Signs out the calling app, or everything.',
    notes:
      'Without a body only the calling app is signed out. With `everywhere` every grant, personal access token and browser session ends, and every app session when one of them calls.',
    credential: 'app',
    deleted_too: true,
    status: 204,
    body: z
      .object({
        everywhere: z
          .boolean('must be true or false')
          .optional()
          .describe('True: everything, not the calling app alone.'),
      })
      .optional(),
    example: { everywhere: true },
    async handler({ services, who, body }) {
      if (body?.everywhere !== true) return endCaller(services, who);
      if (!who.permissions.includes('account:manage')) throw new Refused(NOT_EVERYWHERE);
      return services.actors
        .account(who.account_id)
        .sign_out_everywhere({ app_sessions: who.kind === 'app_session' }, who.fences);
    },
  }),
];

/** Ends the calling app alone: its session, or its whole grant. */
function endCaller({ actors }: Services, who: Principal): Promise<unknown> {
  const { account_id, credential_id } = who;
  if (who.kind === 'app_session') {
    return actors.appSession(credential_id).end();
  }
  return actors.grant(credential_id).revoke({ by: { account_id, grants_life: who.account.lives.grants } });
}

type GrantRow = Position & { grant: Grant };

/** A page of an account's living grants, newest first. */
export async function listGrants(
  { actors, store }: Services,
  asked: { account_id: string; grants_life: number; limit: number; cursor: Position | undefined },
): Promise<{ rows: GrantRow[]; cursor: string | null }> {
  const { account_id, grants_life, limit } = asked;
  const place = { owner: account_id, partition: partitionOfId(account_id) };
  const rows: GrantRow[] = [];
  let after = asked.cursor;
  // One that ended between the list and the look at it leaves a gap, which the next of the list fills.
  while (rows.length <= limit) {
    const wanted = limit + 1 - rows.length;
    const listed = await store.list(place, grantIndex(grants_life), { after, descending: true, limit: wanted });
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

/** The Connected app of the interface. */
function connectionView({ member, grant }: GrantRow, who: Principal): z.infer<typeof connectionShape> {
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
