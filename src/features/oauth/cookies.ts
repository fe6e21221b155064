import { parseCookie, stringifySetCookie } from 'cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { issuerUrl } from '../../access/issuer.js';
import { randomBytes } from '../../engine/runtime/random.js';
import { isKeptHash, keptHash } from '../../engine/secrets/kept_hash.js';
import type { FeatureServices as Services } from '../services.js';

/**
 * The two cookies of our pages. Where we are served over https they are bound to this very host and never leave it
 * (`__Host-`); over plain http, which only a developer's own machine should be, a browser would drop such a name.
 */
const NAMES = { session: 'spool_session', browser: 'spool_browser' } as const;
type CookieName = keyof typeof NAMES;

const BROWSER_BYTES = 16;
const BROWSER_FORM = /^[A-Za-z0-9_-]{22}$/;
const BROWSER_PURPOSE = 'sign-in browser';

/** The value of the browser session's cookie, as it came. */
export function sessionCookie(services: Services, request: FastifyRequest): string | null {
  return read(services, request, 'session');
}

export function setSessionCookie(
  services: Services,
  reply: FastifyReply,
  { value, max_age_s }: { value: string; max_age_s: number },
): void {
  write(services, reply, { name: 'session', value, max_age_s });
}

export function clearSessionCookie(services: Services, reply: FastifyReply): void {
  write(services, reply, { name: 'session', value: '', max_age_s: 0 });
}

/**
 * Ties a sign-in that begins to this browser, by a cookie that all its tabs share and that is made when there is none.
 * Gives what is to be kept of it.
 */
export function tieToBrowser(
  services: Services,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  sign_in_id: string,
): string {
  const known = read(services, request, 'browser');
  const is_known = known !== null && BROWSER_FORM.test(known);
  const value = is_known ? known : Buffer.from(randomBytes(BROWSER_BYTES)).toString('base64url');
  if (!is_known) write(services, reply, { name: 'browser', value });
  return keptHash(services.keys, BROWSER_PURPOSE, sign_in_id, value);
}

/** Whether the request comes from the browser that the sign-in was tied to. */
export function isTiedBrowser(
  services: Services,
  request: FastifyRequest,
  { sign_in_id, kept }: { sign_in_id: string; kept: string },
): boolean {
  const value = read(services, request, 'browser') ?? '';
  return isKeptHash(services.keys, kept, BROWSER_PURPOSE, sign_in_id, value);
}

function read(services: Services, { headers }: FastifyRequest, name: CookieName): string | null {
  return parseCookie(headers.cookie ?? '')[fullName(services, name)] || null;
}

function write(
  services: Services,
  reply: FastifyReply,
  { name, value, max_age_s }: { name: CookieName; value: string; max_age_s?: number },
): void {
  reply.header(
    'Set-Cookie',
    stringifySetCookie({
      name: fullName(services, name),
      value,
      path: '/',
      httpOnly: true,
      // Not strict: /oauth/authorize is reached from other sites' pages.
      sameSite: 'lax',
      secure: isSecure(services),
      ...(max_age_s === undefined ? {} : { maxAge: max_age_s }),
    }),
  );
}

function fullName(services: Services, name: CookieName): string {
  return (isSecure(services) ? '__Host-' : '') + NAMES[name];
}

function isSecure(services: Services): boolean {
  return issuerUrl(services, 'base').startsWith('https:');
}
