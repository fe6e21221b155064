import type { FastifyReply, FastifyRequest } from 'fastify';
import type { RequestScope } from '../../engine/tracing/request_scope.js';
import type { ArrivingBody } from '../admission/body_budget.js';
import type { EdgeServices } from './edge_services.js';
import type { Dialect } from './route.js';

/** The kind of a listener: its callers, formats and body sizes. */
export type ListenerKind = {
  listener: 'public' | 'device' | 'operator';
  cbor: boolean;
  body_bytes_max: number;
};

/** `url` is the pattern of the row, undefined where there is none. Fastify makes both anew each time it is asked. */
export type Arrival = { dialect: Dialect; url: string | undefined };
export type RequestCaller = { services: EdgeServices; who: unknown };

/** A request and the reply to it. */
export type Exchange = { request: FastifyRequest; reply: FastifyReply };

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Absent where no row of a table is: what is said there is said as REST. */
    dialect?: Dialect;
  }
  interface FastifyRequest {
    scope: RequestScope | null;
    /** The request's head as it was read; null until then. */
    arrival: Arrival | null;
    /** Who asks, and the services for them; null until they are admitted. */
    caller: RequestCaller | null;
    /** Counts what has come of a body that may be large; null for others. */
    arriving: ArrivingBody | null;
  }
}
