import { z } from 'zod';
import type { Member } from '../../../actors/workspaces/workspace_state.js';
import { type PageQuery, pageOfAll } from '../../access/cursors.js';
import type { Principal } from '../../access/principal.js';
import { id, moment } from '../../access/response_schemas.js';
import { GIVEN_ROLES, type GivenRole } from '../../domain/workspaces.js';
import type { FeatureServices } from '../services.js';
import { askSharedWorkspace, askWorkspace, isPrivateOf } from './ask_workspace.js';

/** Members of a workspace. */

export const memberShape = z
  .strictObject({
    account_id: id.describe('Whose membership it is.'),
    email: z.string(),
    name: z.string().nullable(),
    role: z.enum([...GIVEN_ROLES, 'owner']).describe('What the member may do in the workspace.'),
    joined_at: moment.describe('When the account came to belong to it.'),
  })
  .meta({ id: 'Member' });

type MemberView = z.infer<typeof memberShape>;

/** A page of the members, in the order of joining. */
export async function listMembers(
  services: Pick<FeatureServices, 'actors'>,
  who: Principal,
  { id, ...query }: PageQuery & { id: string },
): Promise<{ items: MemberView[]; cursor: string | null }> {
  const members = await membersOf(services, who, id);
  const page = pageOfAll(members, { ...query, idOf: ({ account_id }) => account_id });
  const items = await Promise.all(page.rows.map((member) => memberView(services, member)));
  return { items, cursor: page.cursor };
}

/** Gives a member another role. */
export async function changeRole(
  services: Pick<FeatureServices, 'actors'>,
  who: Principal,
  { id, account_id, role }: { id: string; account_id: string; role: GivenRole },
): Promise<MemberView> {
  const member = await askSharedWorkspace(services, who, id, (workspace) =>
    workspace.change_role({ by: who.account_id, account_id, role }),
  );
  return memberView(services, member);
}

export function removeMember(
  services: Pick<FeatureServices, 'actors'>,
  who: Principal,
  { id, account_id }: { id: string; account_id: string },
) {
  return askSharedWorkspace(services, who, id, (workspace) => workspace.remove({ by: who.account_id, account_id }));
}

async function membersOf(services: Pick<FeatureServices, 'actors'>, who: Principal, id: string): Promise<Member[]> {
  const { id: account_id, email, created_at_ms } = who.account;
  if (isPrivateOf(who, id)) return [{ account_id, email, role: 'owner', joined_at_ms: created_at_ms }];
  const found = await askWorkspace(services, id, (workspace) => workspace.view({ by: account_id }));
  return found.members;
}

/** The name is the account's own, which the account may change at any time. */
async function memberView({ actors }: Pick<FeatureServices, 'actors'>, member: Member): Promise<MemberView> {
  const { account_id, email, role, joined_at_ms } = member;
  const { name } = await actors.account(account_id).view();
  return { account_id, email, name, role, joined_at: new Date(joined_at_ms).toISOString() };
}
