import { z } from 'zod';
import { isOauthError } from '../../src/domain/oauth_errors.js';
import { clearSessionCookie, sessionCookie } from '../../src/edge/pages/browser_cookies.js';
import { leave } from '../../src/edge/pages/redirect.js';
import { endSessionAndReturn } from '../../src/features/oauth/end_session.js';
import { openRoute, type Route } from '../rows.js';

const endSessionQuery = z.object({
  client_id: z.string().describe('The app that sends the person here.'),
  post_logout_redirect_uri: z.string().describe('Of the same origin as an address that the client has registered.'),
  state: z.string().optional().describe('Comes back as it was.'),
});

/** Ends the browser session and goes back. Rules C-050 to C-054. Grants and app sessions stay. */
export const END_SESSION_ROUTES: readonly Route[] = [
  openRoute({
    method: 'GET',
    path: '/oauth/end-session',
    summary: 'Ends the browser session and goes back to the app.',
    notes: 'Grants and app sessions stay.',
    credential: 'none',
    dialect: 'page',
    answer: 'redirect',
    reads: { query: endSessionQuery },
    async handler({ services, request, reply }) {
      const session_cookie = sessionCookie(services, request);
      const ended = await endSessionAndReturn(services, { url: request.url, session_cookie });
      if (isOauthError(ended)) return ended;
      clearSessionCookie(services, reply);
      return leave(reply, ended.return_to);
    },
  }),
];
