import { LIMITS } from '../../src/domain/limits.js';
import { type OauthError, oauthError } from '../../src/domain/oauth_errors.js';
import { refuse } from '../../src/domain/refusals.js';
import { type Decision, DONE, defineActor, given, type MessageOf } from '../actor.js';
import { scheduleExpiry } from '../expiry.js';
import {
  type CodeToSend,
  codeMailed,
  type EmailedCode,
  emailedCode,
  isRight,
  type TriedCode,
  wrongTry,
} from './emailed_code.js';
import type { GrantMessage, NewGrant } from './grant.js';

/** A native sign-in in progress. Rules C-088 to C-096. */
export type AuthSession = NewAuthSession & {
  created_at_ms: number;
  wrong: number;
  code: EmailedCode | null;
  step: 'asked' | 'used' | 'ended';
};

type NewAuthSession = {
  email: string;
  /** The grant to come; its account follows from the email. */
  request: Pick<NewGrant, 'client_id' | 'name' | 'scopes' | 'audience' | 'issuer' | 'code'>;
  /** The value of `auth_session` is derived from this seed. */
  seed: Uint8Array;
  key_id: string;
};

export type AuthSessionMessage = MessageOf<typeof authSession>;

/** The fields of a grant that are known only after sign-in. */
export type GrantOwner = Pick<NewGrant, 'account_id' | 'issued_under' | 'seed' | 'key_id'>;

export const INVALID_SESSION = oauthError('invalid_session', 'The auth_session is unknown, expired, used or ended.');
const WRONG = oauthError('insufficient_authorization', 'The code is wrong or has expired; enter the emailed code.');

/** The sign-in waits for its code. */
const open = given((state: AuthSession | null, { now_ms }) => {
  if (state === null || now_ms >= state.created_at_ms + LIMITS.auth_session_life_ms) return INVALID_SESSION;
  return state.step === 'asked' ? state : INVALID_SESSION;
});

export const authSession = defineActor<AuthSession>()({
  kind: 'auth_session',
  home: 'id',
  schema: 1,
  messages: {
    open(state, { session, code }: { session: NewAuthSession; code: CodeToSend }, { now_ms }) {
      if (state !== null) throw new Error('an auth_session is opened once');
      const next: AuthSession = {
        ...session,
        created_at_ms: now_ms,
        wrong: 0,
        code: emailedCode(code, now_ms),
        step: 'asked',
      };
      const effects = [...codeMailed(code, now_ms), scheduleExpiry(now_ms + LIMITS.auth_session_life_ms)];
      return { reply: next, next, effects };
    },

    view: {
      reads: true,
      decide: (state) => ({ reply: state ?? refuse('NOT_FOUND', 'There is no such auth_session.') }),
    },

    try_code: open(
      (session, { tried, client_id }: { tried: TriedCode; client_id: string | null }, { now_ms }): AuthDecision => {
        if (client_id !== null && client_id !== session.request.client_id) return { reply: INVALID_SESSION };
        if (!isRight(session.code, tried, now_ms)) {
          const wrong = session.wrong + 1;
          const effects = [wrongTry(session.email, tried)];
          if (wrong < LIMITS.sign_in_tries_max) return { reply: WRONG, next: { ...session, wrong }, effects };
          return { reply: INVALID_SESSION, next: { ...session, wrong, step: 'ended' }, effects };
        }
        // Nothing is stored until it is completed: whoever got no answer sends the same code again.
        return { reply: session };
      },
    ),

    /** After a right code: opens the grant of the account behind the email, once. */
    complete: open((session, { grant_id, owner, tried }: Completion, { now_ms }): AuthDecision => {
      if (!isRight(session.code, tried, now_ms)) return { reply: WRONG };
      const grant: NewGrant = { ...session.request, ...owner, verified_at_ms: now_ms };
      const message: GrantMessage = { type: 'open', grant };
      const next: AuthSession = { ...session, step: 'used' };
      return { reply: next, next, effects: [{ effect: 'notify', to: { kind: 'grant', id: grant_id }, message }] };
    }),

    run_out: () => ({ reply: DONE, next: null }),
  },
});

/** `tried`: the code that was right. */
type Completion = { grant_id: string; owner: GrantOwner; tried: TriedCode };

type AuthDecision = Decision<AuthSession, AuthSession | OauthError>;
