import { signal } from '@preact/signals';
import { say } from '../language/say.js';
import { draftsAreOf, forgetAllDrafts } from '../parts/drafts.js';
import { forgetKept } from '../recorder/kept.js';
import { BASE, go } from '../router.js';
import { forgetQuestions } from '../search/recent_questions.js';
import {
  accountOf,
  authorizationRequest,
  CALLBACK_PATH,
  endSessionUrl,
  exchange,
  randomText,
  refresh,
  revoke,
  SignInRefused,
  type Tokens,
} from './oauth.js';
import { keepSignIn, onStoredElsewhere, readStored, takeSignIn, writeStored } from './stored_session.js';

/**
 * Who is signed in. The access token lives in this page's memory alone; the refresh token in the origin's storage, and each
 * use replaces it, so that tabs take turns.
 */

export type SessionState =
  | { is: 'starting' }
  /** `problem`: why the last sign-in came to nothing, or why it ended. */
  | { is: 'out'; problem: string | null }
  | { is: 'in'; account_id: string }
  /** Whether anybody is signed in can't be told. */
  | { is: 'away' };

export const session = signal<SessionState>({ is: 'starting' });

const REFRESH_LOCK = 'spool.refresh';
/** An access token that ends sooner is refreshed before it is used. */
const REMAINING_MIN_MS = 30_000;
const ENDED = 'Your session has ended. Sign in to go on.' as const;

type AccessToken = { token: string; until_ms: number };

let access: AccessToken | null = null;
let renewing: Promise<string> | null = null;

/** Nobody is signed in any more. */
export class SignedOut extends Error {
  override readonly name = 'SignedOut';
}

/** Finishes a sign-in that comes back here, or goes on with the one that is stored. */
export async function startSession(): Promise<void> {
  onStoredElsewhere((stored) => {
    const now = session.value;
    if (stored === null) {
      // Another tab signs out: what was typed here is as private as there.
      forgetAllDrafts();
      signedOut(null);
    } else if (now.is !== 'in') void resume();
    else if (now.account_id !== stored.account_id) location.reload();
  });
  if (location.pathname === CALLBACK_PATH) await finishSignIn();
  else await resume();
}

/**
 * Leads back to where it was begun. `email`: the address that was typed here, to which a code goes at once. `again`: what is
 * about to happen needs a code that was entered just now.
 */
export async function signIn({ email, again = false }: { email?: string; again?: boolean }): Promise<void> {
  const begun = {
    state: randomText(),
    verifier: randomText(),
    to: location.pathname + location.search + location.hash,
  };
  keepSignIn(begun);
  const asked = await authorizationRequest({ ...begun, again });
  if (email === undefined) location.assign(`/oauth/authorize?${asked}`);
  else post(`/oauth/sign-in?${asked}`, { email });
}

/**
 * Ends the grant and the browser session. Without a connection at least this browser forgets both tokens, and what it
 * recorded and has not sent.
 */
export async function signOut(): Promise<void> {
  const stored = readStored();
  access = null;
  writeStored(null);
  session.value = { is: 'out', problem: null };
  forgetQuestions();
  forgetAllDrafts();
  await forgetKept();
  if (stored !== null) await revoke(stored.refresh_token).catch(() => {});
  location.assign(endSessionUrl());
}

/** The account has ended all of its sessions: this browser forgets its own, and says why. */
export function endedBy(problem: string): void {
  end(problem);
}

/** A token that may be used now. Throws SignedOut. */
export async function accessToken(): Promise<string> {
  if (access !== null && access.until_ms - Date.now() > REMAINING_MIN_MS) return access.token;
  return renewed();
}

/** The token as it is, for a request that nothing can be waited for before; null where there is none. */
export function presentToken(): string | null {
  return access?.token ?? null;
}

/** Another one than that which was refused. */
export async function accessTokenAfter(refused: string): Promise<string> {
  if (access !== null && access.token !== refused) return accessToken();
  access = null;
  return renewed();
}

/** Goes on with the session that is stored. */
export async function resume(): Promise<void> {
  if (readStored() === null) return signedOut(null);
  try {
    await renewed();
  } catch (error) {
    if (!(error instanceof SignedOut)) session.value = { is: 'away' };
  }
}

async function finishSignIn(): Promise<void> {
  const answer = new URLSearchParams(location.search);
  const begun = takeSignIn();
  // The code leaves the address and the history before anything else happens.
  go(begun?.to ?? BASE, { replace: true });
  const [code, error] = [answer.get('code'), answer.get('error')];
  if (begun === null || answer.get('state') !== begun.state) {
    return readStored() === null ? signedOut(say('That sign-in was started in another tab. Start again.')) : resume();
  }
  if (error === 'access_denied') return signedOut(null);
  if (code === null) return signedOut(answer.get('error_description') ?? say('You could not be signed in.'));
  try {
    const before = readStored();
    take(await exchange({ code, verifier: begun.verifier }));
    if (before !== null) await revoke(before.refresh_token).catch(() => {}); // one sign-in a browser
  } catch (failure) {
    signedOut(failure instanceof Error ? failure.message : say('You could not be signed in.'));
  }
}

function renewed(): Promise<string> {
  renewing ??= renew().finally(() => {
    renewing = null;
  });
  return renewing;
}

async function renew(): Promise<string> {
  return inTurn(async () => {
    const stored = readStored();
    // Whoever still asks after the end changes nothing of what is said of it.
    if (stored === null) throw session.peek().is === 'out' ? new SignedOut(say('Nobody is signed in.')) : end(null);
    try {
      return take(await refresh(stored.refresh_token));
    } catch (error) {
      throw error instanceof SignInRefused ? end(say(ENDED)) : error;
    }
  });
}

/** One tab after the other: a refresh token that was replaced long ago ends the session when it is used again. */
function inTurn(work: () => Promise<string>): Promise<string> {
  return navigator.locks === undefined ? work() : navigator.locks.request(REFRESH_LOCK, work);
}

function take({ access_token, refresh_token, expires_in }: Tokens): string {
  const account_id = accountOf(access_token);
  draftsAreOf(account_id);
  access = { token: access_token, until_ms: Date.now() + expires_in * 1_000 };
  writeStored({ refresh_token, account_id });
  const now = session.value;
  if (now.is !== 'in' || now.account_id !== account_id) session.value = { is: 'in', account_id };
  return access_token;
}

/** Leaves for the page that answers a form. */
function post(action: string, values: Record<string, string>): void {
  const form = Object.assign(document.createElement('form'), { method: 'post', action });
  for (const [name, value] of Object.entries(values))
    form.append(Object.assign(document.createElement('input'), { type: 'hidden', name, value }));
  document.body.append(form);
  form.submit();
  form.remove();
}

function end(problem: string | null): SignedOut {
  writeStored(null);
  signedOut(problem);
  return new SignedOut(say('Nobody is signed in.'));
}

function signedOut(problem: string | null): void {
  access = null;
  session.value = { is: 'out', problem };
}
