import { z } from 'zod';
import { INVALID_SESSION } from '../../actors/oauth/auth_session.js';
import { atBase, issuerOf, issuerUrl } from '../../src/access/issuer.js';
import { emailAddress } from '../../src/access/request_schemas.js';
import { partitionOfId } from '../../src/domain/ids.js';
import { LIMITS } from '../../src/domain/limits.js';
import { isOauthError, type OauthError, oauthError } from '../../src/domain/oauth_errors.js';
import { orNull } from '../../src/domain/refusals.js';
import type { Answer } from '../../src/edge/http/route.js';
import { randomId, randomPartition } from '../../src/engine/runtime/random.js';
import { deriveToken, isGenuine, parseToken, randomSeed } from '../../src/engine/secrets/tokens.js';
import { knownEmail } from '../../src/features/accounts/account_of_email.js';
import { passesCaptcha } from '../../src/features/accounts/captcha.js';
import { authorizationRequest } from '../../src/features/oauth/authorization_request.js';
import { accountBehind, newCode, triedCode } from '../../src/features/oauth/sign_in_code.js';
import { type Call, openRoute, type Route } from '../rows.js';
import type { Services } from '../services.js';

/** Native sign-in of first-party apps. Rules C-081 to C-098. */

const text = z.string().optional();
const form = z.object({
  client_id: text.describe('svc-ios or svc-mac.'),
  response_type: text.describe('code.'),
  code_challenge: text.describe('SHA-256 of the verifier, 43 characters of base64url.'),
  code_challenge_method: text.describe('S256.'),
  email: text.describe('Who signs in; the code goes there.'),
  scope: text.describe('Names with spaces between them; all of the client when absent.'),
  resource: text.describe('The address of the API, or of its MCP server (RFC 8707).'),
  installation_label: text.describe('What the connected app is called.'),
  captcha_token: text.describe('Where a CAPTCHA is configured: the token that its widget gave.'),
  auth_session: text.describe('In the second request: what the first one was answered with.'),
  otp: text.describe('In the second request: the code of the mail.'),
});
type Form = z.output<typeof form>;

const NOT_NATIVE = oauthError('unauthorized_client', 'This client may not sign people in natively.');
const CAPTCHA_FAILED = oauthError('invalid_request', 'captcha_token must be the token of a CAPTCHA that was passed.');

export const CHALLENGE_ROUTES: readonly Route[] = [
  openRoute({
    method: 'POST',
    path: '/oauth/authorize-challenge',
    summary: 'Signs a person in without a browser, in two steps, for our own native apps.',
    notes:
      'The first request names the client, the challenge and the email, and is answered with 403 `insufficient_authorization`, whose `auth_session` goes into the second one together with the emailed `otp`. Five wrong codes, or ten minutes, end it. At an earlier address of the service the answer is 307 to the present one.',
    credential: 'none',
    rate: 'native_steps',
    dialect: 'oauth',
    takes: 'form',
    body: form,
    answer: z.strictObject({
      authorization_code: z.string().describe('What the token endpoint exchanges, within a minute.'),
    }),
    example: {
      client_id: 'the-client',
      response_type: 'code',
      code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
      code_challenge_method: 'S256',
      email: 'ann@example.com',
    },
    refusals: [
      'unauthorized_client',
      'invalid_scope',
      'invalid_target',
      'invalid_session',
      'insufficient_authorization',
    ],
    async handler(call) {
      const { services, request, reply, body } = call;
      // New sign-ins are made at the present address only; the method and the form stay.
      if (issuerOf(services, request) === 'legacy') {
        return reply.redirect(atBase(services, request), 307);
      }
      return body.auth_session === undefined && body.otp === undefined ? begin(call) : finish(call);
    },
  }),
];

type NativeCall = Call<null, Form, undefined>;

