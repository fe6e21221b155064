import type { Event, Import, PublicApi, Session, Upload } from './api.js';
import { type CallAnswer, CallRefused, fetchTransport, parsedBody, payloadOf, type Transport } from './call.js';
import type { Credential } from './credential.js';
import { type ImportedFile, importFile } from './file_import.js';
import { Patience, pause } from './retries.js';
import { type AnswerOf, type Given, requestOf } from './typed_call.js';

export type SignedIn = Session;

export type AppOptions<Answer extends CallAnswer = CallAnswer> = {
  /** A personal access token, or who renews tokens. */
  credential?: string | Credential | null;
  /** A call that takes longer rejects. */
  timeout_ms?: number | undefined;
  /** How often `call` and what rests on it try; null for once. */
  patience?: Patience | null;
  transport?: Transport<Answer>;
};

export type SendOptions = {
  /** Sent as JSON. */
  body?: unknown;
  /** Sent as they are, in place of `body`. */
  bytes?: Uint8Array;
  headers?: Record<string, string>;
  signal?: AbortSignal | undefined;
};

/** Operations that answer page by page. */
export type ListName = {
  [Name in keyof PublicApi]: PublicApi[Name]['answer'] extends { items: unknown[]; cursor: string | null }
    ? Name
    : never;
}[keyof PublicApi] &
  string;
export type ItemOf<Name extends ListName> = AnswerOf<PublicApi[Name]> extends { items: (infer Item)[] } ? Item : never;

export type EventsPage = { items: Event[]; cursor: string };

const TIMEOUT_MS = 60_000;
const TRIES_MAX = 5;
const PAGE = 100;
const POLL_MS = 2_000;
const PIECE_BYTES = 4 * 1024 * 1024;
const ENDLESS = { tries_max: Number.POSITIVE_INFINITY, pause_ms: 1_000, pause_max_ms: 60_000 };
/** What may be sent twice without doing anything twice. */
const REPEATABLE = new Set(['GET', 'HEAD', 'PUT', 'DELETE']);

/** The REST API as an app uses it. Paths and payloads are the reference's. */
export class AppClient<Answer extends CallAnswer = CallAnswer> {
  readonly base_url: string;
  readonly #transport: Transport<Answer>;
  readonly #timeout_ms: number;
  readonly #patience: Patience;
  readonly #credential: Credential | null;
  /** Shown with each request where nobody renews tokens. */
  access_token: string | null;

  constructor(base_url: string, options: AppOptions<Answer> = {}) {
    const { credential = null, timeout_ms = TIMEOUT_MS, transport, patience } = options;
    this.base_url = base_url;
    this.#transport = transport ?? (fetchTransport as Transport<Answer>);
    this.#timeout_ms = timeout_ms;
    this.#patience = patience ?? new Patience({ tries_max: patience === null ? 1 : TRIES_MAX });
    this.access_token = typeof credential === 'string' ? credential : null;
    this.#credential = typeof credential === 'string' ? null : credential;
  }

  /** The raw answer of one request, for callers that look at status and headers. A token that ran out is renewed. */
  async send(method: string, path: string, options: SendOptions = {}): Promise<Answer> {
    const token = this.#credential === null ? this.access_token : await this.#credential.token();
    const answer = await this.#sendWith(token, { method, path, ...options });
    if (answer.status !== 401 || this.#credential === null || token === null) return answer;
    return this.#sendWith(await this.#credential.tokenAfter(token), { method, path, ...options });
  }

  /** The payload of a success; throws CallRefused otherwise. */
  async ask<T>(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
    const answer = await this.send(method, path, { body, signal });
    return payloadOf<T>(answer, parsedBody(answer));
  }

  /**
   * As `ask`, typed by the reference, and made again where the server says "not now" (429), and where it can do no harm
   * also when it is away or no answer comes.
   */
  call<Name extends keyof PublicApi & string>(
    name: Name,
    ...[given]: Given<PublicApi[Name]>
  ): Promise<PublicApi[Name]['answer']> {
    const { method, path, body } = requestOf(name, given);
    return this.#patiently(method, () => this.ask(method, path, body));
  }

  /** All items of a list, page by page as they are asked for. */
  async *all<Name extends ListName>(name: Name, ...[given]: Given<PublicApi[Name]>): AsyncGenerator<ItemOf<Name>> {
    const { query = {}, ...rest } = (given ?? {}) as { query?: Record<string, unknown> };
    let cursor: string | undefined;
    do {
      const { method, path } = requestOf(name, { ...rest, query: { limit: PAGE, ...query, cursor } });
      const page = await this.#patiently(method, () =>
        this.ask<{ items: ItemOf<Name>[]; cursor: string | null }>(method, path),
      );
      yield* page.items;
      cursor = page.cursor ?? undefined;
    } while (cursor !== undefined);
  }

