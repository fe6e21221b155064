import { LIMITS } from '../src/domain/limits.js';
import type { Permission } from '../src/domain/permissions.js';
import { type Refusal, refuse, unreachable } from '../src/domain/refusals.js';
import {
  changeSettings,
  type GivenRole,
  KEEP_FOR_EVER,
  type Role,
  roleHolds,
  type SettingsChange,
  type WorkspaceEnd,
  type WorkspaceSettings,
} from '../src/domain/workspaces.js';
import { actorKind, type Decision, type Effect, type RangeQuery, type RecordQuery } from './actor.js';
import type { EmailMessage } from './email.js';

/**
 * A shared workspace: who belongs to it and who is invited. It alone decides both; accounts and emails keep what it
 * tells them. Exactly one member is its owner. (An account keeps its private workspace itself.)
 */
export type Workspace = WorkspaceSettings & {
  created_at_ms: number;
  /** In the order of joining. */
  members: Member[];
  /** Not answered, oldest first. */
  invitations: Invitation[];
  /** Invitations sent in the present window. */
  sent: { began_ms: number; count: number };
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

/** Collection `streams`, by id, in the order of registration: those that were put here, whoever owns them. */
type SharedStream = { account_id: string };
export type ListedStream = SharedStream & { id: string; order: number };

/** `by`: the account that asks. Its credential's scope and its entitlements the caller has checked. */
export type WorkspaceMessage =
  | { type: 'view'; by: string }
  | { type: 'view_invitations'; by: string }
  | { type: 'list_streams'; by: string; range: RangeQuery }
  | { type: 'change'; by: string; change: SettingsChange }
  | { type: 'delete'; by: string }
  | { type: 'staff_delete' }
  | { type: 'transfer'; by: string; account_id: string }
  | { type: 'leave'; by: string }
  | { type: 'change_role'; by: string; account_id: string; role: GivenRole }
  | { type: 'remove'; by: string; account_id: string }
  | {
      type: 'invite';
      by: string;
      invitation_id: string;
      email: string;
      role: GivenRole;
      mail: { mail_id: string; sealed: Uint8Array };
    }
  | { type: 'withdraw'; by: string; invitation_id: string }
  /** What the person at this address sees of an invitation. */
  | { type: 'invitation'; invitation_id: string; email: string }
  | { type: 'decline'; invitation_id: string; email: string }
  // From accounts:
  | { type: 'create'; name: string; owner: { account_id: string; email: string } }
  | { type: 'accept'; invitation_id: string; account_id: string; email: string }
  | { type: 'hold'; account_id: string; attempt: number }
  | { type: 'release' | 'departed' | 'returned' | 'erase'; account_id: string }
  | { type: 'ask_outcomes' }
  /** Whether it is there, for the owner of a stream who does not belong to it any more. */
  | { type: 'stands' }
  // From streams:
  | { type: 'stream_registered'; stream_id: string; account_id: string; registered_at_ms: number }
  | { type: 'stream_erased'; stream_id: string }
  /** After its end: tells a run of its streams, and itself again while there are more. `erased`: nothing is to be left. */
  | { type: 'shed_streams'; erased: boolean };

/** What it tells the accounts that belong to it, or asked to: everything that changes there for them. */
export type MembershipNews =
  | { type: 'joined'; workspace: JoinedWorkspace; role: Role; invitation_id: string }
  | { type: 'not_joined'; workspace_id: string; invitation_id: string }
  | { type: 'workspace_changed'; workspace_id: string; name: string; role: Role; changed_fields: string[] }
  | { type: 'left'; workspace_id: string }
  | { type: 'workspace_deleted'; workspace_id: string; reason: WorkspaceEnd };

/** What it tells a stream that is here, or comes too late. */
export type SharedStreamNews = { type: 'workspace_gone' };

export type JoinedWorkspace = { workspace_id: string; name: string; created_at_ms: number };

/** What an account hears that is to be deleted. */
export type HoldNews =
  /** It holds still until the outcome. `owes`: it would be left without an owner. */
  | { type: 'held'; workspace_id: string; attempt: number; owes: boolean; alone: boolean }
  /** It still does, and asks what came of it. */
  | { type: 'hold_open'; workspace_id: string };

export type WorkspaceReply =
  | Workspace
  | Member
  | Invitation
  | { invitation: Invitation; workspace_name: string }
  | { streams: ListedStream[] }
  | { done: true };

const DONE = { done: true } as const;
const NOT_HERE = refuse('NOT_FOUND', 'There is no such workspace.');
const NO_MEMBER = refuse('NOT_FOUND', 'No such account belongs to this workspace.');
const NO_INVITATION = refuse('NOT_FOUND', 'There is no such invitation.');
const DORMANT = refuse('CONFLICT', "The workspace's account is deleted.");
const OWNER_REQUIRED = refuse(
  'WORKSPACE_OWNER_REQUIRED',
  'The workspace needs its owner; transfer or delete it first.',
);
const USE_LEAVE = refuse('CONFLICT', 'To go yourself, leave the workspace.');
/** The caller may wait for the outcome. */
export const HELD = refuse('UNAVAILABLE', 'A member account is being deleted; try again.', { retry_after_s: 2 });
const FULL = refuse('CONFLICT', `A workspace has at most ${LIMITS.workspace_members_max} members and invitations.`);
const TOO_MANY_SENT = refuse('TOO_MANY_REQUESTS', 'The workspace has sent too many invitations today.', {
  retry_after_s: 3_600,
});

export const workspace = actorKind<Workspace, WorkspaceMessage, WorkspaceReply>({
  kind: 'workspace',
  home: 'id',
  schema: 1,
  reads: ['view', 'view_invitations', 'invitation', 'stands'],

  records(message): RecordQuery[] {
    switch (message.type) {
      case 'list_streams':
        return [{ collection: 'streams', range: message.range }];
      case 'shed_streams':
        return [{ collection: 'streams', range: { limit: LIMITS.streams_shed_max } }];
      default:
        return [];
    }
  },

  decide(state, message, facts, now_ms): Decision<Workspace, WorkspaceReply> {
    const self = facts.self;
    switch (message.type) {
      case 'create': {
        const { name, owner } = message;
        if (state !== null) return { reply: DONE };
        const member: Member = { ...owner, role: 'owner', joined_at_ms: now_ms };
        const next: Workspace = {
          name,
          retention: KEEP_FOR_EVER,
          created_at_ms: now_ms,
          members: [member],
          invitations: [],
          sent: { began_ms: now_ms, count: 0 },
          holds: [],
          dormant: false,
        };
        return { reply: DONE, next, effects: [joined(next, member, self)] };
      }
      case 'accept': {
        const { invitation_id, account_id, email } = message;
        const no = tellAccount(account_id, { type: 'not_joined', workspace_id: self, invitation_id });
        const invitation = state?.invitations.find(({ id }) => id === invitation_id);
        if (state === null || invitation === undefined || invitation.email !== email)
          return { reply: DONE, effects: [no] };
        if (state.holds.length > 0) return { reply: DONE, effects: [no] }; // it still stands, and may be asked for again
        const member: Member = { account_id, email, role: invitation.role, joined_at_ms: now_ms };
        const next = {
          ...state,
          members: [...state.members, member],
          invitations: state.invitations.filter((other) => other !== invitation),
        };
        return { reply: DONE, next, effects: [joined(next, member, invitation_id), uninvite(invitation)] };
      }
      case 'hold': {
        const { account_id, attempt } = message;
        const member = state?.members.find((other) => other.account_id === account_id);
        const alone = member !== undefined && state?.members.length === 1;
        const owes = member?.role === 'owner' && !alone;
        const held: HoldNews = { type: 'held', workspace_id: self, attempt, owes, alone };
        const answer = tellAccount(account_id, held);
        if (state === null || member === undefined) return { reply: DONE, effects: [answer] };
        const holds = [...state.holds.filter((other) => other !== account_id), account_id];
        return { reply: DONE, next: { ...state, holds }, effects: [answer, askOutcomesAt(now_ms)] };
      }
      case 'release':
        return state?.holds.includes(message.account_id)
          ? { reply: DONE, next: released(state, message.account_id) }
          : { reply: DONE };

      case 'departed': {
        const { account_id } = message;
        const member = state?.members.find((other) => other.account_id === account_id);
        if (state === null || member === undefined) return { reply: DONE };
        const left = released(state, account_id);
        if (state.members.length > 1) return { reply: DONE, next: without(left, account_id) };
        // Nobody else is left to see it: it waits for its owner, and what it offered to others ends.
        return {
          reply: DONE,
          next: { ...left, invitations: [], dormant: true },
          effects: state.invitations.map(uninvite),
        };
      }
      case 'returned':
        return state?.dormant ? { reply: DONE, next: { ...state, dormant: false } } : { reply: DONE };

      case 'erase':
        // Its only member has recorded the end already.
        return state?.dormant ? { reply: DONE, next: null, effects: shedding({ erased: true }) } : { reply: DONE };

      case 'ask_outcomes': {
        if (state === null || state.holds.length === 0) return { reply: DONE };
        const ask: HoldNews = { type: 'hold_open', workspace_id: self };
        return { reply: DONE, effects: [...state.holds.map((id) => tellAccount(id, ask)), askOutcomesAt(now_ms)] };
      }
      case 'staff_delete':
        return state === null ? { reply: NOT_HERE } : end(state, 'staff_deleted');

      case 'stands':
        return { reply: state === null ? NOT_HERE : DONE };

      case 'stream_registered': {
        const { stream_id, account_id, registered_at_ms } = message;
        if (state === null) return { reply: DONE, effects: [tellGone(stream_id)] };
        const value: SharedStream = { account_id };
        return {
          reply: DONE,
          effects: [{ effect: 'put_record', collection: 'streams', id: stream_id, value, order: registered_at_ms }],
        };
      }
      case 'stream_erased':
        return { reply: DONE, effects: [{ effect: 'delete_record', collection: 'streams', id: message.stream_id }] };

      case 'shed_streams': {
        if (state !== null) return { reply: DONE };
        const rows = facts.range<SharedStream>('streams');
        const shed = rows.flatMap(({ id }): Effect[] => [
          { effect: 'delete_record', collection: 'streams', id },
          tellGone(id),
        ]);
        if (rows.length === LIMITS.streams_shed_max) shed.push(shedAt(now_ms, message));
        return { reply: DONE, effects: message.erased ? [...shed, { effect: 'delete' }] : shed };
      }
      case 'invitation':
      case 'decline': {
        const { invitation_id, email } = message;
        const invitation = state?.invitations.find(({ id }) => id === invitation_id);
        if (state === null || invitation?.email !== email) return { reply: NO_INVITATION };
        if (message.type === 'invitation') return { reply: { invitation, workspace_name: state.name } };
        return { reply: DONE, next: withoutInvitation(state, invitation), effects: [uninvite(invitation)] };
      }
      default:
        return asked(message);
    }

    /** What a member asks for; to anybody else there is no such workspace. */
    function asked(message: Extract<WorkspaceMessage, { by: string }>): Decision<Workspace, WorkspaceReply> {
      const by = state?.members.find(({ account_id }) => account_id === message.by);
      if (state === null || by === undefined) return { reply: NOT_HERE };
      const lacking = lacks(by, NEEDED[message.type]);
      if (lacking !== null) return { reply: lacking };
      if (message.type === 'view' || message.type === 'view_invitations') return { reply: state };
      if (message.type === 'list_streams') {
        const streams = facts.range<SharedStream>('streams').map(({ id, order, value }) => ({ id, order, ...value }));
        return { reply: { streams } };
      }
      if (state.dormant) return { reply: DORMANT };
      switch (message.type) {
        case 'change': {
          const { settings: next, changed_fields } = changeSettings(state, message.change);
          if (changed_fields.length === 0) return { reply: state };
          return { reply: next, next, effects: next.members.map((member) => changed(next, member, changed_fields)) };
        }
        case 'delete':
          return end(state, 'owner_deleted');

        case 'leave':
          if (by.role === 'owner') return { reply: OWNER_REQUIRED };
          return { reply: DONE, next: without(state, by.account_id), effects: [left(by)] };

        case 'remove': {
          const member = memberOf(state, message.account_id);
          if (member === undefined) return { reply: NO_MEMBER };
          if (member === by) return { reply: USE_LEAVE };
          if (member.role === 'owner') return { reply: OWNER_REQUIRED };
          return { reply: DONE, next: without(state, member.account_id), effects: [left(member)] };
        }
        case 'change_role': {
          const member = memberOf(state, message.account_id);
          if (member === undefined) return { reply: NO_MEMBER };
          if (member.role === 'owner') return { reply: OWNER_REQUIRED };
          if (member.role === message.role) return { reply: member };
          const given = { ...member, role: message.role };
          const next = withMembers(state, [given]);
          return { reply: given, next, effects: [changed(next, given)] };
        }
        case 'transfer': {
          const heir = memberOf(state, message.account_id);
          if (heir === undefined) return { reply: NO_MEMBER };
          if (heir === by) return { reply: DONE };
          if (state.holds.length > 0) return { reply: HELD };
          const roles: Member[] = [
            { ...by, role: 'admin' },
            { ...heir, role: 'owner' },
          ];
          const next = withMembers(state, roles);
          return { reply: DONE, next, effects: roles.map((member) => changed(next, member)) };
        }
        case 'invite': {
          const { invitation_id, email, role, mail } = message;
          const known = state.invitations.find(({ id }) => id === invitation_id);
          if (known !== undefined) return { reply: known };
          if (state.members.some((member) => member.email === email))
            return { reply: refuse('CONFLICT', 'This email already belongs to the workspace.') };
          if (state.invitations.some((invitation) => invitation.email === email))
            return { reply: refuse('CONFLICT', 'This email is already invited.') };
          if (state.members.length + state.invitations.length >= LIMITS.workspace_members_max) return { reply: FULL };
          const sent = sentAt(state, now_ms);
          if (sent.count >= LIMITS.invitations_per_day_max) return { reply: TOO_MANY_SENT };
          const invitation: Invitation = {
            id: invitation_id,
            email,
            role,
            invited_by: by.account_id,
            created_at_ms: now_ms,
          };
          const invited: EmailMessage = { type: 'invited', invitation_id, workspace_id: self };
          return {
            reply: invitation,
            next: {
              ...state,
              invitations: [...state.invitations, invitation],
              sent: { ...sent, count: sent.count + 1 },
            },
            effects: [
              { effect: 'notify', to: { kind: 'email', id: email }, message: invited },
              { effect: 'enqueue_mail', ...mail, give_up_at_ms: now_ms + LIMITS.mail_retried_ms },
            ],
          };
        }
        case 'withdraw': {
          const invitation = state.invitations.find(({ id }) => id === message.invitation_id);
          if (invitation === undefined) return { reply: NO_INVITATION };
          return { reply: DONE, next: withoutInvitation(state, invitation), effects: [uninvite(invitation)] };
        }
        default:
          return unreachable(message);
      }
    }

    /** `invitation_id` is what the account waits for: its invitation, or the workspace that it makes. */
    function joined({ name, created_at_ms }: Workspace, { account_id, role }: Member, invitation_id: string): Effect {
      const workspace = { workspace_id: self, name, created_at_ms };
      return tellAccount(account_id, { type: 'joined', workspace, role, invitation_id });
    }

    function changed({ name }: Workspace, { account_id, role }: Member, changed_fields: string[] = []): Effect {
      return tellAccount(account_id, { type: 'workspace_changed', workspace_id: self, name, role, changed_fields });
    }

    function left({ account_id }: Member): Effect {
      return tellAccount(account_id, { type: 'left', workspace_id: self });
    }

    function uninvite({ id, email }: Invitation): Effect {
      const message: EmailMessage = { type: 'uninvited', invitation_id: id };
      return { effect: 'notify', to: { kind: 'email', id: email }, message };
    }

    function end({ members, invitations }: Workspace, reason: WorkspaceEnd): Decision<Workspace, WorkspaceReply> {
      const told = members.map(({ account_id }) =>
        tellAccount(account_id, { type: 'workspace_deleted', workspace_id: self, reason }),
      );
      return {
        reply: DONE,
        next: null,
        effects: [...told, ...invitations.map(uninvite), ...shedding({ erased: false })],
      };
    }

    function shedding({ erased }: { erased: boolean }): Effect[] {
      const effects: Effect[] = [
        { effect: 'cancel_reminder', name: 'ask_outcomes' },
        shedAt(now_ms, { type: 'shed_streams', erased }),
      ];
      return erased ? [...effects, { effect: 'delete' }] : effects;
    }
  },

  invariant({ members }) {
    const owners = members.filter(({ role }) => role === 'owner').length;
    if (owners !== 1) return `${owners} owners`;
    return new Set(members.map(({ account_id }) => account_id)).size < members.length ? 'a member twice' : null;
  },
});

/** What a role must hold for each thing that a member asks for. Interface: "Scopes". */
const NEEDED: Record<Extract<WorkspaceMessage, { by: string }>['type'], Permission> = {
  view: 'workspace:read',
  leave: 'workspace:read',
  list_streams: 'workspace:read',
  view_invitations: 'workspace:members',
  invite: 'workspace:members',
  withdraw: 'workspace:members',
  change_role: 'workspace:members',
  remove: 'workspace:members',
  change: 'workspace:manage',
  delete: 'workspace:manage',
  transfer: 'workspace:manage',
};

function lacks({ role }: Member, needed: Permission): Refusal | null {
  return roleHolds(role, needed) ? null : refuse('FORBIDDEN', `The role ${role} does not hold ${needed} here.`);
}

function memberOf({ members }: Workspace, account_id: string): Member | undefined {
  return members.find((member) => member.account_id === account_id);
}

function without(state: Workspace, account_id: string): Workspace {
  const members = state.members.filter((member) => member.account_id !== account_id);
  return { ...released(state, account_id), members };
}

function withMembers(state: Workspace, changed: Member[]): Workspace {
  const members = state.members.map(
    (member) => changed.find(({ account_id }) => account_id === member.account_id) ?? member,
  );
  return { ...state, members };
}

function withoutInvitation(state: Workspace, invitation: Invitation): Workspace {
  return { ...state, invitations: state.invitations.filter((other) => other !== invitation) };
}

function released(state: Workspace, account_id: string): Workspace {
  return { ...state, holds: state.holds.filter((holder) => holder !== account_id) };
}

function sentAt({ sent }: Workspace, now_ms: number): Workspace['sent'] {
  return now_ms < sent.began_ms + LIMITS.invitations_window_ms ? sent : { began_ms: now_ms, count: 0 };
}

/** A hold ends with the account's outcome alone; one that lasts asks for it. */
function askOutcomesAt(now_ms: number): Effect {
  const message: WorkspaceMessage = { type: 'ask_outcomes' };
  return { effect: 'schedule_reminder', name: 'ask_outcomes', at_ms: now_ms + LIMITS.hold_asks_after_ms, message };
}

/** Its streams hear of the end one run after the other: however many they are, no turn is long. */
function shedAt(at_ms: number, message: Extract<WorkspaceMessage, { type: 'shed_streams' }>): Effect {
  return { effect: 'schedule_reminder', name: 'shed_streams', at_ms, message };
}

function tellGone(stream_id: string): Effect {
  const message: SharedStreamNews = { type: 'workspace_gone' };
  return { effect: 'notify', to: { kind: 'stream', id: stream_id }, message };
}

function tellAccount(id: string, message: MembershipNews | HoldNews): Effect {
  return { effect: 'notify', to: { kind: 'account', id }, message };
}
