import { LIMITS } from '../../src/domain/limits.js';
import type { AttemptVerdict } from '../../src/domain/webhooks.js';
import type { QueuedDelivery } from '../actor.js';

/** One event for one endpoint, and its status. docs/rules.md, "Webhook endpoints and deliveries". */

/** One request that was sent, or may have been. */
export type Attempt = {
  attempted_at_ms: number;
  status_code: number | null;
  /** The reason phrase of the status line. */
  reason: string | null;
  /** The class of the failure; null for a status of 2xx. */
  error: string | null;
  /** Until the status line, or until the request was given up; null if no result was reported. */
  duration_ms: number | null;
};

export type AttemptResult = {
  sequence: number;
  /** The token of the claim; a result under another token does not count. */
  token: string;
  attempt: Attempt;
  verdict: AttemptVerdict;
  retry_after_ms: number | null;
};

/** Claimed until the lease ends. */
export type DeliveryClaim = QueuedDelivery & {
  attempts: Attempt[];
  token: string;
  claimed_at_ms: number;
  lease_until_ms: number;
};

/** Waits for its next attempt. */
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

/** When it is given up. */
export function deadlineMs(entry: QueuedDelivery): number {
  return eventMs(entry) + LIMITS.delivery_life_ms;
}

/** A delivery and where it lies. If it is neither ended nor waiting, it is claimed or still in the queue. */
export type FoundDelivery = { entry: QueuedDelivery; ended: EndedDelivery | null; waiting: WaitingDelivery | null };
