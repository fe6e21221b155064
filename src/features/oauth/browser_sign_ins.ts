import type { AccountPage, BrowserSignIn, Goal, NewGrantSeed } from '../../../actors/oauth/browser_sign_in.js';
import type { TriedCode } from '../../../actors/oauth/emailed_code.js';
import { partitionOfId } from '../../domain/ids.js';
import { LIMITS } from '../../domain/limits.js';
import { type OauthError, oauthError } from '../../domain/oauth_errors.js';
import { Refused, refuse } from '../../domain/refusals.js';
import { randomBytes, randomId, randomPartition } from '../../engine/random/random.js';
import type { EntityOf } from '../../engine/runtime/actors.js';
import { matchesStoredHash, storedHash } from '../../engine/secrets/stored_hash.js';
import { deriveToken, isGenuine, parseToken, randomSeed } from '../../engine/secrets/tokens.js';
import { accountIdOf } from '../accounts/account_of_email.js';
import { passesCaptcha } from '../accounts/captcha.js';
import type { FeatureServices } from '../services.js';
import { browserSessionOf, cookieOf, endBrowserSession, type SessionCookie, sessionOpens } from './browser_sessions.js';
import type { Clients } from './clients/clients.js';
import { accountBehind, type CodeSender, newCode, triedCode } from './sign_in_code.js';

/** A sign-in in the browser, from /oauth/authorize or a page for account holders to its end. */

const OTHER_BROWSER = refuse('FORBIDDEN', 'This sign-in was begun in another browser, or cookies are switched off.');
const GONE = refuse('NOT_FOUND', 'This sign-in is over.');
const CLIENT_GONE = refuse('FORBIDDEN', 'The app that began this sign-in may not sign people in any more.');
const OTHER_FORM = refuse('FORBIDDEN', 'This form does not belong to this sign-in.');
const DENIED = oauthError('access_denied', 'The person did not allow it.');

/** The pages whose sign-in makes an account for an address that has none. */
const MAKES_ACCOUNTS: readonly AccountPage[] = ['invitations'];

const BROWSER_BYTES = 16;
const BROWSER_FORM = /^[A-Za-z0-9_-]{22}$/;
const BROWSER_PURPOSE = 'sign-in browser';

/** A sign-in, in a request of the browser that began it. */
export type OpenSignIn = { id: string; sign_in: BrowserSignIn };

/** The destination of an answer to an authorization request. */
export type ReturnAddress = { redirect_uri: string; state: string | null };

/**
 * Begins a sign-in that is tied to the browser of this cookie. `signed_in`: a session that it may continue with.
 * `browser_cookie` of the answer is the one that the browser must get; null if it has one.
 */
export async function beginSignIn(
  { actors, clock, keys, rates }: Pick<FeatureServices, 'actors' | 'clock' | 'keys' | 'rates'>,
  asked: {
    goal: Goal;
    signed_in: { session_id: string; email: string } | null;
    ip: string;
    browser_cookie: string | null;
  },
): Promise<{ id: string; browser_cookie: string | null }> {
  const { goal, signed_in, ip, browser_cookie: known } = asked;
  // Each is kept for an hour, whoever asks for it.
  const limited = await rates.refusalOf('sign_ins_begun', ip);
  if (limited !== null) throw new Refused(limited);
  const id = randomId({ partition: randomPartition(), now_ms: clock.now() });
  const is_known = known !== null && BROWSER_FORM.test(known);
  const value = is_known ? known : Buffer.from(randomBytes(BROWSER_BYTES)).toString('base64url');
  const browser = storedHash(keys, BROWSER_PURPOSE, id, value);
  await actors.browserSignIn(id).open({ sign_in: { goal, browser, ...randomSeed(keys) }, signed_in });
  return { id, browser_cookie: is_known ? null : value };
}

/** The sign-in of an address; `leads_to` is what the address says that it leads to. */
export async function readSignIn(
  { actors, clients, keys }: Pick<FeatureServices, 'actors' | 'keys'> & { clients: Clients },
  id: string,
  { browser_cookie, leads_to }: { browser_cookie: string | null; leads_to: 'client' | AccountPage },
): Promise<OpenSignIn> {
  const sign_in = await actors.browserSignIn(id).view();
  const { goal, browser } = sign_in;
  if (!matchesStoredHash(keys, browser, BROWSER_PURPOSE, id, browser_cookie ?? '')) throw new Refused(OTHER_BROWSER);
  if (leads_to !== (goal.to === 'client' ? 'client' : goal.page)) throw new Refused(GONE);
  // Nobody is led to an app that staff have stopped meanwhile.
  if (goal.to === 'client' && (await clients.find(goal.request.client_id)) === null) throw new Refused(CLIENT_GONE);
  return { id, sign_in };
}

/** The token in forms of the sign-in. It proves that no other site made the form. */
export function signInFormToken({ keys }: Pick<FeatureServices, 'keys'>, { id, sign_in }: OpenSignIn): string {
  return deriveToken(keys, 'sign_in_form', { ...sign_in, id, counter: 0 });
}

