import { LIMITS } from '../src/domain/limits.js';
import { refuse, unreachable } from '../src/domain/refusals.js';
import { type BoundDevice, enter, recorderFacts } from './account_devices.js';
import { type Account, isGone, isOpen } from './account_state.js';
import type { Decision, Effect, OutboxMessage, RecordQuery, Records } from './actor.js';
import type { ReadyNews } from './ble_address.js';
import { DEVICE_SESSIONS, type DeviceSessionMessage, type JoinSeed, type SessionNews } from './device_session.js';

/** An account's part in recorder sessions: those that it hosts until they have ended, and news of all it belongs to. */
export type AccountSessionMessage =
  | {
      type: 'host_session';
      session_id: string;
      /** Null: the private one. */
      workspace_id: string | null;
      expires_at_ms: number;
      join_seed: JoinSeed;
      claim: { claim_id: string; secret_hash: string; source_id: string };
    }
  /** Counts a try at a join code. */
  | { type: 'try_join' }
  /** The recorder has its address, and can begin. */
  | ReadyNews
  | SessionNews;

const DONE = { done: true } as const;
const NO_WORKSPACE = refuse('NOT_FOUND', 'There is no such workspace.');
const DELETED = refuse('UNAVAILABLE', 'The account is being deleted; try again if that fails.', { retry_after_s: 2 });
const TOO_MANY_SESSIONS = refuse(
  'CONFLICT',
  `An account hosts at most ${LIMITS.sessions_alive_max} recorder sessions at once.`,
);

export function sessionFacts(message: AccountSessionMessage): RecordQuery[] {
  if (message.type === 'session_ready') return recorderFacts(message.device_id);
  if (message.type === 'session_over' && message.device_id !== null)
    return [{ collection: 'devices', id: message.device_id }];
  return [];
}

export function decideSession(
  state: Account,
  message: AccountSessionMessage,
  facts: Records,
  now_ms: number,
): Decision<Account, { done: true }> {
  switch (message.type) {
    case 'host_session': {
      const { type: _, session_id, ...made } = message;
      if (state.sessions.includes(session_id)) return { reply: DONE };
      if (!isOpen(state) || state.phase.status === 'leaving') return { reply: DELETED };
      const workspace_id = made.workspace_id ?? state.private_workspace.id;
      if (workspace_id !== state.private_workspace.id && !belongsTo(state, workspace_id))
        return { reply: NO_WORKSPACE };
      if (state.sessions.length >= LIMITS.sessions_alive_max) return { reply: TOO_MANY_SESSIONS };
      const create: DeviceSessionMessage = { type: 'create', host_account_id: state.id, ...made, workspace_id };
      return {
        reply: DONE,
        next: { ...state, sessions: [...state.sessions, session_id] },
        effects: [tellSession(session_id, create)],
      };
    }
    case 'try_join': {
      const { join_tries } = state;
      const is_over = join_tries === null || now_ms >= join_tries.began_ms + LIMITS.join_tries_window_ms;
      const tries = is_over ? { began_ms: now_ms, count: 0 } : join_tries;
      if (tries.count >= LIMITS.join_tries_max) {
        const wait_ms = tries.began_ms + LIMITS.join_tries_window_ms - now_ms;
        return {
          reply: refuse('TOO_MANY_REQUESTS', 'Too many tries at join codes.', {
            retry_after_s: Math.ceil(wait_ms / 1_000),
          }),
        };
      }
      return { reply: DONE, next: { ...state, join_tries: { ...tries, count: tries.count + 1 } } };
    }
    case 'session_ready': {
      const { session_id, claim_id, device_id, ble_address } = message;
      const startWith = (source_id: string): OutboxMessage =>
        tellSession(session_id, { type: 'start', account_id: state.id, claim_id, device_id, source_id, ble_address });
      // Of a deleted account's sessions none waits any more: this one will say no, and everybody hears of it.
      if (!state.sessions.includes(session_id)) return { reply: DONE, effects: [startWith(message.source_id)] };
      const device = { ...message, kind: 'shared' as const, binding_epoch: session_id };
      return { reply: DONE, ...enter(state, device, { facts, now_ms }, startWith) };
    }
    case 'session_over': {
      const { session_id, device_id } = message;
      const sessions = state.sessions.filter((id) => id !== session_id);
      const bound = device_id === null ? undefined : facts.record<BoundDevice>('devices', device_id);
      if (device_id === null || bound?.binding_epoch !== session_id)
        return { reply: DONE, next: { ...state, sessions } };
      return {
        reply: DONE,
        next: { ...state, sessions, devices: state.devices - 1 },
        effects: [{ effect: 'delete_record', collection: 'devices', id: device_id }],
      };
    }
    case 'session_news': {
      const { session_id, event: type, data } = message;
      const about_me = data.participant_id === state.id;
      if (isGone(state)) {
        // It joined in the moment in which its account went.
        const back: DeviceSessionMessage = { type: 'leave', by: state.id };
        return {
          reply: DONE,
          effects: about_me && type === 'device_session.joined' ? [tellSession(session_id, back)] : [],
        };
      }
      const effects: Effect[] = [{ effect: 'append_event', account_id: state.id, type, resource_id: session_id, data }];
      if (about_me && type === 'device_session.joined') effects.push(listed(state.id, session_id, now_ms));
      if (about_me && type === 'device_session.left') effects.push(delisted(state.id, session_id));
      return { reply: DONE, next: { ...state }, effects };
    }
    case 'session_gone':
      return { reply: DONE, next: { ...state }, effects: [delisted(state.id, message.session_id)] };

    default:
      return unreachable(message);
  }
}

/** Every session that the account hosts is over with it. */
export function endSessions({ sessions }: Account): Effect[] {
  return sessions.map((id) => tellSession(id, { type: 'account_deleted' }));
}

function belongsTo({ memberships }: Account, workspace_id: string): boolean {
  return memberships.some((membership) => membership.workspace_id === workspace_id);
}

function listed(account_id: string, member: string, order: number): Effect {
  return { effect: 'add_to_index', owner: account_id, index: DEVICE_SESSIONS, member, order };
}

function delisted(account_id: string, member: string): Effect {
  return { effect: 'remove_from_index', owner: account_id, index: DEVICE_SESSIONS, member };
}

function tellSession(id: string, message: DeviceSessionMessage): OutboxMessage {
  return { effect: 'notify', to: { kind: 'device_session', id }, message };
}
