import { z } from 'zod';
import { listCursor } from '../../src/access/cursors.js';
import { emailAddress, listLimit, trimmedText, uuid, whole } from '../../src/access/request_schemas.js';
import { pageShape } from '../../src/access/response_schemas.js';
import { BUCKETS, type Bucket, GIVEN_ROLES } from '../../src/domain/workspaces.js';
import { ACCOUNT_PAGES } from '../../src/edge/pages/account_pages.js';
import { requestLanguage } from '../../src/edge/pages/request_language.js';
import { listedWorkspaceShape } from '../../src/features/accounts/account_workspaces.js';
import {
  invitationShape,
  invite,
  listSentInvitations,
  withdrawInvitation,
} from '../../src/features/workspaces/invitations.js';
import { changeRole, listMembers, memberShape, removeMember } from '../../src/features/workspaces/members.js';
import {
  BUCKET_WORDS,
  changeWorkspace,
  createWorkspace,
  deleteWorkspace,
  leaveWorkspace,
  listWorkspaces,
  readWorkspace,
  transferWorkspace,
  workspaceShape,
} from '../../src/features/workspaces/workspaces.js';
import { PARAMETERS } from '../path_parameters.js';
import { accountRoute, type Route } from '../rows.js';

/** Workspaces, who belongs to them and who is invited. docs/rules.md, "Workspaces and retention". */

const WORKSPACE_NAME_CHARS_MAX = 80; // ours
const RETENTION_DAYS_MAX = 36_500; // ours

const NOTHING = 'must name at least one of name and retention';

const name = trimmedText(WORKSPACE_NAME_CHARS_MAX);
const days = whole({ min: 0, max: RETENTION_DAYS_MAX })
  .nullable()
  .describe('How many days they are kept. Null: for ever. 0: not at all.');
const bucket = z.strictObject({ days }, `must be {days}: null, or a whole number from 0 to ${RETENTION_DAYS_MAX}`);
const retention = z
  .strictObject(
    Object.fromEntries(BUCKETS.map((of) => [of, bucket.optional().describe(BUCKET_WORDS[of])])) as Record<
      Bucket,
      z.ZodOptional<typeof bucket>
    >,
    `must be an object with any of ${BUCKETS.join(', ')}`,
  )
  .describe('How long its content is kept; what is not named stays as it is.');
const role = z.enum(GIVEN_ROLES, `must be ${GIVEN_ROLES.join(' or ')}`).describe('What the person may do in it.');
const paging = z.object({ limit: listLimit, cursor: listCursor });

