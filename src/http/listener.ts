import { randomUUID } from 'node:crypto';
import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import cors from '@fastify/cors';
import { type Span, SpanStatusCode } from '@opentelemetry/api';
import type { FastifyContentTypeParser, FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { spreadRetryAfter } from '../admission/overload.js';
import { type DeviceIdentity, deviceIdentityOf, isPassedOn, overBudget } from '../devices/device_identity.js';
import { isId } from '../domain/ids.js';
import { LIMITS } from '../domain/limits.js';
import { isEnabled } from '../domain/permissions.js';
import { isRefusal, REFUSALS, type Refusal, type RefusalCode, refuse } from '../domain/refusals.js';
import { resourceMetadataOf } from '../oauth/issuer.js';
import { operatorRefusal } from '../operator/operator_session.js';
import { EPOCH_ENDED } from '../runtime/activation.js';
import { ScopedRuntime } from '../runtime/scoped_runtime.js';
import type { Services } from '../services.js';
import { StoreUnavailable } from '../store/store.js';
import type { RequestScope } from '../tracing/request_scope.js';
import { decodeCbor } from '../wire/cbor.js';
import { isForm, readParameters, repeatProblem } from '../wire/form.js';
import { decodeJson } from '../wire/json.js';
import { bodyFormat, chooseAnswerFormat } from '../wire/media_types.js';
import { parseGiven } from '../wire/schema_faults.js';
import { bodyPieces } from './body_pieces.js';
import { accountDeleted, type Principal, principalOf } from './principal.js';
import { overRate } from './rates.js';
import { type Answering, sendAnswer, sendRefusal } from './responses.js';
import type { Call, Dialect, Route } from './route.js';
import { isWelcomeOrigin } from './web_origin.js';

/** How the listeners differ: who calls, which formats they speak, how large a body may be. */
export type ListenerKind = {
  listener: 'public' | 'device' | 'operator';
  cbor: boolean;
  body_bytes_max: number;
};

const REQUEST_ID_FORM = new RegExp(`^[\\x21-\\x7e]{1,${LIMITS.request_id_chars_max}}$`);
/** The time that a body may take once it was asked for; uploads have their own rule. */
const BODY_MAX_MS = 10_000;
/** What is said of a request that is no HTTP may take so long to be read. */
const LAST_WORD_MAX_MS = 2_000;
/** A connection on which nothing moves for so long, either way, while a request is under way. */
const STILL_MAX_MS = 60_000;
/** Of large ones: half a megabit a second. */
const BODY_BYTES_PER_MS_MIN = 64;
/** A refused body larger than this is not read to its end: the connection closes instead. */
const UNREAD_BODY_BYTES_MAX = 16 * 1024;
const AWAY = refuse('UNAVAILABLE', 'The service is not available at the moment.', { retry_after_s: 2 });
const ONLY_APPS = refuse('FORBIDDEN', 'A personal access token can not do this; sign in with an app.');
const ONLY_OWN_APPS = refuse('FORBIDDEN', 'Only our own apps may do this.');
const NOT_FOR_MCP = refuse('FORBIDDEN', 'MCP takes OAuth access tokens and personal access tokens, not app sessions.');
const SHARING_OFF = refuse('WORKSPACE_SHARING_REQUIRED', 'Workspace sharing is not available to this account.');
const ONLY_SESSIONS = refuse('FORBIDDEN', 'This is for app sessions; apps of OAuth sign out or revoke their grant.');
const TWO_HOSTS = refuse('BAD_REQUEST', 'The header Host must be sent once.', {
  details: [{ path: 'Host', message: 'must be sent once' }],
});
const NOT_FOUND = refuse('NOT_FOUND', 'There is nothing at this address.');
const TOO_MANY_AT_ONCE = refuse('UNAVAILABLE', 'Too many requests of this account wait already.', { retry_after_s: 2 });

const CLIENT_ERRORS: Record<string, RefusalCode> = {
  HPE_HEADER_OVERFLOW: 'HEADERS_TOO_LARGE',
  ERR_HTTP_REQUEST_TIMEOUT: 'REQUEST_TIMEOUT',
};

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Absent where no row of a table is: what is said there is said as REST. */
    dialect?: Dialect;
  }
  interface FastifyRequest {
    scope: RequestScope | null;
    /** What was found when the head was read; null until then. */
    arrival: Arrival | null;
    /** Who asks, and the services for them; null until they are admitted. */
    caller: Caller | null;
  }
}

