import { LIMITS } from '../../src/domain/limits.js';
import { refuse } from '../../src/domain/refusals.js';
import { type Decision, DONE, defineActor, type Effect, type Facts, given, type MessageOf } from '../actor.js';
import { type Erase, erased } from '../erase.js';
import { CANCEL_EXPIRY, scheduleExpiry } from '../expiry.js';

/** A person's sign-in in a browser: other first-party browser apps need no new code. Rules C-036 to C-042. */
export type BrowserSession = NewBrowserSession & { last_used_at_ms: number };

export type NewBrowserSession = {
  account_id: string;
  email: string;
  /** The cookie is derived from this seed. */
  seed: Uint8Array;
  key_id: string;
  /** Ends with all grants when the person signs out everywhere. */
  issued_under: { account: number; grants: number };
  verified_at_ms: number;
};

export type BrowserSessionMessage = MessageOf<typeof browserSession>;

const ENDED = refuse('UNAUTHORIZED', 'The browser session has ended.');

const live = given((state: BrowserSession | null, { now_ms }) =>
  state === null || now_ms >= browserSessionEndMs(state) ? ENDED : state,
);

export const browserSession = defineActor<BrowserSession>()({
  kind: 'browser_session',
  home: 'id',
  schema: 1,
  messages: {
    open(state, { session }: { session: NewBrowserSession }, { self, now_ms }) {
      if (state !== null) return { reply: state };
      const next = { ...session, last_used_at_ms: now_ms };
      const index = browserSessionIndex(session.issued_under.grants);
      return {
        reply: next,
        next,
        effects: [
          { effect: 'add_to_index', owner: session.account_id, index, member: self, order: now_ms },
          scheduleExpiry(browserSessionEndMs(next)),
        ],
      };
    },

    /** Reads the session without extending it. */
    view: { reads: true, decide: live((session) => ({ reply: session })) },

    /** Reads and extends the session. */
    use: {
      reads: true,
      decide: live((session, _: unknown, { now_ms }) => {
        if (now_ms < session.last_used_at_ms + LIMITS.touch_every_ms) return { reply: session };
        const next = { ...session, last_used_at_ms: now_ms };
        return { reply: next, next, effects: [scheduleExpiry(browserSessionEndMs(next))] };
      }),
    },

    end: finish,
    run_out: finish,
    erase: (_, input: Erase, { self }) => erased(input, { member: self, effects: [CANCEL_EXPIRY] }),
  },
});

function finish(state: BrowserSession | null, _: unknown, { self }: Facts): Decision<BrowserSession, typeof DONE> {
  if (state === null) return { reply: DONE };
  const index = browserSessionIndex(state.issued_under.grants);
  const unlisted: Effect = { effect: 'remove_from_index', owner: state.account_id, index, member: self };
  return { reply: DONE, next: null, effects: [unlisted, CANCEL_EXPIRY] };
}

/** When the session ends without another use. */
export function browserSessionEndMs({ last_used_at_ms, verified_at_ms }: BrowserSession): number {
  return Math.min(last_used_at_ms + LIMITS.browser_session_idle_ms, verified_at_ms + LIMITS.browser_session_life_ms);
}

/** The index of an account's browser sessions under one credential epoch of its grants. */
export function browserSessionIndex(grants_epoch: number): string {
  return `browser_sessions:${grants_epoch}`;
}
