import { LIMITS } from '../src/domain/limits.js';
import { refuse, unreachable } from '../src/domain/refusals.js';
import { actorKind, type Decision, type Effect } from './actor.js';
import { type EraseMessage, erased } from './erase.js';
import { CANCEL_EXPIRY, scheduleExpiry } from './expiry.js';

/** A person signed in at our pages: other first-party browser apps need no new code. Interface: "OAuth rules". */
export type BrowserSession = NewBrowserSession & { last_used_at_ms: number };

export type NewBrowserSession = {
  account_id: string;
  email: string;
  /** What the cookie is derived from. */
  seed: Uint8Array;
  key_id: string;
  /** Signing out everywhere ends it together with all grants. */
  born: { account: number; grants: number };
  verified_at_ms: number;
};

export type BrowserSessionMessage =
  | { type: 'open'; session: NewBrowserSession }
  /** The session, without extending it. */
  | { type: 'view' }
  /** The session; it now counts as used. */
  | { type: 'use' }
  | { type: 'end' }
  | { type: 'run_out' }
  | EraseMessage;

export type BrowserSessionReply = BrowserSession | { done: true };

const DONE = { done: true } as const;
const ENDED = refuse('UNAUTHORIZED', 'The browser session has ended.');

export const browserSession = actorKind<BrowserSession, BrowserSessionMessage, BrowserSessionReply>({
  kind: 'browser_session',
  home: 'id',
  schema: 1,
  reads: ['view', 'use'],

  decide(state, message, facts, now_ms): Decision<BrowserSession, BrowserSessionReply> {
    switch (message.type) {
      case 'open': {
        if (state !== null) return { reply: state };
        const next = { ...message.session, last_used_at_ms: now_ms };
        return { reply: next, next, effects: [enlisted(next), scheduleExpiry(browserSessionEndMs(next))] };
      }
      case 'erase':
        return erased(message, { member: facts.self, effects: [CANCEL_EXPIRY] });

      case 'view':
        return { reply: state !== null && now_ms < browserSessionEndMs(state) ? state : ENDED };

      case 'use': {
        if (state === null || now_ms >= browserSessionEndMs(state)) return { reply: ENDED };
        if (now_ms < state.last_used_at_ms + LIMITS.touch_every_ms) return { reply: state };
        const next = { ...state, last_used_at_ms: now_ms };
        return { reply: next, next, effects: [scheduleExpiry(browserSessionEndMs(next))] };
      }
      case 'end':
      case 'run_out':
        return state === null
          ? { reply: DONE }
          : { reply: DONE, next: null, effects: [delisted(state), CANCEL_EXPIRY] };

      default:
        return unreachable(message);
    }

    function enlisted({ account_id, born }: BrowserSession): Effect {
      const list = browserSessionList(born.grants);
      return { effect: 'add_to_index', owner: account_id, index: list, member: facts.self, order: now_ms };
    }

    function delisted({ account_id, born }: BrowserSession): Effect {
      return {
        effect: 'remove_from_index',
        owner: account_id,
        index: browserSessionList(born.grants),
        member: facts.self,
      };
    }
  },
});

/** When it ends if it is not used again. */
export function browserSessionEndMs({ last_used_at_ms, verified_at_ms }: BrowserSession): number {
  return Math.min(last_used_at_ms + LIMITS.browser_session_idle_ms, verified_at_ms + LIMITS.browser_session_life_ms);
}

/** The list of an account's browser sessions under a life of its grants. */
export function browserSessionList(grants_life: number): string {
  return `browser_sessions:${grants_life}`;
}
