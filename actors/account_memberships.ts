import { LIMITS } from '../src/domain/limits.js';
import { isEnabled } from '../src/domain/permissions.js';
import { type Refusal, refuse, unreachable } from '../src/domain/refusals.js';
import type { WorkspaceEnd } from '../src/domain/workspaces.js';
import { type Account, isOpen, type Joining, updated } from './account_state.js';
import type { Decision, Effect } from './actor.js';
import type { MembershipNews, WorkspaceMessage } from './workspace.js';

/**
 * An account's part in shared workspaces. It asks to join and keeps what workspaces have told it; who belongs to a
 * workspace, the workspace alone decides. Tells between the two come in their order.
 */
export type MembershipMessage =
  | { type: 'create_workspace'; workspace_id: string; name: string }
  | { type: 'accept_invitation'; workspace_id: string; invitation_id: string }
  /** How that stands. */
  | { type: 'join_outcome'; workspace_id: string; invitation_id: string }
  | MembershipNews;

export type MembershipReply = { done: true } | { outcome: 'joined' | 'asked' | 'not_joined' };

const DONE = { done: true } as const;
const SHARING_OFF = refuse('WORKSPACE_SHARING_REQUIRED', 'Workspace sharing is not available to this account.');
const LEAVING = refuse('UNAVAILABLE', 'The account is being deleted; try again if that fails.', { retry_after_s: 2 });
const FULL = refuse('CONFLICT', `An account belongs to at most ${LIMITS.workspaces_per_account_max} workspaces.`);

export function decideMembership(state: Account, message: MembershipMessage): Decision<Account, MembershipReply> {
  switch (message.type) {
    case 'create_workspace': {
      const { workspace_id, name } = message;
      if (known(state, workspace_id)) return { reply: DONE };
      const create: WorkspaceMessage = { type: 'create', name, owner: { account_id: state.id, email: state.email } };
      return join(state, { workspace_id, invitation_id: workspace_id }, create);
    }
    case 'accept_invitation': {
      const { workspace_id, invitation_id } = message;
      const accept: WorkspaceMessage = { type: 'accept', invitation_id, account_id: state.id, email: state.email };
      return join(state, { workspace_id, invitation_id }, accept);
    }
    case 'join_outcome': {
      if (state.joining.some(({ invitation_id }) => invitation_id === message.invitation_id))
        return { reply: { outcome: 'asked' } };
      return { reply: { outcome: known(state, message.workspace_id) ? 'joined' : 'not_joined' } };
    }
    case 'joined': {
      const { workspace, role, invitation_id } = message;
      const joining = state.joining.filter((waiting) => waiting.invitation_id !== invitation_id);
      if (known(state, workspace.workspace_id)) return { reply: DONE, next: { ...state, joining } };
      const memberships = [...state.memberships, { ...workspace, role }];
      return { reply: DONE, next: { ...state, joining, memberships }, effects: [updated(state.id, ['workspaces'])] };
    }
    case 'not_joined': {
      const joining = state.joining.filter((waiting) => waiting.invitation_id !== message.invitation_id);
      return { reply: DONE, next: { ...state, joining } };
    }
    case 'workspace_changed': {
      const { workspace_id, name, role, changed_fields } = message;
      const before = state.memberships.find((membership) => membership.workspace_id === workspace_id);
      if (before === undefined) return { reply: DONE };
      const memberships = state.memberships.map((membership) =>
        membership === before ? { ...membership, name, role } : membership,
      );
      const listed = before.name !== name || before.role !== role;
      const effects: Effect[] = [
        ...(listed ? [updated(state.id, ['workspaces'])] : []),
        ...(changed_fields.length > 0 ? [workspaceUpdated(state.id, workspace_id, changed_fields)] : []),
      ];
      return { reply: DONE, next: { ...state, memberships }, effects };
    }
    case 'left':
      if (!known(state, message.workspace_id)) return { reply: DONE };
      return {
        reply: DONE,
        next: without(state, message.workspace_id),
        effects: [updated(state.id, ['workspaces'])],
      };

    case 'workspace_deleted': {
      const { workspace_id, reason } = message;
      if (!known(state, workspace_id)) return { reply: DONE };
      const effects = [updated(state.id, ['workspaces']), workspaceDeleted(state.id, workspace_id, reason)];
      return { reply: DONE, next: without(state, workspace_id), effects };
    }
    default:
      return unreachable(message);
  }
}

/** Asks a workspace to take the account in; it answers `joined` or `not_joined`. One that is made counts as joined. */
function join(state: Account, joining: Joining, ask: WorkspaceMessage): Decision<Account, MembershipReply> {
  if (state.joining.some(({ invitation_id }) => invitation_id === joining.invitation_id)) return { reply: DONE };
  const refused = mayJoin(state);
  if (refused !== null) return { reply: refused };
  return {
    reply: DONE,
    next: { ...state, joining: [...state.joining, joining] },
    effects: [{ effect: 'notify', to: { kind: 'workspace', id: joining.workspace_id }, message: ask }],
  };
}

export function workspaceUpdated(account_id: string, workspace_id: string, changed_fields: string[]): Effect {
  return {
    effect: 'append_event',
    account_id,
    type: 'workspace.updated',
    resource_id: workspace_id,
    data: { changed_fields },
  };
}

export function workspaceDeleted(account_id: string, workspace_id: string, reason: WorkspaceEnd): Effect {
  return { effect: 'append_event', account_id, type: 'workspace.deleted', resource_id: workspace_id, data: { reason } };
}

function known(state: Account, workspace_id: string): boolean {
  return state.memberships.some((membership) => membership.workspace_id === workspace_id);
}

function without(state: Account, workspace_id: string): Account {
  return { ...state, memberships: state.memberships.filter((membership) => membership.workspace_id !== workspace_id) };
}

function mayJoin(state: Account): Refusal | null {
  if (!isEnabled(state.entitlements, 'workspace.sharing')) return SHARING_OFF;
  if (!isOpen(state) || state.phase.status === 'leaving') return LEAVING;
  const count = state.memberships.length + state.joining.length;
  return count >= LIMITS.workspaces_per_account_max ? FULL : null;
}
