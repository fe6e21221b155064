import { z } from 'zod';
import { oauthError } from '../../src/domain/oauth_errors.js';
import { readQuery } from '../../src/engine/wire/form.js';
import { endBrowserSession } from '../../src/features/oauth/browser_sessions.js';
import { clearSessionCookie } from '../../src/features/oauth/cookies.js';
import { leave } from '../../src/features/oauth/redirect.js';
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
      const parameters = readQuery(request.url);
      const { client_id, post_logout_redirect_uri: address, state } = parameters?.values ?? {};
      if (client_id === undefined || address === undefined || parameters?.repeated.length !== 0) {
        return oauthError('invalid_request', 'client_id and post_logout_redirect_uri must each be given once.');
      }
      const client = await services.clients.find(client_id);
      if (client === null) return oauthError('invalid_request', 'This app is not known here.');
      const origin = webOrigin(address);
      if (origin === null || !client.redirect_uris.some((registered) => webOrigin(registered) === origin)) {
        return oauthError('invalid_request', 'The app may not return to this address.');
      }
      await endBrowserSession(services, request);
      clearSessionCookie(services, reply);
      if (state === undefined) return leave(reply, address);
      const back = new URL(address);
      back.searchParams.set('state', state);
      return leave(reply, back.href);
    },
  }),
];

/**
 * The origin of a web address; null for anything else, since all other schemes share the origin `null`. The address goes
 * into a header as it is: visible ASCII alone, and no backslash, which browsers read as a slash.
 */
function webOrigin(address: string): string | null {
  if (!/^https?:\/\/[!-[\]-~]+$/i.test(address) || !URL.canParse(address)) return null;
  const { origin, username, password } = new URL(address);
  return username === '' && password === '' ? origin : null;
}
