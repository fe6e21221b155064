import type { InboxEntry } from '../actors/actor.js';
import { type Attempt, type DeliveryStatus, eventMs, type FoundDelivery } from '../actors/delivery.js';
import type { EndpointMessage, Found } from '../actors/endpoint.js';
import { type Endpoint, standingOf } from '../actors/endpoint_state.js';
import { eventView } from '../src/events.js';
import type { Services } from '../src/services.js';
import { deliveryId, partitionOfId } from '../src/vocabulary/ids.js';
import { isRefusal, type Refusal } from '../src/vocabulary/refusals.js';

/** The Endpoint of the interface; the secret is never in it. */
export function endpointView(id: string, endpoint: Endpoint) {
  const { url, topics, standing, failure_count, last_success_at_ms, created_at_ms } = endpoint;
  return {
    ...{ id, status: standing.status, topics, url, failure_count },
    last_success_at: isoOrNull(last_success_at_ms),
    disabled_reason: standing.status === 'disabled' ? standing.reason : null,
    created_at: new Date(created_at_ms).toISOString(),
  };
}

/** A delivery as lists show it. Interface: "Delivery record fields" are not shown; choices: "Events and webhooks". */
export type DeliveryView = {
  id: string;
  status: DeliveryStatus;
  event_id: string | null;
  event_type: string;
  attempt_count: number;
  /** Null unless it waits for one. */
  next_attempt_at: string | null;
  created_at: string;
};

export type AttemptView = {
  attempted_at: string;
  status_code: number | null;
  status_text: string | null;
  error: string | null;
  duration_ms: number | null;
};

type Reader = {
  services: Pick<Services, 'store' | 'clock' | 'runtime'>;
  endpoint_id: string;
  account_id: string;
  /** The account's present life. */
  life: number;
};

/** Deliveries of an endpoint before a number, the newest first. */
export async function listDeliveries(
  reader: Reader,
  { before, limit }: { before: number | undefined; limit: number },
): Promise<(DeliveryView & { sequence: number })[] | Refusal> {
  const entries = await reader.services.store.inbox(placeOf(reader), { before, limit });
  const answer = await find(reader, entries);
  if (isRefusal(answer)) return answer;
  return Promise.all(
    answer.found.map(async (one) => {
      const { event, attempts: _, ...listed } = await deliveryOf(reader, answer.endpoint, one);
      return { ...listed, sequence: one.entry.sequence };
    }),
  );
}

/** One delivery with the event sent and every attempt; null when there is none of that number. */
export async function readDelivery(reader: Reader, sequence: number) {
  const [newest] = await reader.services.store.inbox(placeOf(reader), { before: sequence + 1, limit: 1 });
  // What came of attempts is kept for longer than the deliveries are listed.
  const listed = newest?.sequence === sequence ? newest : null;
  const answer = await find(reader, [listed ?? { ...NOT_LISTED, sequence }]);
  if (isRefusal(answer)) return answer;
  const [one] = answer.found;
  const entry = listed ?? one?.ended ?? null;
  return one === undefined || entry === null ? null : deliveryOf(reader, answer.endpoint, { ...one, entry });
}

const NOT_LISTED: Omit<InboxEntry, 'sequence'> = { log_id: '0-0', life: 0, generation: 0, type: 'account.updated' };

function find({ services: { runtime }, endpoint_id }: Reader, entries: InboxEntry[]): Promise<Found | Refusal> {
  const message: EndpointMessage = { type: 'find', entries };
  return runtime.ask<Found>({ kind: 'endpoint', id: endpoint_id }, message);
}

async function deliveryOf(reader: Reader, endpoint: Endpoint, found: FoundDelivery) {
  const { entry } = found;
  const { endpoint_id, life, services } = reader;
  const { status, attempts, next_attempt_at_ms } = standingOf(endpoint, found, { life, now_ms: services.clock.now() });
  const event = await eventOf(reader, entry);
  const summary: DeliveryView = {
    id: deliveryId(endpoint_id, entry.sequence),
    status,
    event_id: (event?.id as string | undefined) ?? null,
    event_type: entry.type,
    attempt_count: attempts.length,
    next_attempt_at: isoOrNull(next_attempt_at_ms),
    created_at: new Date(eventMs(entry)).toISOString(),
  };
  return { ...summary, event, attempts: attempts.map(attemptView) };
}

/** The event as it was, or would be, sent; null once it is no longer kept. */
async function eventOf({ services, account_id }: Reader, { log_id }: InboxEntry) {
  const place = { account_id, partition: partitionOfId(account_id) };
  const [event] = await services.store.events(place, { from: log_id, to: log_id, descending: false, limit: 1 });
  return event === undefined ? null : eventView(event);
}

function attemptView({ attempted_at_ms, status_code, reason, error, duration_ms }: Attempt): AttemptView {
  return {
    attempted_at: new Date(attempted_at_ms).toISOString(),
    ...{ status_code, status_text: reason, error, duration_ms },
  };
}

function placeOf({ endpoint_id }: Reader) {
  return { address: { kind: 'endpoint', id: endpoint_id }, partition: partitionOfId(endpoint_id) };
}

function isoOrNull(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
