import { LIMITS } from '../src/domain/limits.js';
import { refuse, unreachable } from '../src/domain/refusals.js';
import { actorKind, type Decision, type Effect } from './actor.js';
import type { GrantOwner } from './auth_session.js';
import type { BrowserSessionMessage, NewBrowserSession } from './browser_session.js';
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

/**
 * One way through our pages, from /oauth/authorize to the redirect back, or from a page for account holders back to it.
 * It holds the whole request, so that nothing a form sends can change what is consented to.
 */
export type BrowserSignIn = NewBrowserSignIn & {
  created_at_ms: number;
  wrong: number;
  /** The browser session that the last right code began. */
  session: DrawnSession | null;
  step: Step;
};

export type NewBrowserSignIn = {
  goal: Goal;
  /** Where it may be finished: a keyed hash of that browser's cookie. */
  browser: string;
  /** What the form token is derived from. */
  seed: Uint8Array;
  key_id: string;
};

export type Goal = ({ to: 'client' } & ClientGoal) | { to: 'page'; page: AccountPage };

/** Back to a client, with a grant. */
export type ClientGoal = {
  /** What the grant will be, but for the account. */
  request: Pick<NewGrant, 'client_id' | 'name' | 'scopes' | 'audience' | 'issuer'> & {
    code: { challenge: string; redirect_uri: string };
  };
  client_name: string;
  /** Sent back with the answer, as the client gave it. */
  state: string | null;
  /** Third-party clients: the person is asked. */
  needs_consent: boolean;
};

/** Our own pages for people who have, or begin, an account: their browser session is all that such a sign-in makes. */
export type AccountPage = 'restore' | 'invitations';

type Step =
  | { at: 'email' }
  /** Signed in already: go on as this account or with another email. */
  | { at: 'accounts'; email: string; session_id: string }
  /** The latest codes count, the newest first: mails may come late, or twice. */
  | { at: 'code'; email: string; codes: EmailedCode[]; last_send: LastSend }
  | { at: 'verified'; email: string; codes: EmailedCode[]; verified_at_ms: number }
  | { at: 'consent'; email: string; owner: SignedInAccount }
  /** A right code, on a page that makes no accounts, for an address that none is behind. */
  | { at: 'no_account'; email: string }
  | { at: 'done'; answer: SignInAnswer; at_ms: number }
  /** Too many wrong codes. */
  | { at: 'ended' };

/** What came of the last wish for a code: the first one went out, another one, or none, since the address had its share. */
type LastSend = 'first' | 'again' | 'none';

export type SignedInAccount = Pick<NewGrant, 'account_id' | 'born' | 'verified_at_ms'>;

/** What the client is told; a grant's code is derived from its id, seed and key. A page has only to be gone to. */
export type SignInAnswer =
  | { granted: Pick<NewGrant, 'seed' | 'key_id'> & { grant_id: string } }
  | { denied: true }
  | { entered: true };

/** A browser session that may begin in this turn. */
export type DrawnSession = { id: string; seed: Uint8Array; key_id: string };

/** A grant that may be opened in this turn. */
export type DrawnGrant = { grant_id: string; seed: Uint8Array; key_id: string };

export type BrowserSignInMessage =
  | { type: 'open'; sign_in: NewBrowserSignIn; signed_in: { session_id: string; email: string } | null }
  | { type: 'view' }
  | { type: 'send_code'; email: string; code: CodeToSend }
  | { type: 'other_email' }
  | { type: 'try_code'; tried: TriedCode }
  /** After a right code: the account behind that email. Its browser session begins. */
  | {
      type: 'enter';
      email: string;
      account: Pick<NewBrowserSession, 'account_id' | 'born'>;
      session: DrawnSession;
      grant: DrawnGrant;
    }
  /** After a right code: there is no account behind that email, and none is to be made. */
  | { type: 'no_account'; email: string }
  /** As the account of the live session that was offered; the caller has looked it up. */
  | { type: 'continue'; owner: SignedInAccount; grant: DrawnGrant }
  | { type: 'approve'; grant: DrawnGrant }
  | { type: 'deny' }
  | { type: 'run_out' };

export type BrowserSignInReply = BrowserSignIn | { done: true };

const DONE = { done: true } as const;
const GONE = refuse('NOT_FOUND', 'This sign-in is over.');

