import type { EventType } from '../../src/domain/event_types.js';
import { LIMITS } from '../../src/domain/limits.js';
import { isRefusal, refuse } from '../../src/domain/refusals.js';
import {
  type Decision,
  DONE,
  type DoneDecision,
  defineActor,
  type Effect,
  type Facts,
  given,
  type MessageOf,
} from '../actor.js';
import { type Erase, erased } from '../erase.js';
import { type StreamOf, type StreamRef, streamOf, streamRefRecords, UNBOUND } from '../recordings/stream_refs.js';
import type { AddressMessage } from './ble_address.js';
import type { ClaimMessage } from './claim.js';
import type { DeviceMessage } from './device.js';
import {
  type DeviceSession,
  type EndReason,
  recorderOf,
  type SessionRecorder,
  termsOf,
} from './device_session_state.js';

const SESSION_PARTICIPANTS_MAX = 100; // ours

export type DeviceSessionMessage = MessageOf<typeof deviceSession>;

/** Sent to the accounts of a session. */
export type SessionNews =
  /** To the host: nothing more is uploaded. */
  | { type: 'session_over'; session_id: string; device_id: string | null }
  /** To a member: an event to record. */
  | { type: 'session_news'; session_id: string; event: EventType; data: Record<string, unknown> }
  /** To a member: the session, or the member's part in it, is erased. */
  | { type: 'session_gone'; session_id: string };

/** The index of sessions that an account hosts or takes part in. */
export const DEVICE_SESSIONS = 'device_sessions';

const NO_SESSION = refuse('NOT_FOUND', 'There is no such recorder session.');
const ONLY_HOST = refuse('FORBIDDEN', 'Only its host may do this to a recorder session.');
const OVER = refuse('CONFLICT', 'The recorder session is over.');
const HOST_STAYS = refuse('CONFLICT', 'Its host can not leave a recorder session; end it instead.');
const FULL = refuse(
  'CONFLICT',
  `A recorder session has at most ${SESSION_PARTICIPANTS_MAX} participants beside its host.`,
);
const EARLIER = refuse('CONFLICT', 'expires_at is earlier than it was; end the session instead.', {
  details: [{ path: 'expires_at', message: 'must not be earlier than the present one' }],
});

/** `by`: the calling account. An account that is not a member finds no session. */
type By = { by: string };
const known = given((state: DeviceSession | null) => state ?? NO_SESSION);
const belonging = given((state: DeviceSession | null, _, { by }: By) =>
  state !== null && belongs(state, by) ? state : NO_SESSION,
);
const hosted = given((state: DeviceSession | null, _, { by }: By) => {
  if (state === null || !belongs(state, by)) return NO_SESSION;
  return by === state.host_account_id ? state : ONLY_HOST;
});

