import type { FastifyReply } from 'fastify';
import { issuerUrl } from '../../access/issuer.js';
import type { AccessDeps } from '../../access/principal.js';
import type { OauthError } from '../../domain/oauth_errors.js';
import { signInPath } from './account_pages.js';
import { setBrowserCookie } from './browser_cookies.js';

/** Where an answer to an authorization request goes. */
type ReturnAddress = { redirect_uri: string; state: string | null };

/** Sends the browser back to the client with its code, or with what went wrong. */
export function sendBack(
  services: Pick<AccessDeps, 'addresses'>,
  reply: FastifyReply,
  { redirect_uri, state }: ReturnAddress,
  answer: { code: string } | OauthError,
): FastifyReply {
  const parameters = new URLSearchParams(
    'code' in answer ? { code: answer.code } : { error: answer.error, error_description: answer.error_description },
  );
  if (state !== null) parameters.set('state', state);
  parameters.set('iss', issuerUrl(services, 'base')); // RFC 9207, with errors too
  // As registered, letter by letter: a query of its own is kept.
  const joint = redirect_uri.includes('?') ? '&' : '?';
  return leave(reply, `${redirect_uri}${joint}${parameters}`);
}

/** A redirect that no cache keeps and that a browser follows with GET (RFC 9700, 4.12). */
export function leave(reply: FastifyReply, address: string): FastifyReply {
  return reply.header('Cache-Control', 'no-store').header('Referrer-Policy', 'no-referrer').redirect(address, 303);
}

/** Leads the browser to the first page of a sign-in that was begun, with the cookie that it was tied to where it has none. */
export function leadToSignIn(
  services: Pick<AccessDeps, 'addresses'>,
  reply: FastifyReply,
  goal: Parameters<typeof signInPath>[0],
  { id, browser_cookie }: { id: string; browser_cookie: string | null },
): FastifyReply {
  if (browser_cookie !== null) setBrowserCookie(services, reply, browser_cookie);
  return leave(reply, signInPath(goal, id));
}
