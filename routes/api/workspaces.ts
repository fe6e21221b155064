import { z } from 'zod';
import { invitationsAfter, type Member, type Workspace } from '../../actors/workspaces/workspace.js';
import { listCursor, pageOfAll } from '../../src/access/cursors.js';
import type { Principal } from '../../src/access/principal.js';
import { emailAddress, listLimit, trimmedText, uuid, whole } from '../../src/access/request_schemas.js';
import { pageShape } from '../../src/access/response_schemas.js';
import { partitionOfId } from '../../src/domain/ids.js';
import { LIMITS } from '../../src/domain/limits.js';
import { isRefusal, Refused, refuse, throwRefusal } from '../../src/domain/refusals.js';
import { BUCKETS, type Bucket, GIVEN_ROLES, type GivenRole } from '../../src/domain/workspaces.js';
import { sealMail } from '../../src/engine/mail/sealed_mail.js';
import type { EntityOf } from '../../src/engine/runtime/actors.js';
import { randomId, randomPartition } from '../../src/engine/runtime/random.js';
import { knownEmail } from '../../src/features/accounts/account_of_email.js';
import { invitationMail } from '../../src/features/workspaces/invitation_mail.js';
import { askWorkspace, createWorkspace } from '../../src/features/workspaces/workspace_calls.js';
import {
  BUCKET_WORDS,
  invitationShape,
  invitationView,
  listedWorkspaceShape,
  listedWorkspaceView,
  memberShape,
  memberView,
  privateWorkspaceView,
  sharedWorkspaceView,
  workspaceShape,
  workspacesOf,
} from '../../src/features/workspaces/workspace_views.js';
import { accountRoute, type Route } from '../rows.js';
import type { Services } from '../services.js';
import { invitationsUrl } from './invitations.js';

/** Workspaces, who belongs to them and who is invited. docs/rules.md, "Workspaces and retention". */

const PRIVATE = refuse('CONFLICT', 'A private workspace belongs to its account alone; this is not possible with it.');
const NOTHING = 'must name at least one of name and retention';

const name = trimmedText(LIMITS.workspace_name_chars_max);
const days = whole({ min: 0, max: LIMITS.retention_days_max })
  .nullable()
  .describe('How many days they are kept. Null: for ever. 0: not at all.');
