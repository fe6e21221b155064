import type { FastifyReply, FastifyRequest } from 'fastify';
import { LIMITS } from '../../domain/limits.js';
import { type Refusal, refuse, throwRefusal } from '../../domain/refusals.js';
import type { Exchange } from './request_state.js';
import { type Answering, sendRefusal } from './responses.js';
import type { Route } from './route.js';

/** Bodies that have not come yet: asked for, given a bounded time, or refused unread. */

/** The time that a body may take once it was asked for; uploads have their own rule. */
const BODY_MAX_MS = 10_000;
/** Of large ones: half a megabit a second. */
const BODY_BYTES_PER_MS_MIN = 64;
/** A refused body larger than this is not read to its end: the connection closes instead. */
const UNREAD_BODY_BYTES_MAX = 16 * 1024;

/**
 * Asks for the body and gives it a bounded time: a client that drips it, or sends nothing more, holds nothing for long.
 * Where large ones are taken there is more time, the more of it has come, as a slow network needs.
 */
export function awaitBody(as: Answering, { request, reply }: Exchange, { body_bytes_max = 0 }: Route): void {
  askForBody(request, reply);
  const { raw } = request;
  if (raw.complete || (raw.headers['content-length'] === undefined && raw.headers['transfer-encoding'] === undefined))
    return;
  const { socket } = raw;
  const [began, before] = [performance.now(), socket.bytesRead];
  const look = () => {
    if (raw.complete || reply.sent) return;
    const took_ms = performance.now() - began;
    const came = Math.min(socket.bytesRead - before, body_bytes_max);
    const left_ms = BODY_MAX_MS + came / BODY_BYTES_PER_MS_MIN - took_ms;
    if (left_ms > 0) {
      late = setTimeout(look, Math.ceil(left_ms));
      return;
    }
    reply.header('Connection', 'close');
    const text = `The body did not come within ${Math.round(took_ms / 1000)} seconds.`;
    sendRefusal(as, { request, reply }, refuse('REQUEST_TIMEOUT', text));
  };
  let late = setTimeout(look, BODY_MAX_MS);
  raw.once('end', () => clearTimeout(late));
  reply.raw.once('close', () => clearTimeout(late));
}

const NO_LENGTH = refuse('LENGTH_REQUIRED', 'An upload needs Content-Length.');

/** Whether a body may be larger than most are, by its head. Throws Refused where an upload does not say how large it is. */
export function isLarge({ headers }: FastifyRequest, { is_upload }: Pick<Route, 'is_upload'>): boolean {
  const length = headers['content-length'];
  if (length === undefined && is_upload) throwRefusal(NO_LENGTH);
  return Number(length ?? Number.POSITIVE_INFINITY) > LIMITS.json_body_bytes_max;
}

/** Aborts when the connection of a request closes. */
export function leftSignal({ reply }: Exchange): AbortSignal {
  const left = new AbortController();
  if (reply.raw.closed) left.abort();
  else reply.raw.once('close', () => left.abort());
  return left.signal;
}

/** Lets a client that sent `Expect: 100-continue` begin with its body. */
export function askForBody(request: FastifyRequest, reply: FastifyReply): void {
  if (request.headers.expect?.toLowerCase() === '100-continue') reply.raw.writeContinue();
}

/**
 * Answers before the body was read; a long body is not read to its end, and no request follows a refused certificate.
 */
export function refuseUnread(as: Answering, { request, reply }: Exchange, refusal: Refusal): FastifyReply {
  const { headers } = request;
  const length = Number(headers['content-length'] ?? 0);
  const is_long = length > UNREAD_BODY_BYTES_MAX || headers['transfer-encoding'] !== undefined;
  const is_shut_out =
    as.listener === 'device' && ['UNAUTHORIZED', 'FORBIDDEN'].includes(refusal.refused) && !as.isPassedOn(request);
  if (is_long || is_shut_out || headers.expect !== undefined) reply.header('Connection', 'close');
  const { raw } = request;
  if (!raw.complete && length > 0) {
    // What was announced and never comes holds its connection no longer than a body that is read.
    const late = setTimeout(() => raw.destroy(), BODY_MAX_MS);
    late.unref(); // node says nothing of the body when its connection closes after the answer
    raw.once('close', () => clearTimeout(late)).once('end', () => clearTimeout(late));
  }
  return sendRefusal(as, { request, reply }, refusal);
}
