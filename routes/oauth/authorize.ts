import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Goal } from '../../actors/oauth/browser_sign_in.js';
import { atBase, issuerOf } from '../../src/access/issuer.js';
import { emailAddress } from '../../src/access/request_schemas.js';
import { LIMITS } from '../../src/domain/limits.js';
import { isOauthError } from '../../src/domain/oauth_errors.js';
import type { Answer } from '../../src/edge/http/route.js';
import { SIGN_IN_PATHS } from '../../src/edge/pages/account_pages.js';
import {
  browserCookie,
  sessionCookie,
  setBrowserCookie,
  setSessionCookie,
} from '../../src/edge/pages/browser_cookies.js';
import { leadToSignIn, leave, sendBack } from '../../src/edge/pages/redirect.js';
import { authorize } from '../../src/features/oauth/authorization.js';
import { isSessionOf } from '../../src/features/oauth/browser_sessions.js';
import { beginSignIn, readSignIn } from '../../src/features/oauth/browser_sign_ins.js';
import { openRoute, type Route } from '../rows.js';
import type { Services } from '../services.js';
import { pressEmail, signInForm } from './sign_in.js';

/** Authorization in the browser. docs/rules.md, "OAuth: browser sign-in". */

const authorizationQuery = z.object({
  client_id: z.string().describe('Who asks.'),
  redirect_uri: z.string().describe('One that the client has registered.'),
  response_type: z.literal('code').describe('What is asked for: a code.'),
  code_challenge: z.string().describe('SHA-256 of the verifier, 43 characters of base64url.'),
  code_challenge_method: z.literal('S256').describe('How the challenge was made.'),
  scope: z.string().optional().describe('Names with spaces between them.'),
  resource: z.string().optional().describe('The address of the API, or of its MCP server (RFC 8707).'),
  state: z.string().optional().describe('Comes back as it was.'),
  prompt: z.string().optional().describe('none, login or select_account; others are ignored.'),
  installation_label: z
    .string()
    .max(LIMITS.installation_label_chars_max)
    .optional()
    .describe('What the connected app is called.'),
});

export const AUTHORIZE_ROUTES: readonly Route[] = [
  openRoute({
    method: 'GET',
    path: '/oauth/authorize',
    summary: 'Where an app sends a browser to have somebody sign in: the authorization code flow with PKCE.',
    notes:
      'People see pages. In the end the browser comes back to `redirect_uri` with `code`, or `error`, and with `state` and `iss`. Faults of the client or of its return address are told on a page.',
    credential: 'none',
    dialect: 'page',
    answer: 'redirect',
    reads: { query: authorizationQuery },
    async handler({ services, request, reply }) {
      // New authorizations are made at the present address only.
      if (issuerOf(services, request) === 'legacy') return leave(reply, atBase(services, request));
      const begun = await begin(services, request, reply, sessionCookie(services, request));
      return 'goal' in begun ? leadToSignIn(services, reply, begun.goal, begun) : begun.answered;
    },
  }),

  // The same of a page of ours that has asked for the address: the code is sent at once.
  openRoute({
    method: 'POST',
    path: SIGN_IN_PATHS.client,
    credential: 'none',
    dialect: 'page',
    takes: 'form',
    body: signInForm,
    async handler({ services, request, reply, body }) {
      // Another site's form gets as far as its link would: it has no code sent to anybody.
      if (request.headers['sec-fetch-site'] !== 'same-origin')
        return leave(reply, request.url.replace(SIGN_IN_PATHS.client, '/oauth/authorize'));
      const typed = emailAddress.safeParse(body.email ?? '');
      const known = sessionCookie(services, request);
      const goes_on = typed.success && (await isSessionOf(services, known, typed.data));
      const begun = await begin(services, request, reply, goes_on ? known : null);
      if (!('goal' in begun)) return begun.answered;
      const browser_cookie = begun.browser_cookie ?? browserCookie(services, request);
      if (begun.browser_cookie !== null) setBrowserCookie(services, reply, begun.browser_cookie);
      const open = await readSignIn(services, begun.id, { browser_cookie, leads_to: 'client' });
      return pressEmail({ services, request, reply, ...open }, body);
    },
  }),
];

type BegunSignIn = { goal: Goal } & Awaited<ReturnType<typeof beginSignIn>>;

/**
 * Begins the sign-in that an authorization request asks for. A request that needs none, or is wrong, is answered at
 * once.
 */
async function begin(
  services: Services,
  request: FastifyRequest,
  reply: FastifyReply,
  session_cookie: string | null,
): Promise<BegunSignIn | { answered: Answer }> {
  const result = await authorize(services, { url: request.url, session_cookie });
  if (isOauthError(result)) return { answered: result };
  setSessionCookie(services, reply, result.session_cookie);
  if ('answer' in result) return { answered: sendBack(services, reply, result.back, result.answer) };
  const { goal, signed_in } = result;
  const browser_cookie = browserCookie(services, request);
  return { goal, ...(await beginSignIn(services, { goal, signed_in, ip: request.ip, browser_cookie })) };
}
