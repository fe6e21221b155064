import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { PublicAddresses } from '../../access/issuer.js';
import type { Route } from './route.js';

type CorsSettings = { cors_origins: readonly string[] };

/** Which pages may read answers. Rules J-007 to J-009. */
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

/**
 * Whether a request comes from no web page, or from one that may call: ours, or one of CORS_ORIGINS. CORS alone keeps a
 * page from reading answers, not from having calls made.
 */
export function isWelcomeOrigin(
  { settings, addresses }: { settings: CorsSettings; addresses(): PublicAddresses },
  { headers: { origin } }: FastifyRequest,
): boolean {
  if (origin === undefined) return true;
  const { base_url, legacy_base_url } = addresses();
  return [base_url, legacy_base_url, ...settings.cors_origins].some((welcome) => welcome === origin || welcome === '*');
}