/** Step 1: a code is mailed whether or not there is an account. */
async function begin({ services, request, body }: NativeCall): Promise<Answer> {
  const { clients, actors, keys, clock, settings } = services;
  if (body.client_id === undefined) return oauthError('invalid_request', 'client_id is missing.');
  const client = await clients.find(body.client_id);
  if (client?.native !== true) return NOT_NATIVE;
  const asked = authorizationRequest(client, body, issuerUrl(services, 'base'));
  if (isOauthError(asked)) {
    // There is no redirect that a response type could matter to.
    return asked.error === 'unsupported_response_type' ? { ...asked, error: 'invalid_request' } : asked;
  }
  const typed = emailAddress.safeParse(body.email);
  if (!typed.success) return oauthError('invalid_request', 'email must be an email address.');
  const passed = await passesCaptcha(settings, { token: body.captcha_token, ip: request.ip });
  if (!passed) return CAPTCHA_FAILED;

  const email = await knownEmail(services, typed.data);
  const id = randomId({ partition: randomPartition(), now_ms: clock.now() });
  const code = await newCode(services, request.ip, { sign_in_id: id, email });
  const { challenge, ...request_of_grant } = asked;
  const opened = await actors.authSession(id).open({
    session: {
      email,
      request: {
        ...request_of_grant,
        client_id: client.client_id,
        issuer: 'base',
        code: { challenge, redirect_uri: null },
      },
      ...randomSeed(keys),
    },
    code,
  });
  void services.mails.sendDue(partitionOfId(id)); // the answer does not wait for it
  const auth_session = deriveToken(keys, 'auth_session', { ...opened, id, counter: 0 });
  const expires_in = LIMITS.auth_session_life_ms / 1000;
  return enterCode({ auth_session, text: 'Enter the code that was emailed.', expires_in });
}

/** Step 2: the code is shown, once. */
async function finish({ services, request, body }: NativeCall): Promise<Answer> {
  const { actors, keys, clients } = services;
  if (body.auth_session === undefined) return oauthError('invalid_request', 'auth_session is missing.');
  if (body.otp === undefined || !/^\d{6}$/.test(body.otp)) {
    return oauthError('invalid_request', 'otp must be six digits.');
  }
  const parsed = parseToken('auth_session', body.auth_session);
  if (parsed === null) return INVALID_SESSION;
  const session = await orNull(actors.authSession(parsed.id).view(), 'NOT_FOUND');
  if (session === null) return INVALID_SESSION;
  if (!isGenuine(keys, 'auth_session', parsed, session)) return INVALID_SESSION;
  const { email, request: of_grant } = session;
  if ((await clients.find(of_grant.client_id)) === null) return NOT_NATIVE;

  const tried = await triedCode(services, request.ip, { sign_in_id: parsed.id, email, code: body.otp });
  const judged = await actors.authSession(parsed.id).try_code({ tried, client_id: body.client_id ?? null });
  if (isOauthError(judged)) {
    const { error, error_description: text } = judged;
    if (error !== 'insufficient_authorization') return judged;
    const left_ms = session.created_at_ms + LIMITS.auth_session_life_ms - services.clock.now();
    return enterCode({ auth_session: body.auth_session, text, expires_in: Math.ceil(left_ms / 1000) });
  }
  return complete(services, request, { id: parsed.id, email });
}

/** Opens the grant in the account's home. Until that is done, the same right code can be sent again. */
async function complete(
  services: Services,
  request: NativeCall['request'],
  { id, email }: { id: string; email: string },
): Promise<Answer> {
  const { actors, keys, clock } = services;
  const account = await accountBehind(services, request.ip, email);
  const grant_id = randomId({ partition: partitionOfId(account.id), now_ms: clock.now() });
  const own = randomSeed(keys);
  const born = { account: account.lives.account, grants: account.lives.grants };
  const completed = await actors.downstream
    .authSession(id)
    .complete({ grant_id, owner: { account_id: account.id, born, ...own } });
  if (isOauthError(completed)) return completed;
  return { authorization_code: deriveToken(keys, 'authorization_code', { ...own, id: grant_id, counter: 0 }) };
}

function enterCode({ text, ...extra }: { auth_session: string; text: string; expires_in: number }): OauthError {
  return oauthError('insufficient_authorization', text, { extra });
}
