import type { Client } from '../../access/oauth_client.js';
import { isOauthError, type OauthError, oauthError } from '../../domain/oauth_errors.js';
import { decode } from '../../engine/wire/form.js';
import type { Clients } from './clients/clients.js';

/**
 * The client that a request comes from (RFC 6749, 2.3): by HTTP Basic, by its secret in the form if it is a third-party
 * client, or by its `client_id` alone if it is public. Libraries differ in the method, whatever was registered.
 */

const HEADER_CHARS_MAX = 4_096;
const BASIC = /^basic +([A-Za-z0-9+/]+={0,2})$/i;

const NOT_BASIC = oauthError('invalid_client', 'The Authorization header is not well-formed HTTP Basic.');
const NO_CLIENT = oauthError('invalid_client', 'The request does not say which client it comes from.');
const SECRET_IN_BODY = oauthError(
  'invalid_client',
  'This client shows its secret by HTTP Basic only, not in the body.',
);
const TWO_METHODS = oauthError('invalid_request', 'A client authenticates in one way, not in two.');
const TWO_CLIENTS = oauthError('invalid_request', 'client_id is not the client of the Authorization header.');
/** One text for all faults: guessing does not reveal which half was wrong. */
const REFUSED = oauthError('invalid_client', 'The client is unknown, disabled, or did not authenticate as it must.');
const NOT_FOR_IT = oauthError('invalid_client', 'This is for confidential first-party clients.');

type Credentials = { client_id: string; secret: string | null; in_body: boolean };

/** The client, authenticated as it was registered to be. `header` is the Authorization header. Throws StoreUnavailable. */
export async function authenticateClient(
  { clients }: { clients: Clients },
  header: string | undefined,
  body: { client_id?: string | undefined; client_secret?: string | undefined },
): Promise<Client | OauthError> {
  const known = header === undefined || body.client_secret !== undefined ? null : clients.provenBy(header);
  if (known !== null && (body.client_id === undefined || body.client_id === known.client_id)) {
    const client = await clients.authenticateProven(known);
    if (client !== null) return client;
  }
  const shown = credentialsOf(header, body);
  if (isOauthError(shown)) return shown;
  const client = await clients.authenticate(shown, header);
  if (client === null) return REFUSED;
  return shown.in_body && client.party === 'first' ? SECRET_IN_BODY : client;
}

/** As `authenticateClient`, for routes of our own servers alone: confidential first-party clients, by HTTP Basic. */
export async function authenticateOwnServer(
  services: { clients: Clients },
  header: string | undefined,
  body: { client_id?: string | undefined; client_secret?: string | undefined },
): Promise<Client | OauthError> {
  const client = await authenticateClient(services, header, body);
  if (isOauthError(client)) return client;
  const is_own_server = client.party === 'first' && client.token_endpoint_auth_method === 'client_secret_basic';
  return is_own_server ? client : NOT_FOR_IT;
}

function credentialsOf(
  header: string | undefined,
  body: { client_id?: string | undefined; client_secret?: string | undefined },
): Credentials | OauthError {
  const { client_id, client_secret } = body;
  if (header === undefined) {
    if (client_id === undefined) return NO_CLIENT;
    return { client_id, secret: client_secret ?? null, in_body: client_secret !== undefined };
  }
  if (client_secret !== undefined) return TWO_METHODS;
  const basic = readBasic(header);
  if (basic === null) return NOT_BASIC;
  if (client_id !== undefined && client_id !== basic.client_id) return TWO_CLIENTS;
  // An empty password is none: so do public clients of libraries that know Basic alone.
  return { client_id: basic.client_id, secret: basic.secret === '' ? null : basic.secret, in_body: false };
}

/**
 * Both halves are form-encoded inside the Base64 (RFC 6749, 2.3.1). Many clients do not encode them, which makes no
 * difference for our ids and secrets. Accepts only canonical Base64: spare bits and padding must be exact.
 */
function readBasic(header: string): { client_id: string; secret: string } | null {
  const encoded = header.length > HEADER_CHARS_MAX ? undefined : BASIC.exec(header)?.[1];
  if (encoded === undefined) return null;
  const bytes = Buffer.from(encoded, 'base64');
  if (bytes.toString('base64') !== encoded) return null;
  const text = bytes.toString('latin1');
  const colon = text.indexOf(':');
  // What is outside ASCII comes as escapes.
  if (colon < 1 || !/^[\x20-\x7e]*$/.test(text)) return null;
  const client_id = decode(text.slice(0, colon));
  const secret = decode(text.slice(colon + 1));
  return client_id === null || secret === null ? null : { client_id, secret };
}