/** `url` is the pattern of the row, undefined where there is none. Fastify makes both anew each time it is asked. */
type Arrival = { dialect: Dialect; url: string | undefined };
type Caller = { services: Services; who: unknown };

/** Who may go on; `who` is null where nobody had to say. */
type Admitted = { who: unknown };

const NOBODY: Admitted = { who: null };

/** Fastify options that all listeners share: request ids, and time limits on everything that comes from outside. */
export const LISTENER_OPTIONS = {
  genReqId: (raw: { headers: Record<string, string | string[] | undefined> }) => {
    const given = raw.headers['x-request-id'];
    return typeof given === 'string' && REQUEST_ID_FORM.test(given) ? given : randomUUID();
  },
  /** An address that can't be decoded is one that nothing lies at. */
  frameworkErrors: (_error: FastifyError, request: FastifyRequest, reply: FastifyReply) => {
    reply.header('X-Request-ID', request.id).header('X-API-Version', '1');
    const error = { code: NOT_FOUND.refused, message: NOT_FOUND.message };
    void reply
      .code(REFUSALS.NOT_FOUND)
      .type('application/json; charset=utf-8')
      .send(JSON.stringify({ success: false, error }));
  },
  /** What is no HTTP, or stands still for too long, is told so before the connection closes. */
  clientErrorHandler: (error: NodeJS.ErrnoException, socket: Socket) => {
    if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy();
    const code = CLIENT_ERRORS[error.code ?? ''] ?? 'BAD_REQUEST';
    const body = JSON.stringify({
      success: false,
      error: { code, message: 'The request is malformed or took too long.' },
    });
    const head = `HTTP/1.1 ${REFUSALS[code]} ${STATUS_CODES[REFUSALS[code]]}\r\nX-API-Version: 1\r\nContent-Type: application/json; charset=utf-8`;
    socket.end(`${head}\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`);
    // The other end may neither read nor close; HTTP no longer looks at this connection.
    const late = setTimeout(() => socket.destroy(), LAST_WORD_MAX_MS);
    socket.once('close', () => clearTimeout(late));
  },
  exposeHeadRoutes: false,
  logger: false,
  // The longest upload that still moves; what stands still is cut much earlier, see BODY_MAX_MS and the upload route.
  requestTimeout: 30 * 60_000,
  connectionTimeout: STILL_MAX_MS,
  keepAliveTimeout: 72_000,
  forceCloseConnections: 'idle' as const,
  routerOptions: { maxParamLength: 200, ignoreTrailingSlash: false },
};
export const SERVER_OPTIONS = { headersTimeout: 10_000, connectionsCheckingInterval: 1_000, maxHeaderSize: 16 * 1024 };

