import type { Joining } from '../../../actors/accounts/account_state.js';
import { HELD } from '../../../actors/workspaces/workspace.js';
import { isRefused, Refused, refuse } from '../../domain/refusals.js';
import type { EntityOf } from '../../engine/runtime/actors.js';
import { pollUntil } from '../../engine/runtime/poll_until.js';
import type { Fence } from '../../engine/store/store.js';
import type { FeatureServices as Services } from '../services.js';

/** How routes ask shared workspaces, and how an account comes into one. */

const NOT_DECIDED = refuse('UNAVAILABLE', 'The workspace does not answer; look again in a moment.', {
  retry_after_s: 2,
});
const NOT_JOINED = refuse('NOT_FOUND', 'There is no such invitation.');

/** Asks a workspace; the answer comes when everybody concerned has been notified. */
export function askWorkspace<Reply>(
  { actors }: Services,
  id: string,
  ask: (workspace: EntityOf<'workspace'>) => Promise<Reply>,
): Promise<Reply> {
  return pollUntil(async () => {
    try {
      return await ask(actors.downstream.workspace(id));
    } catch (error) {
      if (isRefused(error) && error.refusal === HELD) return null;
      throw error;
    }
  }, HELD);
}

/** Makes a workspace of the account's own: resolves when it is there and the account belongs to it. */
export async function createWorkspace(
  services: Services,
  { account_id, workspace_id, name }: { account_id: string; workspace_id: string; name: string },
  fences: Fence[],
): Promise<void> {
  const made = { workspace_id, name, budgeted: services.settings.rate_limits };
  const asked = () => services.actors.downstream.account(account_id).create_workspace(made, fences);
  await asked();
  const is_member = await hasJoined(services, { account_id, workspace_id, invitation_id: workspace_id });
  if (!is_member) throw new Refused(NOT_JOINED);
}

/** Takes up an invitation: resolves when the account belongs to the workspace. */
export async function acceptInvitation(
  services: Services,
  { account_id, email, ...invitation }: { account_id: string; email: string } & Joining,
  fences: Fence[],
): Promise<{ joined: true }> {
  const { workspace_id, invitation_id } = invitation;
  return pollUntil(async () => {
    // What the workspace says comes back to the account.
    await services.actors.downstream.account(account_id).accept_invitation(invitation, fences);
    if (await hasJoined(services, { account_id, ...invitation })) return { joined: true };
    // It is gone; or it stands and the workspace holds still for somebody's deletion.
    await services.actors.workspace(workspace_id).invitation({ invitation_id, email });
    return null;
  }, HELD);
}

/** Whether the account belongs to the workspace, once what it has asked for is decided. */
export async function hasJoined(
  { actors }: Services,
  { account_id, ...joining }: { account_id: string } & Joining,
): Promise<boolean> {
  const answer = await pollUntil(async () => {
    const found = await actors.account(account_id).join_outcome(joining);
    return found.outcome === 'asked' ? null : found;
  }, NOT_DECIDED);
  return answer.outcome === 'joined';
}
