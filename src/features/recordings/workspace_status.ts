import { type Account, isOpen } from '../../../actors/accounts/account_state.js';
import { ownerOfPrivateWorkspace } from '../../domain/ids.js';
import { isEnabled, type Layer } from '../../domain/permissions.js';
import { orNull, Refused, refuse } from '../../domain/refusals.js';
import type { Actors } from '../../engine/runtime/actors.js';
import type { Fence } from '../../engine/store/store.js';

const NOT_THEIRS = refuse('NOT_FOUND', 'workspace_id: you belong to no such workspace.', {
  details: [{ path: 'workspace_id', message: 'must be a workspace that you belong to' }],
});
const NO_SHARING = refuse('WORKSPACE_SHARING_REQUIRED', 'Recording into a shared workspace needs workspace sharing.');
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

/**
 * The workspace of a recording that an app or a file makes: the private one unless another of the account's is named.
 * Refuses a workspace that the account does not belong to, and a shared one without sharing.
 */
export async function recordedInto(
  services: { actors: Pick<Actors, 'workspace'> },
  account: Account,
  workspace_id: string | undefined,
): Promise<string> {
  const own = account.private_workspace.id;
  if (workspace_id === undefined || workspace_id === own) return own;
  const belongs = account.memberships.some((membership) => membership.workspace_id === workspace_id);
  if (!belongs || !(await workspaceExists(services, workspace_id))) throw new Refused(NOT_THEIRS);
  if (!isEnabled(account.entitlements, 'workspace.sharing')) throw new Refused(NO_SHARING);
  return workspace_id;
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
