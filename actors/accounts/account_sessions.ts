import { spend } from '../../src/domain/budgets.js';
import { LIMITS } from '../../src/domain/limits.js';
import { refuse } from '../../src/domain/refusals.js';
import { DONE, type DoneDecision, type Effect, messagesOf, type OutboxMessage } from '../actor.js';
import type { ReadyNews } from '../devices/ble_address.js';
import { DEVICE_SESSIONS, type DeviceSessionMessage, type SessionNews } from '../devices/device_session.js';
import type { JoinSeed } from '../devices/device_session_state.js';
import { type BoundDevice, enter, recorderRecords } from './account_devices.js';
import { type Account, isGone, isOpen, ofAccount } from './account_state.js';

const SESSIONS_ALIVE_MAX = 100; // ours: of one host, until they have ended

const NO_WORKSPACE = refuse('NOT_FOUND', 'There is no such workspace.');
const DELETED = refuse('UNAVAILABLE', 'The account is being deleted; try again if that fails.', { retry_after_s: 2 });
const TOO_MANY_SESSIONS = refuse(
  'CONFLICT',
  `An account hosts at most ${SESSIONS_ALIVE_MAX} recorder sessions at once.`,
);

/**
 * The recorder sessions of an account: those that it hosts until they have ended, and events of all in which it takes
 * part.
 */
export const sessionMessages = messagesOf<Account>()({
  host_session: ofAccount((state, { session_id, ...made }: HostedSession): DoneDecision<Account> => {
    if (state.sessions.includes(session_id)) return { reply: DONE };
    if (!isOpen(state) || state.phase.status === 'leaving') return { reply: DELETED };
    const workspace_id = made.workspace_id ?? state.private_workspace.id;
    if (workspace_id !== state.private_workspace.id && !belongsTo(state, workspace_id)) return { reply: NO_WORKSPACE };
    if (state.sessions.length >= SESSIONS_ALIVE_MAX) return { reply: TOO_MANY_SESSIONS };
    return {
      reply: DONE,
      next: { ...state, sessions: [...state.sessions, session_id] },
      effects: [notifySession(session_id, { type: 'create', host_account_id: state.id, ...made, workspace_id })],
    };
  }),

  /** Counts a try at a join code. */
  try_join: ofAccount((state, _: unknown, { now_ms }): DoneDecision<Account> => {
    const tries = spend(
      state.join_tries,
      { max: LIMITS.join_tries_max, window_ms: LIMITS.join_tries_window_ms },
      now_ms,
    );
    if ('wait_s' in tries) {
      return { reply: refuse('TOO_MANY_REQUESTS', 'Too many tries at join codes.', { retry_after_s: tries.wait_s }) };
    }
    return { reply: DONE, next: { ...state, join_tries: tries } };
  }),

  /** The recorder holds its address, so the session can begin. */
  session_ready: {
    records: ({ device_id }: Ready) => recorderRecords(device_id),
    decide: ofAccount((state, ready: Ready, facts): DoneDecision<Account> => {
      const { session_id, claim_id, device_id, ble_address } = ready;
      const startWith = (source_id: string): OutboxMessage =>
        notifySession(session_id, { type: 'start', account_id: state.id, claim_id, device_id, source_id, ble_address });
      // Of a deleted account's sessions none waits any more: this one will refuse, and every participant is notified.
      if (!state.sessions.includes(session_id)) return { reply: DONE, effects: [startWith(ready.source_id)] };
      const device = { ...ready, kind: 'shared' as const, binding_epoch: session_id };
      return { reply: DONE, ...enter(state, device, facts, startWith) };
    }),
  },

  // From sessions:
  session_over: {
    records: ({ device_id }: SessionNewsOf<'session_over'>) =>
      device_id === null ? [] : [{ collection: 'devices', id: device_id }],
    decide: ofAccount(
      (state, { session_id, device_id }: SessionNewsOf<'session_over'>, facts): DoneDecision<Account> => {
        const sessions = state.sessions.filter((id) => id !== session_id);
        const bound = device_id === null ? undefined : facts.record<BoundDevice>('devices', device_id);
        if (device_id === null || bound?.binding_epoch !== session_id)
          return { reply: DONE, next: { ...state, sessions } };
        return {
          reply: DONE,
          next: { ...state, sessions, devices: state.devices - 1 },
          effects: [{ effect: 'delete_record', collection: 'devices', id: device_id }],
        };
      },
    ),
  },

  session_news: ofAccount(
    (state, { session_id, event: type, data }: SessionNewsOf<'session_news'>, { now_ms }): DoneDecision<Account> => {
      const about_me = data.participant_id === state.id;
      const has_joined = about_me && type === 'device_session.joined';
      // It joined in the moment in which its account went.
      if (isGone(state))
        return { reply: DONE, effects: has_joined ? [notifySession(session_id, { type: 'leave', by: state.id })] : [] };
      const effects: Effect[] = [{ effect: 'append_event', account_id: state.id, type, resource_id: session_id, data }];
      if (has_joined) effects.push(listed(state.id, session_id, now_ms));
      if (about_me && type === 'device_session.left') effects.push(unlisted(state.id, session_id));
      return { reply: DONE, next: { ...state }, effects };
    },
  ),

  session_gone: ofAccount(
    (state, { session_id }: SessionNewsOf<'session_gone'>): DoneDecision<Account> => ({
      reply: DONE,
      next: { ...state },
      effects: [unlisted(state.id, session_id)],
    }),
  ),
});

type Ready = Omit<ReadyNews, 'type'>;
type SessionNewsOf<Name extends SessionNews['type']> = Omit<Extract<SessionNews, { type: Name }>, 'type'>;
type HostedSession = {
  session_id: string;
  /** Null for the private workspace. */
  workspace_id: string | null;
  expires_at_ms: number;
  join_seed: JoinSeed;
  claim: { claim_id: string; secret_hash: string; source_id: string };
};

/** Ends every session that the account hosts. */
export function endSessions({ sessions }: Account): Effect[] {
  return sessions.map((id) => notifySession(id, { type: 'account_deleted' }));
}

function belongsTo({ memberships }: Account, workspace_id: string): boolean {
  return memberships.some((membership) => membership.workspace_id === workspace_id);
}

function listed(account_id: string, member: string, order: number): Effect {
  return { effect: 'add_to_index', owner: account_id, index: DEVICE_SESSIONS, member, order };
}

function unlisted(account_id: string, member: string): Effect {
  return { effect: 'remove_from_index', owner: account_id, index: DEVICE_SESSIONS, member };
}

function notifySession(id: string, message: DeviceSessionMessage): OutboxMessage {
  return { effect: 'notify', to: { kind: 'device_session', id }, message };
}
