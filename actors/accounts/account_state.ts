import type { Spent } from '../../src/domain/budgets.js';
import type { Entitlement } from '../../src/domain/permissions.js';
import { refuse } from '../../src/domain/refusals.js';
import type { Retention, Role } from '../../src/domain/workspaces.js';
import { type Effect, type EpochName, given } from '../actor.js';
import { type SweepSettings, tellSweep } from '../workspaces/sweep.js';
import type { JoinedWorkspace } from '../workspaces/workspace_state.js';

/** An account, the private workspace that comes with it, and what belongs to it in a bounded number. */
export type Account = {
  id: string;
  email: string;
  name: string | null;
  created_at_ms: number;
  /** The entitlements that staff have switched; the rest is at its default. */
  entitlements: Partial<Record<Entitlement, boolean>>;
  private_workspace: PrivateWorkspace;
  /** The credential epochs that credentials are issued under; the same numbers fence every commit (effect `bump_epoch`). */
  epochs: Record<EpochName, number>;
  devices: number;
  /** Personal access tokens, oldest first; one that has expired may still stand here. */
  tokens: LivingToken[];
  /** Ids of its endpoints. */
  endpoints: string[];
  /** Recorder sessions that it hosts and that have not ended. */
  sessions: string[];
  /** Tries at join codes in the present window. */
  join_tries: Spent | null;
  /** Invitations that it has sent in the present window, to any workspace. */
  invitations_sent: Spent | null;
  /** Shared workspaces that it has made in the present window. */
  workspaces_made: Spent | null;
  /** Shared workspaces that it belongs to, as they have reported. */
  memberships: Membership[];
  /** Invitations that it has accepted and the workspace has not answered yet. */
  joining: Joining[];
  /** Counts attempts at deleting it, so that an answer to an earlier one is known. */
  deletion_attempts: number;
  phase: Phase;
};

/** `number` distinguishes it from the private workspaces that the account had before it was erased. */
export type PrivateWorkspace = { id: string; number: number; name: string; retention: Retention };

export type LivingToken = { id: string; last_four: string; created_at_ms: number; expires_at_ms: number | null };
export type Membership = JoinedWorkspace & { role: Role };
export type Joining = { workspace_id: string; invitation_id: string };

/** Rules D-014 to D-037. */
export type Phase =
  /** `kept`: how the last attempt at deleting it failed. */
  | { status: 'active'; kept?: 'owner' | 'late' }
  /** To be deleted once every shared workspace has said that it can go; new memberships are refused until then. */
  | {
      status: 'leaving';
      /** The workspaces that have not answered. */
      unanswered: string[];
      /** Shared workspaces to which nobody else belongs. */
      alone: string[];
      mail: DeletionMail;
    }
  | { status: 'deleted'; deleted_at_ms: number; erase_at_ms: number }
  | { status: 'erasing'; began_at_ms: number; removed: Removed }
  /** The fields beside it are those of the fresh account with which a restore would begin. */
  | { status: 'erased' };

/** The notification, sealed. */
export type DeletionMail = { mail_id: string; sealed: Uint8Array };

/** Counts of what an erasure has removed so far, by kind of entity. */
export type Removed = Record<string, number>;

/** While neither deleted nor being deleted for good, whatever is in progress. */
export function isOpen({ phase }: Account): boolean {
  return phase.status === 'active' || phase.status === 'leaving';
}

/** Erased, or on the way: nothing may settle in it any more until it is restored. */
export function isGone({ phase }: Account): boolean {
  return phase.status === 'erasing' || phase.status === 'erased';
}

/** The moment at which a deleted account's data goes, or null when it goes or is gone. Rule D-020. */
export function eraseAtMs({ phase }: Account): number | null {
  return phase.status === 'deleted' ? phase.erase_at_ms : null;
}

export function updated(account_id: string, changed_fields: readonly string[]): Effect {
  return {
    effect: 'append_event',
    account_id,
    type: 'account.updated',
    resource_id: account_id,
    data: { changed_fields },
  };
}

/** The settings of the private workspace's retention sweep; it is paused while the account is deleted. */
function retentionOf(state: Account): SweepSettings {
  return { retention: state.private_workspace.retention, paused: !isOpen(state), owner: state.id };
}

export function tellRetention(state: Account): Effect {
  return tellSweep(state.private_workspace.id, { type: 'settings', ...retentionOf(state) });
}

/** Refuses messages to an account that does not exist, with UNAUTHORIZED. */
export const ofAccount = given((state: Account | null) => state ?? NO_ACCOUNT);
const NO_ACCOUNT = refuse('UNAUTHORIZED', 'There is no such account.');

/**
 * Raises credential epochs, which ends everything issued under their old values, wherever it lies
 * (docs/architecture.md, "Credential epochs").
 */
export function bumpEpoch<State extends Account>(
  state: State,
  names: readonly EpochName[],
): { state: State; effects: Effect[] } {
  const epochs = { ...state.epochs };
  for (const name of names) epochs[name] += 1;
  const effects = names.map((epoch): Effect => ({ effect: 'bump_epoch', account_id: state.id, epoch: epoch }));
  return { state: { ...state, epochs }, effects };
}