export const deviceSession = defineActor<DeviceSession>()({
  kind: 'device_session',
  home: 'id',
  schema: 1,
  messages: {
    // From its host's account; the claim is made with it.
    create(state, { claim, ...made }: NewSession, { self, now_ms }) {
      if (state !== null) return { reply: state };
      const until_ms = Math.min(now_ms + LIMITS.session_wait_ms, made.expires_at_ms);
      const phase = { status: 'waiting' as const, until_ms };
      const next: DeviceSession = { id: self, ...made, created_at_ms: now_ms, participants: [], phase };
      const { claim_id, ...terms } = claim;
      const account_id = made.host_account_id;
      const message: ClaimMessage = {
        type: 'create_for_session',
        account_id,
        binding_epoch: self,
        ...terms,
        expires_at_ms: until_ms,
      };
      return {
        reply: next,
        next,
        effects: [
          { effect: 'notify', to: { kind: 'claim', id: claim_id }, message },
          { effect: 'add_to_index', owner: account_id, index: DEVICE_SESSIONS, member: self, order: now_ms },
          tickAt(until_ms),
        ],
      };
    },

    /** The last step of redeeming a claim: recorder and address are reserved. */
    start(state, started: Started, { self, now_ms }): DoneDecision<DeviceSession> {
      const { account_id, claim_id, device_id, source_id, ble_address } = started;
      if (state === null || state.phase.status !== 'waiting' || now_ms >= state.phase.until_ms) {
        // The account has entered the recorder for it already.
        const over: SessionNews = { type: 'session_over', session_id: self, device_id };
        return {
          reply: DONE,
          effects: [
            notifyDevice(device_id, { type: 'not_bound', claim_id, outcome: 'gone' }),
            notifyAddress(ble_address, { type: 'release', session_id: self }),
            notifyAccount(account_id, over),
          ],
        };
      }
      const recorder: SessionRecorder = { device_id, source_id, ble_address, started_at_ms: now_ms };
      const next: DeviceSession = { ...state, phase: { status: 'open', recorder } };
      return {
        reply: DONE,
        next,
        effects: [
          ...news(next, 'device_session.started', { source_id }),
          notifyDevice(device_id, { type: 'bound', claim_id, account_id, binding_epoch: self }),
          tickAt(next.expires_at_ms),
        ],
      };
    },

    view: { reads: true, decide: belonging((session, _: By) => ({ reply: session })) },

    /** For accounts that are not members: the seed of the join code. */
    join_seed: { reads: true, decide: known(({ join_seed }) => ({ reply: { join_seed } })) },

    /** The caller has compared the join code with `join_seed`. */
    join: known((session, { by }: By, { now_ms }): SessionDecision => {
      if (belongs(session, by)) return { reply: session };
      const { status } = session.phase;
      if (status !== 'waiting' && status !== 'open') return { reply: OVER };
      if (session.participants.length >= SESSION_PARTICIPANTS_MAX) return { reply: FULL };
      const participants = [...session.participants, { account_id: by, joined_at_ms: now_ms }];
      const next = { ...session, participants };
      return { reply: next, next, effects: news(next, 'device_session.joined', { participant_id: by }) };
    }),

    leave: known((session, { by }: By): DoneDecision<DeviceSession> => {
      if (by === session.host_account_id) return { reply: HOST_STAYS };
      if (!belongs(session, by)) return { reply: NO_SESSION };
      const participants = session.participants.filter(({ account_id }) => account_id !== by);
      const effects = news(session, 'device_session.left', { participant_id: by });
      return { reply: DONE, next: { ...session, participants }, effects };
    }),

    extend: hosted((session, { expires_at_ms }: By & { expires_at_ms: number }, { now_ms }): SessionDecision => {
      const { status } = session.phase;
      if (status !== 'waiting' && status !== 'open') return { reply: OVER };
      if (status === 'open' && now_ms >= session.expires_at_ms) return { reply: OVER };
      if (expires_at_ms === session.expires_at_ms) return { reply: session };
      if (expires_at_ms < session.expires_at_ms) return { reply: EARLIER };
      const next = { ...session, expires_at_ms };
      const updated = news(next, 'device_session.updated', { changed_fields: ['expires_at'] });
      return { reply: next, next, effects: [...updated, ...(status === 'open' ? [tickAt(expires_at_ms)] : [])] };
    }),

    end: hosted((session, _: By, facts) => end(session, 'host', facts)),

    // From its recorder; to any other device it binds nobody.
    /** Reads the terms that hold for a recorder. */
    terms: {
      reads: true,
      decide: (state, { device_id }: { device_id: string }, { now_ms }) => ({
        reply: termsOf(state, device_id, now_ms) ?? UNBOUND,
      }),
    },

    stream_of: {
      records: streamRefRecords,
      decide(state, asked: StreamOf, facts): Decision<DeviceSession, StreamRef> {
        if (state === null || termsOf(state, asked.device_id, facts.now_ms) === null) return { reply: UNBOUND };
        const found = streamOf(facts, asked);
        if (isRefusal(found)) return { reply: found };
        const { found: reply, effects } = found;
        return effects.length === 0 ? { reply } : { reply, next: { ...state }, effects };
      },
    },

    end_by_recorder(state, { device_id }: { device_id: string }, facts): SessionDecision {
      if (state === null || recorderOf(state)?.device_id !== device_id) return { reply: UNBOUND };
      return endForRecorder(state, 'recorder', facts);
    },

    // From others.
    /** `binding_epoch`: the epoch under which the account had the recorder. */
    device_removed: known(
      (session, { device_id, binding_epoch }: Removed, facts): SessionDecision | DoneDecision<DeviceSession> => {
        if (recorderOf(session)?.device_id === device_id) return endForRecorder(session, 'device_removed', facts);
        // The recorder is on its way here, and this may overtake it.
        const is_expected = session.phase.status === 'waiting' && binding_epoch === session.id;
        return is_expected ? end(session, 'device_removed', facts) : { reply: DONE };
      },
    ),

    account_deleted: known((session, _: unknown, facts) => end(session, 'account_deleted', facts)),

    /** Whether the address is still held. */
    ask_hold(state, { ble_address }: { ble_address: string }, { self }): DoneDecision<DeviceSession> {
      const { phase } = state ?? {};
      // Of a waiting one the recorder may be on its way here, with the address in its hands.
      const holds =
        phase?.status === 'waiting' || (phase?.status === 'open' && phase.recorder.ble_address === ble_address);
      return { reply: DONE, effects: [notifyAddress(ble_address, { type: 'hold_answered', session_id: self, holds })] };
    },

    tick: known((session, _: unknown, facts): SessionDecision | DoneDecision<DeviceSession> => {
      const { phase, expires_at_ms } = session;
      const { now_ms } = facts;
      if (phase.status === 'waiting' && now_ms >= phase.until_ms) return end(session, 'never_started', facts);
      if (phase.status === 'open' && now_ms >= expires_at_ms) return end(session, 'expired', facts);
      if (phase.status === 'draining' && now_ms >= phase.drain_until_ms) return close(session, phase);
      return { reply: DONE };
    }),

    erase(state, input: Erase, { self }): DoneDecision<DeviceSession> {
      const { account_id } = input;
      if (state !== null && state.host_account_id !== account_id) {
        // Somebody who took part: they leave, and the list on which they have it is their account's to change.
        if (!belongs(state, account_id)) return { reply: DONE, effects: [notifyGone(self, account_id)] };
        const participants = state.participants.filter((other) => other.account_id !== account_id);
        const next = { ...state, participants };
        const effects = news(next, 'device_session.left', { participant_id: account_id });
        return { reply: DONE, next, effects: [...effects, notifyGone(self, account_id)] };
      }
      const gone = (state?.participants ?? []).map((participant) => notifyGone(self, participant.account_id));
      const effects: Effect[] = [...gone, { effect: 'delete_collection', collection: 'streams' }, NO_TICK];
      return erased(input, { member: self, effects });
    },
  },

  invariant({ participants, host_account_id }) {
    if (participants.length > SESSION_PARTICIPANTS_MAX) return 'too many participants';
    return participants.some(({ account_id }) => account_id === host_account_id) ? 'the host takes part' : null;
  },
});

