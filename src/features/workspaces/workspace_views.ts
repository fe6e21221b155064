import { z } from 'zod';
import type { Account } from '../../../actors/accounts/account_state.js';
import type { Invitation, Member, Workspace } from '../../../actors/workspaces/workspace.js';
import { count, id, moment } from '../../access/response_schemas.js';
import { BUCKETS, type Bucket, GIVEN_ROLES } from '../../domain/workspaces.js';

/** Workspaces, their members and invitations as the API shows them. docs/choices.md, "Workspaces". */

const role = z.enum([...GIVEN_ROLES, 'owner']).describe("The calling account's role.");
const days = z.int().min(0).nullable().describe('How many days they are kept. Null: for ever. 0: not at all.');

/** What each bucket of retention holds. */
export const BUCKET_WORDS: Record<Bucket, string> = {
  audio: 'Chunks of audio.',
  transcripts: 'Turns and signals.',
  insights: 'Memories, conversations and suggestions.',
  voice: 'Recognized voices.',
};

export const listedWorkspaceShape = z.strictObject({
  id,
  name: z.string(),
  private: z.boolean().describe('Whether it is the one that every account has for itself.'),
  role,
  created_at: moment,
});

export const workspaceShape = z
  .strictObject({
    ...listedWorkspaceShape.shape,
    retention: z
      .strictObject(
        Object.fromEntries(
          BUCKETS.map((bucket) => [bucket, z.strictObject({ days }).describe(BUCKET_WORDS[bucket])]),
        ) as Record<Bucket, z.ZodObject<{ days: typeof days }>>,
      )
      .describe('How long its content is kept.'),
    member_count: count.describe('Who belongs to it, its owner among them.'),
  })
  .meta({ id: 'Workspace' });

export const memberShape = z
  .strictObject({
    account_id: id.describe('Whose membership it is.'),
    email: z.string(),
    name: z.string().nullable(),
    role: z.enum([...GIVEN_ROLES, 'owner']).describe('What the member may do in the workspace.'),
    joined_at: moment.describe('When the account came to belong to it.'),
  })
  .meta({ id: 'Member' });

export const invitationShape = z
  .strictObject({
    id,
    workspace: z.strictObject({ id, name: z.string() }).describe('The workspace that one is invited to.'),
    email: z.string().describe('The address that is invited.'),
    role: z.enum(GIVEN_ROLES).describe('What the invited person will be in it.'),
    invited_by: id.describe('The account that invited.'),
    created_at: moment,
  })
  .meta({ id: 'Invitation' });

type ListedWorkspace = z.infer<typeof listedWorkspaceShape>;
type WorkspaceView = z.infer<typeof workspaceShape>;

const byName = new Intl.Collator('en');

type Belonging = Omit<ListedWorkspace, 'created_at'> & { created_at_ms: number };

/** All that an account belongs to: the private one first, then the others by name. */
export function workspacesOf({ private_workspace, created_at_ms, memberships }: Account): Belonging[] {
  const { id, name } = private_workspace;
  const shared = memberships.map((membership) => ({
    id: membership.workspace_id,
    name: membership.name,
    private: false,
    role: membership.role,
    created_at_ms: membership.created_at_ms,
  }));
  return [
    { id, name, private: true, role: 'owner', created_at_ms },
    ...shared.sort((a, b) => byName.compare(a.name, b.name) || (a.id < b.id ? -1 : 1)),
  ];
}

export function listedWorkspaceView(workspace: Belonging): ListedWorkspace {
  const { id, name, private: is_private, role, created_at_ms } = workspace;
  return { id, name, private: is_private, role, created_at: new Date(created_at_ms).toISOString() };
}

export function privateWorkspaceView({ private_workspace, created_at_ms }: Account): WorkspaceView {
  const { id, name, retention } = private_workspace;
  return {
    ...{ id, name, private: true, role: 'owner' as const, retention, member_count: 1 },
    created_at: new Date(created_at_ms).toISOString(),
  };
}

/** As the member sees it whose account this is. */
export function sharedWorkspaceView(
  id: string,
  { name, retention, members, created_at_ms }: Workspace,
  account_id: string,
): WorkspaceView {
  const role = members.find((member) => member.account_id === account_id)?.role;
  if (role === undefined) throw new Error('a workspace is shown to somebody who does not belong to it');
  return {
    ...{ id, name, private: false, role, retention, member_count: members.length },
    created_at: new Date(created_at_ms).toISOString(),
  };
}

/** `name` is the account's own, which it may change at any time. */
export function memberView(
  { account_id, email, role, joined_at_ms }: Member,
  name: string | null,
): z.infer<typeof memberShape> {
  return { account_id, email, name, role, joined_at: new Date(joined_at_ms).toISOString() };
}

export function invitationView(
  { id, email, role, invited_by, created_at_ms }: Invitation,
  workspace: { id: string; name: string },
): z.infer<typeof invitationShape> {
  return { id, workspace, email, role, invited_by, created_at: new Date(created_at_ms).toISOString() };
}
