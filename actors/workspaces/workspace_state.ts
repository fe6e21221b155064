import { type Spent, spend } from '../../src/domain/budgets.js';
import { LIMITS } from '../../src/domain/limits.js';
import type { Permission } from '../../src/domain/permissions.js';
import { type Refusal, refuse } from '../../src/domain/refusals.js';
import {
  type GivenRole,
  type Role,
  roleHolds,
  type WorkspaceEnd,
  type WorkspaceSettings,
} from '../../src/domain/workspaces.js';
import type { SweepSettings } from './sweep.js';

/**
 * A shared workspace: who belongs to it and who is invited. It alone decides both; accounts and emails keep what it
 * notifies them. Exactly one member is its owner. (An account keeps its private workspace itself.)
 */
export type Workspace = WorkspaceSettings & {
  created_at_ms: number;
  /** In the order of joining. */
  members: Member[];
  /** Not answered, oldest first. */
  invitations: Invitation[];
  /** Invitations sent in the present window. */
  sent: Spent;
  /** Members whose accounts are to be deleted. Until that is decided nobody joins, and nobody becomes owner. */
  holds: string[];
  /** The only member's account is deleted: nothing can be done here until it is restored. */
  dormant: boolean;
};

export type Member = { account_id: string; email: string; role: Role; joined_at_ms: number };
export type Invitation = {
  id: string;
  email: string;
  role: GivenRole;
  /** An account. */
  invited_by: string;
  created_at_ms: number;
};

/** Collection `streams`, by id, in the order of registration: those that were put here, whoever owns them. Collection `recorders`: their accounts. */
export type SharedStream = { account_id: string };
export type ListedStream = SharedStream & { id: string; order: number };

/** Sent to the accounts that belong to it, or asked to: everything that changes there for them. */
export type MembershipNews =
  | { type: 'joined'; workspace: JoinedWorkspace; role: Role; invitation_id: string }
  | { type: 'not_joined'; workspace_id: string; invitation_id: string }
  | { type: 'workspace_changed'; workspace_id: string; name: string; role: Role; changed_fields: string[] }
  | { type: 'left'; workspace_id: string }
  | { type: 'workspace_deleted'; workspace_id: string; reason: WorkspaceEnd };

/** Sent to a stream that is here, or comes too late. One that was moved to another workspace meanwhile stays. */
export type SharedStreamNews = { type: 'workspace_gone'; workspace_id: string };

export type JoinedWorkspace = { workspace_id: string; name: string; created_at_ms: number };

/** Sent to an account that is to be deleted. */
export type HoldNews =
  /** It holds still until the outcome. `owes`: it would be left without an owner. */
  | { type: 'held'; workspace_id: string; attempt: number; owes: boolean; alone: boolean }
  /** It still does, and asks what came of it. */
  | { type: 'hold_open'; workspace_id: string };
const FULL = refuse('CONFLICT', `A workspace has at most ${LIMITS.workspace_members_max} members and invitations.`);
const INVITATIONS_BUDGET = { max: LIMITS.invitations_per_day_max, window_ms: LIMITS.invitations_window_ms };
const TOO_MANY_SENT = `A workspace sends at most ${LIMITS.invitations_per_day_max} invitations a day.`;

/** The count of invitations after one to this address, or why it may not be invited. */
export function invitationsAfter(
  { members, invitations, sent }: Workspace,
  email: string,
  now_ms: number,
): Spent | Refusal {
  if (members.some((member) => member.email === email))
    return refuse('CONFLICT', 'This email already belongs to the workspace.');
  if (invitations.some((invitation) => invitation.email === email))
    return refuse('CONFLICT', 'This email is already invited.');
  if (members.length + invitations.length >= LIMITS.workspace_members_max) return FULL;
  const after = spend(sent, INVITATIONS_BUDGET, now_ms);
  return 'wait_s' in after ? refuse('TOO_MANY_REQUESTS', TOO_MANY_SENT, { retry_after_s: after.wait_s }) : after;
}

export function lacks({ role }: Member, needed: Permission): Refusal | null {
  return roleHolds(role, needed) ? null : refuse('FORBIDDEN', `The role ${role} does not hold ${needed} here.`);
}

export function memberOf({ members }: Workspace, account_id: string): Member | undefined {
  return members.find((member) => member.account_id === account_id);
}

export function without(state: Workspace, account_id: string): Workspace {
  const members = state.members.filter((member) => member.account_id !== account_id);
  return { ...released(state, account_id), members };
}

export function withMembers(state: Workspace, changed: Member[]): Workspace {
  const members = state.members.map(
    (member) => changed.find(({ account_id }) => account_id === member.account_id) ?? member,
  );
  return { ...state, members };
}

export function withoutInvitation(state: Workspace, invitation: Invitation): Workspace {
  return { ...state, invitations: state.invitations.filter((other) => other !== invitation) };
}

export function released(state: Workspace, account_id: string): Workspace {
  return { ...state, holds: state.holds.filter((holder) => holder !== account_id) };
}

/** A dormant workspace is as its account, which is deleted: nothing is removed there. */
export function retentionOf({ retention, dormant: paused }: Workspace): SweepSettings {
  return { retention, paused };
}
