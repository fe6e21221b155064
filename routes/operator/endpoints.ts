import { z } from 'zod';
import type { AccountMessage } from '../../actors/account.js';
import { type Account, isGone, isOpen } from '../../actors/account_state.js';
import type { EndpointMessage, Found } from '../../actors/endpoint.js';
import { type Endpoint, standingOf } from '../../actors/endpoint_state.js';
import { accountNamed } from '../../src/accounts/account_of_email.js';
import type { EventType } from '../../src/domain/event_types.js';
import { deliveryId, partitionOfId } from '../../src/domain/ids.js';
import { isRefusal, type Refusal } from '../../src/domain/refusals.js';
import { listLimit } from '../../src/http/request_schemas.js';
import { count, id, moment, momentOrNull, no_cursor, serverNow } from '../../src/http/response_schemas.js';
import { operatorRoute, type Route } from '../../src/http/route.js';
import {
  type EndpointFacts,
  EVENTS_LOOKED_AT,
  endpointHeadline,
  endpointReasons,
} from '../../src/operator/endpoint_reasons.js';
import type { Services } from '../../src/services.js';
import type { SeenEndpoint } from '../../src/webhooks/endpoint_activity.js';

const DELIVERIES_SHOWN = 10;

const statusCode = count.nullable().describe('The HTTP status; null where no answer came.');
const postError = z.string().nullable().describe('What went wrong where no answer came, such as timeout, dns or tls.');

