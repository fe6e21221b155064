import type { AuthorizationServer, ProtectedResource, Registration } from './api.js';
import { type CallAnswer, fetchTransport, parsedBody, type Transport } from './call.js';
import { RenewedCredential, type TokenStore, type Tokens } from './credential.js';
import { Patience } from './retries.js';

/** Sign-in in a browser: the authorization code flow with PKCE, for a token of the API. */

const RANDOM_BYTES = 32;
const CALL_MAX_MS = 15_000;
const TRIES_MAX = 5;

/** The authorization server says no. `code` is OAuth's, such as invalid_grant or access_denied. */
export class OauthRefused extends Error {
  override readonly name = 'OauthRefused';
  constructor(
    readonly code: string,
    message: string,
    readonly status: number | null = null,
  ) {
    super(`${code}: ${message}`);
  }
}

/** What has to be kept while the person is at the sign-in page; `verifier` is a secret. */
export type BegunSignIn = { url: string; state: string; verifier: string };

export type OauthApp = {
  client_id: string;
  redirect_uri: string;
  /** Of a client that runs on a server. */
  client_secret?: string;
  /** Names with spaces between them; what the client has registered when absent. */
  scope?: string;
};

type Places = Pick<
  AuthorizationServer,
  'issuer' | 'authorization_endpoint' | 'token_endpoint' | 'registration_endpoint' | 'revocation_endpoint'
> & { resource: string };

export class OauthClient {
  readonly #places: Places;
  readonly #app: OauthApp;
  readonly #transport: Transport;
  readonly #patience = new Patience({ tries_max: TRIES_MAX });

  private constructor(places: Places, app: OauthApp, transport: Transport) {
    this.#places = places;
    this.#app = app;
    this.#transport = transport;
  }

  /** Asks the server where everything is (RFC 8414, RFC 9728). */
  static async of(base_url: string, app: OauthApp, transport: Transport = fetchTransport): Promise<OauthClient> {
    return new OauthClient(await placesOf(base_url, transport), app, transport);
  }

  /** Registers a client of one's own (RFC 7591); keep its `client_id`, one is enough for all who use the app. */
  static async register(
    base_url: string,
    metadata: { client_name: string; redirect_uris: string[]; scope?: string; token_endpoint_auth_method?: string },
    transport: Transport = fetchTransport,
  ): Promise<Registration> {
    const { registration_endpoint } = await placesOf(base_url, transport);
    const headers = { 'Content-Type': 'application/json' };
    const body = new TextEncoder().encode(JSON.stringify(metadata));
    return told(await send(transport, 'POST', registration_endpoint, { headers, body }));
  }

  /** Where to send the person. `prompt` and `installation_label` are in the guide to OAuth. */
  async begin(more: { prompt?: string; installation_label?: string } = {}): Promise<BegunSignIn> {
    const [state, verifier] = [randomText(), randomText()];
    const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier));
    const { client_id, redirect_uri, scope } = this.#app;
    const parameters = new URLSearchParams({
      ...{ response_type: 'code', client_id, redirect_uri, state, resource: this.#places.resource },
      ...{ code_challenge: base64url(new Uint8Array(digest)), code_challenge_method: 'S256' },
      ...(scope !== undefined && { scope }),
      ...more,
    });
    return { url: `${this.#places.authorization_endpoint}?${parameters}`, state, verifier };
  }

  /** Takes the address that the person came back to. Throws OauthRefused, also when it is not the answer to this sign-in. */
  async finish(callback: string | URL, { state, verifier }: Pick<BegunSignIn, 'state' | 'verifier'>): Promise<Tokens> {
    const answer = new URL(callback).searchParams;
    if (answer.get('state') !== state) throw new OauthRefused('invalid_state', 'This sign-in was not begun here.');
    if ((answer.get('iss') ?? this.#places.issuer) !== this.#places.issuer)
      throw new OauthRefused('invalid_issuer', 'Another server answered.');
    const code = answer.get('code');
    if (code === null)
      throw new OauthRefused(
        answer.get('error') ?? 'invalid_request',
        answer.get('error_description') ?? 'No code came.',
      );
    const { redirect_uri } = this.#app;
    return this.#token({ grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri });
  }

  /** Who renews the tokens that lie in `store`. A refresh whose answer was lost is repeated, and gets the same answer. */
  credential(store: TokenStore): RenewedCredential {
    const refresh = (refresh_token: string) =>
      this.#patience.run(
        () => this.#token({ grant_type: 'refresh_token', refresh_token }),
        (error) => !(error instanceof OauthRefused) || isPassing(error),
      );
    return new RenewedCredential({
      store,
      refresh,
      hasEnded: (error) => error instanceof OauthRefused && !isPassing(error),
    });
  }

  /** Ends the grant of a token, with all of its tokens. */
  async revoke(token: string): Promise<void> {
    await this.#post(this.#places.revocation_endpoint, { token });
  }

  async #token(form: Record<string, string>): Promise<Tokens> {
    return told<Tokens>(await this.#post(this.#places.token_endpoint, form));
  }

  #post(url: string, form: Record<string, string>): Promise<CallAnswer> {
    const { client_id, client_secret } = this.#app;
    const headers: Record<string, string> = { 'Content-Type': 'application/x-www-form-urlencoded' };
    if (client_secret !== undefined)
      headers.Authorization = `Basic ${btoa(`${encodeURIComponent(client_id)}:${encodeURIComponent(client_secret)}`)}`;
    const body = new TextEncoder().encode(new URLSearchParams({ client_id, ...form }).toString());
    return send(this.#transport, 'POST', url, { headers, body });
  }
}

async function placesOf(base_url: string, transport: Transport): Promise<Places> {
  const at = (path: string) => send(transport, 'GET', new URL(path, base_url).href, { headers: {} });
  const { resource } = told<ProtectedResource>(await at('/.well-known/oauth-protected-resource'));
  const server = told<AuthorizationServer>(await at('/.well-known/oauth-authorization-server'));
  return { ...server, resource };
}

function send(
  transport: Transport,
  method: string,
  url: string,
  parts: { headers: Record<string, string>; body?: Uint8Array },
): Promise<CallAnswer> {
  return transport.send({ method, url: new URL(url), ...parts, signal: AbortSignal.timeout(CALL_MAX_MS) });
}

function told<T>(answer: CallAnswer): T {
  const body = (parsedBody(answer) ?? {}) as T & { error?: string; error_description?: string };
  if (answer.status < 300) return body;
  const { error = 'server_error', error_description = 'The server gave no reason.' } = body;
  throw new OauthRefused(error, error_description, answer.status);
}

/** "Not now", which says nothing of the token. */
function isPassing({ status }: OauthRefused): boolean {
  return status === 429 || (status !== null && status >= 500);
}

function randomText(): string {
  return base64url(crypto.getRandomValues(new Uint8Array(RANDOM_BYTES)));
}

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}
