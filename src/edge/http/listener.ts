import type { IncomingMessage } from 'node:http';
import cors from '@fastify/cors';
import type { FastifyContentTypeParser, FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { RequestAdmission } from '../admission/request_admission.js';
import { refuseUnread } from './body_arrival.js';
import { bodyPieces } from './body_pieces.js';
import { corsOf, mountPreflights } from './cors.js';
import type { EdgeServices } from './edge_services.js';
import { isWorthLogging, refusalOf } from './error_refusals.js';
import { answerNoRoute, answerOptions, hasTwoHosts, TWO_HOSTS } from './protocol_answers.js';
import { RequestLog } from './request_log.js';
import type { ListenerKind } from './request_state.js';
import { answeringOf, sendRefusal, setHeaders } from './responses.js';
import type { Route } from './route.js';
import { RouteAddresses } from './route_addresses.js';
import { type ListenerParts, RouteHandler } from './route_handler.js';

/** Adds the rows of a route table to a listener, with everything that all of them share. */
export function mount(
  app: FastifyInstance,
  services: EdgeServices,
  kind: ListenerKind,
  routes: readonly Route[],
): void {
  const addresses = new RouteAddresses(routes);
  const requests = new RequestLog(services, kind);
  const answering = answeringOf(services, kind);
  /** A request whose address can't be decoded has not arrived. */
  const as = ({ arrival }: FastifyRequest) => answering[arrival?.dialect ?? 'rest'];

  app.decorateRequest('scope', null);
  app.decorateRequest('arrival', null);
  app.decorateRequest('caller', null);
  app.decorateRequest('arriving', null);
  // Both with a callback: a promise for each request would cost more than what they do.
  app.addHook('onRequest', (request, reply, done) => {
    request.arrival = addresses.arrivalOf(request);
    requests.began(request);
    setHeaders(as(request), { request, reply });
    if (hasTwoHosts(request.raw)) return void refuseUnread(as(request), { request, reply }, TWO_HOSTS);
    const is_answered =
      request.method === 'OPTIONS' && answerOptions(as(request), { request, reply }, addresses.methodsAt(request.url));
    if (!is_answered) done();
  });
  if (kind.listener === 'public') app.register(cors, corsOf(services));
  app.addHook('onResponse', (request, reply, done) => {
    requests.ended(request, reply);
    done();
  });

  const admission = new RequestAdmission(services, kind.listener);
  mountRoutes(app, { services, kind, answering, admission, requests }, routes);

  const noRoute = async (request: FastifyRequest, reply: FastifyReply) =>
    answerNoRoute(as(request), { request, reply }, addresses.methodsAt(request.url));
  // Before the body is read, which nothing here would bound in time, or ask for.
  app.addHook('preParsing', (request, reply, _body, done) => {
    if (request.is404) void noRoute(request, reply);
    else done();
  });
  app.setNotFoundHandler(noRoute);
  app.setErrorHandler<FastifyError>(async (error, request, reply) => {
    const refusal = refusalOf(error);
    // An answer in pieces is cut off where its client leaves before the first of them.
    const has_left = error.code === 'ERR_STREAM_PREMATURE_CLOSE' && reply.raw.destroyed;
    if (!has_left && isWorthLogging(error, refusal))
      services.log.error({ err: error, request_id: request.id }, 'request failed');
    // A body that nobody reads to its end must not become the next request.
    if (!request.raw.complete) reply.header('Connection', 'close');
    return sendRefusal(as(request), { request, reply }, refusal);
  });
}

/** Adds each row under the parser that takes its body: as bytes, in pieces, in reused memory, or not at all. */
function mountRoutes(app: FastifyInstance, parts: ListenerParts, routes: readonly Route[]): void {
  if (parts.kind.listener === 'public') mountPreflights(app, routes);
  const mountAll = (scope: FastifyInstance, rows: readonly Route[]) => {
    for (const route of rows) new RouteHandler(parts, route).mount(scope);
  };
  const { body_slabs } = parts.services;
  const mountWith = (parser: FastifyContentTypeParser, rows: readonly Route[]) =>
    app.register(async (scope) => {
      scope.removeAllContentTypeParsers();
      scope.addContentTypeParser('*', parser);
      mountAll(scope, rows);
    });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: parts.kind.body_bytes_max }, (_request, body, done) =>
    done(null, body),
  );
  const [raw, in_pieces] = [routes.filter((row) => row.raw), routes.filter(({ takes }) => takes === 'json_pieces')];
  const uploads = routes.filter(({ is_upload }) => is_upload);
  const whole = routes.filter((row) => ![raw, in_pieces, uploads].some((apart) => apart.includes(row)));
  mountAll(app, whole);
  mountWith(async () => undefined, raw); // it stays where it is: the handler reads it
  mountWith(bodyPieces, in_pieces);
  mountWith((request: FastifyRequest, body: IncomingMessage) => body_slabs.read(request, body), uploads);
}
