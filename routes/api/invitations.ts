import { z } from 'zod';
import type { ListedInvitation } from '../../actors/accounts/email.js';
import { listCursor, type Position, pageOf } from '../../src/access/cursors.js';
import { listLimit } from '../../src/access/request_schemas.js';
import { pageShape } from '../../src/access/response_schemas.js';
import { orNull } from '../../src/domain/refusals.js';
import { ACCOUNT_PAGES } from '../../src/edge/pages/account_pages.js';
import { acceptInvitation, askWorkspace } from '../../src/features/workspaces/workspace_calls.js';
import { invitationShape, invitationView } from '../../src/features/workspaces/workspace_views.js';
import { accountRoute, type Route } from '../rows.js';
import type { Services } from '../services.js';

/** Invitations as the person whom they are addressed to has them. docs/rules.md, "Workspaces and retention". */
export const INVITATION_ROUTES: readonly Route[] = [
  accountRoute({
    method: 'GET',
    path: '/me/invitations',
    summary: 'Invitations that are addressed to the account, newest first.',
    credential: 'account',
    permission: ['workspace:read'],
    query: z.object({ limit: listLimit, cursor: listCursor }),
    answer: pageShape(invitationShape),
    handler: async ({ services, who, query }) => listInvitations(services, { ...query, email: who.account.email }),
  }),

  accountRoute({
    method: 'POST',
    path: '/me/invitations/:id/accept',
    summary: 'Accepts an invitation.',
    credential: 'account',
    permission: ['workspace:read'],
    sharing: true,
    status: 204,
    refusals: ['CONFLICT'],
    async handler({ services, who, params }) {
      const { account_id, fences } = who;
      const { email } = who.account;
      const found = await addressedTo(services, { email, invitation_id: params.id as string });
      return acceptInvitation(services, { account_id, email, ...found }, fences);
    },
  }),

  accountRoute({
    method: 'POST',
    path: '/me/invitations/:id/decline',
    summary: 'Declines an invitation.',
    credential: 'account',
    permission: ['workspace:read'],
    status: 204,
    refusals: ['CONFLICT'],
    handler: async ({ services, who, params }) =>
      declineInvitation(services, { email: who.account.email, invitation_id: params.id as string }),
  }),
];

/** The page on which they are answered, which mails link to. */
export function invitationsUrl(services: Services): string {
  return services.addresses().base_url + ACCOUNT_PAGES.invitations.path;
}

/** Where an invitation to this address comes from. */
export async function addressedTo(
  { actors }: Services,
  { email, invitation_id }: { email: string; invitation_id: string },
): Promise<{ workspace_id: string; invitation_id: string }> {
  const found = await actors.email(email).invitation({ invitation_id });
  return { workspace_id: found.workspace_id, invitation_id };
}

export async function declineInvitation(
  services: Services,
  invitation: { email: string; invitation_id: string },
): Promise<object> {
  const found = await addressedTo(services, invitation);
  return askWorkspace(services, found.workspace_id, (workspace) => workspace.decline({ ...invitation }));
}

/** A page of the invitations to an address, newest first, as their workspaces have them now. */
export async function listInvitations(
  { actors }: Services,
  { email, limit, cursor }: { email: string; limit: number; cursor: Position | undefined },
): Promise<{ items: ReturnType<typeof invitationView>[]; cursor: string | null }> {
  const rows: (Position & { view: ReturnType<typeof invitationView> })[] = [];
  let after = cursor;
  // One that was answered or withdrawn between the list and the look at it leaves a gap, which the next of the list fills.
  while (rows.length <= limit) {
    const wanted = limit + 1 - rows.length;
    const position = after === undefined ? undefined : { order: after.order, id: after.member };
    const listed = await actors
      .email(email)
      .list_invitations({ range: { after: position, descending: true, limit: wanted } });
    const found = await Promise.all(
      listed.invitations.map(({ id, workspace_id }) => {
        return orNull(actors.workspace(workspace_id).invitation({ invitation_id: id, email }), 'NOT_FOUND');
      }),
    );
    for (const [index, seen] of found.entries()) {
      const { id, order, workspace_id } = listed.invitations[index] as ListedInvitation;
      if (seen === null) continue;
      const view = invitationView(seen.invitation, { id: workspace_id, name: seen.workspace_name });
      rows.push({ order, member: id, view });
    }
    const last = listed.invitations.at(-1);
    if (last === undefined || listed.invitations.length < wanted) break;
    after = { order: last.order, member: last.id };
  }
  const page = pageOf(rows, limit);
  return { items: page.rows.map(({ view }) => view), cursor: page.cursor };
}
