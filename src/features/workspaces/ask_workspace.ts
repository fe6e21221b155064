import type { Joining } from '../../../actors/accounts/account_state.js';
import { HELD } from '../../../actors/workspaces/workspace.js';
import type { Principal } from '../../access/principal.js';
import { isRefused, refuse, throwRefusal } from '../../domain/refusals.js';
import type { EntityOf } from '../../engine/runtime/actors.js';
import { pollUntil } from '../../engine/runtime/poll_until.js';
import type { FeatureServices } from '../services.js';

/** Sends messages to shared workspaces. */

const NOT_DECIDED = refuse('UNAVAILABLE', 'The workspace does not answer; look again in a moment.', {
  retry_after_s: 2,
});
const PRIVATE = refuse('CONFLICT', 'A private workspace belongs to its account alone; this is not possible with it.');

type AskWorkspace<Reply> = (workspace: EntityOf<'workspace'>) => Promise<Reply>;

/** Asks a workspace; answers when all accounts concerned have been notified. */
export function askWorkspace<Reply>(
  { actors }: Pick<FeatureServices, 'actors'>,
  id: string,
  ask: AskWorkspace<Reply>,
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

/** The same for operations of shared workspaces alone: CONFLICT on the account's private one. */
export async function askSharedWorkspace<Reply>(
  services: Pick<FeatureServices, 'actors'>,
  who: Principal,
  id: string,
  ask: AskWorkspace<Reply>,
): Promise<Reply> {
  return isPrivateOf(who, id) ? throwRefusal(PRIVATE) : askWorkspace(services, id, ask);
}

/** Whether it is the account's private workspace, which is kept with the account itself. */
export function isPrivateOf({ account }: Principal, workspace_id: string): boolean {
  return account.private_workspace.id === workspace_id;
}

/** Whether the account belongs to the workspace, once its pending requests are decided. */
export async function hasJoined(
  { actors }: Pick<FeatureServices, 'actors'>,
  { account_id, ...joining }: { account_id: string } & Joining,
): Promise<boolean> {
  const answer = await pollUntil(async () => {
    const found = await actors.account(account_id).join_outcome(joining);
    return found.outcome === 'asked' ? null : found;
  }, NOT_DECIDED);
  return answer.outcome === 'joined';
}
