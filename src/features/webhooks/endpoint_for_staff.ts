import { z } from 'zod';
import { type Account, isGone, isOpen } from '../../../actors/accounts/account_state.js';
import { type Endpoint, standingOf } from '../../../actors/webhooks/endpoint_state.js';
import { count, id, moment, momentOrNull } from '../../access/response_schemas.js';
import type { EventType } from '../../domain/event_types.js';
import { deliveryId, partitionOfId } from '../../domain/ids.js';
import { orNull } from '../../domain/refusals.js';
import type { ProcessQueries } from '../../engine/cluster/process_queries.js';
import type { FeatureServices } from '../services.js';
import type { EndpointQueries } from './endpoint_activity.js';
import { newestOfEach, type SeenEndpoint } from './endpoint_activity.js';
import { type EndpointFacts, EVENTS_READ_MAX, endpointHeadline, endpointReasons } from './endpoint_reasons.js';

const DELIVERIES_SHOWN = 10;

const statusCode = count.nullable().describe('The HTTP status; null where no answer came.');
const postError = z.string().nullable().describe('What went wrong where no answer came, such as timeout, dns or tls.');

export const requestShape = z.strictObject({
  at: moment.nullable().describe('When.'),
  verdict: z.string().describe('What that means for the delivery.'),
  status_code: statusCode,
  error: postError,
});

const seenEndpointShape = z
  .strictObject({
    endpoint_id: id.describe('The endpoint.'),
    account_id: id.nullable().describe('Whose it is; null while nothing was sent to it here.'),
    failures: count.describe('Requests in a row that were not accepted.'),
    last: requestShape.nullable().describe('The last request; null while there was none.'),
    failing_since: moment.nullable().describe('Null while it accepts what it is sent.'),
    last_success_at: moment.nullable().describe('When it last accepted something; null while it has not.'),
    disabled_at: moment.nullable().describe('When too many failures disabled it; null otherwise.'),
  })
  .meta({ id: 'SeenEndpoint' });

export const endpointForStaffShape = z
  .strictObject({
    endpoint_id: id.describe('The endpoint.'),
    account_id: id.describe('Whose it is.'),
    host: z.string().describe('Of its address, which itself may hold a secret.'),
    status: z.enum(['active', 'paused', 'disabled', 'deleted']).describe('Its status.'),
    topics: z.array(z.string()).describe('The event types that it gets; all when empty.'),
    headline: z.string().describe('Its status, in a line of words.'),
    reasons: z
      .array(
        z.strictObject({
          name: z.string().describe('What sort of reason it is.'),
          blocks: z.boolean().describe('Whether it gets nothing for it.'),
          text: z.string().describe('The same in words.'),
        }),
      )
      .describe('Why it gets what it gets, in words.'),
    failure_count: count.describe('Deliveries in a row that failed; ten disable it.'),
    last_success_at: moment.nullable().describe('When a delivery last succeeded; null while none has.'),
    deliveries: z
      .array(
        z.strictObject({
          id: id.describe('The webhook-id of its requests.'),
          event_type: z.string().describe('What it tells of.'),
          status: z.string().describe('As its owner sees it.'),
          next_attempt_at: moment.nullable().describe('Null unless it waits for an attempt.'),
          attempts: z
            .array(
              z.strictObject({
                attempted_at: moment.nullable().describe('When the request was begun.'),
                status_code: statusCode,
                error: postError,
                duration_ms: z
                  .number()
                  .nullable()
                  .describe('Milliseconds until the status line, or until it was given up.'),
              }),
            )
            .describe('Every request that was sent for it.'),
        }),
      )
      .describe('Its last ten, the newest first.'),
    seen: seenEndpointShape.nullable().describe('As this process has seen it.'),
  })
  .meta({ id: 'EndpointForStaff' });

/** Reads the status of an endpoint, in words, with its last deliveries. */
export async function endpointForStaff(
  services: Pick<FeatureServices, 'actors' | 'clock' | 'store'> & { processes: ProcessQueries<EndpointQueries> },
  endpoint_id: string,
) {
  const { clock, processes, actors, store } = services;
  const partition = partitionOfId(endpoint_id);
  const address = { kind: 'endpoint', id: endpoint_id };
  const entries = await store.listDeliveryQueue({ address, partition }, { limit: DELIVERIES_SHOWN });
  const answer = await actors.endpoint(endpoint_id).find({ entries });
  const { endpoint, found } = answer;
  const { account_id } = endpoint;
  const account = await orNull(actors.account(account_id).view(), 'UNAUTHORIZED');
  const now_ms = clock.now();
  const [seen = null] = newestOfEach(
    (await processes.askAll('endpoints', [endpoint_id])).flatMap(({ items }) => items),
  );
  const epoch = account?.epochs.account ?? -1;
  const stand = found.map((one) => ({ ...one.entry, ...standingOf(endpoint, one, { epoch, now_ms }) }));
  const facts: EndpointFacts = {
    endpoint,
    account: standingOfAccount(account),
    recent_types: await recentTypes(services, endpoint),
    deliveries: stand,
    last_seen: seen?.last ?? null,
    now_ms,
  };
  const reasons = endpointReasons(facts);
  return {
    endpoint_id,
    account_id,
    host: new URL(endpoint.url).host,
    status: endpoint.standing.status,
    topics: endpoint.topics,
    headline: endpointHeadline(facts, reasons),
    reasons,
    failure_count: endpoint.failure_count,
    last_success_at: momentOrNull(endpoint.last_success_at_ms),
    deliveries: stand.map(({ sequence, type, status, attempts, next_attempt_at_ms }) => ({
      id: deliveryId(endpoint_id, sequence),
      event_type: type,
      status,
      next_attempt_at: momentOrNull(next_attempt_at_ms),
      attempts: attempts.map(({ attempted_at_ms, status_code, error, duration_ms }) => ({
        attempted_at: momentOrNull(attempted_at_ms),
        status_code,
        error,
        duration_ms,
      })),
    })),
    seen: seen === null ? null : seenEndpointView(seen),
  };
}

function standingOfAccount(account: Account | null): EndpointFacts['account'] {
  if (account === null || isGone(account)) return 'gone';
  return isOpen(account) ? 'open' : 'deleted';
}

async function recentTypes(
  { store }: Pick<FeatureServices, 'store'>,
  { account_id, created_at_ms }: Endpoint,
): Promise<EventType[]> {
  const place = { account_id, partition: partitionOfId(account_id) };
  const range = { from: '+', to: String(created_at_ms), descending: true, limit: EVENTS_READ_MAX };
  return (await store.events(place, range)).map(({ type }) => type as EventType);
}

function seenEndpointView(seen: SeenEndpoint) {
  const { endpoint_id, account_id, failures, last } = seen;
  return {
    endpoint_id,
    account_id,
    failures,
    last: requestView(last),
    failing_since: momentOrNull(seen.failing_since_ms),
    last_success_at: momentOrNull(seen.last_success_at_ms),
    disabled_at: momentOrNull(seen.disabled_at_ms),
  };
}

export function requestView(last: SeenEndpoint['last']) {
  if (last === null) return null;
  const { at_ms, verdict, status_code, error } = last;
  return { at: momentOrNull(at_ms), verdict, status_code, error };
}
