import type { Refusal, RefusalCode } from './refusals.js';

/**
 * Every error an OAuth route can give, with its status where it is not sent by a redirect. docs/rules.md, "OAuth:
 * tokens and native sign-in".
 */
export const OAUTH_ERRORS = {
  invalid_request: 400,
  invalid_client: 401,
  invalid_grant: 400,
  unauthorized_client: 400,
  unsupported_grant_type: 400,
  unsupported_response_type: 400,
  invalid_scope: 400,
  invalid_target: 400,
  invalid_session: 400,
  insufficient_authorization: 403,
  access_denied: 400,
  login_required: 400,
  invalid_client_metadata: 400,
  invalid_redirect_uri: 400,
  temporarily_unavailable: 503,
  server_error: 500,
} as const;

export type OauthErrorCode = keyof typeof OAUTH_ERRORS;

/** An OAuth error is a value, like a refusal. */
export type OauthError = {
  error: OauthErrorCode;
  error_description: string;
  /** The status if it is not the table's: 429 for too many requests. */
  status?: number;
  retry_after_s?: number;
  /** Members beside the code, such as `auth_session`. */
  extra?: Record<string, unknown>;
};

export function oauthError(
  error: OauthErrorCode,
  error_description: string,
  more: Omit<OauthError, 'error' | 'error_description'> = {},
): OauthError {
  return { error, error_description, ...more };
}

/** RFC 6749, 5.2: a description holds printable ASCII without quotes and backslashes; anything else is not repeated. */
const SHOWN_SCOPE = /^[A-Za-z0-9:._-]{1,64}$/;
const SHOWN_SCOPES_MAX = 5;

/** The error that these scopes cannot be granted. */
export function invalidScope(scopes: readonly string[], why: string): OauthError {
  const shown = scopes.filter((scope) => SHOWN_SCOPE.test(scope)).slice(0, SHOWN_SCOPES_MAX);
  const others = scopes.length - shown.length;
  const names = [...shown, ...(others > 0 ? [shown.length === 0 ? 'a scope' : `${others} more`] : [])].join(', ');
  return oauthError('invalid_scope', `${names}: ${why}.`);
}

export function isOauthError(value: unknown): value is OauthError {
  return typeof value === 'object' && value !== null && 'error_description' in value && 'error' in value;
}

/** OAuth error codes for refusals that every route can give; any other refusal is a malformed request. */
const OF_REFUSALS: Partial<Record<RefusalCode, [OauthErrorCode, number]>> = {
  TOO_MANY_REQUESTS: ['temporarily_unavailable', 429],
  UNAVAILABLE: ['temporarily_unavailable', 503],
  INTERNAL: ['server_error', 500],
  UNAUTHORIZED: ['invalid_grant', 400],
  NOT_FOUND: ['invalid_request', 404],
  METHOD_NOT_ALLOWED: ['invalid_request', 405],
  PAYLOAD_TOO_LARGE: ['invalid_request', 413],
  REQUEST_TIMEOUT: ['temporarily_unavailable', 408],
};

/** A refusal as an OAuth error. */
export function oauthErrorOf({ refused, message, retry_after_s }: Refusal): OauthError {
  const [error, status] = OF_REFUSALS[refused] ?? ['invalid_request', 400];
  return oauthError(error, message, { status, ...(retry_after_s === undefined ? {} : { retry_after_s }) });
}