const seenEndpointShape = z
  .strictObject({
    endpoint_id: id.describe('The endpoint.'),
    account_id: id.nullable().describe('Whose it is; null while nothing was sent to it here.'),
    failures: count.describe('Requests in a row that were not accepted.'),
    last: z
      .strictObject({
        at: moment.nullable().describe('When.'),
        verdict: z.string().describe('What that means for the delivery.'),
        status_code: statusCode,
        error: postError,
      })
      .nullable()
      .describe('The last request; null while there was none.'),
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
    status: z.enum(['active', 'paused', 'disabled', 'deleted']).describe('How it stands.'),
    topics: z.array(z.string()).describe('The event types that it gets; all when empty.'),
    headline: z.string().describe('How it stands, in a line of words.'),
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

/** Endpoints: which are due, failing or disabled, and why one gets nothing. Hosts alone: an address may hold a secret. */
export const SEEN_ENDPOINT_ROUTES: readonly Route[] = [
  operatorRoute({
    method: 'GET',
    path: '/ops/endpoints',
    summary: 'Endpoints that are due, that fail and that were disabled lately, as this process has seen them.',
    answer: z.strictObject({
      now: serverNow,
      in_flight: count.describe('Requests that this process has under way.'),
      due: z
        .array(
          z.strictObject({
            endpoint_id: id.describe('The endpoint.'),
            due_since: moment.describe('Since when something is due for it.'),
            due_s: count.describe('The same in seconds.'),
          }),
        )
        .describe('Of each partition the one for which something has been due for longest; the longest first.'),
      failing: z.array(seenEndpointShape).describe('Those whose last request was not accepted.'),
      disabled: z.array(seenEndpointShape).describe('Those that too many failures disabled lately.'),
    }),
    credential: 'operator',
    query: z.object({ limit: listLimit }),
    async handler({ services: { clock, deliveries }, query: { limit } }) {
      const { due, activity, in_flight } = deliveries;
      const now_ms = clock.now();
      return {
        now: new Date(now_ms).toISOString(),
        in_flight,
        due: due.slice(0, limit).map(({ endpoint_id, since_ms }) => ({
          endpoint_id,
          due_since: new Date(since_ms).toISOString(),
          due_s: Math.max(0, Math.round((now_ms - since_ms) / 1000)),
        })),
        failing: activity.failing(limit).map(seenEndpointView),
        disabled: activity.disabledLately(limit).map(seenEndpointView),
      };
    },
  }),

  operatorRoute({
    method: 'GET',
    path: '/ops/accounts/:account/endpoints',
    summary: 'The endpoints of an account, and why each gets what it gets.',
    answer: z.strictObject({
      account_id: id.describe('Whose they are.'),
      items: z.array(endpointForStaffShape),
      cursor: no_cursor,
    }),
    refusals: ['NOT_FOUND'],
    credential: 'operator',
    async handler({ services, params }) {
      const account = await accountNamed(services, params.account as string);
      if (isRefusal(account)) return account;
      const views = await Promise.all(account.endpoints.map((id) => endpointForStaff(services, id)));
      return { account_id: account.id, items: views.filter((one) => !isRefusal(one)), cursor: null };
    },
  }),

  operatorRoute({
    method: 'GET',
    path: '/ops/endpoints/:endpoint_id',
    summary: 'Why an endpoint gets what it gets, and its last deliveries.',
    answer: endpointForStaffShape,
    credential: 'operator',
    handler: async ({ services, params }) => endpointForStaff(services, params.endpoint_id as string),
  }),
];

/** How an endpoint stands, in words, with its last deliveries. */
export async function endpointForStaff(services: Services, endpoint_id: string) {
  const { clock, deliveries, runtime, store } = services;
  const partition = partitionOfId(endpoint_id);
  const address = { kind: 'endpoint', id: endpoint_id };
  const entries = await store.inbox({ address, partition }, { limit: DELIVERIES_SHOWN });
  const message: EndpointMessage = { type: 'find', entries };
  const answer = await runtime.ask<Found>(address, message);
  if (isRefusal(answer)) return answer;
  const { endpoint, found } = answer;
  const { account_id } = endpoint;
  const view: AccountMessage = { type: 'view' };
  const account = await runtime.ask<Account>({ kind: 'account', id: account_id }, view);
  if (isRefusal(account) && account.refused !== 'UNAUTHORIZED') return account;
  const now_ms = clock.now();
  const seen = deliveries.activity.find(endpoint_id);
  const life = isRefusal(account) ? -1 : account.lives.account;
  const stand = found.map((one) => ({ ...one.entry, ...standingOf(endpoint, one, { life, now_ms }) }));
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
    ...{ endpoint_id, account_id, host: new URL(endpoint.url).host, status: endpoint.standing.status },
    ...{ topics: endpoint.topics, headline: endpointHeadline(facts, reasons), reasons },
    failure_count: endpoint.failure_count,
    last_success_at: momentOrNull(endpoint.last_success_at_ms),
    deliveries: stand.map(({ sequence, type, status, attempts, next_attempt_at_ms }) => ({
      id: deliveryId(endpoint_id, sequence),
      ...{ event_type: type, status, next_attempt_at: momentOrNull(next_attempt_at_ms) },
      attempts: attempts.map(({ attempted_at_ms, status_code, error, duration_ms }) => ({
        ...{ attempted_at: momentOrNull(attempted_at_ms), status_code, error, duration_ms },
      })),
    })),
    seen: seen === null ? null : seenEndpointView(seen),
  };
}

function standingOfAccount(account: Account | Refusal): EndpointFacts['account'] {
  if (isRefusal(account) || isGone(account)) return 'gone';
  return isOpen(account) ? 'open' : 'deleted';
}

async function recentTypes({ store }: Services, { account_id, created_at_ms }: Endpoint): Promise<EventType[]> {
  const place = { account_id, partition: partitionOfId(account_id) };
  const range = { from: '+', to: String(created_at_ms), descending: true, limit: EVENTS_LOOKED_AT };
  return (await store.events(place, range)).map(({ type }) => type as EventType);
}

function seenEndpointView(seen: SeenEndpoint) {
  const { endpoint_id, account_id, failures, last } = seen;
  return {
    ...{ endpoint_id, account_id, failures },
    last:
      last === null
        ? null
        : { at: momentOrNull(last.at_ms), verdict: last.verdict, status_code: last.status_code, error: last.error },
    failing_since: momentOrNull(seen.failing_since_ms),
    last_success_at: momentOrNull(seen.last_success_at_ms),
    disabled_at: momentOrNull(seen.disabled_at_ms),
  };
}
