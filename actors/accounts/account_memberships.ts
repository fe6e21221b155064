import { spend } from '../../src/domain/budgets.js';
import { LIMITS } from '../../src/domain/limits.js';
import { isEnabled } from '../../src/domain/permissions.js';
import { type Refusal, refuse } from '../../src/domain/refusals.js';
import type { WorkspaceEnd } from '../../src/domain/workspaces.js';
import { type Decision, DONE, type DoneDecision, type Effect, messagesOf } from '../actor.js';
import type { WorkspaceMessage } from '../workspaces/workspace.js';
import type { MembershipNews } from '../workspaces/workspace_state.js';
import { type Account, isOpen, type Joining, ofAccount, updated } from './account_state.js';

const SHARING_OFF = refuse('WORKSPACE_SHARING_REQUIRED', 'Workspace sharing is not available to this account.');
const LEAVING = refuse('UNAVAILABLE', 'The account is being deleted; try again if that fails.', { retry_after_s: 2 });
const WORKSPACES_BUDGET = { max: LIMITS.workspaces_made_max, window_ms: LIMITS.workspaces_made_window_ms };
const TOO_MANY_MADE = `An account makes at most ${LIMITS.workspaces_made_max} workspaces a day.`;
const INVITATIONS_BUDGET = { max: LIMITS.invitations_of_account_max, window_ms: LIMITS.invitations_window_ms };
const TOO_MANY_SENT = `An account sends at most ${LIMITS.invitations_of_account_max} invitations a day.`;
const FULL = refuse('CONFLICT', `An account belongs to at most ${LIMITS.workspaces_per_account_max} workspaces.`);

/**
 * The shared workspaces of an account. The account asks to join and keeps what workspaces report; only a workspace
 * decides who belongs to it. Messages between the two arrive in order.
 */
export const membershipMessages = messagesOf<Account>()({
  create_workspace: ofAccount(
    (state, { workspace_id, name, budgeted }: NewWorkspace, { now_ms }): DoneDecision<Account> => {
      if (isMember(state, workspace_id)) return { reply: DONE };
      const owner = { account_id: state.id, email: state.email };
      const joining = join(state, { workspace_id, invitation_id: workspace_id }, { type: 'create', name, owner });
      if (!budgeted || joining.next == null) return joining;
      const made = spend(state.workspaces_made, WORKSPACES_BUDGET, now_ms);
      if ('wait_s' in made)
        return { reply: refuse('TOO_MANY_REQUESTS', TOO_MANY_MADE, { retry_after_s: made.wait_s }) };
      return { ...joining, next: { ...joining.next, workspaces_made: made } };
    },
  ),

  /** Counts an invitation that it is about to send. */
  take_invitation: ofAccount((state, _: unknown, { now_ms }): DoneDecision<Account> => {
    const sent = spend(state.invitations_sent, INVITATIONS_BUDGET, now_ms);
    if ('wait_s' in sent) return { reply: refuse('TOO_MANY_REQUESTS', TOO_MANY_SENT, { retry_after_s: sent.wait_s }) };
    return { reply: DONE, next: { ...state, invitations_sent: sent } };
  }),

  accept_invitation: ofAccount((state, { workspace_id, invitation_id }: Joining) => {
    const { id: account_id, email } = state;
    return join(state, { workspace_id, invitation_id }, { type: 'accept', invitation_id, account_id, email });
  }),

  /** Says whether the account has joined the workspace. */
  join_outcome: ofAccount((state, { workspace_id, invitation_id }: Joining): Decision<Account, JoinOutcome> => {
    const is_asked = state.joining.some((waiting) => waiting.invitation_id === invitation_id);
    if (is_asked) return { reply: { outcome: 'asked' } };
    return { reply: { outcome: isMember(state, workspace_id) ? 'joined' : 'not_joined' } };
  }),

  // From workspaces:
  joined: ofAccount((state, { workspace, role, invitation_id }: MembershipNewsOf<'joined'>): DoneDecision<Account> => {
    const joining = state.joining.filter((waiting) => waiting.invitation_id !== invitation_id);
    if (isMember(state, workspace.workspace_id)) return { reply: DONE, next: { ...state, joining } };
    const memberships = [...state.memberships, { ...workspace, role }];
    return { reply: DONE, next: { ...state, joining, memberships }, effects: [updated(state.id, ['workspaces'])] };
  }),

  not_joined: ofAccount((state, { invitation_id }: MembershipNewsOf<'not_joined'>): DoneDecision<Account> => {
    const joining = state.joining.filter((waiting) => waiting.invitation_id !== invitation_id);
    return { reply: DONE, next: { ...state, joining } };
  }),

  workspace_changed: ofAccount(
    (
      state,
      { workspace_id, name, role, changed_fields }: MembershipNewsOf<'workspace_changed'>,
    ): DoneDecision<Account> => {
      const before = state.memberships.find((membership) => membership.workspace_id === workspace_id);
      if (before === undefined) return { reply: DONE };
      const memberships = state.memberships.map((membership) =>
        membership === before ? { ...membership, name, role } : membership,
      );
      const is_listed = before.name !== name || before.role !== role;
      const effects: Effect[] = [
        ...(is_listed ? [updated(state.id, ['workspaces'])] : []),
        ...(changed_fields.length > 0 ? [workspaceUpdated(state.id, workspace_id, changed_fields)] : []),
      ];
      return { reply: DONE, next: { ...state, memberships }, effects };
    },
  ),

  left: ofAccount((state, { workspace_id }: MembershipNewsOf<'left'>): DoneDecision<Account> => {
    if (!isMember(state, workspace_id)) return { reply: DONE };
    return { reply: DONE, next: without(state, workspace_id), effects: [updated(state.id, ['workspaces'])] };
  }),

  workspace_deleted: ofAccount(
    (state, { workspace_id, reason }: MembershipNewsOf<'workspace_deleted'>): DoneDecision<Account> => {
      if (!isMember(state, workspace_id)) return { reply: DONE };
      const effects = [updated(state.id, ['workspaces']), workspaceDeleted(state.id, workspace_id, reason)];
      return { reply: DONE, next: without(state, workspace_id), effects };
    },
  ),
});

/** Without a budget nothing is counted. */
type NewWorkspace = { workspace_id: string; name: string; budgeted?: boolean };
type JoinOutcome = { outcome: 'joined' | 'asked' | 'not_joined' };
type MembershipNewsOf<Name extends MembershipNews['type']> = Omit<Extract<MembershipNews, { type: Name }>, 'type'>;

/**
 * Asks a workspace to take the account in; it answers `joined` or `not_joined`. A new workspace counts as joined at
 * once.
 */
function join(state: Account, joining: Joining, ask: WorkspaceMessage): DoneDecision<Account> {
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

export function isMember(state: Account, workspace_id: string): boolean {
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