const bucket = z.strictObject(
  { days },
  `must be {days}: null, or a whole number from 0 to ${LIMITS.retention_days_max}`,
);
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
    async handler({ who, query }) {
      const page = pageOfAll(workspacesOf(who.account), { ...query, idOf: ({ id }) => id });
      return { items: page.rows.map(listedWorkspaceView), cursor: page.cursor };
    },
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
    refusals: ['CONFLICT', 'TOO_MANY_REQUESTS'],
    async handler({ services, who, body }) {
      const workspace_id = randomId({ partition: randomPartition(), now_ms: services.clock.now() });
      const { account_id, fences } = who;
      await createWorkspace(services, { account_id, workspace_id, name: body.name }, fences);
      return viewShared(services, who, workspace_id);
    },
  }),

  accountRoute({
    method: 'GET',
    path: '/workspaces/:id',
    summary: 'A workspace.',
    credential: 'account',
    permission: ['workspace:read'],
    answer: workspaceShape,
    async handler({ services, who, params }) {
      const id = params.id as string;
      return isPrivate(who, id) ? privateWorkspaceView(who.account) : viewShared(services, who, id);
    },
  }),

  accountRoute({
    method: 'PATCH',
    path: '/workspaces/:id',
    summary: 'Renames a workspace, or says how long it keeps what is in it.',
    notes: 'Of `retention` only the buckets that are named change.',
    credential: 'account',
    permission: ['workspace:manage'],
    body: z
      .object({ name: name.optional(), retention: retention.optional() })
      .refine((body) => body.name !== undefined || body.retention !== undefined, NOTHING),
    answer: workspaceShape,
    refusals: ['CONFLICT'],
    async handler({ services, who, params, body: change }) {
      const id = params.id as string;
      if (isPrivate(who, id)) {
        const account = await services.actors.account(who.account_id).change_private_workspace({ change }, who.fences);
        return privateWorkspaceView(account);
      }
      const changed = await askWorkspace(services, id, (workspace) => workspace.change({ by: who.account_id, change }));
      return sharedWorkspaceView(id, changed, who.account_id);
    },
  }),

  accountRoute({
    method: 'DELETE',
    path: '/workspaces/:id',
    summary: 'Deletes a shared workspace.',
    credential: 'account',
    permission: ['workspace:manage'],
    status: 204,
    refusals: ['CONFLICT'],
    handler: ({ services, who, params }) =>
      onShared(services, who, params, (workspace) => workspace.delete({ by: who.account_id })),
  }),

  accountRoute({
    method: 'POST',
    path: '/workspaces/:id/transfer',
    summary: 'Makes another member the owner.',
    credential: 'account',
    permission: ['workspace:manage'],
    status: 204,
    body: z.object({ account_id: uuid.describe('The member who becomes the owner.') }),
    refusals: ['CONFLICT'],
    handler: ({ services, who, params, body: { account_id } }) =>
      onShared(services, who, params, (workspace) => workspace.transfer({ by: who.account_id, account_id })),
  }),

  accountRoute({
    method: 'POST',
    path: '/workspaces/:id/leave',
    summary: 'Leaves a shared workspace.',
    credential: 'account',
    permission: ['workspace:read'],
    status: 204,
    refusals: ['CONFLICT', 'WORKSPACE_OWNER_REQUIRED'],
    handler: ({ services, who, params }) =>
      onShared(services, who, params, (workspace) => workspace.leave({ by: who.account_id })),
  }),

  accountRoute({
    method: 'GET',
    path: '/workspaces/:id/members',
    summary: 'Who belongs to a workspace, in the order of joining.',
    credential: 'account',
    permission: ['workspace:read'],
    query: paging,
    answer: pageShape(memberShape),
    refusals: ['CONFLICT'],
    async handler({ services, who, params, query }) {
      const members = await membersOf(services, who, params.id as string);
      const page = pageOfAll(members, { ...query, idOf: ({ account_id }) => account_id });
      const items = await Promise.all(page.rows.map((member) => viewMember(services, member)));
      return items.find(isRefusal) ?? { items, cursor: page.cursor };
    },
  }),

  accountRoute({
    method: 'PATCH',
    path: '/workspaces/:id/members/:account_id',
    summary: 'Gives a member another role.',
    credential: 'account',
    permission: ['workspace:members'],
    sharing: true,
    body: z.object({ role }),
    answer: memberShape,
    refusals: ['CONFLICT', 'WORKSPACE_OWNER_REQUIRED'],
    async handler({ services, who, params, body }) {
      const account_id = params.account_id as string;
      const member = await onShared(services, who, params, (workspace) =>
        workspace.change_role({ by: who.account_id, account_id, role: body.role }),
      );
      return viewMember(services, member);
    },
  }),

  accountRoute({
    method: 'DELETE',
    path: '/workspaces/:id/members/:account_id',
    summary: 'Removes a member.',
    credential: 'account',
    permission: ['workspace:members'],
    sharing: true,
    status: 204,
    refusals: ['CONFLICT', 'WORKSPACE_OWNER_REQUIRED'],
    handler: ({ services, who, params }) =>
      onShared(services, who, params, (workspace) =>
        workspace.remove({ by: who.account_id, account_id: params.account_id as string }),
      ),
  }),

  accountRoute({
    method: 'GET',
    path: '/workspaces/:id/invitations',
    summary: 'Invitations to a workspace that are not answered, oldest first.',
    credential: 'account',
    permission: ['workspace:members'],
    query: paging,
    answer: pageShape(invitationShape),
    refusals: ['CONFLICT'],
    async handler({ services, who, params, query }) {
      const id = params.id as string;
      if (isPrivate(who, id)) return { items: [], cursor: null };
      const found = await askWorkspace(services, id, (workspace) => workspace.view_invitations({ by: who.account_id }));
      const page = pageOfAll(found.invitations, { ...query, idOf: (invitation) => invitation.id });
      const workspace = { id, name: found.name };
      return { items: page.rows.map((invitation) => invitationView(invitation, workspace)), cursor: page.cursor };
    },
  }),

  accountRoute({
    method: 'POST',
    path: '/workspaces/:id/invitations',
    summary: 'Invites an email address to a shared workspace.',
    credential: 'account',
    permission: ['workspace:members'],
    sharing: true,
    status: 201,
    body: z.object({ email: emailAddress.describe('Whom to invite, with or without an account.'), role }),
    answer: invitationShape,
    refusals: ['CONFLICT', 'TOO_MANY_REQUESTS'],
    async handler({ services, who, params, body: { email: typed, role } }) {
      const email = await knownEmail(services, typed);
      return invite(services, who, { id: params.id as string, email, role });
    },
  }),

  accountRoute({
    method: 'DELETE',
    path: '/workspaces/:id/invitations/:invitation_id',
    summary: 'Withdraws an invitation.',
    credential: 'account',
    permission: ['workspace:members'],
    sharing: true,
    status: 204,
    refusals: ['CONFLICT'],
    handler: ({ services, who, params }) =>
      onShared(services, who, params, (workspace) =>
        workspace.withdraw({ by: who.account_id, invitation_id: params.invitation_id as string }),
      ),
  }),
];

