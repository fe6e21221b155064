import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { REFUSALS, type RefusalCode } from '../../domain/refusals.js';
import { rawError } from '../../engine/wire/raw_error.js';
import { NOT_FOUND } from './protocol_answers.js';

/**
 * Options that all listeners share before there is a route: request ids, bounds on heads and times, and answers to
 * input that is not HTTP.
 */

const REQUEST_ID_CHARS_MAX = 128; // ours: longer ones are replaced

const REQUEST_ID_FORM = new RegExp(`^[\\x21-\\x7e]{1,${REQUEST_ID_CHARS_MAX}}$`);
/** The time for which an answer to input that is not HTTP may still be read. */
const LAST_WORD_MAX_MS = 2_000;
/** A connection on which nothing moves for so long, either way, while a request is in progress. */
const STILL_MAX_MS = 60_000;

const CLIENT_ERRORS: Record<string, RefusalCode> = {
  HPE_HEADER_OVERFLOW: 'HEADERS_TOO_LARGE',
  ERR_HTTP_REQUEST_TIMEOUT: 'REQUEST_TIMEOUT',
};

/** Fastify's. */
export const LISTENER_OPTIONS = {
  genReqId: (raw: { headers: Record<string, string | string[] | undefined> }) => {
    const given = raw.headers['x-request-id'];
    return typeof given === 'string' && REQUEST_ID_FORM.test(given) ? given : randomUUID();
  },
  frameworkErrors: refuseAddress,
  clientErrorHandler: refuseConnection,
  exposeHeadRoutes: false,
  logger: false,
  // The longest upload that still moves; what stands still is cut much earlier, see body_arrival.ts and the upload route.
  requestTimeout: 30 * 60_000,
  connectionTimeout: STILL_MAX_MS,
  keepAliveTimeout: 72_000,
  forceCloseConnections: 'idle' as const,
  routerOptions: { maxParamLength: 200, ignoreTrailingSlash: false },
};

/** Node's. It looks for late heads every five seconds: each listener has a timer for that, which wakes an idle process. */
export const SERVER_OPTIONS = { headersTimeout: 10_000, connectionsCheckingInterval: 5_000, maxHeaderSize: 16 * 1024 };

/** An address that can't be decoded is one that nothing lies at. */
function refuseAddress(_error: FastifyError, request: FastifyRequest, reply: FastifyReply): void {
  reply.header('X-Request-ID', request.id).header('X-API-Version', '1').header('X-Content-Type-Options', 'nosniff');
  const error = { code: NOT_FOUND.refused, message: NOT_FOUND.message };
  void reply
    .code(REFUSALS.NOT_FOUND)
    .type('application/json; charset=utf-8')
    .send(JSON.stringify({ success: false, error }));
}

/** Answers input that is not HTTP, or that stalls for too long, before the connection closes. */
function refuseConnection(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy();
  const code = CLIENT_ERRORS[error.code ?? ''] ?? 'BAD_REQUEST';
  socket.end(rawError(code, 'The request is malformed or took too long.'));
  // The other end may neither read nor close; HTTP no longer looks at this connection.
  const late = setTimeout(() => socket.destroy(), LAST_WORD_MAX_MS);
  socket.once('close', () => clearTimeout(late));
}
