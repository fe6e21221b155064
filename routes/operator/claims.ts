import { z } from 'zod';
import type { Lease } from '../../actors/job.js';
import { whole } from '../../src/access/request_schemas.js';
import { moment } from '../../src/access/response_schemas.js';
import { operatorRoute, type Route } from '../rows.js';
import type { Services } from '../services.js';

/** What all workers on the operator port say of jobs that they have claimed. */

export const SECOND_MS = 1_000;

export const claim = z.string('must be the text of a claim').min(1).max(64).describe('As it was handed out.');

export function leaseField({ lease_ms, lease_ms_max }: { lease_ms: number; lease_ms_max: number }) {
  return whole({ min: 1, max: lease_ms_max / SECOND_MS })
    .default(lease_ms / SECOND_MS)
    .describe('For how many seconds nobody else may have it; 60 when absent.');
}

type ProgressRow = Pick<Route, 'path' | 'summary' | 'worker_too' | 'refusals'> & {
  lease_s: ReturnType<typeof leaseField>;
  prolong(
    services: Services,
    params: Record<string, string>,
    held: { claim: string; lease_ms: number },
  ): Promise<Lease>;
};

/** The row by which a worker that is still at a job gets a longer lease. */
export function progressRow({ lease_s, prolong, ...row }: ProgressRow): Route {
  return operatorRoute({
    ...row,
    method: 'POST',
    credential: 'operator',
    body: z.object({ claim, lease_s }),
    answer: z.strictObject({ lease_until: moment.describe('Until then nobody else gets it.') }),
    async handler({ services, params, body }) {
      const lease = await prolong(services, params, { claim: body.claim, lease_ms: body.lease_s * SECOND_MS });
      return { lease_until: new Date(lease.until_ms).toISOString() };
    },
  });
}
