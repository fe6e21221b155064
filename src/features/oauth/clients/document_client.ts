import type { Client } from '../../../access/oauth_client.js';

/** Clients whose id is the https address of a document about them (OAuth Client ID Metadata Document, MCP of 2025-11-25). */

/** Each token and grant of the client holds it. */
const ID_CHARS_MAX = 500;

/** Whether a client id is such an address: with a path, in a browser's spelling, without fragment or credentials. */
export function isDocumentId(client_id: string): boolean {
  if (client_id.length > ID_CHARS_MAX || !client_id.startsWith('https://') || client_id.includes('#')) return false;
  if (!URL.canParse(client_id)) return false;
  const { href, pathname, username, password } = new URL(client_id);
  return href === client_id && pathname !== '/' && username === '' && password === '';
}

/**
 * The part of such a client that follows from its id. Codes and tokens are bound to it, so its document is read only
 * when a sign-in begins.
 */
export function documentClient(client_id: string): Client {
  return {
    client_id,
    name: new URL(client_id).host,
    party: 'third',
    redirect_uris: [],
    scopes: [],
    default_scopes: [],
    token_endpoint_auth_method: 'none',
    native: false,
  };
}
