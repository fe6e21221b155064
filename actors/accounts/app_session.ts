import { LIMITS } from '../../src/domain/limits.js';
import { refuse } from '../../src/domain/refusals.js';
import { type Decision, DONE, defineActor, type Effect, type Facts, given, type MessageOf } from '../actor.js';
import { type Erase, erased } from '../erase.js';
import { CANCEL_EXPIRY, scheduleExpiry } from '../expiry.js';

/**
 * A sign-in by emailed code through /auth. Tokens are derived from the server key, this session, a counter and `seed`
 * (docs/areas.md, "Refresh tokens"), so the stored state is worth nothing without the key.
 */
export type AppSession = NewAppSession & {
  created_at_ms: number;
  last_used_at_ms: number;
  /** Counts refresh tokens; the present one is `generation`. */
  generation: number;
  turned_at_ms: number;
  /** Whether a token of the present generation was used. */
  successor_used: boolean;
  /** Valid access tokens, oldest first; `issue` bounds them. */
  accesses: AccessSerial[];
  next_serial: number;
};

type NewAppSession = {
  account_id: string;
  email: string;
  seed: Uint8Array;
  key_id: string;
  /** The credential epochs of the account and of its sessions that it was issued under. */
  issued_under: { account: number; app_sessions: number };
  verified_at_ms: number;
};

type AccessSerial = { serial: number; generation: number; expires_at_ms: number };

export type IssuedTokens = { session: AppSession; serial: number; expires_at_ms: number };
export type AppSessionMessage = MessageOf<typeof appSession>;

const ENDED = refuse('UNAUTHORIZED', 'The session has ended.');

const live = given((state: AppSession | null, { now_ms }) =>
  state === null || now_ms >= state.turned_at_ms + LIMITS.app_refresh_life_ms ? ENDED : state,
);

export const appSession = defineActor<AppSession>()({
  kind: 'app_session',
  home: 'id',
  schema: 1,
  messages: {
    open(state, opened: NewAppSession, { self, now_ms }) {
      if (state !== null) throw new Error('a session is opened once');
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
      const { account_id, issued_under } = session;
      const index = appSessionIndex(issued_under.app_sessions);
      return issue(session, now_ms, [
        { effect: 'add_to_index', owner: account_id, index, member: self, order: now_ms },
      ]);
    },

    secret: { reads: true, decide: live((session) => ({ reply: session })) },

    /** Records the use of this access token, whose MAC the caller has checked against the seed. */
    use: {
      reads: true,
      decide: live((session, { serial }: { serial: number }, { now_ms }) => {
        const access = session.accesses.find((other) => other.serial === serial);
        if (access === undefined || now_ms >= access.expires_at_ms) {
          return { reply: refuse('UNAUTHORIZED', 'The access token has expired.') };
        }
        const successor_used = session.successor_used || access.generation === session.generation;
        const touch = now_ms >= session.last_used_at_ms + LIMITS.touch_every_ms;
        if (!touch && successor_used === session.successor_used) return { reply: session };
        const next = { ...session, successor_used, last_used_at_ms: now_ms };
        return { reply: next, next };
      }),
    },

    refresh: live((session, { generation }: { generation: number }, facts) => {
      if (generation < 1 || generation > session.generation) return { reply: ENDED }; // never given out
      const { now_ms } = facts;
      if (generation === session.generation) {
        const turned = { generation: generation + 1, turned_at_ms: now_ms, successor_used: false };
        return issue({ ...session, ...turned, last_used_at_ms: now_ms }, now_ms);
      }
      const since_turn_ms = now_ms - session.turned_at_ms;
      const in_time =
        since_turn_ms < LIMITS.refresh_retry_ms ||
        (!session.successor_used && since_turn_ms < LIMITS.refresh_retry_unused_ms);
      // A lost answer must not sign a phone out: the same successor again, with a fresh access token.
      if (generation === session.generation - 1 && in_time) return issue(session, now_ms);
      // An old refresh token in two hands: nobody knows which is the thief's, so the session ends.
      return { reply: ENDED, ...ended(session, facts) };
    }),

    end: finish,
    run_out: finish,
    erase: (_, input: Erase, { self }) => erased(input, { member: self, effects: [CANCEL_EXPIRY] }),
  },
});

function finish(state: AppSession | null, _: unknown, facts: Facts): Decision<AppSession, typeof DONE> {
  return state === null ? { reply: DONE } : { reply: DONE, ...ended(state, facts) };
}

function ended({ account_id, issued_under }: AppSession, { self }: Facts): { next: null; effects: Effect[] } {
  const index = appSessionIndex(issued_under.app_sessions);
  return {
    next: null,
    effects: [{ effect: 'remove_from_index', owner: account_id, index, member: self }, CANCEL_EXPIRY],
  };
}

/** Issues another access token for the present refresh token, in a bounded number. */
function issue(session: AppSession, now_ms: number, effects: Effect[] = []): Decision<AppSession, IssuedTokens> {
  const { generation, next_serial } = session;
  const alive = session.accesses.filter((access) => now_ms < access.expires_at_ms);
  const old_ms = now_ms - LIMITS.app_access_young_ms + LIMITS.app_access_life_ms;
  const [oldest] = alive;
  const newest = alive.at(-1);
  const is_full = alive.length >= LIMITS.app_accesses_alive_max;
  const [kept, access] =
    is_full && newest !== undefined && oldest !== undefined && oldest.expires_at_ms > old_ms
      ? // All were answered just now, and somebody may be about to use any of them: the newest is answered again.
        [alive.slice(0, -1), { ...newest, generation }]
      : [
          alive.slice(is_full ? 1 : 0),
          { serial: next_serial, generation, expires_at_ms: now_ms + LIMITS.app_access_life_ms },
        ];
  const { serial, expires_at_ms } = access;
  const next = { ...session, accesses: [...kept, access], next_serial: Math.max(next_serial, serial + 1) };
  return {
    reply: { session: next, serial, expires_at_ms },
    next,
    effects: [scheduleExpiry(session.turned_at_ms + LIMITS.app_refresh_life_ms), ...effects],
  };
}

/** The index of an account's app sessions under a credential epoch. */
export function appSessionIndex(app_sessions_life: number): string {
  return `app_sessions:${app_sessions_life}`;
}