function isPrivate({ account }: Principal, workspace_id: string): boolean {
  return account.private_workspace.id === workspace_id;
}

/** What is possible with shared workspaces alone. */
async function onShared<Reply>(
  services: Services,
  who: Principal,
  { id = '' }: Record<string, string>,
  ask: (workspace: EntityOf<'workspace'>) => Promise<Reply>,
): Promise<Reply> {
  return isPrivate(who, id) ? throwRefusal(PRIVATE) : askWorkspace(services, id, ask);
}

async function viewShared(services: Services, { account_id }: Principal, id: string): Promise<unknown> {
  const found = await askWorkspace(services, id, (workspace) => workspace.view({ by: account_id }));
  return sharedWorkspaceView(id, found, account_id);
}

async function membersOf(services: Services, who: Principal, id: string): Promise<Member[]> {
  const { id: account_id, email, created_at_ms } = who.account;
  if (isPrivate(who, id)) return [{ account_id, email, role: 'owner', joined_at_ms: created_at_ms }];
  const found = await askWorkspace(services, id, (workspace) => workspace.view({ by: account_id }));
  return found.members;
}

async function viewMember({ actors }: Services, member: Member) {
  const account = await actors.account(member.account_id).view();
  return memberView(member, account.name);
}

async function invite(
  services: Services,
  who: Principal,
  { id, email, role: given }: { id: string; email: string; role: GivenRole },
): Promise<unknown> {
  if (isPrivate(who, id)) throw new Refused(PRIVATE);
  const { account, account_id } = who;
  const by = account_id;
  const found = await askWorkspace(services, id, (workspace) => workspace.view_invitations({ by }));
  await takeInvitation(services, { by, email, workspace: found });
  const { clock, keys, mails } = services;
  const drawn = (partition: number) => randomId({ partition, now_ms: clock.now() });
  const invitations_url = invitationsUrl(services);
  const mail = invitationMail({
    to: email,
    workspace_name: found.name,
    invited_by: account,
    role: given,
    invitations_url,
  });
  const invitation = await askWorkspace(services, id, (workspace) =>
    workspace.invite({
      by,
      invitation_id: drawn(partitionOfId(id)),
      email,
      role: given,
      mail: { mail_id: drawn(0), sealed: sealMail(keys, mail) },
    }),
  );
  void mails.sendDue(partitionOfId(id)); // the answer does not wait for it
  return invitationView(invitation, { id, name: found.name });
}

/** Counts an invitation for who sends it and who gets it, unless the workspace would refuse it. */
async function takeInvitation(
  { actors, clock, settings }: Services,
  { by, email, workspace }: { by: string; email: string; workspace: Workspace },
): Promise<void> {
  const after = invitationsAfter(workspace, email, clock.now());
  if (isRefusal(after)) throw new Refused(after);
  if (!settings.rate_limits) return;
  // The sender first: who has no invitation left can't use up those of others.
  await actors.account(by).take_invitation({});
  await actors.email(email).take_invitation({});
}
