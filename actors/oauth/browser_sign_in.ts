import { LIMITS } from '../../src/domain/limits.js';
import { refuse } from '../../src/domain/refusals.js';
import { type Decision, DONE, defineActor, type Effect, given, type MessageOf } from '../actor.js';
import { scheduleExpiry } from '../expiry.js';
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
import type { GrantMessage, NewGrant } from './grant.js';

/**
 * A sign-in in the browser, from /oauth/authorize to the redirect back, or from a page for account holders back to it.
 * It stores the whole request, so that no form can change what is consented to.
 */
export type BrowserSignIn = NewBrowserSignIn & {
  created_at_ms: number;
  wrong: number;
  /** The browser session of the last right code. */
  session: NewSessionSeed | null;
  step: Step;
};

export type NewBrowserSignIn = {
  goal: Goal;
  /** The browser that may finish it: a keyed hash of its cookie. */
  browser: string;
  /** The form token is derived from this seed. */
  seed: Uint8Array;
  key_id: string;
};

export type Goal = ({ to: 'client' } & ClientGoal) | { to: 'page'; page: AccountPage };

/** Ends with a redirect to a client, with a grant. */
export type ClientGoal = {
  /** The grant to come, without the account. */
  request: Pick<NewGrant, 'client_id' | 'name' | 'scopes' | 'audience' | 'issuer'> & {
    code: { challenge: string; redirect_uri: string };
  };
  client_name: string;
  /** Returned with the answer, as the client sent it. */
  state: string | null;
  /** Whether the person is asked for consent: for third-party clients. */
  needs_consent: boolean;
};

/** For the server's own pages: such a sign-in makes only a browser session. */
export type AccountPage = 'restore' | 'invitations';

type Step =
  | { at: 'email' }
  /** Already signed in: continue with this account or with another email. */
  | { at: 'accounts'; email: string; session_id: string }
  /** The latest codes are valid, newest first, since mails may come late or twice. */
  | CodeStep
  | { at: 'consent'; email: string; owner: SignedInAccount }
  /** A right code for an address without an account, on a page that makes none. */
  | { at: 'no_account'; email: string }
  | { at: 'done'; answer: SignInAnswer; at_ms: number }
  /** Too many wrong codes. */
  | { at: 'ended' };

type CodeStep = { at: 'code'; email: string; codes: EmailedCode[]; last_send: LastSend };

/**
 * The outcome of the last request for a code: the first was sent, another was sent, or none since the budget is spent.
 */
type LastSend = 'first' | 'again' | 'none';

export type SignedInAccount = Pick<NewGrant, 'account_id' | 'issued_under' | 'verified_at_ms'>;

/** The answer to a sign-in. A grant's code is derived from its id, seed and key; the page redirects only. */
export type SignInAnswer =
  | { granted: Pick<NewGrant, 'seed' | 'key_id'> & { grant_id: string } }
  | { denied: true }
  | { entered: true };

/** The browser session that may begin with this message. */
export type NewSessionSeed = { id: string; seed: Uint8Array; key_id: string };

/** The grant that may be opened with this message. */
export type NewGrantSeed = { grant_id: string; seed: Uint8Array; key_id: string };

export type BrowserSignInMessage = MessageOf<typeof browserSignIn>;

const GONE = refuse('NOT_FOUND', 'This sign-in is over.');

/** A sign-in in progress. A message that does not fit its step changes nothing; the reply shows the present step. */
const present = given((state: BrowserSignIn | null, { now_ms }) =>
  state === null || now_ms >= state.created_at_ms + LIMITS.browser_sign_in_life_ms ? GONE : state,
);