/** Puts the rows of a route table onto a listener, with everything that all of them share. */
export function mount(app: FastifyInstance, services: Services, kind: ListenerKind, routes: readonly Route[]): void {
  const { metrics } = services;
  const patterns = routes.map(({ method, path, dialect }) => ({ method, pattern: pathPattern(path), dialect }));
  const rowsAt = (url: string) => patterns.filter(({ pattern }) => pattern.test(url.split('?', 1)[0] ?? ''));
  /** The methods at an address; none where there is no row. */
  const allowedAt = (url: string): string[] => {
    const methods = new Set<string>(rowsAt(url).flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : method)));
    return methods.size === 0 ? [] : [...methods, 'OPTIONS'];
  };
  /** Where only the method is wrong, the answer is in the words of that address all the same. */
  const arrivalOf = (request: FastifyRequest): Arrival => {
    if (request.is404) return { dialect: rowsAt(request.url)[0]?.dialect ?? 'rest', url: undefined };
    const { config, url } = request.routeOptions;
    return { dialect: config.dialect ?? 'rest', url };
  };
  const answering = answeringOf(services, kind);
  /** A request whose address can't be decoded has not arrived. */
  const as = ({ arrival }: FastifyRequest) => answering[arrival?.dialect ?? 'rest'];
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: kind.body_bytes_max }, (_request, body, done) =>
    done(null, body),
  );

  app.decorateRequest('scope', null);
  app.decorateRequest('arrival', null);
  app.decorateRequest('caller', null);
  const is_logged = services.log.isLevelEnabled('info');
  // Both with a callback: a promise for each request would cost more than what they do.
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('X-Request-ID', request.id);
    const arrival = arrivalOf(request);
    const { dialect } = arrival;
    request.arrival = arrival;
    request.scope = { request_id: request.id, span: spanOf(services, kind, request) };
    // Whatever may be kept says so itself: nobody has to think of it where a secret is given.
    reply.header('Cache-Control', 'no-store');
    if (kind.listener !== 'operator' && dialect === 'rest') reply.header('X-API-Version', '1');
    if (kind.cbor) reply.header('Vary', 'Accept');
    if (dialect === 'oauth') reply.header('Pragma', 'no-cache');
    if (hasTwoHosts(request.raw)) return void refuseUnread(as(request), { request, reply }, TWO_HOSTS);
    if (request.method !== 'OPTIONS') return done();
    // What is possible at an address (RFC 9110, 9.3.7); a page's question is for CORS.
    const allowed = allowedAt(request.url);
    if (allowed.length > 0) reply.header('Allow', allowed.join(', '));
    if (kind.listener === 'public' && request.headers.origin !== undefined) return done();
    if (allowed.length === 0) return void refuseUnread(as(request), { request, reply }, NOT_FOUND);
    return void reply.code(204).send();
  });
  if (kind.listener === 'public') app.register(cors, corsOf(services));
  app.addHook('onResponse', (request, reply, done) => {
    const route = request.arrival?.url ?? 'none';
    const labels = { listener: kind.listener, route: `${request.method} ${route}`, status: String(reply.statusCode) };
    metrics.requests.observe(labels, reply.elapsedTime / 1000);
    const span = request.scope?.span ?? null;
    if (span !== null) endSpan(span, reply.statusCode);
    if (is_logged) {
      const { listener } = kind;
      const ms = Math.round(reply.elapsedTime * 10) / 10;
      services.log.info(
        { request_id: request.id, listener, method: request.method, route, status: reply.statusCode, ms },
        'request',
      );
    }
    done();
  });

  if (kind.listener === 'public') mountPreflights(app, routes);
  const [raw, in_pieces] = [routes.filter((row) => row.raw), routes.filter(({ takes }) => takes === 'json_pieces')];
  const mountAll = (scope: FastifyInstance, rows: readonly Route[]) => {
    for (const route of rows) mountRoute(scope, { services, kind, answering }, route);
  };
  const mountWith = (parser: FastifyContentTypeParser, rows: readonly Route[]) =>
    app.register(async (scope) => {
      scope.removeAllContentTypeParsers();
      scope.addContentTypeParser('*', parser);
      mountAll(scope, rows);
    });
  mountAll(
    app,
    routes.filter((row) => !raw.includes(row) && !in_pieces.includes(row)),
  );
  mountWith(async () => undefined, raw); // it stays where it is: the handler reads it
  mountWith(bodyPieces, in_pieces);

  const answerNoRoute = async (request: FastifyRequest, reply: FastifyReply) => {
    const allowed = allowedAt(request.url);
    if (allowed.length === 0) return refuseUnread(as(request), { request, reply }, NOT_FOUND);
    reply.header('Allow', allowed.join(', '));
    return refuseUnread(
      as(request),
      { request, reply },
      refuse('METHOD_NOT_ALLOWED', `${request.method} is not possible here.`),
    );
  };
  // Before the body is read, which nothing here would bound in time, or ask for.
  app.addHook('preParsing', (request, reply, _body, done) => {
    if (request.is404) void answerNoRoute(request, reply);
    else done();
  });
  app.setNotFoundHandler(answerNoRoute);
  app.setErrorHandler<FastifyError>(async (error, request, reply) => {
    const refusal = refusalOf(error);
    if (refusal.refused === 'INTERNAL' || (refusal === AWAY && !(error instanceof StoreUnavailable)))
      services.log.error({ err: error, request_id: request.id }, 'request failed');
    // A body that nobody reads to its end must not become the next request.
    if (!request.raw.complete) reply.header('Connection', 'close');
    return sendRefusal(as(request), { request, reply }, refusal);
  });
}

