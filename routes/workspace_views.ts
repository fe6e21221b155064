import type { AccountView } from '../actors/account.js';
import type { Invitation, Member, Workspace } from '../actors/workspace.js';
import type { Role } from '../src/vocabulary/workspaces.js';

/** Workspaces, their members and invitations as the API shows them. Choices: "Workspaces". */

type ListedWorkspace = { id: string; name: string; private: boolean; role: Role; created_at: string };

const byName = new Intl.Collator('en');

/** All that an account belongs to: the private one first, then the others by name. */
export function workspacesOf({ private_workspace, created_at_ms, memberships }: AccountView): ListedWorkspace[] {
  const { id, name } = private_workspace;
  const shared = memberships.map((membership) => ({
    id: membership.workspace_id,
    name: membership.name,
    private: false,
    role: membership.role,
    created_at: new Date(membership.created_at_ms).toISOString(),
  }));
  return [
    { id, name, private: true, role: 'owner', created_at: new Date(created_at_ms).toISOString() },
    ...shared.sort((a, b) => byName.compare(a.name, b.name) || (a.id < b.id ? -1 : 1)),
  ];
}

export function privateWorkspaceView({ private_workspace, created_at_ms }: AccountView) {
  const { id, name, retention } = private_workspace;
  return {
    ...{ id, name, private: true, role: 'owner', retention, member_count: 1 },
    created_at: new Date(created_at_ms).toISOString(),
  };
}

/** As the member sees it whose account this is. */
export function sharedWorkspaceView(
  id: string,
  { name, retention, members, created_at_ms }: Workspace,
  account_id: string,
) {
  const role = members.find((member) => member.account_id === account_id)?.role;
  return {
    ...{ id, name, private: false, role, retention, member_count: members.length },
    created_at: new Date(created_at_ms).toISOString(),
  };
}

/** `name` is the account's own, which it may change at any time. */
export function memberView({ account_id, email, role, joined_at_ms }: Member, name: string | null) {
  return { account_id, email, name, role, joined_at: new Date(joined_at_ms).toISOString() };
}

export function invitationView(
  { id, email, role, invited_by, created_at_ms }: Invitation,
  workspace: { id: string; name: string },
) {
  return { id, workspace, email, role, invited_by, created_at: new Date(created_at_ms).toISOString() };
}