export const WORKSPACE_ROUTES: readonly Route[] = [
  accountRoute({
    method: 'GET',
    path: '/workspaces',
    summary: 'The workspaces that the account belongs to: its private one first, then by name.',
    credential: 'account',
    permission: ['workspace:read'],
    query: paging,
    answer: pageShape(listedWorkspaceShape),
    handler: async ({ who, query }) => listWorkspaces(who, query),
  }),

  accountRoute({
    method: 'POST',
    path: '/workspaces',
    summary: 'Makes a shared workspace, which the caller owns.',
    credential: 'account',
    permission: ['workspace:manage'],
    sharing: true,
    status: 201,
    body: z.object({ name }),
    answer: workspaceShape,
    // Not found: it was deleted before it was answered, as with its account.
    refusals: ['NOT_FOUND', 'CONFLICT', 'TOO_MANY_REQUESTS'],
    handler: ({ services, who, body }) => createWorkspace(services, who, body),
  }),

  accountRoute({
    method: 'GET',
    path: '/workspaces/:id',
    params: { id: PARAMETERS.workspace },
    summary: 'A workspace.',
    credential: 'account',
    permission: ['workspace:read'],
    answer: workspaceShape,
    handler: ({ services, who, params }) => readWorkspace(services, who, params.id),
  }),

  accountRoute({
    method: 'PATCH',
    path: '/workspaces/:id',
    params: { id: PARAMETERS.workspace },
    summary: 'Renames a workspace, or says how long it keeps what is in it.',
    notes: 'Of `retention` only the buckets that are named change.',
    credential: 'account',
    permission: ['workspace:manage'],
    body: z
      .object({ name: name.optional(), retention: retention.optional() })
      .refine((body) => body.name !== undefined || body.retention !== undefined, NOTHING),
    answer: workspaceShape,
    refusals: ['CONFLICT'],
    handler: ({ services, who, params, body: change }) => changeWorkspace(services, who, { id: params.id, change }),
  }),

  accountRoute({
    method: 'DELETE',
    path: '/workspaces/:id',
    params: { id: PARAMETERS.workspace },
    summary: 'Deletes a shared workspace.',
    credential: 'account',
    permission: ['workspace:manage'],
    status: 204,
    refusals: ['CONFLICT'],
    handler: ({ services, who, params }) => deleteWorkspace(services, who, params.id),
  }),

  accountRoute({
    method: 'POST',
    path: '/workspaces/:id/transfer',
    params: { id: PARAMETERS.workspace },
    summary: 'Makes another member the owner.',
    credential: 'account',
    permission: ['workspace:manage'],
    status: 204,
    body: z.object({ account_id: uuid.describe('The member who becomes the owner.') }),
    refusals: ['CONFLICT'],
    handler: ({ services, who, params, body: { account_id } }) =>
      transferWorkspace(services, who, { id: params.id, account_id }),
  }),

  accountRoute({
    method: 'POST',
    path: '/workspaces/:id/leave',
    params: { id: PARAMETERS.workspace },
    summary: 'Leaves a shared workspace.',
    credential: 'account',
    permission: ['workspace:read'],
    status: 204,
    refusals: ['CONFLICT', 'WORKSPACE_OWNER_REQUIRED'],
    handler: ({ services, who, params }) => leaveWorkspace(services, who, params.id),
  }),

  accountRoute({
    method: 'GET',
    path: '/workspaces/:id/members',
    params: { id: PARAMETERS.workspace },
    summary: 'Who belongs to a workspace, in the order of joining.',
    credential: 'account',
    permission: ['workspace:read'],
    query: paging,
    answer: pageShape(memberShape),
    refusals: ['CONFLICT'],
    handler: ({ services, who, params, query }) => listMembers(services, who, { ...query, id: params.id }),
  }),

  accountRoute({
    method: 'PATCH',
    path: '/workspaces/:id/members/:account_id',
    params: { id: PARAMETERS.workspace, account_id: PARAMETERS.member },
    summary: 'Gives a member another role.',
    credential: 'account',
    permission: ['workspace:members'],
    sharing: true,
    body: z.object({ role }),
    answer: memberShape,
    refusals: ['CONFLICT', 'WORKSPACE_OWNER_REQUIRED'],
    handler: ({ services, who, params, body: { role } }) =>
      changeRole(services, who, { id: params.id, account_id: params.account_id, role }),
  }),

  accountRoute({
    method: 'DELETE',
    path: '/workspaces/:id/members/:account_id',
    params: { id: PARAMETERS.workspace, account_id: PARAMETERS.member },
    summary: 'Removes a member.',
    credential: 'account',
    permission: ['workspace:members'],
    sharing: true,
    status: 204,
    refusals: ['CONFLICT', 'WORKSPACE_OWNER_REQUIRED'],
    handler: ({ services, who, params }) =>
      removeMember(services, who, { id: params.id, account_id: params.account_id }),
  }),

  accountRoute({
    method: 'GET',
    path: '/workspaces/:id/invitations',
    params: { id: PARAMETERS.workspace },
    summary: 'Invitations to a workspace that are not answered, oldest first.',
    credential: 'account',
    permission: ['workspace:members'],
    query: paging,
    answer: pageShape(invitationShape),
    refusals: ['CONFLICT'],
    handler: ({ services, who, params, query }) => listSentInvitations(services, who, { ...query, id: params.id }),
  }),

  accountRoute({
    method: 'POST',
    path: '/workspaces/:id/invitations',
    params: { id: PARAMETERS.workspace },
    summary: 'Invites an email address to a shared workspace.',
    credential: 'account',
    permission: ['workspace:members'],
    sharing: true,
    status: 201,
    body: z.object({ email: emailAddress.describe('Whom to invite, with or without an account.'), role }),
    answer: invitationShape,
    refusals: ['CONFLICT', 'TOO_MANY_REQUESTS'],
    handler({ services, who, params, body: { email, role }, request }) {
      const invitations_url = services.addresses().base_url + ACCOUNT_PAGES.invitations.path;
      const language = requestLanguage(request);
      return invite(services, who, { id: params.id, email, role, invitations_url, language });
    },
  }),

  accountRoute({
    method: 'DELETE',
    path: '/workspaces/:id/invitations/:invitation_id',
    params: { id: PARAMETERS.workspace, invitation_id: PARAMETERS.invitation },
    summary: 'Withdraws an invitation.',
    credential: 'account',
    permission: ['workspace:members'],
    sharing: true,
    status: 204,
    refusals: ['CONFLICT'],
    handler: ({ services, who, params }) =>
      withdrawInvitation(services, who, { id: params.id, invitation_id: params.invitation_id }),
  }),
];
