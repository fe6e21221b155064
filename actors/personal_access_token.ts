import { LIMITS } from '../src/domain/limits.js';
import type { Permission } from '../src/domain/permissions.js';
import { refuse, unreachable } from '../src/domain/refusals.js';
import { actorKind, type Decision } from './actor.js';
import { CANCEL_EXPIRY, scheduleExpiry } from './expiry.js';

/**
 * A token that a person made for a program of their own. Whether it still holds, its account says: here lies what it
 * may do, and the keyed hash that its value is held against.
 */
export type PersonalAccessToken = NewPersonalAccessToken & { last_used_at_ms: number | null };

export type NewPersonalAccessToken = {
  account_id: string;
  name: string;
  permissions: Permission[];
  last_four: string;
  created_at_ms: number;
  expires_at_ms: number | null;
  secret_hash: string;
  /** The account's life and its tokens' life that this was born under. */
  born: { account: number; tokens: number };
};

export type PersonalAccessTokenMessage =
  | { type: 'open'; token: NewPersonalAccessToken }
  | { type: 'view' }
  /** The bearer showed it; the caller has held the value against `secret_hash`. */
  | { type: 'use' }
  | { type: 'end' }
  | { type: 'run_out' };

export type PersonalAccessTokenReply = PersonalAccessToken | { done: true };

const DONE = { done: true } as const;
const ENDED = refuse('UNAUTHORIZED', 'The personal access token has ended.');

export const personalAccessToken = actorKind<PersonalAccessToken, PersonalAccessTokenMessage, PersonalAccessTokenReply>(
  {
    kind: 'personal_access_token',
    home: 'id',
    schema: 1,
    reads: ['view', 'use'],

    decide(state, message, _facts, now_ms): Decision<PersonalAccessToken, PersonalAccessTokenReply> {
      switch (message.type) {
        case 'open': {
          if (state !== null) return { reply: DONE };
          const next = { ...message.token, last_used_at_ms: null };
          const { expires_at_ms } = next;
          return { reply: DONE, next, effects: expires_at_ms === null ? [] : [scheduleExpiry(expires_at_ms)] };
        }
        case 'view':
          return { reply: state === null || hasExpired(state, now_ms) ? ENDED : state };

        case 'use': {
          if (state === null || hasExpired(state, now_ms)) return { reply: ENDED };
          const { last_used_at_ms } = state;
          if (last_used_at_ms !== null && now_ms < last_used_at_ms + LIMITS.touch_every_ms) return { reply: state };
          const next = { ...state, last_used_at_ms: now_ms };
          return { reply: next, next };
        }
        case 'end':
          return state === null
            ? { reply: DONE }
            : { reply: DONE, next: null, effects: state.expires_at_ms === null ? [] : [CANCEL_EXPIRY] };

        case 'run_out':
          return { reply: DONE, next: null };

        default:
          return unreachable(message);
      }
    },
  },
);

function hasExpired({ expires_at_ms }: PersonalAccessToken, now_ms: number): boolean {
  return expires_at_ms !== null && now_ms >= expires_at_ms;
}