type SessionDecision = Decision<DeviceSession, DeviceSession>;
type NewSession = Pick<DeviceSession, 'host_account_id' | 'workspace_id' | 'join_seed' | 'expires_at_ms'> & {
  claim: { claim_id: string; secret_hash: string; source_id: string };
};
type Started = { account_id: string; claim_id: string; device_id: string; source_id: string; ble_address: string };
type Removed = { device_id: string; binding_epoch: string };
type Ended = { ended_at_ms: number; end_reason: EndReason };

/**
 * Ends the session for everybody. The recorder may upload for a while, unless it said that it is done or was removed.
 */
function end(session: DeviceSession, end_reason: EndReason, { now_ms }: Facts): SessionDecision {
  const { id, phase, expires_at_ms } = session;
  if (phase.status === 'draining' || phase.status === 'ended') return { reply: session };
  // One that ran out has ended then, however late that was noticed: the drain counts from its scheduled end.
  const ended_at_ms = Math.min(now_ms, expires_at_ms);
  const over = { ...session, expires_at_ms: ended_at_ms };
  if (phase.status === 'waiting') {
    const next: DeviceSession = { ...over, phase: { status: 'ended', recorder: null, ended_at_ms, end_reason } };
    return { reply: next, next, effects: [...endNews(next), notifyOver(next), NO_TICK] };
  }
  const { recorder } = phase;
  const released = notifyAddress(recorder.ble_address, { type: 'release', session_id: id });
  const effects = [...endNews(over), released];
  if (end_reason === 'recorder' || end_reason === 'device_removed') {
    const closed = close(over, { recorder, ended_at_ms, end_reason });
    return { ...closed, effects: [...effects, ...(closed.effects ?? [])] };
  }
  const drain_until_ms = ended_at_ms + LIMITS.session_drain_ms;
  const draining = { status: 'draining' as const, recorder, ended_at_ms, end_reason, drain_until_ms };
  const next: DeviceSession = { ...over, phase: draining };
  const notice = notifyDevice(recorder.device_id, { type: 'draining', binding_epoch: id });
  return { reply: next, next, effects: [...effects, notice, tickAt(drain_until_ms)] };
}

