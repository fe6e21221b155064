import type { FastifyRequest } from 'fastify';
import type { Services } from '../services.js';

/**
 * Whether a request comes from no web page, or from one that may call: ours, or one of CORS_ORIGINS. CORS alone keeps a
 * page from reading answers, not from having calls made.
 */
export function isWelcomeOrigin({ settings, addresses }: Services, { headers: { origin } }: FastifyRequest): boolean {
  if (origin === undefined) return true;
  const { base_url, legacy_base_url } = addresses();
  return [base_url, legacy_base_url, ...settings.cors_origins].some((welcome) => welcome === origin || welcome === '*');
}
