import { parseCookie, stringifySetCookie } from 'cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { issuerUrl } from '../../access/issuer.js';
import type { AccessDeps } from '../../access/principal.js';

type Services = Pick<AccessDeps, 'addresses'>;

/**
 * The two cookies of our pages. Where we are served over https they are bound to this very host and never leave it
 * (`__Host-`); over plain http, which only a developer's own machine should be, a browser would drop such a name.
 */
const NAMES = { session: 'spool_session', browser: 'spool_browser' } as const;
type CookieName = keyof typeof NAMES;

/** The value of the browser session's cookie, as it came. */
export function sessionCookie(services: Services, request: FastifyRequest): string | null {
  return read(services, request, 'session');
}

/** Gives the browser its session's cookie; null gives none. */
export function setSessionCookie(
  services: Services,
  reply: FastifyReply,
  cookie: { value: string; max_age_s: number } | null,
): void {
  if (cookie !== null) write(services, reply, { name: 'session', ...cookie });
}

export function clearSessionCookie(services: Services, reply: FastifyReply): void {
  write(services, reply, { name: 'session', value: '', max_age_s: 0 });
}

/** The value of the cookie that all tabs of a browser share, as it came. */
export function browserCookie(services: Services, request: FastifyRequest): string | null {
  return read(services, request, 'browser');
}

export function setBrowserCookie(services: Services, reply: FastifyReply, value: string): void {
  write(services, reply, { name: 'browser', value });
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
