import { type Span, SpanStatusCode } from '@opentelemetry/api';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { EdgeServices } from './edge_services.js';
import type { ListenerKind } from './request_state.js';

/** Requests of a listener in metrics, in the log and in traces. */
export class RequestLog {
  readonly #services: EdgeServices;
  readonly #listener: ListenerKind['listener'];
  readonly #is_logged: boolean;

  constructor(services: EdgeServices, { listener }: ListenerKind) {
    this.#services = services;
    this.#listener = listener;
    this.#is_logged = services.log.isLevelEnabled('info');
  }

  /** The head was read. */
  began(request: FastifyRequest): void {
    request.scope = { request_id: request.id, span: this.#spanOf(request) };
  }

  /** The answer was sent, or its connection closed. */
  ended(request: FastifyRequest, reply: FastifyReply): void {
    const { metrics, log } = this.#services;
    const listener = this.#listener;
    const route = request.arrival?.url ?? 'none';
    const labels = { listener, route: `${request.method} ${route}`, status: String(reply.statusCode) };
    metrics.requests.observe(labels, reply.elapsedTime / 1000);
    const span = request.scope?.span ?? null;
    if (span !== null) endSpan(span, reply.statusCode);
    if (!this.#is_logged) return;
    const ms = Math.round(reply.elapsedTime * 10) / 10;
    const { id: request_id, method } = request;
    log.info({ request_id, listener, method, route, status: reply.statusCode, ms }, 'request');
  }

  /** The services as this request uses them: what it asks of actors is known by its id. */
  servicesFor({ scope }: FastifyRequest): EdgeServices {
    const services = this.#services;
    if (scope === null) return services;
    // Not a copy: that of its sixty members would cost more than most requests use of them.
    return Object.create(services, { actors: { value: services.actors.inScope(scope) } }) as EdgeServices;
  }

  #spanOf(request: FastifyRequest): Span | null {
    const { tracing } = this.#services;
    if (tracing === null) return null;
    const { method, headers } = request;
    const route = request.arrival?.url ?? 'none';
    return tracing.beginRequest(`${method} ${route}`, headers.traceparent as string | undefined, {
      'http.request.method': method,
      'http.route': route,
      'spool.listener': this.#listener,
      'spool.request_id': request.id,
    });
  }
}

/** Only what is our own fault is an error of the span. */
function endSpan(span: Span, status: number): void {
  span.setAttribute('http.response.status_code', status);
  if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
}
