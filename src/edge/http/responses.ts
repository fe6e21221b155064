import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type PublicAddresses, resourceMetadataOf } from '../../access/issuer.js';
import { isOauthError, OAUTH_ERRORS, type OauthError, oauthErrorOf } from '../../domain/oauth_errors.js';
import { REFUSALS, type Refusal } from '../../domain/refusals.js';
import { CachedJson } from '../../engine/wire/cached_json.js';
import { encodeCbor } from '../../engine/wire/cbor.js';
import { chooseAnswerFormat } from '../../engine/wire/media_types.js';
import type { DeviceProxies } from '../admission/device_proxies.js';
import { spreadRetryAfter } from '../admission/overload.js';
import { accountPageAt } from '../pages/account_pages.js';
import { sendPage } from '../pages/page.js';
import type { Exchange, ListenerKind } from './request_state.js';
import type { Dialect } from './route.js';

/** The form of an answer: in the envelope, in OAuth's plain JSON, or as a page. */
export type Answering = {
  dialect: Dialect;
  /** Enveloped, but for the operator port. */
  listener: 'public' | 'device' | 'operator';
  /** CBOR is spoken beside JSON. */
  cbor: boolean;
  /** Where RFC 9728 metadata lies that says how to get a token for the resource of this request. */
  resource_metadata: (request: FastifyRequest) => string;
  /** Whether a proxy passed the request on: its connection serves other devices. */
  isPassedOn: (request: FastifyRequest) => boolean;
};

const JSON_TYPE = 'application/json; charset=utf-8';

const ENVELOPE = ['{"success":true,"data":', '}'] as const;
const [DATA_BEGINS, DATA_ENDS] = [Buffer.from(ENVELOPE[0]), Buffer.from(ENVELOPE[1])];

/** An answer's payload that is JSON already, in UTF-8: what it holds is to reach the caller as it was written. */
export class JsonBytes {
  constructor(readonly pieces: readonly Uint8Array[]) {}
}

/** The forms in which a listener answers, one for each dialect. */
export function answeringOf(
  services: { addresses(): PublicAddresses; device_proxies: Pick<DeviceProxies, 'hasPassedOn'> },
  { listener, cbor }: ListenerKind,
): Record<Dialect, Answering> {
  const resource_metadata = (request: FastifyRequest) => resourceMetadataOf(services, request);
  const isPassedOn = (request: FastifyRequest) => services.device_proxies.hasPassedOn(request);
  const as = (dialect: Dialect): Answering => ({ dialect, listener, cbor, resource_metadata, isPassedOn });
  return { rest: as('rest'), oauth: as('oauth'), page: as('page'), mcp: as('mcp'), openai: as('openai') };
}

/** Sets the headers that every answer carries, whatever it comes to. */
export function setHeaders({ dialect, listener, cbor }: Answering, { request, reply }: Exchange): void {
  reply.header('X-Request-ID', request.id);
  // Whatever may be kept says so itself: nobody has to think of it where a secret is given.
  reply.header('Cache-Control', 'no-store');
  // No browser takes an answer for something else than it says.
  reply.header('X-Content-Type-Options', 'nosniff');
  if (listener !== 'operator' && dialect === 'rest') reply.header('X-API-Version', '1');
  if (cbor) reply.header('Vary', 'Accept');
  if (dialect === 'oauth') reply.header('Pragma', 'no-cache');
}

/** Sends what a handler or a check came to. */
export function sendAnswer(as: Answering, ends: Exchange, answer: unknown): FastifyReply {
  if (isOauthError(answer)) return sendOauthError(as, ends, answer);
  const { reply } = ends;
  if (reply.statusCode === 204) return reply.send();
  if (answer instanceof JsonBytes) return sendPieces(reply, [DATA_BEGINS, ...answer.pieces, DATA_ENDS]);
  const is_bare = as.dialect === 'oauth' || as.dialect === 'openai' || as.listener === 'operator';
  const cached = answer instanceof CachedJson ? answer : null;
  if (cached !== null && !as.cbor)
    return reply.type(JSON_TYPE).send(is_bare ? cached.text : ENVELOPE[0] + cached.text + ENVELOPE[1]);
  const data = cached === null ? answer : cached.value;
  return sendData(as, ends, is_bare ? data : { success: true, data });
}

