/**
 * The session's data that outlives the page: in this origin's own storage, which no script of another origin reads.
 * Never in an address.
 */

export type StoredSession = {
  refresh_token: string;
  /** Whose it is: another tab may have signed in somebody else. */
  account_id: string;
};

const SESSION = 'spool.session';
const SIGN_IN = 'spool.sign_in';

/** A sign-in that was begun in this tab. */
export type BegunSignIn = { state: string; verifier: string; to: string };

export function readStored(): StoredSession | null {
  return parsed<StoredSession>(localStorage.getItem(SESSION));
}

export function writeStored(session: StoredSession | null): void {
  if (session === null) localStorage.removeItem(SESSION);
  else localStorage.setItem(SESSION, JSON.stringify(session));
}

/** Calls back when another tab has signed in or out. */
export function onStoredElsewhere(then: (session: StoredSession | null) => void): void {
  addEventListener('storage', ({ key, newValue }) => {
    if (key === SESSION || key === null) then(parsed<StoredSession>(key === null ? null : newValue));
  });
}

export function keepSignIn(begun: BegunSignIn): void {
  sessionStorage.setItem(SIGN_IN, JSON.stringify(begun));
}

/** Gives the sign-in that was begun, once. */
export function takeSignIn(): BegunSignIn | null {
  const begun = parsed<BegunSignIn>(sessionStorage.getItem(SIGN_IN));
  sessionStorage.removeItem(SIGN_IN);
  return begun;
}

function parsed<T>(text: string | null): T | null {
  try {
    return text === null ? null : (JSON.parse(text) as T);
  } catch {
    return null;
  }
}
