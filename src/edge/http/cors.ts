import type { FastifyInstance } from 'fastify';
import type { Route } from './route.js';

type CorsSettings = { cors_origins: readonly string[] };

/** The pages that may read answers. Rules J-007 to J-009. */
export function corsOf({ settings: { cors_origins } }: { settings: CorsSettings }) {
  return {
    origin: cors_origins.includes('*') ? '*' : [...cors_origins],
    methods: ['GET', 'POST', 'PATCH', 'PUT', 'DELETE'],
    allowedHeaders: ['Authorization', 'Content-Type', 'X-API-Version', 'X-Request-ID'],
    exposedHeaders: ['X-API-Version', 'X-Request-ID'],
    strictPreflight: false,
  };
}

/** Preflights come without a row of their own; those of a row with its own rules are answered by these. */
export function mountPreflights(app: FastifyInstance, routes: readonly Route[]): void {
  const rules = new Map(routes.flatMap(({ path, cors: rule }) => (rule === undefined ? [] : [[path, rule]])));
  for (const [path, rule] of rules) app.options(path, { config: { cors: rule } }, (_request, reply) => reply.send());
}
