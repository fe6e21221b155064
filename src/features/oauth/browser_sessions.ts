import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Account } from '../../../actors/accounts/account_state.js';
import { type BrowserSession, browserSessionEndMs } from '../../../actors/oauth/browser_session.js';
import { orNull, orRefused } from '../../domain/refusals.js';
import { deriveToken, isGenuine, parseToken } from '../../engine/secrets/tokens.js';
import { accountOf } from '../accounts/account_of_email.js';
import type { FeatureServices as Services } from '../services.js';
import { sessionCookie, setSessionCookie } from './cookies.js';

const OPENS_MAX_MS = 2_000;
const OPENS_LOOK_MS = 20;

/** A live browser session, by its cookie. */
export type LiveBrowserSession = { id: string; session: BrowserSession; account: Account };

/** The session of this browser; null when there is none, or it has ended. */
export async function browserSessionOf(
  services: Services,
  request: FastifyRequest,
): Promise<LiveBrowserSession | null> {
  const { keys, actors } = services;
  const cookie = sessionCookie(services, request);
  const parsed = cookie === null ? null : parseToken('browser_session', cookie);
  if (parsed === null) return null;
  const session = await orNull(actors.browserSession(parsed.id).view(), 'UNAUTHORIZED');
  if (session === null) return null;
  if (!isGenuine(keys, 'browser_session', parsed, session)) return null;
  const account = await accountOf(services, session.account_id);
  return session.born.grants === account.lives.grants ? { id: parsed.id, session, account } : null;
}

/** Counts as use, which makes it last longer; the cookie follows. */
export async function extendBrowserSession(
  services: Services,
  reply: FastifyReply,
  { id }: { id: string },
): Promise<void> {
  const session = await orNull(services.actors.browserSession(id).use(), 'UNAUTHORIZED');
  if (session === null) return;
  const { seed, key_id } = session;
  const lasts_ms = browserSessionEndMs(session) - services.clock.now();
  showBrowserSession(services, reply, { id, seed, key_id, lasts_ms });
}

/** Gives the browser its session's cookie, for as long as the session lasts. */
export function showBrowserSession(
  services: Services,
  reply: FastifyReply,
  { lasts_ms, ...session }: { id: string; seed: Uint8Array; key_id: string; lasts_ms: number },
): void {
  const value = deriveToken(services.keys, 'browser_session', { ...session, counter: 0 });
  setSessionCookie(services, reply, { value, max_age_s: Math.floor(lasts_ms / 1000) });
}

/**
 * Waits, two seconds at most, until a session that was begun has opened, and gives it; null when it does not, or has
 * ended since. Only its sign-in refers to it: of several presses at once, the later ones are answered from the sign-in's
 * state, before that has arrived.
 */
export async function sessionOpens({ actors }: Services, id: string): Promise<BrowserSession | null> {
  for (const until = performance.now() + OPENS_MAX_MS; performance.now() < until; ) {
    const session = await actors.browserSession(id).view().catch(orRefused(null));
    if (session !== null) return session;
    await new Promise((resolve) => setTimeout(resolve, OPENS_LOOK_MS));
  }
  return null;
}

/** Ends the session of this browser, if it has one other than `but`; an unknown cookie is nothing to end. */
export async function endBrowserSession(
  services: Services,
  request: FastifyRequest,
  { but = null }: { but?: string | null } = {},
): Promise<void> {
  const live = await browserSessionOf(services, request);
  if (live === null || live.id === but) return;
  await services.actors.browserSession(live.id).end();
}
