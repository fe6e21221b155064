import { isOpen } from '../../../actors/accounts/account_state.js';
import { ownerOfPrivateWorkspace } from '../../domain/ids.js';
import { isEnabled, type Layer } from '../../domain/permissions.js';
import { isRefusal, type Refusal, refuse } from '../../domain/refusals.js';
import type { Actors } from '../../engine/runtime/actors.js';
import type { Fence } from '../../engine/store/store.js';

export const NO_WORKSPACE = refuse('NOT_FOUND', 'The workspace of this recording is deleted.');

/** Null while a workspace is there. A private one goes with its account, and that with its streams. */
export async function goneWorkspace(
  { actors }: { actors: Pick<Actors, 'workspace'> },
  workspace_id: string,
): Promise<Refusal | null> {
  if (ownerOfPrivateWorkspace(workspace_id) !== null) return null;
  const answer = await actors.workspace(workspace_id).stands();
  if (!isRefusal(answer)) return null;
  return answer.refused === 'NOT_FOUND' ? NO_WORKSPACE : answer;
}

/** `fence`: holds as long as the account is what it was. */
type OwnerStatus =
  | { status: 'open'; fence: Fence }
  | { status: 'account_closed' | 'account_gone' | 'layer_off' | 'workspace_gone' };

/** Tells whether something may be made of what an account recorded in a workspace, with these layers on; else why not. */
export async function ownerStatus(
  { actors }: { actors: Pick<Actors, 'account' | 'workspace'> },
  { account_id, workspace_id }: { account_id: string; workspace_id: string },
  layers: readonly Layer[],
): Promise<OwnerStatus | Refusal> {
  const account = await actors.account(account_id).view();
  if (isRefusal(account)) return account.refused === 'UNAUTHORIZED' ? { status: 'account_gone' } : account;
  if (!isOpen(account)) return { status: 'account_closed' };
  if (!layers.every((layer) => isEnabled(account.entitlements, layer))) return { status: 'layer_off' };
  const gone = await goneWorkspace({ actors }, workspace_id);
  if (gone !== null) return gone.refused === 'NOT_FOUND' ? { status: 'workspace_gone' } : gone;
  return { status: 'open', fence: { fence: 'epoch', account_id, epoch: 'account', value: account.lives.account } };
}
