/** One request and its answer, whatever carries them: `fetch` by default, so that all of this runs in browsers as well. */

export type CallRequest = {
  method: string;
  url: URL;
  headers: Record<string, string>;
  body?: Uint8Array | undefined;
  signal?: AbortSignal | undefined;
};

export type AnswerHeaders = Readonly<Record<string, string | string[] | undefined>>;
/** Names of headers are in lower case. */
export type CallAnswer = { status: number; headers: AnswerHeaders; body: Uint8Array };

/** Resolves with any answer, whatever its status; rejects with NoAnswer when none comes. Redirects are not followed. */
export type Transport<Answer extends CallAnswer = CallAnswer> = {
  send(request: CallRequest): Promise<Answer>;
  close?(): void;
};

/** No answer came. `code` says why, as the system calls it: ECONNREFUSED, TIMEOUT, NETWORK and others. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
  readonly code: string;
  readonly syscall: string | undefined;

  constructor(cause: unknown) {
    const { code, syscall, name } = (cause ?? {}) as { code?: unknown; syscall?: string; name?: string };
    const known = typeof code === 'string' ? code : name === 'TimeoutError' ? 'TIMEOUT' : 'NETWORK';
    super(`no answer came (${known})`, { cause });
    this.code = known;
    this.syscall = syscall;
  }
}

export type RefusalDetail = { path: string; message: string };

/** What a refusal says beside its code. */
export type RefusalParts = {
  request_id?: string | undefined;
  details?: RefusalDetail[] | undefined;
  reason?: string | undefined;
  erase_at?: string | undefined;
};

/** An answer that is not a success, with the server's code and words. */
export class CallRefused extends Error {
  override readonly name = 'CallRefused';
  /** What the server's log calls this request. */
  readonly request_id: string | null;
  /** The fields that are wrong, and the rules that they break. */
  readonly details: readonly RefusalDetail[];
  /** Why a device's certificate is worth nothing. */
  readonly reason: string | null;
  /** Of a deleted account: until then it may be restored. */
  readonly erase_at: string | null;

  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly retry_after_s: number | null,
    { request_id, details = [], reason, erase_at }: RefusalParts = {},
  ) {
    super(`${status} ${code}: ${message}`);
    this.request_id = request_id ?? null;
    this.details = details;
    this.reason = reason ?? null;
    this.erase_at = erase_at ?? null;
  }
}

/** By `fetch`, the browser's or Node's. */
export const fetchTransport: Transport = {
  async send({ method, url, headers, body, signal }) {
    const given = {
      ...(body === undefined ? {} : { body: body as Uint8Array<ArrayBuffer> }),
      ...(signal && { signal }),
    };
    try {
      const answer = await fetch(url, { method, headers, redirect: 'manual', ...given });
      const bytes = new Uint8Array(await answer.arrayBuffer());
      return { status: answer.status, headers: Object.fromEntries(answer.headers), body: bytes };
    } catch (error) {
      throw new NoAnswer((error as Error).cause ?? error);
    }
  },
};

/** The payload of an enveloped answer; throws CallRefused on a refusal. */
export function payloadOf<T>({ status, headers }: Omit<CallAnswer, 'body'>, envelope: unknown): T {
  if (status === 204) return undefined as T;
  const { success, data, error } = (envelope ?? {}) as {
    success?: boolean;
    data?: T;
    error?: { code?: string; message?: string } & Omit<RefusalParts, 'request_id'>;
  };
  if (success === true) return data as T;
  throw new CallRefused(status, error?.code ?? 'UNKNOWN', error?.message ?? '', retryAfterOf(headers), {
    ...error,
    request_id: headers['x-request-id']?.toString(),
  });
}

/** The JSON of a body; undefined where there is none. Throws SyntaxError for what no Spool answers. */
export function parsedBody({ body }: Pick<CallAnswer, 'body'>): unknown {
  return body.length === 0 ? undefined : JSON.parse(new TextDecoder().decode(body));
}

function retryAfterOf(headers: AnswerHeaders): number | null {
  const seconds = Number(headers['retry-after'] ?? Number.NaN);
  return Number.isFinite(seconds) ? seconds : null;
}
