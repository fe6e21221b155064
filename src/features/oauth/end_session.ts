import { type OauthError, oauthError } from '../../domain/oauth_errors.js';
import { readQuery } from '../../engine/wire/form.js';
import type { FeatureServices } from '../services.js';
import { endBrowserSession } from './browser_sessions.js';
import type { Clients } from './clients/clients.js';

/**
 * Ends the browser session behind a cookie, as the query of an address asks, and returns where to redirect. Rules C-050
 * to C-054.
 */
export async function endSessionAndReturn(
  services: Pick<FeatureServices, 'actors' | 'keys'> & { clients: Clients },
  { url, session_cookie }: { url: string; session_cookie: string | null },
): Promise<{ return_to: string } | OauthError> {
  const parameters = readQuery(url);
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
  await endBrowserSession(services, session_cookie);
  if (state === undefined) return { return_to: address };
  const back = new URL(address);
  back.searchParams.set('state', state);
  return { return_to: back.href };
}

/**
 * The origin of a web address; null for others, since all other schemes share the origin `null`. The address is sent in
 * a header unchanged: only visible ASCII, and no backslash, which browsers read as a slash.
 */
function webOrigin(address: string): string | null {
  if (!/^https?:\/\/[!-[\]-~]+$/i.test(address) || !URL.canParse(address)) return null;
  const { origin, username, password } = new URL(address);
  return username === '' && password === '' ? origin : null;
}
