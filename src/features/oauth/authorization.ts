import type { Goal } from '../../../actors/oauth/browser_sign_in.js';
import { issuerUrl } from '../../access/issuer.js';
import type { Client } from '../../access/oauth_client.js';
import { partitionOfId } from '../../domain/ids.js';
import { isOauthError, type OauthError, oauthError } from '../../domain/oauth_errors.js';
import { randomId } from '../../engine/random/random.js';
import { deriveToken, randomSeed } from '../../engine/secrets/tokens.js';
import { readQuery, repeatProblem } from '../../engine/wire/form.js';
import type { FeatureServices } from '../services.js';
import { type AuthorizationRequest, authorizationRequest } from './authorization_request.js';
import {
  browserSessionOf,
  extendBrowserSession,
  type LiveBrowserSession,
  type SessionCookie,
} from './browser_sessions.js';
import type { ReturnAddress } from './browser_sign_ins.js';
import type { ClientDocuments } from './client_documents.js';
import type { Clients } from './clients/clients.js';
import { isRedirectOf } from './clients/clients.js';
import { isDocumentId } from './clients/document_client.js';

/** The authorization code flow, up to the page that the person sees. docs/rules.md, "OAuth: browser sign-in". */

const LOGIN_REQUIRED = oauthError('login_required', 'Nobody is signed in here in a way that this client can use.');

/**
 * The outcome of a request: an answer to the client, or a sign-in. `session_cookie`: the cookie that the browser gets,
 * if any.
 */
type Authorization = { session_cookie: SessionCookie | null } & (
  | { back: ReturnAddress; answer: { code: string } | OauthError }
  | { goal: Goal; signed_in: { session_id: string; email: string } | null }
);

/** A request whose client and return address are known to be right: errors go to the client. */
type KnownRequest = { client: Client; asked: AuthorizationRequest; back: ReturnAddress };

/** Checks a request by the query of its address. Faults of the client or of its return address are shown on a page. */
export async function authorize(
  services: Pick<FeatureServices, 'actors' | 'addresses' | 'clock' | 'keys'> & {
    clients: Clients;
    client_documents: ClientDocuments;
  },
  { url, session_cookie }: { url: string; session_cookie: string | null },
): Promise<Authorization | OauthError> {
  const parameters = readQuery(url);
  if (parameters === null) return oauthError('invalid_request', 'The address of this page is malformed.');
  const { values, repeated } = parameters;
  const { client_id, redirect_uri, state = null } = values;
  if (
    client_id === undefined ||
    redirect_uri === undefined ||
    repeated.includes('client_id') ||
    repeated.includes('redirect_uri')
  ) {
    return oauthError(
      'invalid_request',
      'The app must say once who it is (client_id) and where to return to (redirect_uri).',
    );
  }
  const client = isDocumentId(client_id)
    ? await services.client_documents.find(client_id)
    : await services.clients.find(client_id);
  if (client === null) return oauthError('invalid_request', 'This app is not known here.');
  if (isOauthError(client)) return client;
  if (client.native)
    return oauthError('unauthorized_client', 'This app signs people in by itself, not in the browser.');
  if (!isRedirectOf(client, redirect_uri)) {
    return oauthError('invalid_request', 'The app has not registered the address that it wants to return to.');
  }
  // As long as the head of a request can be: the listener bounds that.
  const back = { redirect_uri, state: repeated.includes('state') ? null : state };
  const twice = repeatProblem(parameters);
  if (twice !== null) return sentBack(back, oauthError('invalid_request', twice));
  const asked = authorizationRequest(client, values, issuerUrl(services, 'base'));
  if (isOauthError(asked)) return sentBack(back, asked);
  return prompted(services, { client, asked, back }, { prompt: values.prompt?.split(' ') ?? [], session_cookie });
}

/** Applies the table of `prompt` values; others are ignored. */
async function prompted(
  services: Pick<FeatureServices, 'actors' | 'clock' | 'keys'>,
  wanted: KnownRequest,
  { prompt, session_cookie: known }: { prompt: string[]; session_cookie: string | null },
): Promise<Authorization> {
  const { client, back } = wanted;
  const [none, login, select] = ['none', 'login', 'select_account'].map((value) => prompt.includes(value));
  if (none && (login || select)) {
    return sentBack(back, oauthError('invalid_request', 'prompt=none goes with no other prompt.'));
  }
  // Third-party clients get a code prompt and a consent page every time: a session is nothing to them.
  if (none && client.party === 'third') return sentBack(back, LOGIN_REQUIRED);
  const uses_session = client.party === 'first' && !login;
  const live = uses_session ? await browserSessionOf(services, known) : null;
  const session_cookie = live === null ? null : await extendBrowserSession(services, live.id);
  if (live !== null && !select) {
    const code = await grantFromSession(services, wanted, live);
    return { session_cookie, back, answer: { code } };
  }
  if (none) return { session_cookie, back, answer: LOGIN_REQUIRED };
  const signed_in = live === null ? null : { session_id: live.id, email: live.session.email };
  return { session_cookie, goal: goalOf(wanted), signed_in };
}

function sentBack(back: ReturnAddress, error: OauthError): Authorization {
  return { session_cookie: null, back, answer: error };
}

/** The code of a grant without a page: the person is signed in and the client is first-party. */
async function grantFromSession(
  services: Pick<FeatureServices, 'actors' | 'clock' | 'keys'>,
  { client, asked, back }: KnownRequest,
  { session, account }: LiveBrowserSession,
): Promise<string> {
  const { actors, keys, clock } = services;
  const { challenge, ...request_of_grant } = asked;
  const id = randomId({ partition: partitionOfId(account.id), now_ms: clock.now() });
  const own = randomSeed(keys);
  const issued_under = { account: account.epochs.account, grants: session.issued_under.grants };
  await actors.grant(id).open(
    {
      grant: {
        ...request_of_grant,
        ...own,
        client_id: client.client_id,
        account_id: account.id,
        issuer: 'base',
        issued_under,
        verified_at_ms: session.verified_at_ms,
        code: { challenge, redirect_uri: back.redirect_uri },
      },
    },
    [{ fence: 'epoch', account_id: account.id, epoch: 'grants', value: issued_under.grants }],
  );
  return deriveToken(keys, 'authorization_code', { ...own, id, counter: 0 });
}

/** The whole request, in the form that a sign-in stores. */
function goalOf({ client, asked, back }: KnownRequest): Goal {
  const { challenge, ...request_of_grant } = asked;
  return {
    to: 'client',
    request: {
      ...request_of_grant,
      client_id: client.client_id,
      issuer: 'base',
      code: { challenge, redirect_uri: back.redirect_uri },
    },
    client_name: client.name,
    state: back.state,
    needs_consent: client.party === 'third',
  };
}
