import type { EventType } from '../src/domain/event_types.js';
import { LIMITS } from '../src/domain/limits.js';
import { isRefusal, refuse, unreachable } from '../src/domain/refusals.js';
import { actorKind, type Decision, type Effect, type RecordQuery } from './actor.js';
import type { AddressMessage, HoldQuestion } from './ble_address.js';
import type { ClaimMessage } from './claim.js';
import type { DeviceMessage } from './device.js';
import { type EraseMessage, erased } from './erase.js';
import { type StreamOfMessage, streamOf, streamRefFacts, UNBOUND } from './stream_refs.js';

/**
 * A time for which a shared recorder records for a host. It lies with its host's account, and its id is the
 * `binding_epoch` that the recorder sends: what a recorder may do under it, it decides by its own state and the clock.
 * Choices: "Devices".
 */
export type DeviceSession = {
  id: string;
  host_account_id: string;
  workspace_id: string;
  /** What the join code is derived from. */
  join_seed: JoinSeed;
  created_at_ms: number;
  expires_at_ms: number;
  /** In the order of joining; the host is none of them. */
  participants: Participant[];
  phase: SessionPhase;
};

/** A server key, by its id, and what it is applied to. */
export type JoinSeed = { key_id: string; seed: Uint8Array };
export type Participant = { account_id: string; joined_at_ms: number };
export type Recorder = { device_id: string; source_id: string; ble_address: string; started_at_ms: number };
export type EndReason = 'host' | 'recorder' | 'expired' | 'device_removed' | 'account_deleted' | 'never_started';

export type SessionPhase =
  /** Until a recorder redeems the claim, or the time for that is over. */
  | { status: 'waiting'; until_ms: number }
  | { status: 'open'; recorder: Recorder }
  /** Over for everybody; its recorder still uploads what it has. */
  | { status: 'draining'; recorder: Recorder; ended_at_ms: number; end_reason: EndReason; drain_until_ms: number }
  | { status: 'ended'; recorder: Recorder | null; ended_at_ms: number; end_reason: EndReason };

/** `by`: the account that asks. */
export type DeviceSessionMessage =
  /** `id` of the host's account; the claim is made with it. */
  | ({ type: 'create'; claim: { claim_id: string; secret_hash: string; source_id: string } } & Pick<
      DeviceSession,
      'host_account_id' | 'workspace_id' | 'join_seed' | 'expires_at_ms'
    >)
  | { type: 'view'; by: string }
  /** What a recorder may rely on. */
  | { type: 'terms'; device_id: string }
  | StreamOfMessage
  /** The caller has held the join code against `join_seed`. */
  | { type: 'join'; by: string }
  /** For somebody who does not belong to it: what the join code is derived from. */
  | { type: 'join_seed' }
  | { type: 'leave'; by: string }
  | { type: 'extend'; by: string; expires_at_ms: number }
  | { type: 'end'; by: string }
  | { type: 'end_by_recorder'; device_id: string }
  // From others:
  /** The last step of a claim's redemption: the recorder is free for it, and so is the address. */
  | {
      type: 'start';
      account_id: string;
      claim_id: string;
      device_id: string;
      source_id: string;
      ble_address: string;
    }
  | { type: 'device_removed'; device_id: string }
  | { type: 'account_deleted' }
  /** Whether the address is still held. */
  | HoldQuestion
  | { type: 'tick' }
  | EraseMessage;

/** What it tells the accounts that belong to it. */
export type SessionNews =
  /** To its host: nothing more comes of it. */
  | { type: 'session_over'; session_id: string; device_id: string | null }
  /** To who takes part: an event of theirs. */
  | { type: 'session_news'; session_id: string; event: EventType; data: Record<string, unknown> }
  /** To who takes part: the session, or their own part in it, is erased. */
  | { type: 'session_gone'; session_id: string };

/** What a recorder records under; `drain_until_ms` is the last moment at which it may upload, as things stand. */
export type SessionTerms = {
  account_id: string;
  workspace_id: string;
  device_id: string;
  source_id: string;
  expires_at_ms: number;
  drain_until_ms: number;
};

export type DeviceSessionReply =
  | DeviceSession
  | SessionTerms
  | { stream_id: string }
  | { join_seed: JoinSeed }
  | { done: true };

/** The list of sessions that an account hosts or takes part in. */
export const DEVICE_SESSIONS = 'device_sessions';

const DONE = { done: true } as const;
const NO_SESSION = refuse('NOT_FOUND', 'There is no such recorder session.');
const ONLY_HOST = refuse('FORBIDDEN', 'Only its host may do this to a recorder session.');
const OVER = refuse('CONFLICT', 'The recorder session is over.');
const HOST_STAYS = refuse('CONFLICT', 'Its host can not leave a recorder session; end it instead.');
const FULL = refuse(
  'CONFLICT',
  `A recorder session has at most ${LIMITS.session_participants_max} participants beside its host.`,
);
const EARLIER = refuse('CONFLICT', 'expires_at is earlier than it was; end the session instead.', {
  details: [{ path: 'expires_at', message: 'must not be earlier than the present one' }],
});

