import { z } from 'zod';
import type { Account } from '../../../actors/accounts/account_state.js';
import { id, moment } from '../../access/response_schemas.js';
import { GIVEN_ROLES } from '../../domain/workspaces.js';

export const listedWorkspaceShape = z.strictObject({
  id,
  name: z.string(),
  private: z.boolean().describe('Whether it is the one that every account has for itself.'),
  role: z.enum([...GIVEN_ROLES, 'owner']).describe("The calling account's role."),
  created_at: moment,
});

type ListedWorkspaceView = z.infer<typeof listedWorkspaceShape>;

const byName = new Intl.Collator('en');

/** The workspaces that an account belongs to: the private one first, then the others by name. */
export function workspacesOf({ private_workspace, created_at_ms, memberships }: Account): ListedWorkspaceView[] {
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
