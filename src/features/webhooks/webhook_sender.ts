import type { Socket } from 'node:net';
import { createSecureContext, rootCertificates } from 'node:tls';
import { Agent, buildConnector, type Dispatcher, Pool, ProxyAgent } from 'undici';
import { LIMITS } from '../../domain/limits.js';
import { skippingInterim } from '../../engine/wire/interim_answers.js';
import { checkLiteral, makeLookup, type Reach } from './addresses.js';

const DELIVERY_RESPONSE_BYTES_MAX = 16 * 1024; // ours: read for the connection's sake, and dropped

/** The outcome of one request. */
export type WebhookResponse = {
  /** Null when no status line came. */
  status_code: number | null;
  /** Text of the status line. */
  reason: string | null;
  retry_after: string | undefined;
  /** A class of what went wrong; null when there was an answer. */
  error: WebhookError | null;
  /** Until the status line, or until it was given up. */
  duration_ms: number;
};

export type WebhookError =
  | 'timeout'
  | 'dns'
  | 'address_blocked'
  | 'connection_refused'
  | 'connection_lost'
  | 'unreachable'
  | 'certificate_expired'
  | 'certificate_name'
  | 'certificate_untrusted'
  | 'tls'
  | 'bad_answer'
  | 'network';

/** With a proxy it is the proxy that connects. */
export type WebhookSenderOptions = Reach & {
  /** PEM of certificates that are trusted beside the usual ones. */
  extra_ca: string | null;
  proxy: string | null;
};

const ORIGIN_CONNECTIONS_MAX = LIMITS.origin_in_flight_max;
const IDLE_CONNECTION_MS = 15_000;
/** Connections are made anew after so long, so that a name that moved is followed. */
const CONNECTION_LIFE_MS = 5 * 60_000;
const HEADER_BYTES_MAX = 16 * 1024;
/** Of all that comes for one request; what is read at once may be more than the parser then takes. */
const ANSWER_BYTES_MAX = 256 * 1024;
const TLS_MIN = 'TLSv1.2';

const ERRORS: readonly [RegExp, WebhookError][] = [
  [/^ADDRESS_BLOCKED$/, 'address_blocked'],
  [/^(ENOTFOUND|EAI_\w+|ENODATA|ESERVFAIL)$/, 'dns'],
  [/^(ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT|UND_ERR_HEADERS_TIMEOUT|UND_ERR_BODY_TIMEOUT)$/, 'timeout'],
  [/^ECONNREFUSED$/, 'connection_refused'],
  [/^(EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL)$/, 'unreachable'],
  [/^CERT_HAS_EXPIRED$/, 'certificate_expired'],
  [/^(ERR_TLS_CERT_ALTNAME_|HOSTNAME_MISMATCH)/, 'certificate_name'],
  [
    /^(UNABLE_TO_(GET_ISSUER|VERIFY_LEAF)|SELF_SIGNED|DEPTH_ZERO|CERT_UNTRUSTED|INVALID_CA|INVALID_PURPOSE)/,
    'certificate_untrusted',
  ],
  [/^(CERT_|ERR_TLS|ERR_SSL|UNABLE_TO_|EPROTO)/, 'tls'],
  [/^(HPE_|UND_ERR_HEADERS_OVERFLOW|UND_ERR_RES_)/, 'bad_answer'],
  [/^(ECONNRESET|EPIPE|ECONNABORTED|UND_ERR_SOCKET|UND_ERR_ABORTED)$/, 'connection_lost'],
];

/**
 * Posts to receivers over kept-alive connections, with one timer over all of a request: name, connection, handshake,
 * sending, status line and body. Follows no redirect, repeats nothing, and keeps no byte of an answer.
 */
export class WebhookSender {
  readonly #dispatcher: Dispatcher;
  readonly #status_lines: StatusLines = new WeakMap();

  constructor({ extra_ca, proxy, ...reach }: WebhookSenderOptions) {
    // Made once: with every connection it would cost more than the handshake.
    const ca = extra_ca === null ? undefined : [...rootCertificates, extra_ca];
    const trusted = ca === undefined ? {} : { secureContext: createSecureContext({ ca, minVersion: TLS_MIN }) };
    const pool = {
      connections: ORIGIN_CONNECTIONS_MAX,
      pipelining: 1,
      keepAliveTimeout: IDLE_CONNECTION_MS,
      keepAliveMaxTimeout: IDLE_CONNECTION_MS,
      clientTtl: CONNECTION_LIFE_MS,
      maxHeaderSize: HEADER_BYTES_MAX,
      // The one timer stands over these.
      headersTimeout: 0,
      bodyTimeout: 0,
    };
    if (proxy !== null) {
      this.#dispatcher = new ProxyAgent({
        ...pool,
        uri: proxy,
        requestTls: { minVersion: TLS_MIN, ...trusted },
        // A tunnel that does not come is given up as well.
        clientFactory: (origin, options) =>
          new Pool(origin, { ...options, headersTimeout: LIMITS.delivery_timeout_ms } as Pool.Options),
        factory: (origin, options) => {
          const { connect, ...others } = options as Pool.Options & { connect: buildConnector.connector };
          return new Pool(origin, { ...others, connect: bounded(connect, this.#status_lines) });
        },
      });
      return;
    }
    const connect = buildConnector({
      timeout: LIMITS.delivery_timeout_ms,
      lookup: makeLookup(reach),
      minVersion: TLS_MIN,
      ...trusted,
    });
    this.#dispatcher = new Agent({
      ...pool,
      connect: bounded((options, callback) => {
        try {
          checkLiteral(options.hostname, reach);
        } catch (error) {
          return callback(error as Error, null);
        }
        return connect(options, callback);
      }, this.#status_lines),
    });
  }

