import type { AccountMessage } from '../../actors/account.js';
import type { Joining } from '../../actors/account_state.js';
import { HELD, type WorkspaceMessage } from '../../actors/workspace.js';
import { isRefusal, type Refusal, refuse } from '../domain/refusals.js';
import { pollUntil } from '../http/poll_until.js';
import type { Services } from '../services.js';
import type { Fence } from '../store/store.js';

/** How routes ask shared workspaces, and how an account comes into one. */

const NOT_DECIDED = refuse('UNAVAILABLE', 'The workspace does not answer; look again in a moment.', {
  retry_after_s: 2,
});
const NOT_JOINED = refuse('NOT_FOUND', 'There is no such invitation.');

/** Asks a workspace; the answer comes when everybody whom it concerns has heard. */
export function askWorkspace<Reply>(
  { runtime }: Services,
  id: string,
  message: WorkspaceMessage,
): Promise<Reply | Refusal> {
  return pollUntil(async () => {
    const answer = await runtime.askDownstream<Reply>({ kind: 'workspace', id }, message);
    return isRefusal(answer) && answer === HELD ? null : answer;
  }, HELD);
}

/** Makes a workspace of the account's own: resolves when it is there and the account belongs to it. */
export function createWorkspace(
  services: Services,
  { account_id, workspace_id, name }: { account_id: string; workspace_id: string; name: string },
  fences: Fence[],
): Promise<null | Refusal> {
  const create: AccountMessage = { type: 'create_workspace', workspace_id, name };
  return join(services, { account_id, workspace_id, invitation_id: workspace_id }, create, fences);
}

/** Takes up an invitation: resolves when the account belongs to the workspace. */
export async function acceptInvitation(
  services: Services,
  { account_id, email, ...invitation }: { account_id: string; email: string } & Joining,
  fences: Fence[],
): Promise<null | Refusal> {
  const { workspace_id, invitation_id } = invitation;
  const accept: AccountMessage = { type: 'accept_invitation', ...invitation };
  const look: WorkspaceMessage = { type: 'invitation', invitation_id, email };
  return pollUntil(async () => {
    const joined = await join(services, { account_id, ...invitation }, accept, fences);
    if (joined !== NOT_JOINED) return joined === null ? { joined: true } : joined;
    // It is gone; or it stands and the workspace holds still for somebody's deletion.
    const left = await services.runtime.ask({ kind: 'workspace', id: workspace_id }, look);
    return isRefusal(left) ? left : null;
  }, HELD).then((answer) => (isRefusal(answer) ? answer : null));
}

/** Once the account has asked, what the workspace says comes back to it. */
async function join(
  services: Services,
  { account_id, ...joining }: { account_id: string } & Joining,
  ask: AccountMessage,
  fences: Fence[],
): Promise<null | Refusal> {
  const address = { kind: 'account', id: account_id };
  const asked = await services.runtime.askDownstream(address, ask, fences);
  if (isRefusal(asked)) return asked;
  const joined = await hasJoined(services, { account_id, ...joining });
  if (isRefusal(joined)) return joined;
  return joined ? null : NOT_JOINED;
}

/** Whether the account belongs to the workspace, once what it has asked for is decided. */
export async function hasJoined(
  { runtime }: Services,
  { account_id, ...joining }: { account_id: string } & Joining,
): Promise<boolean | Refusal> {
  const look: AccountMessage = { type: 'join_outcome', ...joining };
  const answer = await pollUntil(async () => {
    const found = await runtime.ask<{ outcome: 'joined' | 'asked' | 'not_joined' }>(
      { kind: 'account', id: account_id },
      look,
    );
    return !isRefusal(found) && found.outcome === 'asked' ? null : found;
  }, NOT_DECIDED);
  return isRefusal(answer) ? answer : answer.outcome === 'joined';
}
