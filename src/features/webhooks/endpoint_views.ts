import { z } from 'zod';
import type { QueuedDelivery } from '../../../actors/actor.js';
import { type Attempt, DELIVERY_STATUSES, eventMs, type FoundDelivery } from '../../../actors/webhooks/delivery.js';
import type { Found } from '../../../actors/webhooks/endpoint.js';
import { type Endpoint, standingOf } from '../../../actors/webhooks/endpoint_state.js';
import { type EventView, eventShape, eventView } from '../../access/events.js';
import { count, eventType, id, moment, momentOrNull } from '../../access/response_schemas.js';
import { deliveryId, partitionOfId } from '../../domain/ids.js';
import { ENDPOINT_STATUSES } from '../../domain/webhooks.js';
import type { FeatureServices as Services } from '../services.js';

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

export const deliveryShape = z
  .strictObject({
    id: id.describe('The webhook-id of its requests.'),
    status: z.enum(DELIVERY_STATUSES).describe('leased: a request is under way.'),
    event_id: id.nullable().describe('Null once the event is no longer kept.'),
    event_type: eventType,
    attempt_count: count.describe('How many requests were sent for it.'),
    next_attempt_at: moment.nullable().describe('Null unless it waits for an attempt.'),
    created_at: moment,
  })
  .meta({ id: 'Delivery' });

const attemptShape = z.strictObject({
  attempted_at: moment.describe('When the request was begun.'),
  status_code: z.int().nullable().describe("The answer's HTTP status; null where none came."),
  status_text: z.string().nullable().describe('The text beside that status, 64 characters at most.'),
  error: z.string().nullable().describe('What went wrong where no answer came, such as timeout, dns or tls.'),
  duration_ms: z
    .number()
    .min(0)
    .nullable()
    .describe('Milliseconds until the status line came, or until it was given up.'),
});

export const attemptedDeliveryShape = z
  .strictObject({
    ...deliveryShape.shape,
    event: eventShape.nullable().describe('As it was sent; null once it is no longer kept.'),
    attempts: z
      .array(attemptShape)
      .describe('Every request that was sent for it, the first one first; kept for 90 days.'),
  })
  .meta({ id: 'AttemptedDelivery' });

type DeliveryView = z.infer<typeof deliveryShape>;

/** The Endpoint of the interface; the secret is never in it. */
export function endpointView(id: string, endpoint: Endpoint): z.infer<typeof endpointShape> {
  const { url, topics, standing, failure_count, last_success_at_ms, created_at_ms } = endpoint;
  return {
    ...{ id, status: standing.status, topics, url, failure_count },
    last_success_at: momentOrNull(last_success_at_ms),
    disabled_reason: standing.status === 'disabled' ? standing.reason : null,
    created_at: new Date(created_at_ms).toISOString(),
  };
}

type Reader = {
  services: Pick<Services, 'store' | 'clock' | 'actors'>;
  endpoint_id: string;
  account_id: string;
  /** The present credential epoch of the account. */
  account_epoch: number;
};

/** Deliveries of an endpoint before a number, the newest first. */
export async function listDeliveries(
  reader: Reader,
  { before, limit }: { before: number | undefined; limit: number },
): Promise<(DeliveryView & { sequence: number })[]> {
  const entries = await reader.services.store.listDeliveryQueue(placeOf(reader), { before, limit });
  const answer = await find(reader, entries);
  return Promise.all(
    answer.found.map(async (one) => {
      const { event, attempts: _, ...listed } = await deliveryOf(reader, answer.endpoint, one);
      return { ...listed, sequence: one.entry.sequence };
    }),
  );
}

/** One delivery with the event sent and every attempt; null when there is none of that number. */
export async function readDelivery(reader: Reader, sequence: number) {
  const [newest] = await reader.services.store.listDeliveryQueue(placeOf(reader), { before: sequence + 1, limit: 1 });
  // What came of attempts is kept for longer than the deliveries are listed.
  const listed = newest?.sequence === sequence ? newest : null;
  const answer = await find(reader, [listed ?? { ...NOT_LISTED, sequence }]);
  const [one] = answer.found;
  const entry = listed ?? one?.ended ?? null;
  return one === undefined || entry === null ? null : deliveryOf(reader, answer.endpoint, { ...one, entry });
}

const NOT_LISTED: Omit<QueuedDelivery, 'sequence'> = { log_id: '0-0', life: 0, generation: 0, type: 'account.updated' };

function find({ services: { actors }, endpoint_id }: Reader, entries: QueuedDelivery[]): Promise<Found> {
  return actors.endpoint(endpoint_id).find({ entries });
}

async function deliveryOf(
  reader: Reader,
  endpoint: Endpoint,
  found: FoundDelivery,
): Promise<z.infer<typeof attemptedDeliveryShape>> {
  const { entry } = found;
  const { endpoint_id, account_epoch, services } = reader;
  const { status, attempts, next_attempt_at_ms } = standingOf(endpoint, found, {
    epoch: account_epoch,
    now_ms: services.clock.now(),
  });
  const event = await eventOf(reader, entry);
  const summary: DeliveryView = {
    id: deliveryId(endpoint_id, entry.sequence),
    status,
    event_id: event?.id ?? null,
    event_type: entry.type,
    attempt_count: attempts.length,
    next_attempt_at: momentOrNull(next_attempt_at_ms),
    created_at: new Date(eventMs(entry)).toISOString(),
  };
  return { ...summary, event, attempts: attempts.map(attemptView) };
}

/** The event as it was, or would be, sent; null once it is no longer kept. */
async function eventOf({ services, account_id }: Reader, { log_id }: QueuedDelivery): Promise<EventView | null> {
  const place = { account_id, partition: partitionOfId(account_id) };
  const [event] = await services.store.events(place, { from: log_id, to: log_id, descending: false, limit: 1 });
  return event === undefined ? null : eventView(event);
}

function attemptView({
  attempted_at_ms,
  status_code,
  reason,
  error,
  duration_ms,
}: Attempt): z.infer<typeof attemptShape> {
  return {
    attempted_at: new Date(attempted_at_ms).toISOString(),
    ...{ status_code, status_text: reason, error, duration_ms },
  };
}

function placeOf({ endpoint_id }: Reader) {
  return { address: { kind: 'endpoint', id: endpoint_id }, partition: partitionOfId(endpoint_id) };
}
