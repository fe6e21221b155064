/** A client's authentication method at the token endpoint (RFC 7591, 2). `none`: a public client. */
export const AUTH_METHODS = ['none', 'client_secret_basic', 'client_secret_post'] as const;
export type AuthMethod = (typeof AUTH_METHODS)[number];

/** An OAuth client, first-party or registered, as it was made. What changes of it is the client actor's. */
export type Client = {
  client_id: string;
  /** Shown on the consent page and as the connected app's name. */
  name: string;
  party: 'first' | 'third';
  /** In the order they were registered; none for apps that sign in natively. */
  redirect_uris: readonly string[];
  /** The scopes that it may ask for. Names are as registered; `isWithin` also takes other names of them. */
  scopes: readonly string[];
  /** The scopes that it gets when it asks for none. */
  default_scopes: readonly string[];
  /** As registered; a third party that has a secret may show it in either way. */
  token_endpoint_auth_method: AuthMethod;
  /** May use POST /oauth/authorize-challenge. */
  native: boolean;
};
