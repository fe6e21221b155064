import { LIMITS } from '../../src/domain/limits.js';
import type { Permission } from '../../src/domain/permissions.js';
import { isRefusal, type Refusal, refuse } from '../../src/domain/refusals.js';
import {
  changeSettings,
  changesRetention,
  type GivenRole,
  KEEP_FOR_EVER,
  type SettingsChange,
  type WorkspaceEnd,
} from '../../src/domain/workspaces.js';
import {
  type Decision,
  DONE,
  type DoneDecision,
  defineActor,
  type Effect,
  type Facts,
  given,
  type MessageOf,
  type RangeQuery,
} from '../actor.js';
import type { EmailMessage } from '../emails/email.js';
import type { RecorderNews, RetentionNews } from './sweep.js';
import {
  askOutcomesAt,
  changed,
  joined,
  left,
  notifyAccount,
  notifyGone,
  retentionTold,
  shedAt,
  shedding,
  takeRecorder,
  tellRetention,
  uninvite,
} from './workspace_news.js';
import {
  type Invitation,
  invitationsAfter,
  type ListedStream,
  lacks,
  type Member,
  memberOf,
  released,
  type SharedStream,
  type Workspace,
  withMembers,
  without,
  withoutInvitation,
} from './workspace_state.js';

export type WorkspaceMessage = MessageOf<typeof workspace>;

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

/** `by`: the account that asks. Its credential's scope and its entitlements the caller has checked. */
type By = { by: string };
type MemberCaller = { state: Workspace; by: Member };

/** Refuses with NOT_FOUND unless the caller is a member whose role holds the permission. */
const seenBy = (needed: Permission) =>
  given((state: Workspace | null, _, asked: By): MemberCaller | Refusal => {
    const by = state?.members.find(({ account_id }) => account_id === asked.by);
    if (state === null || by === undefined) return NOT_HERE;
    return lacks(by, needed) ?? { state, by };
  });

/** As above, while the workspace is not dormant. */
const doneBy = (needed: Permission) =>
  given((state: Workspace | null, _, asked: By): MemberCaller | Refusal => {
    const by = state?.members.find(({ account_id }) => account_id === asked.by);
    if (state === null || by === undefined) return NOT_HERE;
    return lacks(by, needed) ?? (state.dormant ? DORMANT : { state, by });
  });