export const deviceSession = actorKind<DeviceSession, DeviceSessionMessage, DeviceSessionReply>({
  kind: 'device_session',
  home: 'id',
  schema: 1,
  reads: ['view', 'terms', 'join_seed'],

  records(message): RecordQuery[] {
    return message.type === 'stream_of' ? streamRefFacts(message) : [];
  },

  decide(state, message, facts, now_ms): Decision<DeviceSession, DeviceSessionReply> {
    switch (message.type) {
      case 'create':
        return create(message);
      case 'start':
        return start(message);
      case 'ask_hold': {
        const { ble_address } = message;
        const { phase } = state ?? {};
        // Of a waiting one the recorder may be on its way here, with the address in its hands.
        const holds =
          phase?.status === 'waiting' || (phase?.status === 'open' && phase.recorder.ble_address === ble_address);
        const answer: AddressMessage = { type: 'hold_answered', session_id: facts.self, holds };
        return { reply: DONE, effects: [tellAddress(ble_address, answer)] };
      }
      case 'erase':
        return erase(message);
      default:
        return state === null ? { reply: isRecorders(message) ? UNBOUND : NO_SESSION } : known(state, message);
    }

    function create({
      type: _,
      claim,
      ...made
    }: Extract<DeviceSessionMessage, { type: 'create' }>): Decision<DeviceSession, DeviceSessionReply> {
      if (state !== null) return { reply: state };
      const id = facts.self;
      const until_ms = Math.min(now_ms + LIMITS.session_wait_ms, made.expires_at_ms);
      const next: DeviceSession = {
        id,
        ...made,
        created_at_ms: now_ms,
        participants: [],
        phase: { status: 'waiting', until_ms },
      };
      const { claim_id, secret_hash, source_id } = claim;
      const account_id = made.host_account_id;
      const claimed: ClaimMessage = {
        type: 'create_for_session',
        account_id,
        secret_hash,
        binding_epoch: id,
        source_id,
        expires_at_ms: until_ms,
      };
      return {
        reply: next,
        next,
        effects: [
          { effect: 'notify', to: { kind: 'claim', id: claim_id }, message: claimed },
          { effect: 'add_to_index', owner: account_id, index: DEVICE_SESSIONS, member: id, order: now_ms },
          tickAt(until_ms),
        ],
      };
    }

    function start(
      message: Extract<DeviceSessionMessage, { type: 'start' }>,
    ): Decision<DeviceSession, DeviceSessionReply> {
      const { account_id, claim_id, device_id, source_id, ble_address } = message;
      if (state === null || state.phase.status !== 'waiting' || now_ms >= state.phase.until_ms) {
        const refused: DeviceMessage = { type: 'not_bound', claim_id, outcome: 'gone' };
        const release: AddressMessage = { type: 'release', session_id: facts.self };
        // The account has entered the recorder for it already.
        const over: SessionNews = { type: 'session_over', session_id: facts.self, device_id };
        return {
          reply: DONE,
          effects: [tellDevice(device_id, refused), tellAddress(ble_address, release), tellAccount(account_id, over)],
        };
      }
      const recorder: Recorder = { device_id, source_id, ble_address, started_at_ms: now_ms };
      const next: DeviceSession = { ...state, phase: { status: 'open', recorder } };
      const bound: DeviceMessage = { type: 'bound', claim_id, account_id, binding_epoch: facts.self };
      return {
        reply: DONE,
        next,
        effects: [
          ...news(next, 'device_session.started', { source_id }),
          tellDevice(device_id, bound),
          tickAt(next.expires_at_ms),
        ],
      };
    }

    function known(
      session: DeviceSession,
      asked: Exclude<DeviceSessionMessage, { type: 'create' | 'start' | 'ask_hold' | 'erase' }>,
    ): Decision<DeviceSession, DeviceSessionReply> {
      const { phase } = session;
      switch (asked.type) {
        case 'view':
          return { reply: belongs(session, asked.by) ? session : NO_SESSION };

        case 'terms':
        case 'stream_of': {
          const terms = termsOf(session, asked.device_id, now_ms);
          if (terms === null) return { reply: UNBOUND };
          if (asked.type === 'terms') return { reply: terms };
          const found = streamOf(facts, asked);
          if (isRefusal(found)) return { reply: found };
          const { stream_id, effects } = found;
          return effects.length === 0
            ? { reply: { stream_id } }
            : { reply: { stream_id }, next: { ...session }, effects };
        }
        case 'join_seed':
          return { reply: { join_seed: session.join_seed } };

        case 'join': {
          if (belongs(session, asked.by)) return { reply: session };
          if (phase.status !== 'waiting' && phase.status !== 'open') return { reply: OVER };
          if (session.participants.length >= LIMITS.session_participants_max) return { reply: FULL };
          const joined: Participant = { account_id: asked.by, joined_at_ms: now_ms };
          const next = { ...session, participants: [...session.participants, joined] };
          return { reply: next, next, effects: news(next, 'device_session.joined', { participant_id: asked.by }) };
        }
        case 'leave': {
          if (asked.by === session.host_account_id) return { reply: HOST_STAYS };
          if (!belongs(session, asked.by)) return { reply: NO_SESSION };
          const participants = session.participants.filter(({ account_id }) => account_id !== asked.by);
          const effects = news(session, 'device_session.left', { participant_id: asked.by });
          return { reply: DONE, next: { ...session, participants }, effects };
        }
        case 'extend': {
          if (!belongs(session, asked.by)) return { reply: NO_SESSION };
          if (asked.by !== session.host_account_id) return { reply: ONLY_HOST };
          if (phase.status !== 'waiting' && phase.status !== 'open') return { reply: OVER };
          if (phase.status === 'open' && now_ms >= session.expires_at_ms) return { reply: OVER };
          const { expires_at_ms } = asked;
          if (expires_at_ms === session.expires_at_ms) return { reply: session };
          if (expires_at_ms < session.expires_at_ms) return { reply: EARLIER };
          const next = { ...session, expires_at_ms };
          return {
            reply: next,
            next,
            effects: [
              ...news(next, 'device_session.updated', { changed_fields: ['expires_at'] }),
              ...(phase.status === 'open' ? [tickAt(expires_at_ms)] : []),
            ],
          };
        }
        case 'end':
          if (!belongs(session, asked.by)) return { reply: NO_SESSION };
          if (asked.by !== session.host_account_id) return { reply: ONLY_HOST };
          return end(session, 'host');

        case 'end_by_recorder': {
          if (recorderOf(session)?.device_id !== asked.device_id) return { reply: UNBOUND };
          return phase.status === 'draining' ? close(session, phase) : end(session, 'recorder');
        }
        case 'device_removed':
          if (recorderOf(session)?.device_id !== asked.device_id) return { reply: DONE };
          return phase.status === 'draining' ? close(session, phase) : end(session, 'device_removed');

        case 'account_deleted':
          return end(session, 'account_deleted');

        case 'tick':
          if (phase.status === 'waiting' && now_ms >= phase.until_ms) return end(session, 'never_started');
          if (phase.status === 'open' && now_ms >= session.expires_at_ms) return end(session, 'expired');
          if (phase.status === 'draining' && now_ms >= phase.drain_until_ms) return close(session, phase);
          return { reply: DONE };

        default:
          return unreachable(asked);
      }
    }

    /** Over for everybody. The recorder still uploads for a while, unless it said itself that it is done, or was taken away. */
    function end(session: DeviceSession, end_reason: EndReason): Decision<DeviceSession, DeviceSessionReply> {
      const { phase, expires_at_ms } = session;
      if (phase.status === 'draining' || phase.status === 'ended') return { reply: session };
      // One that ran out has ended then, however late that was noticed: the drain counts from its scheduled end.
      const ended_at_ms = Math.min(now_ms, expires_at_ms);
      const over = { ...session, expires_at_ms: ended_at_ms };
      if (phase.status === 'waiting') {
        const next: DeviceSession = { ...over, phase: { status: 'ended', recorder: null, ended_at_ms, end_reason } };
        return { reply: next, next, effects: [...ended(next), tellOver(next), NO_TICK] };
      }
      const { recorder } = phase;
      const release: AddressMessage = { type: 'release', session_id: facts.self };
      const effects = [...ended(over), tellAddress(recorder.ble_address, release)];
      if (end_reason === 'recorder' || end_reason === 'device_removed') {
        const closed = close(over, { recorder, ended_at_ms, end_reason });
        return { ...closed, effects: [...effects, ...(closed.effects ?? [])] };
      }
      const drain_until_ms = ended_at_ms + LIMITS.session_drain_ms;
      const next: DeviceSession = {
        ...over,
        phase: { status: 'draining', recorder, ended_at_ms, end_reason, drain_until_ms },
      };
      const draining: DeviceMessage = { type: 'draining', binding_epoch: facts.self };
      return {
        reply: next,
        next,
        effects: [...effects, tellDevice(recorder.device_id, draining), tickAt(drain_until_ms)],
      };
    }

    /** Nothing more comes from the recorder. */
    function close(
      session: DeviceSession,
      { recorder, ended_at_ms, end_reason }: { recorder: Recorder; ended_at_ms: number; end_reason: EndReason },
    ): Decision<DeviceSession, DeviceSessionReply> {
      const next: DeviceSession = { ...session, phase: { status: 'ended', recorder, ended_at_ms, end_reason } };
      const unbind: DeviceMessage = { type: 'unbind', binding_epoch: facts.self };
      return { reply: next, next, effects: [tellDevice(recorder.device_id, unbind), tellOver(next), NO_TICK] };
    }

    /** Two events in this order, whoever ended it. Interface: "Which operation emits what". */
    function ended(session: DeviceSession): Effect[] {
      return [
        ...news(session, 'device_session.updated', { changed_fields: ['end_reason', 'expires_at'] }),
        ...news(session, 'device_session.ended', {}),
      ];
    }

    function erase(message: EraseMessage): Decision<DeviceSession, DeviceSessionReply> {
      const { account_id } = message;
      if (state !== null && state.host_account_id !== account_id) {
        // Somebody who took part: they leave, and the list on which they have it is their account's to change.
        if (!belongs(state, account_id)) return { reply: DONE, effects: [tellGone(account_id)] };
        const participants = state.participants.filter((other) => other.account_id !== account_id);
        const effects = [...news({ ...state, participants }, 'device_session.left', { participant_id: account_id })];
        return { reply: DONE, next: { ...state, participants }, effects: [...effects, tellGone(account_id)] };
      }
      const gone = (state?.participants ?? []).map((participant) => tellGone(participant.account_id));
      const effects: Effect[] = [...gone, { effect: 'delete_collection', collection: 'streams' }, NO_TICK];
      return erased(message, { member: facts.self, effects });
    }

    /** An event to the host and to every participant. */
    function news(session: DeviceSession, type: EventType, data: Record<string, unknown>): Effect[] {
      const told: SessionNews = { type: 'session_news', session_id: facts.self, event: type, data };
      return [
        { effect: 'append_event', account_id: session.host_account_id, type, resource_id: facts.self, data },
        ...session.participants.map(({ account_id }): Effect => tellAccount(account_id, told)),
      ];
    }

    function tellGone(account_id: string): Effect {
      return tellAccount(account_id, { type: 'session_gone', session_id: facts.self });
    }

    function tellOver({ host_account_id, phase }: DeviceSession): Effect {
      const device_id = phase.status === 'ended' ? (phase.recorder?.device_id ?? null) : null;
      return tellAccount(host_account_id, { type: 'session_over', session_id: facts.self, device_id });
    }
  },

  invariant({ participants, host_account_id }) {
    if (participants.length > LIMITS.session_participants_max) return 'too many participants';
    return participants.some(({ account_id }) => account_id === host_account_id) ? 'the host takes part' : null;
  },
});