/** FORBIDDEN unless the form has the token of the sign-in. */
export function checkSignInForm(
  { keys }: Pick<FeatureServices, 'keys'>,
  { id, sign_in }: OpenSignIn,
  form_token: string,
): void {
  const token = parseToken('sign_in_form', form_token);
  if (token === null || token.id !== id || !isGenuine(keys, 'sign_in_form', token, sign_in)) {
    throw new Refused(OTHER_FORM);
  }
}

/** Mails a code to an address; null if the CAPTCHA was not passed. */
export async function sendCode(
  services: Pick<FeatureServices, 'actors' | 'clock' | 'keys' | 'mail' | 'mails' | 'rates' | 'settings'>,
  open: OpenSignIn,
  { captcha_token: token, email, ...sender }: CodeSender & { email: string; captcha_token: string | undefined },
): Promise<OpenSignIn | null> {
  // Before the CAPTCHA's provider is asked: what fails there counts, too.
  const limited = await services.rates.refusalOf('codes_sent', sender.ip);
  if (limited !== null) throw new Refused(limited);
  if (!(await passesCaptcha(services.settings, { token, ip: sender.ip }))) return null;
  return mailCode(services, open, { email, ...sender });
}

/** Mails another code if the sign-in waits for one. */
export async function resendCode(
  services: Pick<FeatureServices, 'actors' | 'clock' | 'keys' | 'mail' | 'mails' | 'rates' | 'settings'>,
  open: OpenSignIn,
  sender: CodeSender,
): Promise<OpenSignIn> {
  const { step } = open.sign_in;
  if (step.at !== 'code') return open;
  const limited = await services.rates.refusalOf('codes_sent', sender.ip);
  if (limited !== null) throw new Refused(limited);
  return mailCode(services, open, { email: step.email, ...sender });
}

async function mailCode(
  services: Pick<FeatureServices, 'actors' | 'clock' | 'keys' | 'mail' | 'mails' | 'settings'>,
  { id }: OpenSignIn,
  { email, ...sender }: CodeSender & { email: string },
): Promise<OpenSignIn> {
  const code = await newCode(services, sender, { sign_in_id: id, email });
  const sign_in = await entityOf(services, id).send_code({ email, code });
  services.mails.due.offerPartitions([partitionOfId(id)]); // the page does not wait for it
  return { id, sign_in };
}

/** A sign-in after a code was typed: the fault of the code, and the cookie of the session that the browser must get. */
type SignInAfterCode = OpenSignIn & { problem: 'digits' | 'wrong' | null; session_cookie: SessionCookie | null };

/** Checks a code. After a right one the person is signed in, in this browser too. */
export async function tryCode(
  services: Pick<FeatureServices, 'actors' | 'clock' | 'keys' | 'rates'>,
  open: OpenSignIn,
  { code, ...by }: { code: string; ip: string; session_cookie: string | null },
): Promise<SignInAfterCode> {
  const { id, sign_in } = open;
  const { step } = sign_in;
  if (step.at !== 'code') return signedIn(services, open, by.session_cookie);
  if (!/^\d{6}$/.test(code)) return { ...open, problem: 'digits', session_cookie: null };
  const limited = await services.rates.refusalOf('codes_checked', by.ip);
  if (limited !== null) throw new Refused(limited);
  const tried = await triedCode(services, by.ip, { sign_in_id: id, email: step.email, code });
  const judged = await entityOf(services, id).try_code({ tried });
  if (judged.step.at === 'verified') return enter(services, open, { ...by, email: judged.step.email, tried });
  const now = { id, sign_in: { ...judged, step: judged.step } };
  if (now.sign_in.step.at === 'code') return { ...now, problem: 'wrong', session_cookie: null };
  return signedIn(services, now, by.session_cookie);
}

/** After a right code: finds the account, begins a new browser session whatever cookie came, and continues. */
async function enter(
  services: Pick<FeatureServices, 'actors' | 'clock' | 'keys'>,
  { id, sign_in: { goal } }: OpenSignIn,
  by: { email: string; ip: string; session_cookie: string | null; tried: TriedCode },
): Promise<SignInAfterCode> {
  const { email, ip, session_cookie, tried } = by;
  if (goal.to === 'page' && !MAKES_ACCOUNTS.includes(goal.page) && (await accountIdOf(services, email)) === null) {
    const sign_in = await entityOf(services, id).no_account({ email, tried });
    return { id, sign_in, problem: null, session_cookie: null };
  }
  const account = await accountBehind(services, ip, email);
  const issued_under = { account: account.epochs.account, grants: account.epochs.grants };
  const entered = await entityOf(services, id).enter({
    email,
    account: { account_id: account.id, issued_under },
    session: {
      // With the account, whose erasure must find it.
      id: randomId({ partition: partitionOfId(account.id), now_ms: services.clock.now() }),
      ...randomSeed(services.keys),
    },
    grant: newGrantSeed(services, account.id),
    tried,
  });
  if (entered.session !== null) await endBrowserSession(services, session_cookie, { but: entered.session.id });
  return signedIn(services, { id, sign_in: entered }, session_cookie);
}

