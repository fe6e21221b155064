import type { FastifyRequest } from 'fastify';
import { networkOf, type RateName } from '../admission/rate_limits.js';
import { type Refusal, refuse } from '../domain/refusals.js';
import type { Services } from '../services.js';

/** Counts a request for its network; the refusal when it is one too many for this minute. */
export function overRate({ rates }: Services, { ip }: FastifyRequest, name: RateName): Refusal | null {
  const wait_s = rates.take(name, networkOf(ip));
  if (wait_s === null) return null;
  return refuse('TOO_MANY_REQUESTS', `Too many requests from this network; wait ${wait_s} seconds.`, {
    retry_after_s: wait_s,
  });
}