export const browserSignIn = defineActor<BrowserSignIn>()({
  kind: 'browser_sign_in',
  home: 'id',
  schema: 1,
  messages: {
    open(state, { sign_in, signed_in }: OpenedSignIn, { now_ms }) {
      if (state !== null) throw new Error('a sign-in is opened once');
      const step: Step = signed_in === null ? { at: 'email' } : { at: 'accounts', ...signed_in };
      return to({ ...sign_in, created_at_ms: now_ms, wrong: 0, session: null, step }, step, [
        scheduleExpiry(now_ms + LIMITS.browser_sign_in_life_ms),
      ]);
    },

    view: { reads: true, decide: present((state) => ({ reply: state })) },

    send_code: present((state, { email, code }: { email: string; code: CodeToSend }, { now_ms }): SignInDecision => {
      const { step } = state;
      if (step.at === 'done' || step.at === 'ended') return { reply: state };
      const is_again = step.at === 'code' && step.email === email;
      // Over the address's budget nothing goes out, and what came before stays good: strangers use up that budget.
      const codes = [emailedCode(code, now_ms), ...(is_again ? step.codes : [])].filter((kept) => kept !== null);
      const good = codes.slice(0, LIMITS.codes_alive_max);
      const last_send = code === null ? 'none' : is_again ? 'again' : 'first';
      return to(state, { at: 'code', email, codes: good, last_send }, codeMailed(code, now_ms));
    }),

    other_email: present((state): SignInDecision => {
      const { at } = state.step;
      return at === 'done' || at === 'ended' ? { reply: state } : to(state, { at: 'email' });
    }),

    try_code: present((state, { tried }: { tried: TriedCode }, { now_ms }): CodeDecision => {
      const { step } = state;
      if (step.at !== 'code') return { reply: state };
      const { email } = step;
      // Nothing is stored until the account is known: whoever got no answer sends the same code again.
      if (isVerified(step, tried, now_ms)) return { reply: { ...state, step: { at: 'verified', email } } };
      const wrong = state.wrong + 1;
      return to({ ...state, wrong }, wrong < LIMITS.sign_in_tries_max ? step : { at: 'ended' }, [
        wrongTry(email, tried),
      ]);
    }),

    /** After a right code: begins the browser session of the account behind the email. */
    enter: present((state, { email, account, session, grant, tried }: Entered, { now_ms }): SignInDecision => {
      const { goal, step } = state;
      // The account was looked up before this batch: meanwhile another email may have been entered.
      if (!isVerified(step, tried, now_ms) || step.email !== email) return { reply: state };
      const verified_at_ms = now_ms;
      const { id, ...cookie } = session;
      const begun: NewBrowserSession = { ...account, ...cookie, email, verified_at_ms };
      const message: BrowserSessionMessage = { type: 'open', session: begun };
      const opened: Effect = { effect: 'notify', to: { kind: 'browser_session', id }, message };
      const owner: SignedInAccount = { ...account, verified_at_ms };
      const entered: BrowserSignIn = { ...state, session };
      if (goal.to === 'page') return to(entered, { at: 'done', answer: { entered: true }, at_ms: now_ms }, [opened]);
      if (goal.needs_consent) return to(entered, { at: 'consent', email, owner }, [opened]);
      return granted(entered, { goal, owner, grant }, now_ms, [opened]);
    }),

    /** After a right code: the email has no account, and none may be made. */
    no_account: present((state, { email, tried }: { email: string; tried: TriedCode }, { now_ms }): SignInDecision => {
      const { step } = state;
      if (!isVerified(step, tried, now_ms) || step.email !== email) return { reply: state };
      return to(state, { at: 'no_account', email });
    }),

    /** Continues with the account of the offered browser session, which the caller has checked. */
    continue: present(
      (state, { owner, grant }: { owner: SignedInAccount; grant: NewGrantSeed }, { now_ms }): SignInDecision => {
        const { goal, step } = state;
        if (step.at !== 'accounts' || goal.to !== 'client') return { reply: state };
        // Whoever must be asked is asked, however they signed in.
        if (goal.needs_consent) return to(state, { at: 'consent', email: step.email, owner });
        return granted(state, { goal, owner, grant }, now_ms);
      },
    ),

    approve: present((state, { grant }: { grant: NewGrantSeed }, { now_ms }): SignInDecision => {
      const { goal, step } = state;
      if (step.at !== 'consent' || goal.to !== 'client') return { reply: state };
      return granted(state, { goal, owner: step.owner, grant }, now_ms);
    }),

    deny: present(
      (state, _: unknown, { now_ms }): SignInDecision =>
        state.step.at === 'done'
          ? { reply: state }
          : to(state, { at: 'done', answer: { denied: true }, at_ms: now_ms }),
    ),

    run_out: () => ({ reply: DONE, next: null }),
  },
});

type SignInDecision = Decision<BrowserSignIn, BrowserSignIn>;
type CodeDecision = Decision<BrowserSignIn, JudgedSignIn>;
/** The sign-in after a code was judged; `verified` if the code was right. */
type JudgedSignIn = Omit<BrowserSignIn, 'step'> & { step: Step | { at: 'verified'; email: string } };
type OpenedSignIn = { sign_in: NewBrowserSignIn; signed_in: { session_id: string; email: string } | null };
type Entered = {
  email: string;
  account: Pick<NewBrowserSession, 'account_id' | 'issued_under'>;
  session: NewSessionSeed;
  grant: NewGrantSeed;
  /** The code that was right. */
  tried: TriedCode;
};

/** Whether the sign-in waits for a code and this one counts. */
function isVerified(step: Step, tried: TriedCode, now_ms: number): step is CodeStep {
  return step.at === 'code' && step.codes.some((code) => isRight(code, tried, now_ms));
}

function to(state: BrowserSignIn, step: Step, effects: Effect[] = []): SignInDecision {
  const next = { ...state, step };
  return { reply: next, next, effects };
}

/** Opens the grant and finishes; the same form sent twice gets the same answer. */
function granted(
  state: BrowserSignIn,
  { goal, owner, grant }: { goal: ClientGoal; owner: SignedInAccount; grant: NewGrantSeed },
  now_ms: number,
  effects: Effect[] = [],
): SignInDecision {
  const { grant_id, seed, key_id } = grant;
  const whose: GrantOwner & SignedInAccount = { ...owner, seed, key_id };
  const open: GrantMessage = { type: 'open', grant: { ...goal.request, ...whose } };
  const opened: Effect = { effect: 'notify', to: { kind: 'grant', id: grant_id }, message: open };
  return to(state, { at: 'done', answer: { granted: { grant_id, seed, key_id } }, at_ms: now_ms }, [
    ...effects,
    opened,
  ]);
}