/** A session that drains already keeps its reason. */
function endForRecorder(session: DeviceSession, end_reason: EndReason, facts: Facts): SessionDecision {
  return session.phase.status === 'draining' ? close(session, session.phase) : end(session, end_reason, facts);
}

/** The recorder has nothing more to upload. */
function close(
  session: DeviceSession,
  { recorder, ended_at_ms, end_reason }: Ended & { recorder: SessionRecorder },
): SessionDecision {
  const next: DeviceSession = { ...session, phase: { status: 'ended', recorder, ended_at_ms, end_reason } };
  const unbound = notifyDevice(recorder.device_id, { type: 'unbind', binding_epoch: session.id });
  return { reply: next, next, effects: [unbound, notifyOver(next), NO_TICK] };
}

/** Two events in this order, whoever ended the session. Rule H-035. */
function endNews(session: DeviceSession): Effect[] {
  return [
    ...news(session, 'device_session.updated', { changed_fields: ['end_reason', 'expires_at'] }),
    ...news(session, 'device_session.ended', {}),
  ];
}

/** An event to the host and to every participant. */
function news(session: DeviceSession, type: EventType, data: Record<string, unknown>): Effect[] {
  const { id, host_account_id, participants } = session;
  const notice: SessionNews = { type: 'session_news', session_id: id, event: type, data };
  return [
    { effect: 'append_event', account_id: host_account_id, type, resource_id: id, data },
    ...participants.map(({ account_id }): Effect => notifyAccount(account_id, notice)),
  ];
}

function notifyGone(session_id: string, account_id: string): Effect {
  return notifyAccount(account_id, { type: 'session_gone', session_id });
}

function notifyOver({ id, host_account_id, phase }: DeviceSession): Effect {
  const device_id = phase.status === 'ended' ? (phase.recorder?.device_id ?? null) : null;
  return notifyAccount(host_account_id, { type: 'session_over', session_id: id, device_id });
}

function belongs({ host_account_id, participants }: DeviceSession, account_id: string): boolean {
  return account_id === host_account_id || participants.some((other) => other.account_id === account_id);
}

const NO_TICK: Effect = { effect: 'cancel_reminder', name: 'tick' };

function tickAt(at_ms: number): Effect {
  return { effect: 'schedule_reminder', name: 'tick', at_ms, message: { type: 'tick' } };
}

function notifyDevice(id: string, message: DeviceMessage): Effect {
  return { effect: 'notify', to: { kind: 'device', id }, message };
}

function notifyAddress(id: string, message: AddressMessage): Effect {
  return { effect: 'notify', to: { kind: 'ble_address', id }, message };
}

function notifyAccount(id: string, message: SessionNews): Effect {
  return { effect: 'notify', to: { kind: 'account', id }, message };
}
