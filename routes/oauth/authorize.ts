import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Goal } from '../../actors/oauth/browser_sign_in.js';
import { atBase, issuerOf, issuerUrl } from '../../src/access/issuer.js';
import type { Client } from '../../src/access/oauth_client.js';
import { partitionOfId } from '../../src/domain/ids.js';
import { LIMITS } from '../../src/domain/limits.js';
import { isOauthError, oauthError } from '../../src/domain/oauth_errors.js';
import type { Answer } from '../../src/edge/http/route.js';
import { randomId } from '../../src/engine/runtime/random.js';
import { deriveToken, randomSeed } from '../../src/engine/secrets/tokens.js';
import { readQuery, repeatProblem } from '../../src/engine/wire/form.js';
import { type AuthorizationRequest, authorizationRequest } from '../../src/features/oauth/authorization_request.js';
import {
  browserSessionOf,
  extendBrowserSession,
  type LiveBrowserSession,
} from '../../src/features/oauth/browser_sessions.js';
import { beginSignIn } from '../../src/features/oauth/browser_sign_ins.js';
import { isRedirectOf } from '../../src/features/oauth/clients/clients.js';
import { leave, type ReturnAddress, sendBack } from '../../src/features/oauth/redirect.js';
import { type Call, openRoute, type Route } from '../rows.js';
import type { Services } from '../services.js';

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

const LOGIN_REQUIRED = oauthError('login_required', 'Nobody is signed in here in a way that this client can use.');

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
    handler: (call) => authorize(call),
  }),
];

/** A request whose client and return address are known to be right: from here on, errors go to the client. */
type Request = { client: Client; asked: AuthorizationRequest; back: ReturnAddress };

async function authorize({ services, request, reply }: Call<null, undefined, undefined>): Promise<Answer> {
  // New authorizations are made at the present address only.
  if (issuerOf(services, request) === 'legacy') return leave(reply, atBase(services, request));
  const parameters = readQuery(request.url);
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
  const client = await services.clients.find(client_id);
  if (client === null) return oauthError('invalid_request', 'This app is not known here.');
  if (client.native)
    return oauthError('unauthorized_client', 'This app signs people in by itself, not in the browser.');
  if (!isRedirectOf(client, redirect_uri)) {
    return oauthError('invalid_request', 'The app has not registered the address that it wants to return to.');
  }
  // As long as the head of a request can be: the listener bounds that.
  const back = { redirect_uri, state: repeated.includes('state') ? null : state };
  const twice = repeatProblem(parameters);
  if (twice !== null) return sendBack(services, reply, back, oauthError('invalid_request', twice));
  const asked = authorizationRequest(client, values, issuerUrl(services, 'base'));
  if (isOauthError(asked)) return sendBack(services, reply, back, asked);
  return prompted(services, { request, reply }, { client, asked, back }, values.prompt?.split(' ') ?? []);
}

/** What the table of `prompt` values says; others are ignored. */
async function prompted(
  services: Services,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  wanted: Request,
  prompt: string[],
): Promise<Answer> {
  const { client, back } = wanted;
  const [none, login, select] = ['none', 'login', 'select_account'].map((value) => prompt.includes(value));
  if (none && (login || select)) {
    return sendBack(services, reply, back, oauthError('invalid_request', 'prompt=none goes with no other prompt.'));
  }
  // Third-party clients get a code prompt and a consent page every time: a session is nothing to them.
  if (none && client.party === 'third') return sendBack(services, reply, back, LOGIN_REQUIRED);
  const uses_session = client.party === 'first' && !login;
  const live = uses_session ? await browserSessionOf(services, request) : null;
  if (live !== null) {
    await extendBrowserSession(services, reply, live);
    if (!select) return grantFromSession(services, reply, wanted, live);
  }
  if (none) return sendBack(services, reply, back, LOGIN_REQUIRED);
  const offered = live === null ? null : { session_id: live.id, email: live.session.email };
  return beginSignIn(services, { request, reply }, goalOf(wanted), offered);
}

/** No page: the person is signed in and the client is ours. */
async function grantFromSession(
  services: Services,
  reply: FastifyReply,
  { client, asked, back }: Request,
  { session, account }: LiveBrowserSession,
): Promise<Answer> {
  const { actors, keys, clock } = services;
  const { challenge, ...request_of_grant } = asked;
  const id = randomId({ partition: partitionOfId(account.id), now_ms: clock.now() });
  const own = randomSeed(keys);
  const born = { account: account.lives.account, grants: session.born.grants };
  await actors.grant(id).open(
    {
      grant: {
        ...request_of_grant,
        ...own,
        client_id: client.client_id,
        account_id: account.id,
        issuer: 'base',
        born,
        verified_at_ms: session.verified_at_ms,
        code: { challenge, redirect_uri: back.redirect_uri },
      },
    },
    [{ fence: 'epoch', account_id: account.id, epoch: 'grants', value: born.grants }],
  );
  return sendBack(services, reply, back, { code: deriveToken(keys, 'authorization_code', { ...own, id, counter: 0 }) });
}

/** The whole request, as it is kept meanwhile. */
function goalOf({ client, asked, back }: Request): Goal {
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
