import { fileURLToPath } from 'node:url';
import { Eta } from 'eta';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { Refused, refuse } from '../../src/domain/refusals.js';
import { openRoute, type Route } from '../../src/edge/http/route.js';
import {
  clearOperatorCookie,
  isOperatorToken,
  isOwnPage,
  isSignedIn,
  setOperatorCookie,
} from '../../src/edge/operations/operator_session.js';
import { ASSETS } from '../../src/edge/pages/assets.js';
import { networkOf } from '../../src/engine/limits/rate_limits.js';
import { leave } from '../../src/features/oauth/redirect.js';
import type { Services } from '../../src/host/services.js';
import { operatorAsset } from './page_assets.js';

/**
 * The operators' pages: a shell made here, which one small script fills from the routes under /ops. Without the cookie
 * each leads to the sign-in.
 */

/** `charts`: the page draws, and loads what it draws with. */
const VIEWS = {
  overview: { path: '/', title: 'Overview', charts: true },
  actors: { path: '/actors', title: 'Actors', charts: false },
  accounts: { path: '/accounts', title: 'Accounts', charts: false },
  devices: { path: '/devices', title: 'Devices', charts: false },
  endpoints: { path: '/endpoints', title: 'Endpoints', charts: false },
  content: { path: '/content', title: 'Content', charts: false },
  inbox: { path: '/mails', title: 'Inbox', charts: false },
  entity: { path: '/entity', title: 'Entity', charts: false },
} as const;
type View = keyof typeof VIEWS;

const STYLES = [ASSETS.basics.path, operatorAsset('operator.css')];
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

const templates = new Eta({
  views: fileURLToPath(new URL('./page', import.meta.url)),
  cache: true,
  autoEscape: true,
});

export const OPERATOR_PAGE_ROUTES: readonly Route[] = [
  ...(Object.keys(VIEWS) as View[]).map((view) =>
    openRoute({
      method: 'GET',
      path: VIEWS[view].path,
      credential: 'none',
      dialect: 'page',
      async handler({ services, request, reply }) {
        if (isSignedIn(services, request)) return sendView(services, reply, view);
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
  const wait_s = await services.operator_tries.take('operator_sign_ins', networkOf(request.ip));
  if (wait_s !== null) {
    reply.code(429).header('Retry-After', String(wait_s));
    return sendSignIn(reply, { to, problem: `Too many tries. Wait ${wait_s} seconds, then try again.` });
  }
  reply.code(401);
  return sendSignIn(reply, { to, problem: 'This is not the operator token.' });
}

/** Where the sign-in leads to: one of our own pages, whatever the address says. */
function ownAddress(wanted: string | undefined): string {
  const base = 'http://operator';
  if (wanted === undefined || !URL.canParse(wanted, base)) return VIEWS.overview.path;
  const { origin, pathname, search } = new URL(wanted, base);
  const is_own = origin === base && Object.values(VIEWS).some(({ path }) => path === pathname);
  return is_own ? pathname + search : VIEWS.overview.path;
}

function sendView({ settings }: Services, reply: FastifyReply, view: View) {
  const shown = (Object.keys(VIEWS) as View[]).filter((one) => one !== 'inbox' || settings.smtp_url === null);
  const { title, charts } = VIEWS[view];
  return send(reply, 'shell', {
    title,
    script: operatorAsset(`${view}.js`),
    styles: [...(charts ? [operatorAsset('uplot.css')] : []), ...STYLES],
    plot: charts ? operatorAsset('uplot.js') : null,
    links: shown
      .filter((one) => one !== 'entity')
      .map((one) => ({ path: VIEWS[one].path, title: VIEWS[one].title, is_here: one === view })),
  });
}

function sendSignIn(reply: FastifyReply, { to, problem }: { to: string; problem: string | null }) {
  return send(reply, 'sign_in', { title: 'Sign in', to, problem, styles: STYLES });
}

function send(reply: FastifyReply, template: 'shell' | 'sign_in', data: object) {
  return (
    reply
      .header('Cache-Control', 'no-store')
      .header('Content-Security-Policy', POLICY)
      // Our own forms must say where they come from.
      .header('Referrer-Policy', 'same-origin')
      .header('X-Frame-Options', 'DENY')
      .type('text/html; charset=utf-8')
      .send(templates.render(`./${template}`, { ...data, icon: ASSETS.icon.path }))
  );
}
