import { z } from 'zod';
import { listCursor } from '../../src/access/cursors.js';
import { listLimit } from '../../src/access/request_schemas.js';
import { pageShape } from '../../src/access/response_schemas.js';
import {
  acceptInvitation,
  declineInvitation,
  invitationShape,
  listInvitations,
} from '../../src/features/workspaces/invitations.js';
import { PARAMETERS } from '../path_parameters.js';
import { accountRoute, type Route } from '../rows.js';

/** Invitations, for the person to whom they are addressed. docs/rules.md, "Workspaces and retention". */
export const INVITATION_ROUTES: readonly Route[] = [
  accountRoute({
    method: 'GET',
    path: '/me/invitations',
    summary: 'Invitations that are addressed to the account, newest first.',
    credential: 'account',
    permission: ['workspace:read'],
    query: z.object({ limit: listLimit, cursor: listCursor }),
    answer: pageShape(invitationShape),
    handler: ({ services, who, query }) => listInvitations(services, { ...query, email: who.account.email }),
  }),

  accountRoute({
    method: 'POST',
    path: '/me/invitations/:id/accept',
    params: { id: PARAMETERS.invitation },
    summary: 'Accepts an invitation.',
    credential: 'account',
    permission: ['workspace:read'],
    sharing: true,
    status: 204,
    refusals: ['CONFLICT'],
    handler: ({ services, who, params }) => acceptInvitation(services, who, params.id),
  }),

  accountRoute({
    method: 'POST',
    path: '/me/invitations/:id/decline',
    params: { id: PARAMETERS.invitation },
    summary: 'Declines an invitation.',
    credential: 'account',
    permission: ['workspace:read'],
    status: 204,
    refusals: ['CONFLICT'],
    handler: ({ services, who, params }) =>
      declineInvitation(services, { email: who.account.email, invitation_id: params.id }),
  }),
];
