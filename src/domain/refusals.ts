/**
 * Every refusal a REST or device route can give, with its status. One table, so that no
 * route invents a status of its own. Rule J-011; docs/choices.md, "Requests and responses".
 */
export const REFUSALS = {
  BAD_REQUEST: 400,
  UNAUTHORIZED: 401,
  FORBIDDEN: 403,
  REAUTHENTICATION_REQUIRED: 403,
  ACCOUNT_DELETED: 403,
  WORKSPACE_SHARING_REQUIRED: 403,
  DEVICE_UNBOUND: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  NOT_ACCEPTABLE: 406,
  REQUEST_TIMEOUT: 408,
  CONFLICT: 409,
  WORKSPACE_OWNER_REQUIRED: 409,
  ACCOUNT_DELETION_IN_PROGRESS: 409,
  CONTENT_EXPIRED: 410,
  CONTENT_MISSING: 410,
  GONE: 410,
  UPLOAD_EXPIRED: 410,
  LENGTH_REQUIRED: 411,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  RANGE_NOT_SATISFIABLE: 416,
  CHECKSUM_MISMATCH: 422,
  TOO_MANY_REQUESTS: 429,
  HEADERS_TOO_LARGE: 431,
  INTERNAL: 500,
  UNAVAILABLE: 503,
} as const;

export type RefusalCode = keyof typeof REFUSALS;

/** One thing wrong with a request: `path` names the field (dots between levels, `""` the body itself). */
export type RefusalDetail = { path: string; message: string };

/** A refusal is a value: an actor or a check returns it, the edge renders it. */
export type Refusal = {
  refused: RefusalCode;
  message: string;
  details?: RefusalDetail[];
  /** Seconds after which trying again makes sense; becomes `Retry-After`. */
  retry_after_s?: number;
  /** Scopes that a client should ask for; they stand in the challenge (RFC 6750, 3). */
  scope?: readonly string[];
  /** Members that a code adds to `error`, such as `erase_at` on ACCOUNT_DELETED. */
  extra?: Record<string, unknown>;
};

export function refuse(
  refused: RefusalCode,
  message: string,
  more: Omit<Refusal, 'refused' | 'message'> = {},
): Refusal {
  return { refused, message, ...more };
}

export function isRefusal(value: unknown): value is Refusal {
  return typeof value === 'object' && value !== null && 'refused' in value;
}

/** Ends a switch over a closed union: the compiler complains when a case is missing. */
export function unreachable(value: never): never {
  throw new UnknownVariant(`unexpected variant: ${JSON.stringify(value)}`);
}

/** Something that this code has no word for: where it came from storage, a newer process wrote it. */
export class UnknownVariant extends Error {
  override name = 'UnknownVariant';
}
