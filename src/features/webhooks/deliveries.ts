import { z } from 'zod';
import type { QueuedDelivery } from '../../../actors/actor.js';
import { type Attempt, DELIVERY_STATUSES, eventMs, type FoundDelivery } from '../../../actors/webhooks/delivery.js';
import type { FoundDeliveries } from '../../../actors/webhooks/endpoint.js';
import { type Endpoint, standingOf } from '../../../actors/webhooks/endpoint_state.js';
import { type EventView, eventShape, eventView } from '../../access/events.js';
import type { Principal } from '../../access/principal.js';
import { count, eventType, id, moment, momentOrNull } from '../../access/response_schemas.js';
import { deliveryId, endpointOfDelivery, partitionOfId } from '../../domain/ids.js';
import { durationInWords } from '../../domain/limit_text.js';
import { LIMITS } from '../../domain/limits.js';
import { Refused, refuse } from '../../domain/refusals.js';
import type { FeatureServices as Services } from '../services.js';
import { checkEndpoint, type OlderQuery } from './endpoints.js';

/** Deliveries to an endpoint, past and to come. */

const NO_DELIVERY = refuse('NOT_FOUND', 'There is no such delivery.');
const CURSOR_RULE = 'must be a cursor that this list returned';
const OTHER_CURSOR = refuse('BAD_REQUEST', `cursor: ${CURSOR_RULE}.`, {
  details: [{ path: 'cursor', message: CURSOR_RULE }],
});

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
  status_text: z
    .string()
    .nullable()
    .describe(`The text beside that status, ${LIMITS.attempt_reason_chars_max} characters at most.`),
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
      .describe(
        `Every request that was sent for it, the first one first; kept for ${durationInWords(LIMITS.attempt_kept_ms)}.`,
      ),
  })
  .meta({ id: 'AttemptedDelivery' });

type DeliveryView = z.infer<typeof deliveryShape>;
type AttemptedDeliveryView = z.infer<typeof attemptedDeliveryShape>;

type Reader = {
  services: Pick<Services, 'store' | 'clock' | 'actors'>;
  endpoint_id: string;
  account_id: string;
  /** The present credential epoch of the account. */
  account_epoch: number;
};

/** A page of an endpoint's deliveries, the newest first; the cursor is the id of the last one. */
export async function listDeliveries(
  services: Services,
  who: Principal,
  { id, limit, cursor: after }: OlderQuery & { id: string },
): Promise<{ items: DeliveryView[]; cursor: string | null }> {
  checkEndpoint(who, id);
  const position = after === undefined ? null : endpointOfDelivery(after);
  if (after !== undefined && position?.endpoint_id !== id) throw new Refused(OTHER_CURSOR);
  const reader = readerOf(services, who, id);
  const before = position?.sequence;
  const entries = await services.store.listDeliveryQueue(placeOf(reader), { before, limit: limit + 1 });
  const answer = await find(reader, entries);
  const page = await Promise.all(answer.found.slice(0, limit).map((one) => deliveryOf(reader, answer.endpoint, one)));
  const items = page.map(({ event: _, attempts: __, ...listed }) => listed);
  return { items, cursor: answer.found.length > limit ? (items.at(-1)?.id ?? null) : null };
}

/** One delivery with the event sent and every attempt. */
export async function readDelivery(
  services: Services,
  who: Principal,
  { id, delivery_id }: { id: string; delivery_id: string },
): Promise<AttemptedDeliveryView> {
  checkEndpoint(who, id);
  const named = endpointOfDelivery(delivery_id);
  if (named?.endpoint_id !== id) throw new Refused(NO_DELIVERY);
  const { sequence } = named;
  const reader = readerOf(services, who, id);
  const [newest] = await services.store.listDeliveryQueue(placeOf(reader), { before: sequence + 1, limit: 1 });
  // What came of attempts is kept for longer than the deliveries are listed.
  const listed = newest?.sequence === sequence ? newest : null;
  const answer = await find(reader, [listed ?? { ...NOT_LISTED, sequence }]);
  const [one] = answer.found;
  const entry = listed ?? one?.ended ?? null;
  if (one === undefined || entry === null) throw new Refused(NO_DELIVERY);
  return deliveryOf(reader, answer.endpoint, { ...one, entry });
}

function readerOf(services: Services, { account_id, account }: Principal, endpoint_id: string): Reader {
  return { services, endpoint_id, account_id, account_epoch: account.epochs.account };
}

const NOT_LISTED: Omit<QueuedDelivery, 'sequence'> = {
  log_id: '0-0',
  account_epoch: 0,
  enablement: 0,
  type: 'account.updated',
};

function find({ services: { actors }, endpoint_id }: Reader, entries: QueuedDelivery[]): Promise<FoundDeliveries> {
  return actors.endpoint(endpoint_id).find({ entries });
}

async function deliveryOf(reader: Reader, endpoint: Endpoint, found: FoundDelivery): Promise<AttemptedDeliveryView> {
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

/** The event as it was, or would be, sent; null after its retention. */
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
    status_code,
    status_text: reason,
    error,
    duration_ms,
  };
}

function placeOf({ endpoint_id }: Reader) {
  return { address: { kind: 'endpoint', id: endpoint_id }, partition: partitionOfId(endpoint_id) };
}
