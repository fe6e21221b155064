import type { Client } from '../../access/oauth_client.js';
import { type Audience, audienceOf } from '../../domain/audiences.js';
import { LIMITS } from '../../domain/limits.js';
import { invalidScope, type OauthError, oauthError } from '../../domain/oauth_errors.js';
import { isRequestable, isWithin, offlineAccessIn, scopeList } from '../../domain/scopes.js';

/** The request of a browser or native sign-in. `name` is the installation's, or the client's. */
export type AuthorizationRequest = { scopes: string[]; audience: Audience; challenge: string; name: string };

/** Parameters of such a request, as received. */
export type AuthorizationParameters = Partial<
  Record<
    'response_type' | 'code_challenge' | 'code_challenge_method' | 'resource' | 'scope' | 'installation_label',
    string | undefined
  >
>;

/** S256 gives 32 bytes (RFC 7636, 4.2). */
const CHALLENGE_FORM = /^[A-Za-z0-9_-]{43}$/;

/** The request of a client, or the first fault in it. */
export function authorizationRequest(
  client: Client,
  given: AuthorizationParameters,
  issuer_url: string,
): AuthorizationRequest | OauthError {
  const { response_type, code_challenge, code_challenge_method, resource, scope, installation_label } = given;
  if (response_type === undefined) return oauthError('invalid_request', 'response_type is missing.');
  if (response_type !== 'code') return oauthError('unsupported_response_type', 'response_type must be code.');
  if (code_challenge === undefined) return oauthError('invalid_request', 'code_challenge is missing.');
  // Absent would mean plain (RFC 7636, 4.3), which nobody may use here.
  if (code_challenge_method !== 'S256') return oauthError('invalid_request', 'code_challenge_method must be S256.');
  if (!CHALLENGE_FORM.test(code_challenge)) {
    return oauthError('invalid_request', 'code_challenge must be 43 characters of base64url.');
  }
  const usual = client.party === 'first' ? 'api' : 'mcp';
  const audience = resource === undefined ? usual : audienceOf(issuer_url, resource);
  if (audience === null)
    return oauthError('invalid_target', `resource must be one of ${issuer_url} and ${issuer_url}/mcp.`);
  const named = scopeList(scope ?? '');
  const scopes = named.length === 0 ? [...client.default_scopes] : named;
  if (scopes.length === 0) return oauthError('invalid_scope', 'scope must name a scope.');
  const foreign = scopes.filter((name) => !isRequestable(name) || !isWithin(client.scopes, name));
  if (foreign.length > 0) return invalidScope(foreign, 'this client may not ask for that');
  const label = installation_label?.trim();
  const label_chars_max = LIMITS.installation_label_chars_max;
  if (label !== undefined && ([...label].length > label_chars_max || /\p{Cc}/u.test(label) || !label.isWellFormed())) {
    return oauthError('invalid_request', `installation_label must be at most ${label_chars_max} characters of text.`);
  }
  return {
    scopes: [...scopes, ...offlineAccessIn(scope ?? '')],
    audience,
    challenge: code_challenge,
    name: label || client.name,
  };
}
