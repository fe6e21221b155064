import type { EventType } from '../../src/domain/event_types.js';
import { LIMITS } from '../../src/domain/limits.js';
import {
  type Attempt,
  type DeliveryClaim,
  type DeliveryStatus,
  deadlineMs,
  eventMs,
  type FoundDelivery,
} from './delivery.js';

/**
 * A destination of an account's events. Deliveries come into its queue with the events themselves; from there it hands
 * them out, a few at a time, and takes what came of them: all that is counted is counted here, one batch after the other.
 *
 * A delivery lies in one of four places: still in the queue behind `taken`; among `claims`, while somebody posts it; in
 * the collection of its batch, while it waits to be tried again; in `ended`. A batch holds the deliveries made under one
 * enablement of the endpoint and one epoch of the account: when either is raised, whatever has not ended is cancelled
 * where it lies. docs/rules.md, "Webhook endpoints and deliveries"; docs/areas.md, "Webhook delivery".
 */
export type Endpoint = NewEndpoint & {
  standing: Standing;
  /** Deliveries in a row that ended as failed. */
  failure_count: number;
  last_success_at_ms: number | null;
  /** Raised when the endpoint is disabled, which cancels deliveries of earlier numbers. */
  enablement: number;
  /** The account's credential epoch for new deliveries, as last read. */
  account_epoch: number;
  /** The number up to which the queue was read. */
  taken: number;
  claims: DeliveryClaim[];
  /** The number of waiting deliveries of the present batch. */
  waiting: number;
  /** Collections of cancelled batches that are not empty. */
  cancelled: { batch: string; at_ms: number }[];
  /** Retryable failures of attempts in a row; at `circuit_opens_after` the circuit opens. */
  retryable_failures: number;
  /** The time of the next attempt while the circuit is open. */
  probe_at_ms: number;
  /** The list of unhealthy endpoints that holds it, and since when; null for none. */
  trouble: { is: Trouble; since_ms: number } | null;
};

/**
 * The states of an endpoint that staff should know of: a `failing` one did not accept the last request, of a `circuit_open` one only
 * probes are sent, a `disabled` one was so after too many failures, a `stopped` one was paused or disabled by its owner.
 */
export const TROUBLES = ['circuit_open', 'disabled', 'failing', 'stopped'] as const;
export type Trouble = (typeof TROUBLES)[number];

export type NewEndpoint = {
  account_id: string;
  url: string;
  /** All types when empty. */
  topics: EventType[];
  /** The signing key, sealed with the server key. */
  sealed_secret: Uint8Array;
  created_at_ms: number;
};

export type Standing =
  | { status: 'active'; since_ms: number }
  | { status: 'paused'; since_ms: number }
  | { status: 'disabled'; reason: typeof TOO_MANY_FAILURES | null; since_ms: number };

/** The list of an account's endpoints. */
export const ENDPOINTS = 'endpoints';
/** Collection: deliveries that have ended, by number, in the order of their ends. */
export const ENDED = 'ended';
export const TOO_MANY_FAILURES = 'consecutive_failures';

/** The collection of one batch's deliveries that wait for their next attempt, by when they are due. */
export function batchOf({ enablement, account_epoch }: { enablement: number; account_epoch: number }): string {
  return `waiting:${enablement}.${account_epoch}`;
}

/** Whether deliveries of this batch may wait; a batch that has just begun has none. */
export function mayWait(state: Endpoint, credential_epoch: number): boolean {
  return state.waiting > 0 && state.account_epoch === credential_epoch;
}

/** Whether only one probe at a time is sent. */
export function isCircuitOpen({ retryable_failures }: Endpoint): boolean {
  return retryable_failures >= LIMITS.circuit_opens_after;
}

/** Disables the endpoint, which cancels every delivery that has not ended. */
export function disabled(
  state: Endpoint,
  { reason, last, now_ms }: { reason: typeof TOO_MANY_FAILURES | null; last: number; now_ms: number },
): Endpoint {
  const next = newBatch(state, { enablement: state.enablement + 1, account_epoch: state.account_epoch }, now_ms);
  return { ...next, standing: { status: 'disabled', reason, since_ms: now_ms }, taken: Math.max(last, state.taken) };
}

export function newBatch(
  state: Endpoint,
  made_under: { enablement: number; account_epoch: number },
  now_ms: number,
): Endpoint {
  const left = state.waiting > 0 ? [{ batch: batchOf(state), at_ms: now_ms }] : [];
  return { ...state, ...made_under, waiting: 0, cancelled: [...state.cancelled, ...left] };
}

export function leaseEndsAt({ claims }: Endpoint): number | null {
  return claims.length === 0 ? null : Math.min(...claims.map(({ lease_until_ms }) => lease_until_ms));
}

/** The status of a delivery, given the present credential epoch of its account. */
export function standingOf(
  endpoint: Endpoint,
  { entry, ended, waiting }: FoundDelivery,
  { epoch, now_ms }: { epoch: number; now_ms: number },
): { status: DeliveryStatus; attempts: Attempt[]; next_attempt_at_ms: number | null } {
  if (ended !== null) return { status: ended.outcome, attempts: ended.attempts, next_attempt_at_ms: null };
  const claim = endpoint.claims.find(({ sequence }) => sequence === entry.sequence);
  const attempts = claim?.attempts ?? waiting?.attempts ?? [];
  if (entry.enablement !== endpoint.enablement || entry.account_epoch !== epoch)
    return { status: 'cancelled', attempts, next_attempt_at_ms: null };
  if (claim !== undefined && now_ms < claim.lease_until_ms)
    return { status: 'leased', attempts, next_attempt_at_ms: null };
  if (now_ms >= deadlineMs(entry)) return { status: 'failed', attempts, next_attempt_at_ms: null };
  const due_at_ms = Math.max(waiting?.due_at_ms ?? eventMs(entry), endpoint.probe_at_ms);
  return { status: 'pending', attempts, next_attempt_at_ms: endpoint.standing.status === 'active' ? due_at_ms : null };
}
