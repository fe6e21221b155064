/** A client's authentication method at the token endpoint (RFC 7591, 2). `none`: a public client. */
export const AUTH_METHODS = ['none', 'client_secret_basic', 'client_secret_post'] as const;
export type AuthMethod = (typeof AUTH_METHODS)[number];

/** An OAuth client, first-party or registered, as it was made. Its changes belong to the client actor. */
export type Client = {
  client_id: string;
  /** Shown on the consent page and as the connected app's name. */
  name: string;
  party: 'first' | 'third';
  /** In the order they were registered; none for apps that sign in natively. */
  redirect_uris: readonly string[];
  /** The scopes that it may request, under their registered names; `isWithin` also accepts their other names. */
  scopes: readonly string[];
  /** The scopes that it gets if it requests none. */
  default_scopes: readonly string[];
  /** As registered; a third party with a secret may send it in either way. */
  token_endpoint_auth_method: AuthMethod;
  /** Whether it may use POST /oauth/authorize-challenge. */
  native: boolean;
};
