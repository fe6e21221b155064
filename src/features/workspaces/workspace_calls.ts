import type { Joining } from '../../../actors/accounts/account_state.js';
import { HELD } from '../../../actors/workspaces/workspace.js';
import { isRefusal, type Refusal, refuse } from '../../domain/refusals.js';
import type { EntityOf } from '../../engine/runtime/actors.js';
import { pollUntil } from '../../engine/runtime/poll_until.js';
import type { Fence } from '../../engine/store/store.js';
import type { Services } from '../../host/services.js';

/** How routes ask shared workspaces, and how an account comes into one. */

const NOT_DECIDED = refuse('UNAVAILABLE', 'The workspace does not answer; look again in a moment.', {
  retry_after_s: 2,
});
const NOT_JOINED = refuse('NOT_FOUND', 'There is no such invitation.');

/** Asks a workspace; the answer comes when everybody concerned has been notified. */
export function askWorkspace<Reply>(
  { actors }: Services,
  id: string,
  ask: (workspace: EntityOf<'workspace'>) => Promise<Reply | Refusal>,
): Promise<Reply | Refusal> {
  return pollUntil(async () => {
    const answer = await ask(actors.downstream.workspace(id));
    return isRefusal(answer) && answer === HELD ? null : answer;
  }, HELD);
}

/** Makes a workspace of the account's own: resolves when it is there and the account belongs to it. */
export function createWorkspace(
  services: Services,
  { account_id, workspace_id, name }: { account_id: string; workspace_id: string; name: string },
  fences: Fence[],
): Promise<null | Refusal> {
  const made = { workspace_id, name, budgeted: services.settings.rate_limits };
  const asked = () => services.actors.downstream.account(account_id).create_workspace(made, fences);
  return join(services, { account_id, workspace_id, invitation_id: workspace_id }, asked);
}

/** Takes up an invitation: resolves when the account belongs to the workspace. */
export async function acceptInvitation(
  services: Services,
  { account_id, email, ...invitation }: { account_id: string; email: string } & Joining,
  fences: Fence[],
): Promise<null | Refusal> {
  const { workspace_id, invitation_id } = invitation;
  const accept = () => services.actors.downstream.account(account_id).accept_invitation(invitation, fences);
  return pollUntil(async () => {
    const joined = await join(services, { account_id, ...invitation }, accept);
    if (joined !== NOT_JOINED) return joined === null ? { joined: true } : joined;
    // It is gone; or it stands and the workspace holds still for somebody's deletion.
    const left = await services.actors.workspace(workspace_id).invitation({ invitation_id, email });
    return isRefusal(left) ? left : null;
  }, HELD).then((answer) => (isRefusal(answer) ? answer : null));
}

/** Once the account has asked, what the workspace says comes back to it. */
async function join(
  services: Services,
  { account_id, ...joining }: { account_id: string } & Joining,
  ask: () => Promise<unknown>,
): Promise<null | Refusal> {
  const asked = await ask();
  if (isRefusal(asked)) return asked;
  const joined = await hasJoined(services, { account_id, ...joining });
  if (isRefusal(joined)) return joined;
  return joined ? null : NOT_JOINED;
}

/** Whether the account belongs to the workspace, once what it has asked for is decided. */
export async function hasJoined(
  { actors }: Services,
  { account_id, ...joining }: { account_id: string } & Joining,
): Promise<boolean | Refusal> {
  const answer = await pollUntil(async () => {
    const found = await actors.account(account_id).join_outcome(joining);
    return !isRefusal(found) && found.outcome === 'asked' ? null : found;
  }, NOT_DECIDED);
  return isRefusal(answer) ? answer : answer.outcome === 'joined';
}