export const workspace = defineActor<Workspace>()({
  kind: 'workspace',
  home: 'id',
  schema: 1,
  messages: {
    // From members.
    view: { reads: true, decide: seenBy('workspace:read')(({ state }, _: By) => ({ reply: state })) },

    view_invitations: { reads: true, decide: seenBy('workspace:members')(({ state }, _: By) => ({ reply: state })) },

    list_streams: {
      records: ({ range }: { range: RangeQuery }) => [{ collection: 'streams', range }],
      decide: seenBy('workspace:read')((_, __: By & { range: RangeQuery }, facts) => {
        const rows = facts.range<SharedStream>('streams');
        const streams: ListedStream[] = rows.map(({ id, order, value }) => ({ id, order, ...value }));
        return { reply: { streams } };
      }),
    },

    change: doneBy('workspace:manage')(({ state }, { change }: By & { change: SettingsChange }, { self }) => {
      const { settings: next, changed_fields } = changeSettings(state, change);
      if (changed_fields.length === 0) return { reply: state };
      const notices = next.members.map((member) => changed(self, next, member, changed_fields));
      const told = changesRetention(changed_fields) ? [tellRetention(self, next)] : [];
      return { reply: next, next, effects: [...notices, ...told] };
    }),

    delete: doneBy('workspace:manage')(({ state }, _: By, facts) => end(state, 'owner_deleted', facts)),

    leave: doneBy('workspace:read')(({ state, by }, _: By, { self }): DoneDecision<Workspace> => {
      if (by.role === 'owner') return { reply: OWNER_REQUIRED };
      return { reply: DONE, next: without(state, by.account_id), effects: [left(self, by)] };
    }),

    remove: doneBy('workspace:members')(
      ({ state, by }, { account_id }: By & { account_id: string }, { self }): DoneDecision<Workspace> => {
        const member = memberOf(state, account_id);
        if (member === undefined) return { reply: NO_MEMBER };
        if (member === by) return { reply: USE_LEAVE };
        if (member.role === 'owner') return { reply: OWNER_REQUIRED };
        return { reply: DONE, next: without(state, account_id), effects: [left(self, member)] };
      },
    ),

    change_role: doneBy('workspace:members')(
      (
        { state },
        { account_id, role }: By & { account_id: string; role: GivenRole },
        { self },
      ): Decision<Workspace, Member> => {
        const member = memberOf(state, account_id);
        if (member === undefined) return { reply: NO_MEMBER };
        if (member.role === 'owner') return { reply: OWNER_REQUIRED };
        if (member.role === role) return { reply: member };
        const given = { ...member, role };
        const next = withMembers(state, [given]);
        return { reply: given, next, effects: [changed(self, next, given)] };
      },
    ),

    transfer: doneBy('workspace:manage')(
      ({ state, by }, { account_id }: By & { account_id: string }, { self }): DoneDecision<Workspace> => {
        const heir = memberOf(state, account_id);
        if (heir === undefined) return { reply: NO_MEMBER };
        if (heir === by) return { reply: DONE };
        if (state.holds.length > 0) return { reply: HELD };
        const roles: Member[] = [
          { ...by, role: 'admin' },
          { ...heir, role: 'owner' },
        ];
        const next = withMembers(state, roles);
        return { reply: DONE, next, effects: roles.map((member) => changed(self, next, member)) };
      },
    ),

    invite: doneBy('workspace:members')(
      ({ state, by }, asked: By & NewInvitation, { self, now_ms }): Decision<Workspace, Invitation> => {
        const { invitation_id, email, role, mail } = asked;
        const known = state.invitations.find(({ id }) => id === invitation_id);
        if (known !== undefined) return { reply: known };
        const sent = invitationsAfter(state, email, now_ms);
        if (isRefusal(sent)) return { reply: sent };
        // From here on it succeeds.
        const { account_id: invited_by } = by;
        const invitation: Invitation = { id: invitation_id, email, role, invited_by, created_at_ms: now_ms };
        const message: EmailMessage = { type: 'invited', invitation_id, workspace_id: self };
        return {
          reply: invitation,
          next: { ...state, invitations: [...state.invitations, invitation], sent },
          effects: [
            { effect: 'notify', to: { kind: 'email', id: email }, message },
            { effect: 'enqueue_mail', ...mail, give_up_at_ms: now_ms + LIMITS.mail_retried_ms },
          ],
        };
      },
    ),

    withdraw: doneBy('workspace:members')(
      ({ state }, { invitation_id }: By & { invitation_id: string }): DoneDecision<Workspace> => {
        const invitation = state.invitations.find(({ id }) => id === invitation_id);
        if (invitation === undefined) return { reply: NO_INVITATION };
        return { reply: DONE, next: withoutInvitation(state, invitation), effects: [uninvite(invitation)] };
      },
    ),

    // From whoever the address of an invitation belongs to.
    invitation: {
      reads: true,
      decide(state, asked: Addressed) {
        const invitation = addressed(state, asked);
        if (state === null || invitation === undefined) return { reply: NO_INVITATION };
        return { reply: { invitation, workspace_name: state.name } };
      },
    },

    decline(state, asked: Addressed): DoneDecision<Workspace> {
      const invitation = addressed(state, asked);
      if (state === null || invitation === undefined) return { reply: NO_INVITATION };
      return { reply: DONE, next: withoutInvitation(state, invitation), effects: [uninvite(invitation)] };
    },

    // From staff.
    staff_delete: (state, _: unknown, facts): DoneDecision<Workspace> =>
      state === null ? { reply: NOT_HERE } : end(state, 'staff_deleted', facts),

    // From accounts.
    create(
      state,
      { name, owner }: { name: string; owner: Pick<Member, 'account_id' | 'email'> },
      facts,
    ): DoneDecision<Workspace> {
      if (state !== null) return { reply: DONE };
      const { self, now_ms } = facts;
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
      return { reply: DONE, next, effects: [joined(self, next, member, self)] };
    },

    accept(state, asked: Addressed & { account_id: string }, { self, now_ms }): DoneDecision<Workspace> {
      const { invitation_id, account_id, email } = asked;
      const invitation = addressed(state, asked);
      // While an account is to be deleted it still stands, and may be asked for again.
      if (state === null || invitation === undefined || state.holds.length > 0) {
        const no = notifyAccount(account_id, { type: 'not_joined', workspace_id: self, invitation_id });
        return { reply: DONE, effects: [no] };
      }
      const member: Member = { account_id, email, role: invitation.role, joined_at_ms: now_ms };
      const next = { ...withoutInvitation(state, invitation), members: [...state.members, member] };
      return { reply: DONE, next, effects: [joined(self, next, member, invitation_id), uninvite(invitation)] };
    },

    /** The account is to be deleted. */
    hold(
      state,
      { account_id, attempt }: { account_id: string; attempt: number },
      { self, now_ms },
    ): DoneDecision<Workspace> {
      const member = state === null ? undefined : memberOf(state, account_id);
      const alone = member !== undefined && state?.members.length === 1;
      const owes = member?.role === 'owner' && !alone;
      const answer = notifyAccount(account_id, { type: 'held', workspace_id: self, attempt, owes, alone });
      if (state === null || member === undefined) return { reply: DONE, effects: [answer] };
      const holds = [...state.holds.filter((other) => other !== account_id), account_id];
      return { reply: DONE, next: { ...state, holds }, effects: [answer, askOutcomesAt(now_ms)] };
    },

    release: (state, { account_id }: { account_id: string }): DoneDecision<Workspace> =>
      state?.holds.includes(account_id) ? { reply: DONE, next: released(state, account_id) } : { reply: DONE },

    departed(state, { account_id }: { account_id: string }, { self }): DoneDecision<Workspace> {
      if (state === null || memberOf(state, account_id) === undefined) return { reply: DONE };
      if (state.members.length > 1) return { reply: DONE, next: without(state, account_id) };
      // Nobody else is left to see it: it waits for its owner, and what it offered to others ends.
      const next: Workspace = { ...released(state, account_id), invitations: [], dormant: true };
      return { reply: DONE, next, effects: [...state.invitations.map(uninvite), ...retentionTold(self, next)] };
    },

    returned(state, _: { account_id: string }, { self }): DoneDecision<Workspace> {
      if (!state?.dormant) return { reply: DONE };
      const next = { ...state, dormant: false };
      return { reply: DONE, next, effects: retentionTold(self, next) };
    },

    /** Its only member has recorded the end already. */
    erase: (state, _: { account_id: string }, facts): DoneDecision<Workspace> =>
      state?.dormant ? { reply: DONE, next: null, effects: shedding({ erased: true }, facts) } : { reply: DONE },

    ask_outcomes(state, _: unknown, { self, now_ms }): DoneDecision<Workspace> {
      if (state === null || state.holds.length === 0) return { reply: DONE };
      const asked = state.holds.map((id) => notifyAccount(id, { type: 'hold_open', workspace_id: self }));
      return { reply: DONE, effects: [...asked, askOutcomesAt(now_ms)] };
    },

    /** Whether it is there, for the owner of a stream who does not belong to it any more. */
    stands: { reads: true, decide: (state) => ({ reply: state === null ? NOT_HERE : DONE }) },

    // From its sweep.
    retention_applied(state, news: Omit<RetentionNews, 'type'>): DoneDecision<Workspace> {
      const members = state?.members ?? [];
      const notices = members.map(({ account_id }) =>
        notifyAccount(account_id, { type: 'retention_applied', ...news }),
      );
      return { reply: DONE, effects: notices };
    },

    recorder_gone: (_, { account_id }: Omit<RecorderNews, 'type'>): DoneDecision<Workspace> => ({
      reply: DONE,
      effects: [{ effect: 'delete_record', collection: 'recorders', id: account_id }],
    }),

    // From streams.
    stream_registered: {
      records: ({ account_id }: RegisteredStream) => [{ collection: 'recorders', id: account_id }],
      decide(state, { stream_id, account_id, registered_at_ms }: RegisteredStream, facts): DoneDecision<Workspace> {
        if (state === null) return { reply: DONE, effects: [notifyGone(facts.self, stream_id)] };
        const value: SharedStream = { account_id };
        return {
          reply: DONE,
          effects: [
            { effect: 'put_record', collection: 'streams', id: stream_id, value, order: registered_at_ms },
            ...takeRecorder(account_id, facts),
          ],
        };
      },
    },

    stream_erased: (_, { stream_id }: { stream_id: string }): DoneDecision<Workspace> => ({
      reply: DONE,
      effects: [{ effect: 'delete_record', collection: 'streams', id: stream_id }],
    }),

    /** After its end: notifies some of its streams, and itself again while there are more. `erased`: nothing is to be left. */
    shed_streams: {
      records: () => [{ collection: 'streams', range: { limit: LIMITS.streams_shed_max } }],
      decide(state, { erased }: { erased: boolean }, facts): DoneDecision<Workspace> {
        if (state !== null) return { reply: DONE };
        const rows = facts.range<SharedStream>('streams');
        const shed = rows.flatMap(({ id }): Effect[] => [
          { effect: 'delete_record', collection: 'streams', id },
          notifyGone(facts.self, id),
        ]);
        if (rows.length === LIMITS.streams_shed_max) shed.push(shedAt(facts.now_ms, { erased }));
        return { reply: DONE, effects: erased ? [...shed, { effect: 'delete' }] : shed };
      },
    },
  },

  invariant({ members }) {
    const owners = members.filter(({ role }) => role === 'owner').length;
    if (owners !== 1) return `${owners} owners`;
    return new Set(members.map(({ account_id }) => account_id)).size < members.length ? 'a member twice' : null;
  },
});

type Addressed = { invitation_id: string; email: string };
type NewInvitation = Addressed & { role: GivenRole; mail: { mail_id: string; sealed: Uint8Array } };
type RegisteredStream = { stream_id: string; account_id: string; registered_at_ms: number };

function addressed(state: Workspace | null, { invitation_id, email }: Addressed): Invitation | undefined {
  return state?.invitations.find((invitation) => invitation.id === invitation_id && invitation.email === email);
}

function end({ members, invitations }: Workspace, reason: WorkspaceEnd, facts: Facts): DoneDecision<Workspace> {
  const notices = members.map(({ account_id }) =>
    notifyAccount(account_id, { type: 'workspace_deleted', workspace_id: facts.self, reason }),
  );
  const effects = [...notices, ...invitations.map(uninvite), ...shedding({ erased: false }, facts)];
  return { reply: DONE, next: null, effects };
}