/** RFC 9112, 3.2: two of them mean that whoever passed the request on read another one. */
function hasTwoHosts({ rawHeaders }: IncomingMessage): boolean {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  return hosts > 1;
}

/** How a listener answers. */
function answeringOf(services: Services, { listener, cbor }: ListenerKind): Record<Dialect, Answering> {
  const resource_metadata = (request: FastifyRequest) => resourceMetadataOf(services, request);
  const as = (dialect: Dialect): Answering => ({ dialect, listener, cbor, resource_metadata });
  return { rest: as('rest'), oauth: as('oauth'), page: as('page'), mcp: as('mcp') };
}

/** Which pages may read answers. Interface: "Browser integrations". */
function corsOf({ settings: { cors_origins } }: Services) {
  return {
    origin: cors_origins.includes('*') ? '*' : [...cors_origins],
    methods: ['GET', 'POST', 'PATCH', 'PUT', 'DELETE'],
    allowedHeaders: ['Authorization', 'Content-Type', 'X-API-Version', 'X-Request-ID'],
    exposedHeaders: ['X-API-Version', 'X-Request-ID'],
    strictPreflight: false,
  };
}

/** Preflights come without a row of their own; those of a row with its own rules are answered by these. */
function mountPreflights(app: FastifyInstance, routes: readonly Route[]): void {
  const rules = new Map(routes.flatMap(({ path, cors: rule }) => (rule === undefined ? [] : [[path, rule]])));
  for (const [path, rule] of rules) app.options(path, { config: { cors: rule } }, (_request, reply) => reply.send());
}

