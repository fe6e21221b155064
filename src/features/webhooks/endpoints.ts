import { z } from 'zod';
import type { Endpoint } from '../../../actors/webhooks/endpoint_state.js';
import type { Principal } from '../../access/principal.js';
import { count, eventType, id, moment, momentOrNull } from '../../access/response_schemas.js';
import { EVENT_TYPES, type EventType } from '../../domain/event_types.js';
import { partitionOfId } from '../../domain/ids.js';
import type { Language } from '../../domain/language/texts.js';
import { orNull, Refused, refuse } from '../../domain/refusals.js';
import { ENDPOINT_STATUSES, type EndpointStatus } from '../../domain/webhooks.js';
import { randomId } from '../../engine/random/random.js';
import type { FeatureServices } from '../services.js';
import type { DeliveryWorker } from './delivery_worker.js';
import { destinationFault } from './destination.js';
import { randomSigningSecret } from './signing_secret.js';

/** Webhook endpoints. docs/rules.md, "Webhook endpoints and deliveries". */

const NO_ENDPOINT = refuse('NOT_FOUND', 'There is no such endpoint.');

/** The destination of deliveries. */
export const endpointUrl = z
  .string('must be an https:// URL')
  .superRefine((text, context) => {
    const fault = destinationFault(text);
    if (fault !== null) context.addIssue({ code: 'custom', message: fault });
  })
  .meta({ format: 'uri' });

/** The events to deliver; all if the list is empty. Stored as sent. */
export const endpointTopics = z
  .array(z.enum(EVENT_TYPES, 'must be an event type'), 'must be a list of event types')
  .max(EVENT_TYPES.length, 'names more event types than there are')
  .describe('Which events are delivered; none named: all of them.');

export const endpointStatus = z
  .enum(ENDPOINT_STATUSES, 'must be active, paused or disabled')
  .describe('paused: what is outstanding waits. disabled: it is cancelled.');

export const endpointShape = z
  .strictObject({
    id,
    status: z.enum(ENDPOINT_STATUSES).describe('paused: what is outstanding waits. disabled: it is cancelled.'),
    topics: z.array(eventType).describe('The event types that it gets; all when empty.'),
    url: z.string().describe('Where events are posted to.'),
    failure_count: count.describe('Deliveries in a row that failed; ten disable it.'),
    last_success_at: moment.nullable().describe('When a delivery last succeeded; null while none has.'),
    disabled_reason: z.string().nullable().describe('Null unless failures have disabled it.'),
    created_at: moment,
  })
  .meta({ id: 'Endpoint' });

type EndpointView = z.infer<typeof endpointShape>;

export const createdEndpointShape = z.strictObject({
  endpoint: endpointShape,
  signing_secret: z
    .string()
    .regex(/^whsec_/)
    .describe('What deliveries are signed with; shown this once.'),
});

/** The query of lists of endpoints and deliveries: at most `limit`, older than the one whose id is `cursor`. */
export type OlderQuery = { limit: number; cursor?: string | undefined };

/** The new endpoint and its signing secret, which is shown this once. `mail_language`: of mails about it, where the account has none. */
export async function createEndpoint(
  { clock, keys, actors }: Pick<FeatureServices, 'actors' | 'clock' | 'keys'>,
  who: Principal,
  { url, topics, mail_language }: { url: string; topics: EventType[]; mail_language?: Language | undefined },
): Promise<z.infer<typeof createdEndpointShape>> {
  const endpoint_id = randomId({ partition: partitionOfId(who.account_id), now_ms: clock.now() });
  const { text, sealed } = randomSigningSecret(keys);
  const endpoint = { url, topics, sealed_secret: sealed };
  const added = await actors.downstream
    .account(who.account_id)
    .add_endpoint({ endpoint_id, endpoint, mail_language }, who.fences);
  return {
    endpoint: {
      id: endpoint_id,
      status: 'active',
      topics,
      url,
      failure_count: 0,
      last_success_at: null,
      disabled_reason: null,
      created_at: new Date(added.created_at_ms).toISOString(),
    },
    signing_secret: text,
  };
}

/** Lists endpoints, the newest first. */
export async function listEndpoints(
  { actors }: Pick<FeatureServices, 'actors'>,
  who: Principal,
  { limit, cursor: after }: OlderQuery,
) {
  // Ids begin with their time, so theirs is the order of making, and a cursor holds when its endpoint is gone.
  const ids = who.account.endpoints.toSorted().toReversed();
  const left = after === undefined ? ids : ids.filter((id) => id < after);
  const page = left.slice(0, limit);
  const found = await Promise.all(page.map((id) => orNull(actors.endpoint(id).view(), 'NOT_FOUND')));
  const items = found.flatMap((one, index) => (one === null ? [] : [endpointView(page[index] as string, one)]));
  return { items, cursor: left.length > limit ? (page.at(-1) ?? null) : null };
}

export async function readEndpoint({ actors }: Pick<FeatureServices, 'actors'>, who: Principal, id: string) {
  checkEndpoint(who, id);
  return endpointView(id, await actors.endpoint(id).view());
}

export async function setEndpointStatus(
  { actors, deliveries }: Pick<FeatureServices, 'actors'> & { deliveries: DeliveryWorker },
  who: Principal,
  { id, status }: { id: string; status: EndpointStatus },
) {
  checkEndpoint(who, id);
  const endpoint = await actors.endpoint(id).set_status({ status }, who.fences);
  if (status === 'active') deliveries.wake([id]);
  return endpointView(id, endpoint);
}

export async function removeEndpoint({ actors }: Pick<FeatureServices, 'actors'>, who: Principal, id: string) {
  return actors.downstream.account(who.account_id).remove_endpoint({ endpoint_id: id }, who.fences);
}

/** NOT_FOUND unless the endpoint is one of the account's. */
export function checkEndpoint({ account }: Principal, id: string): void {
  if (!account.endpoints.includes(id)) throw new Refused(NO_ENDPOINT);
}

/** The Endpoint of the interface; the secret is never in it. */
function endpointView(id: string, endpoint: Endpoint): EndpointView {
  const { url, topics, standing, failure_count, last_success_at_ms, created_at_ms } = endpoint;
  return {
    id,
    status: standing.status,
    topics,
    url,
    failure_count,
    last_success_at: momentOrNull(last_success_at_ms),
    disabled_reason: standing.status === 'disabled' ? standing.reason : null,
    created_at: new Date(created_at_ms).toISOString(),
  };
}
