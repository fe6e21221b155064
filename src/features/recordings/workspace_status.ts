import { isOpen } from '../../../actors/accounts/account_state.js';
import { ownerOfPrivateWorkspace } from '../../domain/ids.js';
import { isEnabled, type Layer } from '../../domain/permissions.js';
import { orNull, Refused, refuse } from '../../domain/refusals.js';
import type { Actors } from '../../engine/runtime/actors.js';
import type { Fence } from '../../engine/store/store.js';

const NO_WORKSPACE = refuse('NOT_FOUND', 'The workspace of this recording is deleted.');

/** Refuses once a workspace is gone. */
export async function requireWorkspace(
  { actors }: { actors: Pick<Actors, 'workspace'> },
  workspace_id: string,
): Promise<void> {
  if (!(await workspaceExists({ actors }, workspace_id))) throw new Refused(NO_WORKSPACE);
}

/** Whether a workspace exists. A private one ends with its account, which ends its streams too. */
export async function workspaceExists(
  { actors }: { actors: Pick<Actors, 'workspace'> },
  workspace_id: string,
): Promise<boolean> {
  if (ownerOfPrivateWorkspace(workspace_id) !== null) return true;
  return (await orNull(actors.workspace(workspace_id).stands(), 'NOT_FOUND')) !== null;
}

/** `fence`: holds while the account is unchanged. */
type OwnerStatus =
  | { status: 'open'; fence: Fence }
  | { status: 'account_closed' | 'account_gone' | 'layer_off' | 'workspace_gone' };

/**
 * Tells whether data may be made from an account's recordings in a workspace, with these layers on; else the reason.
 */
export async function ownerStatus(
  { actors }: { actors: Pick<Actors, 'account' | 'workspace'> },
  { account_id, workspace_id }: { account_id: string; workspace_id: string },
  layers: readonly Layer[],
): Promise<OwnerStatus> {
  const account = await orNull(actors.account(account_id).view(), 'UNAUTHORIZED');
  if (account === null) return { status: 'account_gone' };
  if (!isOpen(account)) return { status: 'account_closed' };
  if (!layers.every((layer) => isEnabled(account.entitlements, layer))) return { status: 'layer_off' };
  if (!(await workspaceExists({ actors }, workspace_id))) return { status: 'workspace_gone' };
  return { status: 'open', fence: { fence: 'epoch', account_id, epoch: 'account', value: account.epochs.account } };
}
