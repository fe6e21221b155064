import { INVALID_SESSION } from '../../../actors/oauth/auth_session.js';
import type { TriedCode } from '../../../actors/oauth/emailed_code.js';
import { issuerUrl } from '../../access/issuer.js';
import { emailAddress } from '../../access/request_schemas.js';
import { partitionOfId } from '../../domain/ids.js';
import { LIMITS } from '../../domain/limits.js';
import { isOauthError, type OauthError, oauthError } from '../../domain/oauth_errors.js';
import { orNull } from '../../domain/refusals.js';
import { typedCode } from '../../domain/typed_code.js';
import { randomId, randomPartition } from '../../engine/random/random.js';
import { deriveToken, isGenuine, parseToken, randomSeed } from '../../engine/secrets/tokens.js';
import { passesCaptcha } from '../accounts/captcha.js';
import type { FeatureServices } from '../services.js';
import { type AuthorizationParameters, authorizationRequest } from './authorization_request.js';
import type { Clients } from './clients/clients.js';
import { accountBehind, type CodeSender, newCode, triedCode } from './sign_in_code.js';

/** Native sign-in of first-party apps, in two steps. Rules C-081 to C-098. */

const NOT_NATIVE = oauthError('unauthorized_client', 'This client may not sign people in natively.');
const CAPTCHA_FAILED = oauthError('invalid_request', 'captcha_token must be the token of a CAPTCHA that was passed.');

/** The request of an app: in the second step `auth_session` and `otp`, in the first one everything else. */
type NativeSignInQuery = AuthorizationParameters &
  Partial<Record<'client_id' | 'email' | 'captcha_token' | 'auth_session' | 'otp', string | undefined>> &
  CodeSender;

type NativeSignInResult = { authorization_code: string } | OauthError;

/** Takes the requested step. After the first one the answer is `insufficient_authorization`. */
export async function signInNatively(
  services: Pick<FeatureServices, 'actors' | 'addresses' | 'clock' | 'keys' | 'mail' | 'mails' | 'settings'> & {
    clients: Clients;
  },
  query: NativeSignInQuery,
): Promise<NativeSignInResult> {
  const is_first = query.auth_session === undefined && query.otp === undefined;
  return is_first ? sendCode(services, query) : enterCode(services, query);
}

/** Step 1: mails a code, whether or not there is an account. */
async function sendCode(
  services: Pick<FeatureServices, 'actors' | 'addresses' | 'clock' | 'keys' | 'mail' | 'mails' | 'settings'> & {
    clients: Clients;
  },
  body: NativeSignInQuery,
): Promise<OauthError> {
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
  const passed = await passesCaptcha(settings, { token: body.captcha_token, ip: body.ip });
  if (!passed) return CAPTCHA_FAILED;

  const email = typed.data;
  const id = randomId({ partition: randomPartition(), now_ms: clock.now() });
  const code = await newCode(services, body, { sign_in_id: id, email });
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
  services.mails.due.offerPartitions([partitionOfId(id)]); // the answer does not wait for it
  const auth_session = deriveToken(keys, 'auth_session', { ...opened, id, counter: 0 });
  const expires_in = LIMITS.auth_session_life_ms / 1000;
  return codeWanted({ auth_session, text: 'Enter the code that was emailed.', expires_in });
}

/** Step 2: the app sends the code, once. */
async function enterCode(
  services: Pick<FeatureServices, 'actors' | 'clock' | 'keys'> & { clients: Clients },
  body: NativeSignInQuery,
): Promise<NativeSignInResult> {
  const { actors, keys, clients } = services;
  if (body.auth_session === undefined) return oauthError('invalid_request', 'auth_session is missing.');
  const code = typedCode(body.otp ?? '');
  if (!/^\d{6}$/.test(code)) return oauthError('invalid_request', 'otp must be six digits.');
  const parsed = parseToken('auth_session', body.auth_session);
  if (parsed === null) return INVALID_SESSION;
  const session = await orNull(actors.authSession(parsed.id).view(), 'NOT_FOUND');
  if (session === null) return INVALID_SESSION;
  if (!isGenuine(keys, 'auth_session', parsed, session)) return INVALID_SESSION;
  const { email, request: of_grant } = session;
  if ((await clients.find(of_grant.client_id)) === null) return NOT_NATIVE;

  const tried = await triedCode(services, body.ip, { sign_in_id: parsed.id, email, code });
  const judged = await actors.authSession(parsed.id).try_code({ tried, client_id: body.client_id ?? null });
  if (isOauthError(judged)) {
    const { error, error_description: text } = judged;
    if (error !== 'insufficient_authorization') return judged;
    const left_ms = session.created_at_ms + LIMITS.auth_session_life_ms - services.clock.now();
    return codeWanted({ auth_session: body.auth_session, text, expires_in: Math.ceil(left_ms / 1000) });
  }
  return complete(services, { id: parsed.id, email, ip: body.ip, tried });
}

/** Opens the grant in the account's home. Until that is done, the same right code can be sent again. */
async function complete(
  services: Pick<FeatureServices, 'actors' | 'clock' | 'keys'>,
  { id, email, ip, tried }: { id: string; email: string; ip: string; tried: TriedCode },
): Promise<NativeSignInResult> {
  const { actors, keys, clock } = services;
  const account = await accountBehind(services, ip, email);
  const grant_id = randomId({ partition: partitionOfId(account.id), now_ms: clock.now() });
  const own = randomSeed(keys);
  const issued_under = { account: account.epochs.account, grants: account.epochs.grants };
  const completed = await actors.downstream
    .authSession(id)
    .complete({ grant_id, owner: { account_id: account.id, issued_under, ...own }, tried });
  if (isOauthError(completed)) return completed;
  return { authorization_code: deriveToken(keys, 'authorization_code', { ...own, id: grant_id, counter: 0 }) };
}

function codeWanted({ text, ...extra }: { auth_session: string; text: string; expires_in: number }): OauthError {
  return oauthError('insufficient_authorization', text, { extra });
}
