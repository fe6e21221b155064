import { type Account, isOpen } from '../../../actors/accounts/account_state.js';
import { type BrowserSession, browserSessionEndMs } from '../../../actors/oauth/browser_session.js';
import { orNull, orRefused, Refused, refuse } from '../../domain/refusals.js';
import { deriveToken, isGenuine, parseToken } from '../../engine/secrets/tokens.js';
import type { Fence } from '../../engine/store/store.js';
import { accountOf } from '../accounts/account_of_email.js';
import type { FeatureServices } from '../services.js';

const OTHER_FORM = refuse('FORBIDDEN', 'This page was opened under another sign-in. Nothing was changed.');

const OPENS_MAX_MS = 2_000;
const OPENS_LOOK_MS = 20;

/** A live browser session, by its cookie. */
export type LiveBrowserSession = {
  id: string;
  session: BrowserSession;
  account: Account;
  /** Whether the account is not deleted. */
  is_open: boolean;
  /** Fences every commit by the credential epochs that were read. */
  fences: Fence[];
};

/** The cookie of a browser session. */
export type SessionCookie = { value: string; max_age_s: number };

/** The session behind a cookie; null without one, and after its end. */
export async function browserSessionOf(
  services: Pick<FeatureServices, 'actors' | 'keys'>,
  cookie: string | null,
): Promise<LiveBrowserSession | null> {
  const { keys, actors } = services;
  const parsed = cookie === null ? null : parseToken('browser_session', cookie);
  if (parsed === null) return null;
  const session = await orNull(actors.browserSession(parsed.id).view(), 'UNAUTHORIZED');
  if (session === null) return null;
  if (!isGenuine(keys, 'browser_session', parsed, session)) return null;
  const account = await accountOf(services, session.account_id);
  if (session.issued_under.grants !== account.epochs.grants) return null;
  return {
    id: parsed.id,
    session,
    account,
    is_open: isOpen(account),
    fences: [
      { fence: 'epoch', account_id: account.id, epoch: 'account', value: account.epochs.account },
      { fence: 'epoch', account_id: account.id, epoch: 'grants', value: session.issued_under.grants },
    ],
  };
}

/** Whether the session behind a cookie was begun with this email address. */
export async function isSessionOf(
  services: Pick<FeatureServices, 'actors' | 'keys'>,
  cookie: string | null,
  email: string,
): Promise<boolean> {
  const live = await browserSessionOf(services, cookie);
  return live !== null && live.session.email === email;
}

/** Counts as use, which extends the session and its cookie. Null for an ended session. */
export async function extendBrowserSession(
  services: Pick<FeatureServices, 'actors' | 'clock' | 'keys'>,
  id: string,
): Promise<SessionCookie | null> {
  const session = await orNull(services.actors.browserSession(id).use(), 'UNAUTHORIZED');
  return session === null ? null : cookieOf(services, id, session);
}

/** The session's cookie, valid until the session ends. */
export function cookieOf(
  { clock, keys }: Pick<FeatureServices, 'clock' | 'keys'>,
  id: string,
  session: BrowserSession,
): SessionCookie {
  const { seed, key_id } = session;
  return {
    value: deriveToken(keys, 'browser_session', { id, seed, key_id, counter: 0 }),
    max_age_s: Math.floor((browserSessionEndMs(session) - clock.now()) / 1000),
  };
}

/**
 * Waits up to two seconds until a new session has opened, and returns it; null if it does not open, or has ended since.
 * Only its sign-in refers to it: after several presses at once, the later ones are answered from the sign-in's state
 * before the session has opened.
 */
export async function sessionOpens(
  { actors }: Pick<FeatureServices, 'actors'>,
  id: string,
): Promise<BrowserSession | null> {
  for (const until = performance.now() + OPENS_MAX_MS; performance.now() < until; ) {
    const session = await actors.browserSession(id).view().catch(orRefused(null));
    if (session !== null) return session;
    await new Promise((resolve) => setTimeout(resolve, OPENS_LOOK_MS));
  }
  return null;
}

/** Ends the session behind a cookie, unless it is `but`; an unknown cookie changes nothing. */
export async function endBrowserSession(
  services: Pick<FeatureServices, 'actors' | 'keys'>,
  cookie: string | null,
  { but = null }: { but?: string | null } = {},
): Promise<void> {
  const live = await browserSessionOf(services, cookie);
  if (live === null || live.id === but) return;
  await services.actors.browserSession(live.id).end();
}

/** The token in forms of pages for account holders. It proves that no other site made the form. */
export function accountFormToken({ keys }: Pick<FeatureServices, 'keys'>, { id, session }: LiveBrowserSession): string {
  return deriveToken(keys, 'account_form', { ...session, id, counter: 0 });
}

/** FORBIDDEN unless the form has the token of the session. */
export function checkAccountForm(
  { keys }: Pick<FeatureServices, 'keys'>,
  { id, session }: LiveBrowserSession,
  form_token: string,
): void {
  const token = parseToken('account_form', form_token);
  if (token === null || token.id !== id || !isGenuine(keys, 'account_form', token, session)) {
    throw new Refused(OTHER_FORM);
  }
}
