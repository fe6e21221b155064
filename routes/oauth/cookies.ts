import { parseCookie, stringifySetCookie } from 'cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { drawBytes } from '../../src/draw.js';
import type { Services } from '../../src/services.js';
import { issuerUrl } from './issuer.js';

/**
 * The two cookies of our pages. Where we are served over https they are bound to this very host and never leave it
 * (`__Host-`); over plain http, which only a developer's own machine should be, a browser would drop such a name.
 */
const NAMES = { session: 'spool_session', browser: 'spool_browser' } as const;
type CookieName = keyof typeof NAMES;

const BROWSER_FORM = /^[A-Za-z0-9_-]{22}$/;

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

/** What ties a sign-in under way to this browser: a cookie that all its tabs share, made when there is none. */
export function browserCookie(services: Services, request: FastifyRequest, reply: FastifyReply): string {
  const known = read(services, request, 'browser');
  if (known !== null && BROWSER_FORM.test(known)) return known;
  const value = Buffer.from(drawBytes(16)).toString('base64url');
  write(services, reply, { name: 'browser', value });
  return value;
}

/** As it came, for pages that follow the first. */
export function knownBrowserCookie(services: Services, request: FastifyRequest): string | null {
  return read(services, request, 'browser');
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