/** Sends a refusal in the words of the route, with the headers that its code brings along. */
export function sendRefusal(as: Answering, ends: Exchange, refusal: Refusal): FastifyReply {
  if (as.dialect === 'oauth') return sendOauthError(as, ends, oauthErrorOf(refusal));
  const { request, reply } = ends;
  const { refused, message, details, retry_after_s, extra } = refusal;
  reply.code(REFUSALS[refused]);
  if (retry_after_s !== undefined) {
    // What every device of a fleet meets at once must not bring all of them back at once.
    const is_met_by_all = as.listener === 'device' && refused === 'UNAVAILABLE';
    reply.header('Retry-After', String(is_met_by_all ? spreadRetryAfter() : retry_after_s));
  }
  if (as.dialect === 'page') {
    if (refused === 'TOO_MANY_REQUESTS') return sendPage(reply, { page: 'wait', seconds: retry_after_s ?? 60 });
    const at = accountPageAt(request.url);
    return sendPage(reply, { page: 'error', code: refused, text: message, request_id: request.id, at });
  }
  const challenge = challengeOf(as, request, refusal);
  if (challenge !== null) reply.header('WWW-Authenticate', challenge);
  if (as.dialect === 'openai') return sendData(as, ends, openaiError(refusal));
  const error = { code: refused, message, ...(details === undefined ? {} : { details }), ...extra };
  return sendData(as, ends, { success: false, error });
}

/** An error as OpenAI's clients read it: all four members are always there. */
export function openaiError({ refused, message, details, extra }: Refusal): { error: Record<string, string | null> } {
  const status = REFUSALS[refused];
  const type = status === 429 ? 'rate_limit_exceeded' : status < 500 ? 'invalid_request_error' : 'server_error';
  const code = extra?.code ?? (refused === 'UNAUTHORIZED' ? 'invalid_api_key' : refused.toLowerCase());
  return { error: { message, type, param: details?.[0]?.path ?? null, code: String(code) } };
}

/** RFC 6749, 5.2, for whatever has no redirect URI. */
function sendOauthError(
  as: Answering,
  ends: Exchange,
  { error, error_description, ...more }: OauthError,
): FastifyReply {
  const { request, reply } = ends;
  reply.code(more.status ?? OAUTH_ERRORS[error]);
  if (more.retry_after_s !== undefined) reply.header('Retry-After', String(more.retry_after_s));
  if (as.dialect === 'page') {
    const at = accountPageAt(request.url);
    return sendPage(reply, { page: 'error', code: error, text: error_description, request_id: request.id, at });
  }
  // RFC 9110, 15.5.2: by which scheme a client can authenticate.
  if (reply.statusCode === 401) {
    reply.header('WWW-Authenticate', 'Basic realm="spool", charset="UTF-8"');
  }
  return sendData(as, ends, { error, error_description, ...more.extra });
}

/** A client that showed a token learns that it is the token (RFC 6750, 3.1), one that showed none only what to show. */
function challengeOf(as: Answering, request: FastifyRequest, { refused, scope }: Refusal): string | null {
  if (refused !== 'UNAUTHORIZED' && scope === undefined) return null;
  if (as.listener === 'device') return refused === 'UNAUTHORIZED' ? 'Certificate realm="spool devices"' : null;
  const parts = ['realm="spool"'];
  if (refused !== 'UNAUTHORIZED') parts.push('error="insufficient_scope"');
  else if (request.headers.authorization !== undefined) parts.push('error="invalid_token"');
  if (scope !== undefined) parts.push(`scope="${scope.join(' ')}"`);
  if (as.listener === 'public') parts.push(`resource_metadata="${as.resource_metadata(request)}"`);
  return `Bearer ${parts.join(', ')}`;
}

function sendData({ cbor }: Answering, { request, reply }: Exchange, payload: unknown): FastifyReply {
  if (cbor && chooseAnswerFormat(request.headers.accept) === 'cbor') {
    return reply.type('application/cbor').send(encodeCbor(payload));
  }
  return reply.type(JSON_TYPE).send(JSON.stringify(payload));
}

/** One after the other, as fast as the caller takes them: put together, megabytes would hold up everybody else. */
function sendPieces(reply: FastifyReply, pieces: readonly Uint8Array[]): FastifyReply {
  const bytes = pieces.reduce((sum, { length }) => sum + length, 0);
  return reply
    .type(JSON_TYPE)
    .header('Content-Length', bytes)
    .send(Readable.from(pieces, { objectMode: false }));
}