/** The recorder of a session that has begun. */
export function recorderOf({ phase }: DeviceSession): Recorder | null {
  return phase.status === 'waiting' ? null : phase.recorder;
}

/** When and why it was over, or null while it is not. */
export function endOf({ phase }: DeviceSession): { ended_at_ms: number; end_reason: EndReason } | null {
  return phase.status === 'draining' || phase.status === 'ended' ? phase : null;
}

/** Null for any other device, and when even the time to upload is over, whether or not that was noticed. */
function termsOf(session: DeviceSession, device_id: string, now_ms: number): SessionTerms | null {
  const { phase, host_account_id: account_id, workspace_id, expires_at_ms } = session;
  if (phase.status !== 'open' && phase.status !== 'draining') return null;
  if (phase.recorder.device_id !== device_id) return null;
  const drain_until_ms = phase.status === 'open' ? expires_at_ms + LIMITS.session_drain_ms : phase.drain_until_ms;
  if (now_ms >= drain_until_ms) return null;
  const { source_id } = phase.recorder;
  return { account_id, workspace_id, device_id, source_id, expires_at_ms, drain_until_ms };
}

function belongs({ host_account_id, participants }: DeviceSession, account_id: string): boolean {
  return account_id === host_account_id || participants.some((other) => other.account_id === account_id);
}

function isRecorders({ type }: DeviceSessionMessage): boolean {
  return type === 'terms' || type === 'stream_of' || type === 'end_by_recorder';
}

const NO_TICK: Effect = { effect: 'cancel_reminder', name: 'tick' };

function tickAt(at_ms: number): Effect {
  const message: DeviceSessionMessage = { type: 'tick' };
  return { effect: 'schedule_reminder', name: 'tick', at_ms, message };
}

function tellDevice(id: string, message: DeviceMessage): Effect {
  return { effect: 'notify', to: { kind: 'device', id }, message };
}

function tellAddress(id: string, message: AddressMessage): Effect {
  return { effect: 'notify', to: { kind: 'ble_address', id }, message };
}

function tellAccount(id: string, message: SessionNews): Effect {
  return { effect: 'notify', to: { kind: 'account', id }, message };
}