function mountRoute(
  app: FastifyInstance,
  { services, kind, answering }: { services: Services; kind: ListenerKind; answering: Record<Dialect, Answering> },
  route: Route,
): void {
  const { dialect = 'rest' } = route;
  const as = answering[dialect];
  const { account_concurrency: account_turns, metrics } = services;
  // An upload is as slow as its network; its own actors bound it.
  const takes_turns = ['account', 'app', 'session'].includes(route.credential) && route.raw !== true;
  const ids = route.path.split('/').flatMap((part) => (/^:.*id$/.test(part) ? [part.slice(1)] : []));
  app.route({
    method: route.method === 'GET' ? ['GET', 'HEAD'] : route.method,
    url: route.path,
    config: { dialect, ...(route.cors === undefined ? {} : { cors: route.cors }) },
    bodyLimit: route.body_bytes_max ?? kind.body_bytes_max,
    // The order of checks is the interface's: rate, version, credential, permission; then the body; then the rest.
    onRequest: async (request, reply) => {
      const shed = overloaded(services, kind, route);
      const own = servicesFor(services, request);
      const admitted = shed ?? (await admit(own, kind, route, request));
      if (isRefusal(admitted)) return refuseUnread(as, { request, reply }, admitted);
      request.caller = { services: own, who: admitted.who };
      if (route.raw === true && kind.listener === 'device') {
        const end = services.device_budgets.beginUpload((admitted.who as DeviceIdentity).device_id);
        if (end === null) return refuseUnread(as, { request, reply }, overBudget(services, 'device_uploads'));
        reply.raw.once('close', end);
      }
      if (route.raw !== true) awaitBody(as, { request, reply }, route);
      return undefined;
    },
    handler: async (request, reply) => {
      const caller = request.caller ?? { services, who: null };
      const account_id = takes_turns ? (caller.who as Principal).account_id : null;
      if (account_id === null) return handle(caller, request, reply);
      const bytes = bytesOf(request);
      const entrance = account_turns.enter(account_id, bytes);
      if (entrance === 'full') {
        metrics.overload_refusals.inc({ listener: kind.listener, cause: 'account' });
        return sendRefusal(as, { request, reply }, TOO_MANY_AT_ONCE);
      }
      if (entrance !== 'at once') await entrance;
      try {
        return await handle(caller, request, reply);
      } finally {
        account_turns.leave(account_id, bytes);
      }
    },
  });

  async function handle(
    { services: own, who }: Caller,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<unknown> {
    const refused = (refusal: Refusal) => {
      if (kind.listener === 'device' && who !== null) {
        const { device_id } = who as DeviceIdentity;
        const reason = refusal.refused;
        services.device_activity.refused(device_id, { reason, route: `${route.method} ${route.path}` });
      }
      return sendRefusal(as, { request, reply }, refusal);
    };
    const params = request.params as Record<string, string>;
    const body = route.raw === true ? { ok: true as const, value: undefined } : readBody(kind, route, request);
    if (!body.ok) return refused(body.refusal);
    const query = validate(route.query, request.query, 'query');
    if (!query.ok) return refused(query.refusal);
    for (const name of ids) {
      params[name] = params[name]?.toLowerCase() ?? '';
      if (!isId(params[name])) return refused(NOT_FOUND);
    }
    // Each by its name: spread into a larger object they would take 5 µs.
    const call = { services: own, who, body: body.value, query: query.value, params, request, reply } as Call<
      never,
      never,
      never
    >;
    const answer = await route.handler(call);
    if (reply.sent) return reply;
    if (answer === EPOCH_ENDED) return refused(await endedMeanwhile(services, { kind, route, request }));
    if (isRefusal(answer)) return refused(answer);
    if (route.status !== undefined) reply.code(route.status);
    return sendAnswer(as, { request, reply }, answer);
  }
}

/** The services as this request uses them: what it asks of actors is known by its id. */
function servicesFor(services: Services, { scope }: FastifyRequest): Services {
  return scope === null ? services : { ...services, runtime: new ScopedRuntime(services.runtime, scope) };
}

function spanOf({ tracing }: Services, { listener }: ListenerKind, request: FastifyRequest): Span | null {
  if (tracing === null) return null;
  const { method, headers } = request;
  const route = request.arrival?.url ?? 'none';
  return tracing.beginRequest(`${method} ${route}`, headers.traceparent as string | undefined, {
    ...{ 'http.request.method': method, 'http.route': route },
    ...{ 'spool.listener': listener, 'spool.request_id': request.id },
  });
}

/** Only what is our own fault is an error of the span. */
function endSpan(span: Span, status: number): void {
  span.setAttribute('http.response.status_code', status);
  if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
}

/** Everything that is decided before a byte of the body is read. */
async function admit(
  services: Services,
  kind: ListenerKind,
  route: Route,
  request: FastifyRequest,
): Promise<Admitted | Refusal> {
  let admitted = NOBODY;
  if (route.rate !== undefined) {
    const limited = overRate(services, request, route.rate);
    if (limited !== null) return limited;
  }
  const version = request.headers['x-api-version'];
  const { dialect = 'rest' } = route;
  if (version !== undefined && version !== '1' && kind.listener !== 'operator' && dialect === 'rest') {
    return refuse('BAD_REQUEST', 'X-API-Version must be 1.', {
      details: [{ path: 'X-API-Version', message: 'must be 1' }],
    });
  }
  if (dialect === 'mcp' && !isWelcomeOrigin(services, request))
    return refuse('FORBIDDEN', 'Web pages of this origin may not call.');
  switch (route.credential) {
    case 'none':
      break;
    case 'operator': {
      const refusal = operatorRefusal(services, request);
      if (refusal !== null) return refusal;
      break;
    }
    case 'account':
    case 'app':
    case 'session': {
      const principal = await principalOf(services, request, dialect === 'mcp' ? 'mcp' : 'rest');
      if (isRefusal(principal)) return principal;
      const deleted = route.deleted_too ? null : accountDeleted(principal.account);
      if (deleted !== null) return deleted;
      if (route.credential === 'session' && principal.kind !== 'app_session') return ONLY_SESSIONS;
      if (route.credential === 'app' && principal.kind === 'personal_access_token') return ONLY_APPS;
      if (dialect === 'mcp' && principal.kind === 'app_session') return NOT_FOR_MCP;
      if (
        route.permission !== undefined &&
        !route.permission.some((wanted) => principal.permissions.includes(wanted))
      ) {
        return refuse('FORBIDDEN', `This needs the permission ${route.permission.join(' or ')}.`, {
          ...(principal.kind === 'oauth' ? { scope: route.permission } : {}),
        });
      }
      if (route.own_apps && principal.client?.first_party === false) return ONLY_OWN_APPS;
      if (route.sharing && !isEnabled(principal.account.entitlements, 'workspace.sharing')) return SHARING_OFF;
      admitted = { who: principal };
      break;
    }
    case 'device': {
      const device = await deviceIdentityOf(services, { request, expired_too: route.expired_too === true });
      if (isRefusal(device)) return device;
      admitted = { who: device };
      break;
    }
  }
  if (kind.cbor && chooseAnswerFormat(request.headers.accept) === 'none') {
    return refuse('NOT_ACCEPTABLE', 'Answers come as application/json or application/cbor.');
  }
  return admitted;
}

/** Refused before anything is done for it, while this process has more to do than it can. Operators never are. */
function overloaded({ overload, metrics }: Services, { listener }: ListenerKind, { shed }: Route): Refusal | null {
  if (overload.shedding === 'nothing' || listener === 'operator') return null;
  const cause = overload.causeAgainst(shed ?? 'first');
  if (cause === null) return null;
  metrics.overload_refusals.inc({ listener, cause });
  return refuse('UNAVAILABLE', 'The service has too much to do at the moment.', { retry_after_s: spreadRetryAfter() });
}

/** What a caller is told whose credential, or whose device's account, ended while the request was under way. */
async function endedMeanwhile(
  services: Services,
  { kind, route, request }: { kind: ListenerKind; route: Route; request: FastifyRequest },
): Promise<Refusal> {
  if (route.credential === 'device') return AWAY; // the device comes again, and hears it then
  const { rate: _, ...uncounted } = route;
  const again = await admit(services, kind, uncounted, request);
  return isRefusal(again) ? again : AWAY; // it holds still, under another life: once more, then
}

/**
 * Asks for the body and gives it a bounded time: a client that drips it, or sends nothing more, holds nothing for long.
 * Where large ones are taken there is more time, the more of it has come, as a slow network needs.
 */
function awaitBody(
  as: Answering,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  { body_bytes_max = 0 }: Route,
): void {
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

/** Lets a client that sent `Expect: 100-continue` begin with its body. */
export function askForBody(request: FastifyRequest, reply: FastifyReply): void {
  if (request.headers.expect?.toLowerCase() === '100-continue') reply.raw.writeContinue();
}

/** Answers before the body was read; a long one is not read to its end, and no request follows a refused certificate. */
function refuseUnread(
  as: Answering,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  refusal: Refusal,
) {
  const { headers } = request;
  const length = Number(headers['content-length'] ?? 0);
  const is_long = length > UNREAD_BODY_BYTES_MAX || headers['transfer-encoding'] !== undefined;
  // The connection of a proxy serves other devices.
  const is_shut_out =
    as.listener === 'device' && ['UNAUTHORIZED', 'FORBIDDEN'].includes(refusal.refused) && !isPassedOn(request);
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

/** How much of a body is in memory. */
function bytesOf({ body }: FastifyRequest): number {
  if (!Array.isArray(body)) return (body as Buffer | undefined)?.length ?? 0;
  return (body as Buffer[]).reduce((sum, { length }) => sum + length, 0);
}

type Read = { ok: true; value: unknown } | { ok: false; refusal: Refusal };

function readBody(kind: ListenerKind, route: Route, request: FastifyRequest): Read {
  const bytes = request.body as Buffer | undefined; // or its pieces, for whoever takes them
  const is_empty = bytes === undefined || bytes.length === 0;
  // Apps may send what nobody looks at; devices are held to their two formats everywhere.
  if (route.body === undefined && (kind.listener !== 'device' || is_empty)) return { ok: true, value: undefined };
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') {
    return { ok: false, refusal: refuse('UNSUPPORTED_MEDIA_TYPE', 'Bodies must come without Content-Encoding.') };
  }
  if (route.takes === 'form') return readForm(route.body, request.headers['content-type'], bytes);
  if (is_empty) return validate(route.body, undefined, 'body');
  const format = bodyFormat(request.headers['content-type']);
  if (format === 'unsupported' || (format === 'cbor' && !kind.cbor)) {
    const formats = kind.cbor ? 'application/json or application/cbor' : 'application/json';
    return { ok: false, refusal: refuse('UNSUPPORTED_MEDIA_TYPE', `Content-Type must be ${formats}.`) };
  }
  if (route.takes === 'json_pieces') return validate(route.body, bytes, 'body');
  const document = format === 'cbor' ? decodeCbor(bytes) : decodeJson(bytes);
  if (document.ok) return validate(route.body, document.value, 'body');
  const detail = { path: document.path ?? '', message: document.message };
  return {
    ok: false,
    refusal: refuse('BAD_REQUEST', `The body is not valid ${format.toUpperCase()}: ${document.message}.`, {
      details: [detail],
    }),
  };
}

function readForm(
  schema: z.ZodType | undefined,
  content_type: string | undefined,
  bytes: Buffer = Buffer.alloc(0),
): Read {
  const bad = (message: string): Read => ({ ok: false, refusal: refuse('BAD_REQUEST', message) });
  // A request without a body and without a type is an empty form: what it lacks is then said by name.
  if (!isForm(content_type) && (content_type !== undefined || bytes.length > 0)) {
    return bad('Content-Type must be application/x-www-form-urlencoded.');
  }
  const parameters = readParameters(bytes.toString('utf8'));
  if (parameters === null) return bad('The body is not a form in UTF-8.');
  const twice = repeatProblem(parameters);
  if (twice !== null) return bad(twice);
  return validate(schema, parameters.values, 'body');
}

function validate(schema: z.ZodType | undefined, value: unknown, what: 'body' | 'query'): Read {
  if (schema === undefined) return { ok: true, value: undefined };
  const parsed = parseGiven(schema, value);
  if (parsed.success) return { ok: true, value: parsed.data };
  const details = parsed.error.issues.slice(0, 20).map(({ path, message }) => ({ path: path.join('.'), message }));
  const first = details[0];
  const where = first === undefined || first.path === '' ? `The ${what}` : first.path;
  return { ok: false, refusal: refuse('BAD_REQUEST', `${where}: ${first?.message ?? 'is not valid'}.`, { details }) };
}

/** Fastify's own errors, in our words; whatever is not known here is a bug and shows nothing of itself. */
function refusalOf(error: FastifyError): Refusal {
  if (error instanceof StoreUnavailable) return AWAY;
  switch (error.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return refuse('PAYLOAD_TOO_LARGE', 'The body is larger than this route takes.');
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return refuse('UNSUPPORTED_MEDIA_TYPE', 'Content-Type is missing or not one that this route takes.');
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return refuse('BAD_REQUEST', 'The body is shorter or longer than Content-Length says.');
    case 'FST_ERR_BAD_URL':
      return NOT_FOUND;
    // The disk is full or broken, or the bucket away: the device keeps its copy and comes again.
    case 'BLOB_STORE_UNAVAILABLE':
    case 'ENOSPC':
    case 'EDQUOT':
    case 'EFBIG': // a bound on the size of files, of this process or its file system
    case 'EIO':
    case 'EROFS':
    case 'EMFILE': // too many files are open, here or in the whole system
    case 'ENFILE':
      return AWAY;
    default:
      return error.statusCode !== undefined && error.statusCode >= 400 && error.statusCode < 500
        ? refuse('BAD_REQUEST', 'The request is malformed.')
        : refuse('INTERNAL', 'Something went wrong on our side.');
  }
}

/** Which paths a row's pattern covers, whatever the method. */
function pathPattern(path: string): RegExp {
  return new RegExp(`^${path.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/:[a-z_]+/g, '[^/]+')}$`);
}
