import type { Spent } from '../../src/domain/budgets.js';
import type { Language } from '../../src/domain/language/texts.js';
import type { Entitlement } from '../../src/domain/permissions.js';
import { refuse } from '../../src/domain/refusals.js';
import type { Retention, Role } from '../../src/domain/workspaces.js';
import { type Effect, type EpochName, given } from '../actor.js';
import { type SweepSettings, tellSweep } from '../workspaces/sweep.js';
import type { JoinedWorkspace } from '../workspaces/workspace_state.js';

/** An account, its private workspace, and its lists of bounded length. */
export type Account = {
  id: string;
  email: string;
  name: string | null;
  created_at_ms: number;
  /** Entitlements that staff have switched; the others have their defaults. */
  entitlements: Partial<Record<Entitlement, boolean>>;
  private_workspace: PrivateWorkspace;
  /** The credential epochs that credentials are issued under; the same numbers fence every commit (effect `bump_epoch`). */
  epochs: Record<EpochName, number>;
  devices: number;
  /** Personal access tokens, oldest first, some of which may have expired. */
  tokens: LivingToken[];
  /** Links to its recordings, oldest first, some of which may have expired. */
  links: LivingLink[];
  /** Ids of its endpoints. */
  endpoints: string[];
  /** Recorder sessions that the account hosts and that have not ended. */
  sessions: string[];
  /** Tries at join codes in the present window. */
  join_tries: Spent | null;
  /** Invitations that it has sent in the present window, to any workspace. */
  invitations_sent: Spent | null;
  /** Shared workspaces that it has made in the present window. */
  workspaces_made: Spent | null;
  /** Shared workspaces of the account, as they have reported. */
  memberships: Membership[];
  /** Invitations that the account has accepted and whose workspace has not answered yet. */
  joining: Joining[];
  /** Absent while it was never switched off. */
  meaning?: MeaningSwitch | undefined;
  /** Absent without an address. */
  calendar?: CalendarAddress | undefined;
  /** Absent without an address for omi. */
  omi?: OmiAddress | undefined;
  /** Absent while the daily mail was never switched on. */
  due_mail?: DueMailSetting | undefined;
  /** The language of mails that no request causes: of a request that set some up. English where it is absent. */
  mail_language?: Language | undefined;
  /** Counts attempts at deleting the account, so that answers to an earlier attempt are recognised. */
  deletion_attempts: number;
  phase: Phase;
};

/** `number` distinguishes this private workspace from those before an erasure. */
export type PrivateWorkspace = { id: string; number: number; name: string; retention: Retention };

/** Whether vectors are made of what was said. `changes`: how often it was switched. */
export type MeaningSwitch = { is_on: boolean; changes: number };

/**
 * The daily mail of what is due. The addresses that end it are derived from `key_id` and `seed`. `last_day`: of the last mail, or
 * the last day on which nothing was due.
 */
export type DueMailSetting = {
  is_on: boolean;
  hour: number;
  key_id: string;
  seed: Uint8Array;
  last_day: string | null;
};

/** The address by which a calendar program reads what is due: a keyed hash of its secret. */
export type CalendarAddress = { secret_hash: string; made_at_ms: number; read_at_ms: number | null };

/**
 * The address to which omi sends: a keyed hash of its secret. `uid`: the user of omi from whom the first body came; null
 * before.
 */
export type OmiAddress = { secret_hash: string; made_at_ms: number; used_at_ms: number | null; uid: string | null };

export type LivingToken = { id: string; last_four: string; created_at_ms: number; expires_at_ms: number | null };
export type LivingLink = { id: string; stream_id: string; expires_at_ms: number };
export type Membership = JoinedWorkspace & { role: Role };
export type Joining = { workspace_id: string; invitation_id: string };

/** Rules D-014 to D-037. */
export type Phase =
  /** `kept`: why the last attempt at deleting the account failed. */
  | { status: 'active'; kept?: 'owner' | 'late' }
  /** Deleted once every shared workspace has agreed; new memberships are refused until then. */
  | {
      status: 'leaving';
      /** The workspaces that have not answered. */
      unanswered: string[];
      /** Shared workspaces without other members. */
      alone: string[];
      mail: DeletionMail;
    }
  | { status: 'deleted'; deleted_at_ms: number; erase_at_ms: number }
  | { status: 'erasing'; began_at_ms: number; removed: Removed }
  /** The other fields are those of the fresh account with which a restore would begin. */
  | { status: 'erased' };

/** The mail that tells of the deletion, sealed. */
export type DeletionMail = { mail_id: string; sealed: Uint8Array };

/** Counts of what an erasure has removed so far, by kind of entity. */
export type Removed = Record<string, number>;

/** Whether the account is neither deleted nor being erased, whatever else is in progress. */
export function isOpen({ phase }: Account): boolean {
  return phase.status === 'active' || phase.status === 'leaving';
}

/** Whether the account is erased or being erased. Nothing new may belong to it until it is restored. */
export function isGone({ phase }: Account): boolean {
  return phase.status === 'erasing' || phase.status === 'erased';
}

/** The time at which a deleted account is erased, ms; null once the erasure has begun. Rule D-020. */
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
