import type { OauthErrorCode } from '../../../domain/oauth_errors.js';
import type { RefusalCode } from '../../../domain/refusals.js';
import type { ApiDocument } from './openapi.js';

/** Examples of refusals, one for each code: the reference of an operation names those that it can give. */

const REFUSED: Record<RefusalCode, string | { message: string; [more: string]: unknown }> = {
  BAD_REQUEST: {
    message: 'The request is not what this route takes.',
    details: [{ path: 'name', message: 'must be text' }],
  },
  UNAUTHORIZED: 'The access token is missing, wrong or no longer valid.',
  FORBIDDEN: 'This credential may not do that.',
  REAUTHENTICATION_REQUIRED: 'Sign in again to do this.',
  ACCOUNT_DELETED: { message: 'The account is deleted.', erase_at: '2026-01-31T08:30:00.000Z' },
  WORKSPACE_SHARING_REQUIRED: 'The account may not share workspaces.',
  DEVICE_UNBOUND: 'The device is not bound to an account.',
  NOT_FOUND: 'There is no such resource.',
  METHOD_NOT_ALLOWED: 'PUT is not possible here.',
  NOT_ACCEPTABLE: 'Answers come as JSON or CBOR.',
  REQUEST_TIMEOUT: 'The request did not arrive in time.',
  CONFLICT: 'It conflicts with what is there.',
  WORKSPACE_OWNER_REQUIRED: 'Hand the shared workspaces over that the account owns, or delete them.',
  ACCOUNT_DELETION_IN_PROGRESS: 'The account is being deleted.',
  CONTENT_EXPIRED: 'The workspace does not keep this any more.',
  CONTENT_MISSING: 'The server has lost these bytes. What is known of them stays as it is.',
  GONE: 'It is not there any more.',
  UPLOAD_EXPIRED: 'The time to upload this chunk is over.',
  LENGTH_REQUIRED: 'Content-Length is missing.',
  PAYLOAD_TOO_LARGE: 'The body is too large.',
  UNSUPPORTED_MEDIA_TYPE: 'The body must be JSON.',
  PRECONDITION_FAILED: 'The content has another ETag than If-Match names.',
  RANGE_NOT_SATISFIABLE: 'No byte of this range is there.',
  CHECKSUM_MISMATCH: 'The bytes are not those that were announced.',
  TOO_MANY_REQUESTS: 'Too many requests; wait 30 seconds.',
  HEADERS_TOO_LARGE: 'The headers are too large.',
  INTERNAL: 'Something went wrong.',
  UNAVAILABLE: 'The service is not available at the moment.',
};

const OAUTH: Record<OauthErrorCode, string> = {
  invalid_request: 'The request lacks a parameter, or has it twice.',
  invalid_client: 'The client is not known, or did not authenticate.',
  invalid_grant: 'The code or refresh token is wrong, used or no longer valid.',
  unauthorized_client: 'The client may not do this.',
  unsupported_grant_type: 'This grant type is not known.',
  unsupported_response_type: 'response_type must be code.',
  invalid_scope: 'The client may not ask for this scope.',
  invalid_target: 'There is no such resource.',
  invalid_session: 'The sign-in has ended; begin another one.',
  insufficient_authorization: 'Send the code from the email.',
  access_denied: 'The person did not agree.',
  login_required: 'Nobody is signed in.',
  invalid_client_metadata: 'The registration is not what can be registered.',
  invalid_redirect_uri: 'This address can not be registered.',
  temporarily_unavailable: 'The service is not available at the moment.',
  server_error: 'Something went wrong.',
};

type Examples = NonNullable<ApiDocument['components']['examples']>;

/** By code. */
export const REFUSAL_EXAMPLES: Examples = {
  ...Object.fromEntries(
    Object.entries(REFUSED).map(([code, said]) => {
      const { message, ...more } = typeof said === 'string' ? { message: said } : said;
      return [code, { value: { success: false, error: { code, message, ...more } } }];
    }),
  ),
  ...Object.fromEntries(
    Object.entries(OAUTH).map(([error, error_description]) => {
      const more = error === 'insufficient_authorization' ? { auth_session: 'spn_019a…' } : {};
      return [error, { value: { error, error_description, ...more } }];
    }),
  ),
};