  /** Sends one request. Never rejects, and resolves within the limit of time, however the other side behaves. */
  post(
    url: URL,
    { headers, body }: { headers: Record<string, string>; body: string | Uint8Array },
  ): Promise<WebhookResponse> {
    const began = performance.now();
    const status_lines = this.#status_lines;
    return new Promise((resolve) => {
      let controller: Dispatcher.DispatchController | null = null;
      let answer: WebhookResponse | null = null;
      let bytes = 0;
      let is_over = false;

      const finish = (error: WebhookError | null, abort: boolean) => {
        if (is_over) return;
        is_over = true;
        clearTimeout(timer);
        if (abort) controller?.abort(new Error('no longer of interest'));
        const duration_ms = Math.round(performance.now() - began);
        // What follows a status line changes nothing any more.
        resolve(
          answer ?? { status_code: null, reason: null, retry_after: undefined, error: error ?? 'network', duration_ms },
        );
      };
      const timer = setTimeout(() => finish('timeout', true), LIMITS.delivery_timeout_ms);

      const handler: Dispatcher.DispatchHandler = {
        onRequestStart(started) {
          controller = started;
          if (is_over) started.abort(new Error('no longer of interest'));
        },
        onResponseStart(_controller, status_code, answered, status_message = '') {
          if (status_code < 200) return; // an interim answer
          const retry_after = answered['retry-after'];
          answer = {
            status_code,
            reason: printable(status_message),
            retry_after: Array.isArray(retry_after) ? retry_after.at(-1) : retry_after,
            error: null,
            duration_ms: Math.round(performance.now() - began),
          };
        },
        onResponseData(_controller, chunk) {
          bytes += chunk.length;
          if (bytes > DELIVERY_RESPONSE_BYTES_MAX) finish(null, true);
        },
        onResponseEnd() {
          finish(null, false);
        },
        onResponseError(_controller, error) {
          const line = status_lines.get(error);
          if (answer === null && line !== undefined)
            answer = {
              ...line,
              retry_after: undefined,
              error: null,
              duration_ms: Math.round(performance.now() - began),
            };
          finish(errorClass(error), false);
        },
      };
      try {
        const { origin } = url;
        this.#dispatcher.dispatch({ origin, path: url.pathname + url.search, method: 'POST', headers, body }, handler);
      } catch (error) {
        finish(errorClass(error), false);
      }
    });
  }

  /** Ends all connections. */
  async close(): Promise<void> {
    await this.#dispatcher.destroy();
  }
}

/** Connections that end when they bring more than an answer may hold, in whatever form: the parser bounds but some of it. */
function bounded(connect: buildConnector.connector, status_lines: StatusLines): buildConnector.connector {
  return (options, callback) =>
    skippingInterim(connect)(options, (...[error, socket]) => {
      if (error !== null) return callback(error, null);
      keepStatusLine(socket, status_lines);
      let [written, read] = [socket.bytesWritten, socket.bytesRead];
      socket.on('readable', () => {
        // Whatever comes after a request was written is the answer to it.
        if (socket.bytesWritten !== written) [written, read] = [socket.bytesWritten, socket.bytesRead];
        else if (socket.bytesRead - read > ANSWER_BYTES_MAX)
          socket.destroy(new AnswerTooLong('the answer does not end'));
      });
      callback(null, socket);
    });
}

/** The status lines of answers that were refused for what follows, by that error. */
type StatusLines = WeakMap<Error, Pick<WebhookResponse, 'status_code' | 'reason'>>;
const STATUS_LINE = /^HTTP\/1\.[01] ([2-9]\d\d)(?: ([^\r\n]*))?\r?\n/;
const STATUS_LINE_CHARS_MAX = 1_024;

/**
 * Keeps the status line of each answer for the case that what follows is refused, such as two lengths, ends of lines without
 * CR, or too many headers: the status line decides. One request at a time.
 */
function keepStatusLine(socket: Socket, status_lines: StatusLines): void {
  const [read, write] = [socket.read.bind(socket), socket.write.bind(socket)];
  let head = '';
  socket.write = ((...args: Parameters<typeof write>) => {
    if (typeof args[0] === 'string' && args[0].startsWith('POST ')) head = '';
    return write(...args);
  }) as typeof socket.write;
  socket.read = (size) => {
    const bytes: Buffer | null = read(size);
    if (bytes !== null && head.length < STATUS_LINE_CHARS_MAX)
      head += bytes.toString('latin1', 0, STATUS_LINE_CHARS_MAX);
    return bytes;
  };
  socket.on('error', (error) => {
    const [, status, reason = ''] = STATUS_LINE.exec(head) ?? [];
    if (status !== undefined && errorClass(error) === 'bad_answer')
      status_lines.set(error, { status_code: Number(status), reason: printable(reason) });
  });
}

class AnswerTooLong extends Error {
  override name = 'AnswerTooLong';
  readonly code = 'UND_ERR_RES_TOO_LONG';
}

function errorClass(error: unknown): WebhookError {
  for (let at = error; at instanceof Error; at = at.cause) {
    // Not every one has a code.
    if (at.name === 'HTTPParserError') return 'bad_answer';
    const code = String((at as NodeJS.ErrnoException).code ?? '');
    const found = ERRORS.find(([form]) => form.test(code));
    if (found !== undefined) return found[1];
    // Several addresses were tried: the last is as good as any.
    if (at instanceof AggregateError && at.errors.length > 0) return errorClass(at.errors.at(-1));
  }
  return 'network';
}

function printable(text: string): string | null {
  const clean = text
    .replace(/[^\x20-\x7e]/g, '')
    .trim()
    .slice(0, LIMITS.attempt_reason_chars_max);
  return clean === '' ? null : clean;
}
