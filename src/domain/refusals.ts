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
  PRECONDITION_FAILED: 412,
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

/** One fault of a request. `path` names the field, with dots between levels; `""` is the body itself. */
export type RefusalDetail = { path: string; message: string };

/** A refusal is a value: an actor or a check returns it, and the edge renders it. */
export type Refusal = {
  refused: RefusalCode;
  message: string;
  details?: RefusalDetail[];
  /** Seconds to wait before another try; sent as `Retry-After`. */
  retry_after_s?: number;
  /** Scopes that a client should ask for, named in the challenge (RFC 6750, 3). */
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

/** The refusal for stored bytes that are missing. */
export const CONTENT_MISSING = refuse(
  'CONTENT_MISSING',
  'The server has lost these bytes. What is known of them stays as it is.',
);

/** A refusal above the actors: a message or a check throws it, the route renders it, a worker catches it. */
export class Refused extends Error {
  override name = 'Refused';
  readonly refusal: Refusal;
  readonly code: RefusalCode;

  constructor(refusal: Refusal) {
    // A refusal is an answer, not a fault: nobody reads where it was made.
    const limit = Error.stackTraceLimit;
    Error.stackTraceLimit = 0;
    super(refusal.message);
    Error.stackTraceLimit = limit;
    this.refusal = refusal;
    this.code = refusal.refused;
  }
}

/** Throws a refusal where an expression is expected. */
export function throwRefusal(refusal: Refusal): never {
  throw new Refused(refusal);
}

/** Whether an error is a refusal, with one of these codes if any are given. */
export function isRefused(error: unknown, ...codes: RefusalCode[]): error is Refused {
  return error instanceof Refused && (codes.length === 0 || codes.includes(error.code));
}

/** The answer, or null if it was refused with one of these codes. Rejects with every other error. */
export async function orNull<Answer extends NonNullable<unknown>>(
  answer: Promise<Answer>,
  ...codes: [RefusalCode, ...RefusalCode[]]
): Promise<Answer | null> {
  try {
    return await answer;
  } catch (error) {
    if (isRefused(error, ...codes)) return null;
    throw error;
  }
}

/** For `catch`: null for a refusal that lasts, such as of something that is gone. Rejects with every other error. */
export function nullIfPermanent(error: unknown): null {
  if (isRefused(error) && error.code !== 'UNAVAILABLE') return null;
  throw error;
}

/** For `catch`: another value in place of any refusal. Rejects with every other error. */
export function orRefused<Value>(instead: Value): (error: unknown) => Value {
  return (error) => {
    if (isRefused(error)) return instead;
    throw error;
  };
}

export function isRefusal(value: unknown): value is Refusal {
  return typeof value === 'object' && value !== null && 'refused' in value;
}

/** Ends a switch over a closed union: the compiler reports a missing case. */
export function unreachable(value: never): never {
  throw new UnknownVariant(`unexpected variant: ${JSON.stringify(value)}`);
}

/** A value that this code does not know. If it was stored, a newer process wrote it. */
export class UnknownVariant extends Error {
  override name = 'UnknownVariant';
}
