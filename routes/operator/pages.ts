import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { Refused, refuse } from '../../src/domain/refusals.js';
import {
  clearOperatorCookie,
  countSignInTry,
  isOperatorToken,
  isOwnPage,
  isSignedIn,
  setOperatorCookie,
} from '../../src/edge/operations/operator_session.js';
import { OPERATOR_ENTRIES } from '../../src/edge/pages/app_files.js';
import { ASSETS } from '../../src/edge/pages/assets.js';
import { renderTemplate } from '../../src/edge/pages/page.js';
import { leave } from '../../src/edge/pages/redirect.js';
import { openRoute, type Route } from '../rows.js';
import type { Services } from '../services.js';

/**
 * The operators' pages: one document, which a script (app/operator) fills from the routes under /ops. Without the cookie
 * each leads to the sign-in.
 */

const HEALTH = '/';
/** `app/operator/views.ts` says what each shows. */
const VIEWS = [HEALTH, '/overview', '/actors', '/accounts', '/devices', '/endpoints', '/content', '/mails', '/entity'];

const SIGN_IN = '/sign-in';
const TOKEN_CHARS_MAX = 1_000;
const FOREIGN = refuse('FORBIDDEN', 'Only a page of this operator port may do this.');

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

export const OPERATOR_PAGE_ROUTES: readonly Route[] = [
  ...VIEWS.map((path) =>
    openRoute({
      method: 'GET',
      path,
      credential: 'none',
      dialect: 'page',
      async handler({ services, request, reply }) {
        if (isSignedIn(services, request)) return sendView(services, reply);
        return leave(reply, `${SIGN_IN}?to=${encodeURIComponent(request.url)}`);
      },
    }),
  ),

  openRoute({
    method: 'GET',
    path: SIGN_IN,
    credential: 'none',
    dialect: 'page',
    query: z.object({ to: z.string().max(2_000).optional().catch(undefined) }),
    async handler({ services, request, reply, query }) {
      const to = ownAddress(query.to);
      return isSignedIn(services, request) ? leave(reply, to) : sendSignIn(reply, { to, problem: null });
    },
  }),

  openRoute({
    method: 'POST',
    path: SIGN_IN,
    credential: 'none',
    dialect: 'page',
    takes: 'form',
    body: z.object({ token: z.string().max(TOKEN_CHARS_MAX).default(''), to: z.string().max(2_000).optional() }),
    handler: async ({ services, request, reply, body }) => signIn(services, { request, reply }, body),
  }),

  openRoute({
    method: 'POST',
    path: '/sign-out',
    credential: 'none',
    dialect: 'page',
    async handler({ request, reply }) {
      if (!isOwnPage(request)) throw new Refused(FOREIGN);
      clearOperatorCookie(request, reply);
      return leave(reply, SIGN_IN);
    },
  }),
];

async function signIn(
  services: Services,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  { token, to: wanted }: { token: string; to?: string | undefined },
) {
  if (!isOwnPage(request)) throw new Refused(FOREIGN);
  const to = ownAddress(wanted);
  if (isOperatorToken(services, token.trim())) {
    setOperatorCookie(services, request, reply);
    return leave(reply, to);
  }
  const wait_s = await countSignInTry(services, request);
  if (wait_s !== null) {
    reply.code(429).header('Retry-After', String(wait_s));
    return sendSignIn(reply, { to, problem: `Too many tries. Wait ${wait_s} seconds, then try again.` });
  }
  reply.code(401);
  return sendSignIn(reply, { to, problem: 'This is not the operator token.' });
}

/** The page after sign-in: always one of this server's own, whatever the address says. */
function ownAddress(wanted: string | undefined): string {
  const base = 'http://operator';
  if (wanted === undefined || !URL.canParse(wanted, base)) return HEALTH;
  const { origin, pathname, search } = new URL(wanted, base);
  return origin === base && VIEWS.includes(pathname) ? pathname + search : HEALTH;
}

function sendView({ settings }: Services, reply: FastifyReply) {
  return send(reply, 'operator', { ...OPERATOR_ENTRIES, has_inbox: settings.smtp_url === null });
}

function sendSignIn(reply: FastifyReply, { to, problem }: { to: string; problem: string | null }) {
  const stylesheets = [ASSETS.basics.path, ASSETS.stylesheet.path];
  const title = `${problem === null ? '' : 'Error: '}Sign in · Spool operators`;
  return send(reply, 'operator_sign_in', { title, to, problem, stylesheets });
}

function send(reply: FastifyReply, template: 'operator' | 'operator_sign_in', data: object) {
  return (
    reply
      .header('Cache-Control', 'no-store')
      .header('Content-Security-Policy', POLICY)
      // Our own forms must say where they come from.
      .header('Referrer-Policy', 'same-origin')
      .header('X-Frame-Options', 'DENY')
      .type('text/html; charset=utf-8')
      .send(renderTemplate(template, { ...data, icon: ASSETS.icon.path }))
  );
}
