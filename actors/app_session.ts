import { LIMITS } from '../src/domain/limits.js';
import { refuse, unreachable } from '../src/domain/refusals.js';
import { actorKind, type Decision, type Effect } from './actor.js';
import { type EraseMessage, erased } from './erase.js';
import { CANCEL_EXPIRY, scheduleExpiry } from './expiry.js';

/**
 * A sign-in by emailed code through /auth. Tokens are derived from the server key, this session, a counter and `seed`
 * (design section 12): what is kept here is worth nothing without the key.
 */
export type AppSession = {
  account_id: string;
  email: string;
  seed: Uint8Array;
  key_id: string;
  /** The account's life and its sessions' life that this was born under. */
  born: { account: number; app_sessions: number };
  verified_at_ms: number;
  created_at_ms: number;
  last_used_at_ms: number;
  /** Counts refresh tokens; the present one is `generation`. */
  generation: number;
  turned_at_ms: number;
  /** Whether any token that came with the present generation was used. */
  successor_used: boolean;
  /** Access tokens alive, oldest first; bounded, see `issue`. */
  accesses: Access[];
  next_serial: number;
};

type Access = { serial: number; generation: number; expires_at_ms: number };

export type AppSessionMessage =
  | {
      type: 'open';
      account_id: string;
      email: string;
      seed: Uint8Array;
      key_id: string;
      born: AppSession['born'];
      verified_at_ms: number;
    }
  /** The bearer showed this access token, whose MAC the caller has checked against the seed. */
  | { type: 'use'; serial: number }
  | { type: 'secret' }
  | { type: 'refresh'; generation: number }
  | { type: 'end' }
  | { type: 'run_out' }
  | EraseMessage;

export type IssuedTokens = { session: AppSession; serial: number; expires_at_ms: number };
export type AppSessionReply = IssuedTokens | AppSession | { done: true };

const DONE = { done: true } as const;
const ENDED = refuse('UNAUTHORIZED', 'The session has ended.');

export const appSession = actorKind<AppSession, AppSessionMessage, AppSessionReply>({
  kind: 'app_session',
  home: 'id',
  schema: 1,
  reads: ['secret', 'use'],

  decide(state, message, facts, now_ms): Decision<AppSession, AppSessionReply> {
    if (message.type === 'open') {
      if (state !== null) throw new Error('a session is opened once');
      const { type: _, ...opened } = message;
      const session: AppSession = {
        ...opened,
        created_at_ms: now_ms,
        last_used_at_ms: now_ms,
        generation: 1,
        turned_at_ms: now_ms,
        successor_used: true,
        accesses: [],
        next_serial: 1,
      };
      const opened_with = issue(session, now_ms);
      const { account_id, born } = session;
      const list = appSessionList(born.app_sessions);
      const enlisted: Effect = {
        effect: 'add_to_index',
        owner: account_id,
        index: list,
        member: facts.self,
        order: now_ms,
      };
      return { ...opened_with, effects: [...(opened_with.effects ?? []), enlisted] };
    }
    if (message.type === 'erase') return erased(message, { member: facts.self, effects: [CANCEL_EXPIRY] });
    if (message.type === 'end' || message.type === 'run_out')
      return state === null ? { reply: DONE } : { ...ended(state), reply: DONE };
    if (state === null || now_ms >= state.turned_at_ms + LIMITS.app_refresh_life_ms) return { reply: ENDED };
    switch (message.type) {
      case 'secret':
        return { reply: state };

      case 'use': {
        const access = state.accesses.find(({ serial }) => serial === message.serial);
        if (access === undefined || now_ms >= access.expires_at_ms) {
          return { reply: refuse('UNAUTHORIZED', 'The access token has expired.') };
        }
        const successor_used = state.successor_used || access.generation === state.generation;
        const touch = now_ms >= state.last_used_at_ms + LIMITS.touch_every_ms;
        if (!touch && successor_used === state.successor_used) return { reply: state };
        const next = { ...state, successor_used, last_used_at_ms: now_ms };
        return { reply: next, next };
      }

      case 'refresh': {
        const { generation } = message;
        if (generation < 1 || generation > state.generation) return { reply: ENDED }; // never given out
        if (generation === state.generation) {
          return issue(
            {
              ...state,
              generation: generation + 1,
              turned_at_ms: now_ms,
              successor_used: false,
              last_used_at_ms: now_ms,
            },
            now_ms,
          );
        }
        const since_turn_ms = now_ms - state.turned_at_ms;
        const in_time =
          since_turn_ms < LIMITS.refresh_retry_ms ||
          (!state.successor_used && since_turn_ms < LIMITS.refresh_retry_unused_ms);
        // A lost answer must not sign a phone out: the same successor again, with a fresh access token.
        if (generation === state.generation - 1 && in_time) return issue(state, now_ms);
        // An old refresh token in two hands: nobody can tell which is the thief's, so the session ends.
        return { ...ended(state), reply: ENDED };
      }
      default:
        return unreachable(message);
    }

    function ended({ account_id, born }: AppSession): { next: null; effects: Effect[] } {
      const list = appSessionList(born.app_sessions);
      return {
        next: null,
        effects: [{ effect: 'remove_from_index', owner: account_id, index: list, member: facts.self }, CANCEL_EXPIRY],
      };
    }

    function issue(session: AppSession, at_ms: number): Decision<AppSession, AppSessionReply> {
      const { generation, next_serial } = session;
      const alive = session.accesses.filter((access) => at_ms < access.expires_at_ms);
      const old_ms = at_ms - LIMITS.app_access_young_ms + LIMITS.app_access_life_ms;
      const [oldest] = alive;
      const newest = alive.at(-1);
      const is_full = alive.length >= LIMITS.app_accesses_alive_max;
      const [kept, access] =
        is_full && newest !== undefined && oldest !== undefined && oldest.expires_at_ms > old_ms
          ? // All were answered just now, and somebody may be about to use any of them: the newest is answered again.
            [alive.slice(0, -1), { ...newest, generation }]
          : [
              alive.slice(is_full ? 1 : 0),
              { serial: next_serial, generation, expires_at_ms: at_ms + LIMITS.app_access_life_ms },
            ];
      const { serial, expires_at_ms } = access;
      const next = { ...session, accesses: [...kept, access], next_serial: Math.max(next_serial, serial + 1) };
      return {
        reply: { session: next, serial, expires_at_ms },
        next,
        effects: [scheduleExpiry(session.turned_at_ms + LIMITS.app_refresh_life_ms)],
      };
    }
  },
});

/** The list of an account's app sessions under a life. */
export function appSessionList(app_sessions_life: number): string {
  return `app_sessions:${app_sessions_life}`;
}