export const browserSignIn = actorKind<BrowserSignIn, BrowserSignInMessage, BrowserSignInReply>({
  kind: 'browser_sign_in',
  home: 'id',
  schema: 3,
  upcast: {
    1: ({
      request,
      client_name,
      state,
      needs_consent,
      ...rest
    }: Omit<BrowserSignIn, 'goal'> & ClientGoal): BrowserSignIn => ({
      ...rest,
      goal: { to: 'client', request, client_name, state, needs_consent },
    }),
    2: ({ step, ...rest }: Omit<BrowserSignIn, 'step'> & { step: Step & { resent?: boolean } }): BrowserSignIn => {
      const { resent, ...kept } = step;
      return { ...rest, step: kept.at === 'code' ? { ...kept, last_send: resent ? 'again' : 'first' } : kept };
    },
  },
  reads: ['view'],

  // Whatever does not fit the present step changes nothing: the reply shows where things stand, and the page follows.
  decide(state, message, _facts, now_ms): Decision<BrowserSignIn, BrowserSignInReply> {
    if (message.type === 'open') {
      if (state !== null) throw new Error('a sign-in is opened once');
      const { sign_in, signed_in } = message;
      const step: Step = signed_in === null ? { at: 'email' } : { at: 'accounts', ...signed_in };
      return to({ ...sign_in, created_at_ms: now_ms, wrong: 0, session: null, step }, step, [
        scheduleExpiry(now_ms + LIMITS.browser_sign_in_life_ms),
      ]);
    }
    if (message.type === 'run_out') return { reply: DONE, next: null };
    if (state === null || now_ms >= state.created_at_ms + LIMITS.browser_sign_in_life_ms) return { reply: GONE };
    const { step } = state;
    switch (message.type) {
      case 'view':
        return { reply: state };

      case 'send_code': {
        if (step.at === 'done' || step.at === 'ended') return { reply: state };
        const { email, code } = message;
        const is_again = step.at === 'code' && step.email === email;
        // Over the address's budget nothing goes out, and what came before stays good: strangers use up that budget.
        const codes = [emailedCode(code, now_ms), ...(is_again ? step.codes : [])].filter((kept) => kept !== null);
        const good = codes.slice(0, LIMITS.codes_alive_max);
        const last_send = code === null ? 'none' : is_again ? 'again' : 'first';
        return to(state, { at: 'code', email, codes: good, last_send }, codeMailed(code, now_ms));
      }

      case 'other_email':
        return step.at === 'done' || step.at === 'ended' ? { reply: state } : to(state, { at: 'email' });

      case 'try_code': {
        if (step.at !== 'code' && step.at !== 'verified') return { reply: state };
        const { tried } = message;
        const { email, codes } = step;
        if (codes.some((code) => isRight(code, tried, now_ms))) {
          // The same again before the account is known: whoever got no answer goes on from there.
          if (step.at === 'verified') return { reply: state };
          return to(state, { at: 'verified', email, codes, verified_at_ms: now_ms });
        }
        const wrong = state.wrong + 1;
        // Also after a right one: a wrong code is never answered with "verified".
        const asked: Step = step.at === 'code' ? step : { at: 'code', email, codes, last_send: 'first' };
        const next: Step = wrong < LIMITS.sign_in_tries_max ? asked : { at: 'ended' };
        return to({ ...state, wrong }, next, [wrongTry(email, tried)]);
      }

      case 'enter': {
        // The account was looked up before this turn: meanwhile another email may have been verified.
        if (step.at !== 'verified' || step.email !== message.email) return { reply: state };
        const { email, verified_at_ms } = step;
        const { id, ...cookie } = message.session;
        const session: NewBrowserSession = { ...message.account, ...cookie, email, verified_at_ms };
        const open: BrowserSessionMessage = { type: 'open', session };
        const opened: Effect = { effect: 'notify', to: { kind: 'browser_session', id }, message: open };
        const owner: SignedInAccount = { ...message.account, verified_at_ms };
        const entered: BrowserSignIn = { ...state, session: message.session };
        const { goal } = state;
        if (goal.to === 'page') return to(entered, { at: 'done', answer: { entered: true }, at_ms: now_ms }, [opened]);
        if (goal.needs_consent) return to(entered, { at: 'consent', email, owner }, [opened]);
        return granted(entered, { goal, owner, grant: message.grant }, now_ms, [opened]);
      }

      case 'no_account': {
        if (step.at !== 'verified' || step.email !== message.email) return { reply: state };
        return to(state, { at: 'no_account', email: step.email });
      }

      case 'continue': {
        const { goal } = state;
        if (step.at !== 'accounts' || goal.to !== 'client') return { reply: state };
        const { owner, grant } = message;
        // Whoever must be asked is asked, however they signed in.
        if (goal.needs_consent) return to(state, { at: 'consent', email: step.email, owner });
        return granted(state, { goal, owner, grant }, now_ms);
      }

      case 'approve': {
        const { goal } = state;
        if (step.at !== 'consent' || goal.to !== 'client') return { reply: state };
        return granted(state, { goal, owner: step.owner, grant: message.grant }, now_ms);
      }

      case 'deny':
        return step.at === 'done'
          ? { reply: state }
          : to(state, { at: 'done', answer: { denied: true }, at_ms: now_ms });

      default:
        return unreachable(message);
    }
  },
});

function to(state: BrowserSignIn, step: Step, effects: Effect[] = []): Decision<BrowserSignIn, BrowserSignInReply> {
  const next = { ...state, step };
  return { reply: next, next, effects };
}

/** Opens the grant and finishes; the same form sent twice then finds the same answer. */
function granted(
  state: BrowserSignIn,
  { goal, owner, grant }: { goal: ClientGoal; owner: SignedInAccount; grant: DrawnGrant },
  now_ms: number,
  effects: Effect[] = [],
): Decision<BrowserSignIn, BrowserSignInReply> {
  const { grant_id, seed, key_id } = grant;
  const whose: GrantOwner & SignedInAccount = { ...owner, seed, key_id };
  const open: GrantMessage = { type: 'open', grant: { ...goal.request, ...whose } };
  const opened: Effect = { effect: 'notify', to: { kind: 'grant', id: grant_id }, message: open };
  return to(state, { at: 'done', answer: { granted: { grant_id, seed, key_id } }, at_ms: now_ms }, [
    ...effects,
    opened,
  ]);
}
