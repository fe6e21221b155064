import { LIMITS } from '../src/domain/limits.js';
import { type OauthError, oauthError } from '../src/domain/oauth_errors.js';
import { refuse, unreachable } from '../src/domain/refusals.js';
import { actorKind, type Decision, type Effect } from './actor.js';
import {
  type CodeToSend,
  codeMailed,
  type EmailedCode,
  emailedCode,
  isRight,
  type TriedCode,
  wrongTry,
} from './emailed_code.js';
import { scheduleExpiry } from './expiry.js';
import type { GrantMessage, NewGrant } from './grant.js';

/** A native sign-in under way. Interface: "Native sign-in session". */
export type AuthSession = NewAuthSession & {
  created_at_ms: number;
  wrong: number;
  code: EmailedCode | null;
  step: { status: 'asked' } | { status: 'verified'; at_ms: number } | { status: 'used' } | { status: 'ended' };
};

type NewAuthSession = {
  email: string;
  /** What the grant will be, but for the account that turns out to be behind the email. */
  request: Pick<NewGrant, 'client_id' | 'name' | 'scopes' | 'audience' | 'issuer' | 'code'>;
  /** What the value of `auth_session` is derived from. */
  seed: Uint8Array;
  key_id: string;
};

export type AuthSessionMessage =
  | { type: 'open'; session: NewAuthSession; code: CodeToSend }
  | { type: 'view' }
  | { type: 'try_code'; tried: TriedCode; client_id: string | null }
  /** After a right code: opens the grant for the account behind the email, once. */
  | { type: 'complete'; grant_id: string; owner: GrantOwner }
  | { type: 'run_out' };

/** What of a grant is known only when somebody has signed in. */
export type GrantOwner = Pick<NewGrant, 'account_id' | 'born' | 'seed' | 'key_id'>;

export type AuthSessionReply = AuthSession | { done: true } | OauthError;

const DONE = { done: true } as const;
export const INVALID_SESSION = oauthError('invalid_session', 'The auth_session is unknown, expired, used or ended.');
const WRONG = oauthError('insufficient_authorization', 'The code is wrong or has expired; enter the emailed code.');

export const authSession = actorKind<AuthSession, AuthSessionMessage, AuthSessionReply>({
  kind: 'auth_session',
  home: 'id',
  schema: 1,
  reads: ['view'],

  decide(state, message, _facts, now_ms): Decision<AuthSession, AuthSessionReply> {
    if (message.type === 'open') {
      if (state !== null) throw new Error('an auth_session is opened once');
      const { session, code } = message;
      const next: AuthSession = {
        ...session,
        created_at_ms: now_ms,
        wrong: 0,
        code: emailedCode(code, now_ms),
        step: { status: 'asked' },
      };
      return {
        reply: next,
        next,
        effects: [...codeMailed(code, now_ms), scheduleExpiry(now_ms + LIMITS.auth_session_life_ms)],
      };
    }
    if (message.type === 'run_out') return { reply: DONE, next: null };
    if (message.type === 'view') return { reply: state ?? refuse('NOT_FOUND', 'There is no such auth_session.') };
    if (state === null || now_ms >= state.created_at_ms + LIMITS.auth_session_life_ms)
      return { reply: INVALID_SESSION };
    const { step } = state;
    if (step.status === 'used' || step.status === 'ended') return { reply: INVALID_SESSION };
    switch (message.type) {
      case 'try_code': {
        const { tried, client_id } = message;
        if (client_id !== null && client_id !== state.request.client_id) return { reply: INVALID_SESSION };
        if (!isRight(state.code, tried, now_ms)) {
          const wrong = state.wrong + 1;
          const effects = [wrongTry(state.email, tried)];
          if (wrong < LIMITS.sign_in_tries_max) return { reply: WRONG, next: { ...state, wrong }, effects };
          return { reply: INVALID_SESSION, next: { ...state, wrong, step: { status: 'ended' } }, effects };
        }
        // The same again before it is completed: whoever got no answer goes on from there.
        if (step.status === 'verified') return { reply: state };
        const next: AuthSession = { ...state, step: { status: 'verified', at_ms: now_ms } };
        return { reply: next, next };
      }
      case 'complete': {
        if (step.status !== 'verified') return { reply: INVALID_SESSION };
        const grant: NewGrant = { ...state.request, ...message.owner, verified_at_ms: step.at_ms };
        const open: GrantMessage = { type: 'open', grant };
        const opened: Effect = { effect: 'notify', to: { kind: 'grant', id: message.grant_id }, message: open };
        const next: AuthSession = { ...state, step: { status: 'used' } };
        return { reply: next, next, effects: [opened] };
      }
      default:
        return unreachable(message);
    }
  },
});
