import { LIMITS } from '../../src/domain/limits.js';
import type { AttemptVerdict } from '../../src/domain/webhooks.js';
import type { QueuedDelivery } from '../actor.js';

/** One event on its way to one endpoint, and how it stands. docs/rules.md, "Webhook endpoints and deliveries". */

/** One request that was sent, or may have been. */
export type Attempt = {
  attempted_at_ms: number;
  status_code: number | null;
  /** Text of the status line. */
  reason: string | null;
  /** A class of what went wrong; null for an answer of 2xx. */
  error: string | null;
  /** Until the status line, or until it was given up; null when no result was reported. */
  duration_ms: number | null;
};

export type AttemptResult = {
  sequence: number;
  /** Of the claim; another one's result does not count. */
  token: string;
  attempt: Attempt;
  verdict: AttemptVerdict;
  retry_after_ms: number | null;
};

/** Handed out until the lease ends. */
export type DeliveryClaim = QueuedDelivery & {
  attempts: Attempt[];
  token: string;
  claimed_at_ms: number;
  lease_until_ms: number;
};

/** Waits to be tried again. */
export type WaitingDelivery = QueuedDelivery & { attempts: Attempt[]; due_at_ms: number };

export type EndedDelivery = QueuedDelivery & {
  attempts: Attempt[];
  outcome: Exclude<DeliveryStatus, 'pending' | 'leased'>;
  ended_at_ms: number;
};

export const DELIVERY_STATUSES = ['pending', 'leased', 'succeeded', 'failed', 'cancelled'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** When the event was made; the log's ids begin with it. */
export function eventMs({ log_id }: QueuedDelivery): number {
  return Number.parseInt(log_id, 10);
}

/** From here on it is not tried any more. */
export function deadlineMs(entry: QueuedDelivery): number {
  return eventMs(entry) + LIMITS.delivery_life_ms;
}

/** A delivery and where it lies: neither ended nor waiting, it is claimed or still in the queue. */
export type FoundDelivery = { entry: QueuedDelivery; ended: EndedDelivery | null; waiting: WaitingDelivery | null };
