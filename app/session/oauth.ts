import { say } from '../language/say.js';

/** Our own OAuth server, as any client calls it: authorization code with PKCE, refresh, revocation, the end of a session. */

const CLIENT_ID = 'svc-web';
const RANDOM_BYTES = 32;

export const CALLBACK_PATH = '/app/callback';

export type Tokens = { access_token: string; refresh_token: string; expires_in: number };

/** The server says no; any other error means that it could not be asked. */
export class SignInRefused extends Error {
  override readonly name = 'SignInRefused';
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

export function randomText(): string {
  return base64url(crypto.getRandomValues(new Uint8Array(RANDOM_BYTES)));
}

/** The parameters that a sign-in begins with. `again`: with a new code, whoever is signed in. */
export async function authorizationRequest({
  state,
  verifier,
  again,
}: {
  state: string;
  verifier: string;
  again: boolean;
}): Promise<URLSearchParams> {
  const challenge = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier));
  return new URLSearchParams({
    response_type: 'code',
    client_id: CLIENT_ID,
    redirect_uri: callbackUrl(),
    state,
    code_challenge: base64url(new Uint8Array(challenge)),
    code_challenge_method: 'S256',
    ...(again ? { prompt: 'login' } : {}),
  });
}

export function exchange({ code, verifier }: { code: string; verifier: string }): Promise<Tokens> {
  return askForTokens({
    grant_type: 'authorization_code',
    code,
    code_verifier: verifier,
    redirect_uri: callbackUrl(),
  });
}

export function refresh(refresh_token: string): Promise<Tokens> {
  return askForTokens({ grant_type: 'refresh_token', refresh_token });
}

export async function revoke(token: string): Promise<void> {
  await post({ token });
}

/** Ends the browser session as well, so that the next sign-in asks who it is. */
export function endSessionUrl(): string {
  const back = new URLSearchParams({ client_id: CLIENT_ID, post_logout_redirect_uri: `${location.origin}/app` });
  return `/oauth/end-session?${back}`;
}

/** Whose an access token is (RFC 9068). That it is genuine is for the server to say. */
export function accountOf(access_token: string): string {
  const [, claims = ''] = access_token.split('.');
  const { sub } = JSON.parse(atob(claims.replaceAll('-', '+').replaceAll('_', '/'))) as { sub: string };
  return sub;
}

async function askForTokens(form: Record<string, string>): Promise<Tokens> {
  const answer = await post(form);
  const body = (await answer.json().catch(() => ({}))) as Tokens & { error?: string; error_description?: string };
  if (answer.ok) return body;
  const { error = 'server_error', error_description = say('The server gave no reason.') } = body;
  if (answer.status >= 500 || answer.status === 429) throw new Error(error_description);
  throw new SignInRefused(error, error_description);
}

function post(form: Record<string, string>): Promise<Response> {
  return fetch('/oauth/token', {
    method: 'POST',
    body: new URLSearchParams({ client_id: CLIENT_ID, ...form }),
    credentials: 'omit',
    cache: 'no-store',
  });
}

function callbackUrl(): string {
  return location.origin + CALLBACK_PATH;
}

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}
