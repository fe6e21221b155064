import type { OauthErrorCode } from '../../../domain/oauth_errors.js';
import type { RefusalCode } from '../../../domain/refusals.js';

/** Advice on each code for a caller: its meaning, then the remedy. */
export const REFUSAL_ADVICE: Record<RefusalCode | OauthErrorCode, string> = {
  BAD_REQUEST:
    'The request breaks a rule of this route. `details` names each field and its rule: correct them; the same request fails again.',
  UNAUTHORIZED:
    'No valid credential came with the request. Refresh the access token and repeat the request once; if that fails too, let the person sign in again.',
  FORBIDDEN:
    'The credential is valid, but it lacks the permission, or the account is not entitled. Ask for the scope that `WWW-Authenticate` names; do not repeat the request as it is.',
  REAUTHENTICATION_REQUIRED:
    'The person must have entered a code within the last ten minutes. Let them sign in again, then repeat the request.',
  ACCOUNT_DELETED:
    'The account is deleted and will be erased at `erase_at`. Until then the person can restore it with `POST /me/restore`.',
  WORKSPACE_SHARING_REQUIRED:
    'The account is not entitled to share workspaces. Staff can enable `workspace.sharing`; repeating does not help.',
  DEVICE_UNBOUND:
    'No account has claimed this device, or it was unbound. Redeem a new claim; keep what is recorded until then.',
  NOT_FOUND:
    'Nothing with this id exists, or the caller may not see it. Check the id; deleted things do not come back.',
  METHOD_NOT_ALLOWED: 'The path exists, but not with this method. `Allow` names the methods that it has.',
  NOT_ACCEPTABLE: 'The `Accept` header asks for a format that the server does not write. Ask for `application/json`.',
  REQUEST_TIMEOUT: 'The request did not arrive completely in time. Send it again, over a better connection.',
  CONFLICT:
    'The request contradicts what is stored, such as another chunk under the same reference. Read the present state and decide; the same request fails again.',
  WORKSPACE_OWNER_REQUIRED:
    'The account still owns shared workspaces. Transfer them to another member or delete them, then repeat the request.',
  ACCOUNT_DELETION_IN_PROGRESS: 'The account is being erased. It can not be restored any more.',
  CONTENT_EXPIRED:
    'The retention of the workspace has ended for this content. It is gone; what the list says of it remains.',
  CONTENT_MISSING: 'The server has lost these bytes. Upload them again if you still have them, and tell the operators.',
  GONE: 'It existed and has ended for good. Stop asking for it.',
  UPLOAD_EXPIRED: 'The bytes came later than the intent allows. Announce them again, then upload.',
  LENGTH_REQUIRED: 'Send `Content-Length`; a body of unknown length is not taken.',
  PRECONDITION_FAILED: 'The content has changed. Read it anew, without `If-Match`.',
  PAYLOAD_TOO_LARGE: 'The body is larger than the route takes. Send it in smaller parts.',
  UNSUPPORTED_MEDIA_TYPE: 'Set `Content-Type` to a type that the route lists.',
  RANGE_NOT_SATISFIABLE: 'The range begins behind the end. `Content-Range` says how long the content is.',
  CHECKSUM_MISMATCH:
    'The bytes that arrived are not those that were announced. Send them again; if it happens again, the stored copy is damaged.',
  TOO_MANY_REQUESTS: 'A rate limit was reached. Wait for the seconds in `Retry-After`, then repeat the request.',
  HEADERS_TOO_LARGE: 'The headers are too large. Send fewer or shorter headers.',
  INTERNAL:
    'The server failed. Repeat the request later; if it goes on, tell the operators the `X-Request-ID` of the answer.',
  UNAVAILABLE:
    'The server can not answer now, and whether the request took effect is unknown. Wait for `Retry-After`, then repeat it with the same references.',
  invalid_request: 'A parameter is missing, repeated or malformed. `error_description` names it: correct it.',
  invalid_client: 'The client is unknown, disabled or did not prove its secret. Check `client_id` and the secret.',
  invalid_grant:
    'The code or refresh token was used, has ended or belongs to another client. Forget it and let the person sign in again.',
  unauthorized_client: 'This client may not use this kind of sign-in. Use the one that it is registered for.',
  unsupported_grant_type: 'Only `authorization_code` and `refresh_token` are known.',
  unsupported_response_type: 'Set `response_type` to `code`.',
  invalid_scope: 'The client asked for a scope that does not exist or that it may not have. Ask for fewer scopes.',
  invalid_target: 'Take `resource` to the letter from the metadata of the protected resource.',
  invalid_session: 'The sign-in has ended or was finished elsewhere. Begin another one.',
  insufficient_authorization:
    'The sign-in is not finished: ask the person for the code and send it with `auth_session`.',
  access_denied: 'The person refused. Ask again only when they begin again.',
  login_required: 'Nobody is signed in, and the request forbade asking. Send it again without `prompt=none`.',
  invalid_client_metadata: 'A field of the registration is wrong. `error_description` names it and its rule.',
  invalid_redirect_uri:
    'The redirect URI must be HTTPS, a loopback address or a scheme of the app, without a fragment.',
  temporarily_unavailable: 'The server can not answer now. Wait for `Retry-After`, then begin again.',
  server_error: 'The server failed. Begin again; if it goes on, tell the operators.',
};

/** Null for what is no code of ours, as the plain words of a page's refusal. */
export function adviceOn(code: string): string | null {
  return Object.hasOwn(REFUSAL_ADVICE, code) ? REFUSAL_ADVICE[code as RefusalCode] : null;
}