  /**
   * Events after a cursor, oldest first, without end: first a page that says where it begins, then each page that holds
   * any. Keep `cursor` once what the page says is done. Waits as long as it takes while the server is away. Throws
   * CallRefused with status 400 for a cursor that does not fit the account's events any more.
   */
  async *events({
    after = 'latest',
    type,
    poll_ms = POLL_MS,
    signal,
  }: {
    after?: string;
    type?: string;
    poll_ms?: number;
    signal?: AbortSignal;
  } = {}): AsyncGenerator<EventsPage> {
    const patience = new Patience(ENDLESS);
    let cursor = after;
    for (let is_first = true; !signal?.aborted; is_first = false) {
      const { method, path } = requestOf('GET /events', { query: { after: cursor, type, limit: PAGE } });
      let page: EventsPage;
      try {
        page = await patience.repeat(() => this.ask<EventsPage>(method, path, undefined, signal), signal);
      } catch (error) {
        if (signal?.aborted) return;
        throw error;
      }
      ({ cursor } = page);
      if (is_first || page.items.length > 0) yield page;
      if (page.items.length < PAGE) await pause(poll_ms, signal);
    }
  }

  /** The audio of a stream as one file, in pieces. */
  audio(stream_id: string, options?: { piece_bytes?: number; signal?: AbortSignal }): AsyncGenerator<Uint8Array> {
    return this.download(`/audio/streams/${encodeURIComponent(stream_id)}/content`, options);
  }

  /**
   * Bytes of an address that knows ranges, in pieces from `from_byte` on; each piece is a request that may be made again,
   * so a lost connection costs a piece. Throws when the content becomes another one meanwhile.
   */
  async *download(
    path: string,
    {
      from_byte = 0,
      piece_bytes = PIECE_BYTES,
      signal,
    }: { from_byte?: number; piece_bytes?: number; signal?: AbortSignal } = {},
  ): AsyncGenerator<Uint8Array> {
    let etag: string | undefined;
    for (let at = from_byte; ; ) {
      const headers = { Range: `bytes=${at}-${at + piece_bytes - 1}`, ...(etag !== undefined && { 'If-Range': etag }) };
      const answer = await this.#patiently('GET', () => this.#content(path, { headers, signal }));
      const { total, whole } = extentOf(answer);
      if (at >= total && answer.status === 416) return;
      if (whole && etag !== undefined) throw new Error('The content changed while it was read.');
      const piece = whole ? answer.body.subarray(at) : answer.body;
      etag = answer.headers.etag?.toString();
      yield piece;
      at += piece.length;
      if (at >= total) return;
    }
  }

  /** Sends a chunk's bytes to the path that its intent gave. */
  upload(upload_path: string, bytes: Uint8Array): Promise<Upload> {
    return this.#put<Upload>(upload_path, bytes);
  }

  /** Makes a recording of an audio file; resolves once it is done or has failed. */
  importFile(file: ImportedFile, options?: Parameters<typeof importFile>[2]): Promise<Import> {
    const put = (path: string, bytes: Uint8Array) => this.#put<Import>(path, bytes);
    return importFile({ call: (name, ...given) => this.call(name, ...given), put }, file, options);
  }

  /** Signs in with an emailed code that `readCode` fetches; the session's token goes with all that follows. */
  async signIn(email: string, readCode: () => Promise<string>): Promise<SignedIn> {
    await this.call('POST /auth/otp', { body: { email } });
    const session = await this.call('POST /auth/verify-otp', { body: { email, token: await readCode() } });
    this.access_token = session.access_token;
    return session;
  }

  close(): void {
    this.#transport.close?.();
  }

  async #content(path: string, options: SendOptions): Promise<Answer> {
    const answer = await this.send('GET', path, options);
    if (answer.status === 200 || answer.status === 206 || answer.status === 416) return answer;
    return payloadOf(answer, parsedBody(answer));
  }

  #put<T>(path: string, bytes: Uint8Array): Promise<T> {
    const headers = { 'Content-Type': 'application/octet-stream' };
    return this.#patiently('PUT', async () => {
      const answer = await this.send('PUT', path, { bytes, headers });
      return payloadOf<T>(answer, parsedBody(answer));
    });
  }

  #patiently<T>(method: string, call: () => Promise<T>): Promise<T> {
    return REPEATABLE.has(method) ? this.#patience.repeat(call) : this.#patience.run(call, isTooMuch);
  }

  #sendWith(
    token: string | null,
    { method, path, body, bytes, headers: given = {}, signal }: SendOptions & { method: string; path: string },
  ): Promise<Answer> {
    const headers: Record<string, string> = { 'X-API-Version': '1', ...given };
    if (token !== null) headers.Authorization ??= `Bearer ${token}`;
    const sent = bytes ?? (body === undefined ? undefined : new TextEncoder().encode(JSON.stringify(body)));
    if (bytes === undefined && sent !== undefined) headers['Content-Type'] ??= 'application/json';
    const late = AbortSignal.timeout(this.#timeout_ms);
    return this.#transport.send({
      ...{ method, url: new URL(path, this.base_url), headers, body: sent },
      signal: signal === undefined ? late : AbortSignal.any([late, signal]),
    });
  }
}

/** How many bytes there are in all, and whether this answer holds all of them. */
function extentOf({ status, headers, body }: CallAnswer): { total: number; whole: boolean } {
  if (status === 200) return { total: body.length, whole: true };
  const total = /\/(\d+)$/.exec(headers['content-range']?.toString() ?? '')?.[1];
  if (total === undefined) throw new Error('The answer does not say how much there is.');
  return { total: Number(total), whole: false };
}

/** It was not heard at all; an answer of 503 leaves that open. */
function isTooMuch(error: unknown): boolean {
  return error instanceof CallRefused && error.status === 429;
}
