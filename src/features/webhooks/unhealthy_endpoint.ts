import { z } from 'zod';
import { type Endpoint, isCircuitOpen, type Trouble } from '../../../actors/webhooks/endpoint_state.js';
import { count, id, moment, momentOrNull } from '../../access/response_schemas.js';
import { isRetryable } from '../../engine/store/store.js';
import type { FeatureServices } from '../services.js';
import type { SeenEndpoint } from './endpoint_activity.js';
import { requestShape, requestView } from './endpoint_for_staff.js';
import type { UnhealthyEndpoint } from './unhealthy_endpoints.js';

export const unhealthyEndpointShape = z
  .strictObject({
    endpoint_id: id.describe('The endpoint.'),
    account_id: id.describe('Whose it is.'),
    host: z.string().describe('Of its address, which itself may hold a secret.'),
    since: moment.describe('Since when it is so.'),
    failures: count.describe('Requests in a row that were not accepted, or deliveries where those are more.'),
    next_probe_at: moment.nullable().describe('When the next request may be sent; null unless its circuit is open.'),
    last_success_at: moment.nullable().describe('When it last accepted something; null while it has not.'),
    last: requestShape.nullable().describe('The last request; null where none was sent since `watched_since`.'),
  })
  .meta({ id: 'TroubledEndpoint' });

/** The views of listed endpoints whose stored state still has that problem. */
export async function unhealthyEndpointViews(
  services: Pick<FeatureServices, 'runtime'>,
  { trouble, listed, seen }: { trouble: Trouble; listed: readonly UnhealthyEndpoint[]; seen: readonly SeenEndpoint[] },
): Promise<z.infer<typeof unhealthyEndpointShape>[]> {
  const last = new Map(seen.map((one) => [one.endpoint_id, one.last]));
  const found = await Promise.all(
    listed.map(async ({ endpoint_id, since_ms }) => {
      const state = await stored(services, endpoint_id);
      if (state?.trouble?.is !== trouble) return [];
      const { account_id, url, failure_count, retryable_failures, last_success_at_ms } = state;
      return {
        endpoint_id,
        account_id,
        host: new URL(url).host,
        since: new Date(since_ms).toISOString(),
        failures: Math.max(failure_count, retryable_failures),
        next_probe_at: momentOrNull(isCircuitOpen(state) ? state.probe_at_ms : null),
        last_success_at: momentOrNull(last_success_at_ms),
        last: requestView(last.get(endpoint_id) ?? null),
      };
    }),
  );
  return found.flat();
}

/** Null for one that has ended meanwhile, or that can not be read: that is told elsewhere. */
async function stored({ runtime }: Pick<FeatureServices, 'runtime'>, endpoint_id: string): Promise<Endpoint | null> {
  try {
    const found = await runtime.stored({ kind: 'endpoint', id: endpoint_id });
    return (found?.state ?? null) as Endpoint | null;
  } catch (error) {
    if (isRetryable(error)) throw error;
    return null;
  }
}
