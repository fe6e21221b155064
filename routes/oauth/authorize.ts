import { z } from 'zod';
import { atBase, issuerOf } from '../../src/access/issuer.js';
import { LIMITS } from '../../src/domain/limits.js';
import { isOauthError } from '../../src/domain/oauth_errors.js';
import { browserCookie, sessionCookie, setSessionCookie } from '../../src/edge/pages/browser_cookies.js';
import { leadToSignIn, leave, sendBack } from '../../src/edge/pages/redirect.js';
import { authorize } from '../../src/features/oauth/authorization.js';
import { beginSignIn } from '../../src/features/oauth/browser_sign_ins.js';
import { openRoute, type Route } from '../rows.js';

/** The browser's way in. docs/rules.md, "OAuth: browser sign-in". */

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
      const session_cookie = sessionCookie(services, request);
      const result = await authorize(services, { url: request.url, session_cookie });
      if (isOauthError(result)) return result;
      setSessionCookie(services, reply, result.session_cookie);
      if ('answer' in result) return sendBack(services, reply, result.back, result.answer);
      const { goal, signed_in } = result;
      const browser_cookie = browserCookie(services, request);
      const begun = await beginSignIn(services, { goal, signed_in, ip: request.ip, browser_cookie });
      return leadToSignIn(services, reply, goal, begun);
    },
  }),
];
