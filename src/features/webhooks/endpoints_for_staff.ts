import { z } from 'zod';
import { TROUBLES, type Trouble } from '../../../actors/webhooks/endpoint_state.js';
import { count, id, moment, no_cursor, serverNow } from '../../access/response_schemas.js';
import { orRefused } from '../../domain/refusals.js';
import type { ProcessQueries } from '../../engine/cluster/process_queries.js';
import { accountNamed } from '../accounts/account_of_email.js';
import type { FeatureServices } from '../services.js';
import type { DeliveryWorker } from './delivery_worker.js';
import type { EndpointQueries } from './endpoint_activity.js';
import { newestOfEach } from './endpoint_activity.js';
import { endpointForStaff, endpointForStaffShape } from './endpoint_for_staff.js';
import { unhealthyEndpointShape, unhealthyEndpointViews } from './unhealthy_endpoint.js';

/** Endpoints as staff list them: those that are due, failing or disabled, and those of an account. */

/** The lists of endpoints that get nothing, or do not accept what they get. */
const TROUBLE_WORDS: Record<Trouble, string> = {
  circuit_open: 'Those that failed repeatedly, so that only probes are sent.',
  failing: 'Those whose last request was not accepted.',
  disabled: 'Those that too many failures disabled.',
  stopped: 'Those that their owners paused or disabled.',
};

const troubledShape = z.strictObject(
  Object.fromEntries(
    TROUBLES.map((trouble) => [trouble, z.array(unhealthyEndpointShape).describe(TROUBLE_WORDS[trouble])]),
  ) as Record<Trouble, z.ZodArray<typeof unhealthyEndpointShape>>,
);

export const endpointsForStaffShape = troubledShape.extend({
  now: serverNow,
  watched_since: moment.describe('Since when the processes on this machine know of requests.'),
  in_flight: count.describe('Requests that are under way.'),
  due: z
    .array(
      z.strictObject({
        endpoint_id: id.describe('The endpoint.'),
        due_since: moment.describe('Since when something is due for it.'),
        due_s: count.describe('The same in seconds.'),
      }),
    )
    .describe('Of each partition the one for which something has been due for longest; the longest first.'),
});

export const accountEndpointsShape = z.strictObject({
  account_id: id.describe('Whose they are.'),
  items: z.array(endpointForStaffShape),
  cursor: no_cursor,
});

/** Endpoints that are due, and those in trouble, the last ones first; at most `limit` of each. */
export async function listEndpointsForStaff(
  services: Pick<FeatureServices, 'clock' | 'runtime'> & {
    deliveries: DeliveryWorker;
    processes: ProcessQueries<EndpointQueries>;
  },
  { limit }: { limit: number },
): Promise<z.infer<typeof endpointsForStaffShape>> {
  const { clock, deliveries, processes } = services;
  const troubled = await deliveries.troubled();
  const ids = TROUBLES.flatMap((trouble) => troubled[trouble].slice(0, limit).map(({ endpoint_id }) => endpoint_id));
  const told = await processes.askAll('endpoints', ids);
  const seen = newestOfEach(told.flatMap(({ items }) => items));
  const lists = await Promise.all(
    TROUBLES.map(async (trouble) => {
      const listed = troubled[trouble].slice(0, limit);
      return [trouble, await unhealthyEndpointViews(services, { trouble, listed, seen })] as const;
    }),
  );
  const now_ms = clock.now();
  return {
    now: new Date(now_ms).toISOString(),
    watched_since: new Date(Math.min(...told.map(({ since_ms }) => since_ms))).toISOString(),
    in_flight: told.reduce((sum, { in_flight }) => sum + in_flight, 0),
    due: deliveries.due.slice(0, limit).map(({ endpoint_id, since_ms }) => ({
      endpoint_id,
      due_since: new Date(since_ms).toISOString(),
      due_s: Math.max(0, Math.round((now_ms - since_ms) / 1000)),
    })),
    ...(Object.fromEntries(lists) as Record<Trouble, z.infer<typeof unhealthyEndpointShape>[]>),
  };
}

/** The endpoints of an account, by its id or email, and why each gets deliveries or not. */
export async function listEndpointsOfAccount(
  services: Pick<FeatureServices, 'actors' | 'clock' | 'store'> & { processes: ProcessQueries<EndpointQueries> },
  named: string,
) {
  const account = await accountNamed(services, named);
  const views = await Promise.all(account.endpoints.map((id) => endpointForStaff(services, id).catch(orRefused(null))));
  return { account_id: account.id, items: views.filter((one) => one !== null), cursor: null };
}