/**
 * After a code was entered: the browser gets the session's cookie whichever of several presses is answered last. A form
 * that is sent again brings back neither an ended session nor one older than the browser's present one.
 */
async function signedIn(
  services: Pick<FeatureServices, 'actors' | 'clock' | 'keys'>,
  open: OpenSignIn,
  cookie: string | null,
): Promise<SignInAfterCode> {
  const { step, session } = open.sign_in;
  if (session === null || (step.at !== 'consent' && !isFresh(services, open))) {
    return { ...open, problem: null, session_cookie: null };
  }
  const live = await browserSessionOf(services, cookie);
  const opened = live?.id === session.id ? live.session : await sessionOpens(services, session.id);
  const is_latest = opened !== null && (live?.session.verified_at_ms ?? 0) <= opened.verified_at_ms;
  return { ...open, problem: null, session_cookie: is_latest ? cookieOf(services, session.id, opened) : null };
}

/** Continues as the account of the browser's session; it counts from the session's own code. */
export async function continueAs(
  services: Pick<FeatureServices, 'actors' | 'clock' | 'keys'>,
  open: OpenSignIn,
  session_cookie: string | null,
): Promise<OpenSignIn> {
  const { id, sign_in } = open;
  const { step } = sign_in;
  if (step.at !== 'accounts') return open;
  const live = await browserSessionOf(services, session_cookie);
  if (live === null || live.id !== step.session_id) return otherEmail(services, open); // it has ended meanwhile
  const { session, account } = live;
  const issued_under = { account: account.epochs.account, grants: session.issued_under.grants };
  const owner = { account_id: account.id, issued_under, verified_at_ms: session.verified_at_ms };
  return { id, sign_in: await entityOf(services, id).continue({ owner, grant: newGrantSeed(services, account.id) }) };
}

export async function otherEmail(services: Pick<FeatureServices, 'actors'>, { id }: OpenSignIn): Promise<OpenSignIn> {
  return { id, sign_in: await entityOf(services, id).other_email() };
}

/** Grants the client its request. */
export async function approve(
  services: Pick<FeatureServices, 'actors' | 'clock' | 'keys'>,
  open: OpenSignIn,
): Promise<OpenSignIn> {
  const { id, sign_in } = open;
  const { step } = sign_in;
  if (step.at !== 'consent') return open;
  const grant = newGrantSeed(services, step.owner.account_id);
  return { id, sign_in: await entityOf(services, id).approve({ grant }) };
}

export async function deny(services: Pick<FeatureServices, 'actors'>, { id }: OpenSignIn): Promise<OpenSignIn> {
  return { id, sign_in: await entityOf(services, id).deny() };
}

/** The step after a form: the page of the sign-in's step, the page that the sign-in is for, or the client. */
type NextOfSignIn =
  | { to: 'step' }
  | { to: 'page'; page: AccountPage }
  | { to: 'client'; back: ReturnAddress; answer: { code: string } | OauthError };

export function nextOf(services: Pick<FeatureServices, 'clock' | 'keys'>, open: OpenSignIn): NextOfSignIn {
  const { step, goal } = open.sign_in;
  if (step.at !== 'done') return { to: 'step' };
  if (goal.to === 'page') return { to: 'page', page: goal.page };
  // All is said on the page.
  if (!isFresh(services, open) || 'entered' in step.answer) return { to: 'step' };
  const back = { redirect_uri: goal.request.code.redirect_uri, state: goal.state };
  if ('denied' in step.answer) return { to: 'client', back, answer: DENIED };
  const { grant_id, ...seed } = step.answer.granted;
  const code = deriveToken(services.keys, 'authorization_code', { ...seed, id: grant_id, counter: 0 });
  return { to: 'client', back, answer: { code } };
}

/**
 * Whether a repeated form may be a double click. Later the code may be used up, and sending it again would look like
 * theft.
 */
function isFresh({ clock }: Pick<FeatureServices, 'clock'>, { sign_in: { step } }: OpenSignIn): boolean {
  return step.at === 'done' && clock.now() < step.at_ms + LIMITS.oauth_code_replay_harmless_ms;
}

function newGrantSeed({ keys, clock }: Pick<FeatureServices, 'clock' | 'keys'>, account_id: string): NewGrantSeed {
  const grant_id = randomId({ partition: partitionOfId(account_id), now_ms: clock.now() });
  return { grant_id, ...randomSeed(keys) };
}

function entityOf({ actors }: Pick<FeatureServices, 'actors'>, id: string): EntityOf<'browserSignIn'> {
  return actors.downstream.browserSignIn(id);
}
