import { backoffAfter } from './backoff.js';
import { httpDateMs } from './http_date.js';
import { LIMITS } from './limits.js';

/** Rules of deliveries. docs/rules.md, "Webhook endpoints and deliveries". */

export const ENDPOINT_STATUSES = ['active', 'paused', 'disabled'] as const;
export type EndpointStatus = (typeof ENDPOINT_STATUSES)[number];

/**
 * The verdict of an attempt on its delivery: done, to be tried again, ended, or discarded, since the receiver is not to
 * blame.
 */
export type AttemptVerdict = 'accepted' | 'retryable' | 'refused' | 'discarded';

/** Of a process among those that work on one Redis. */
export const MEMBER_ID_CHARS = 12;

/** Who made a claim, by its token, which begins with that member's id; null for one of a release without members. */
export function holderOf(token: string): string | null {
  return token.length > MEMBER_ID_CHARS ? token.slice(0, MEMBER_ID_CHARS) : null;
}

const RETRYABLE_STATUSES: readonly number[] = [408, 429];

export function verdictOf(status_code: number): AttemptVerdict {
  if (status_code >= 200 && status_code <= 299) return 'accepted';
  if (status_code >= 500 || RETRYABLE_STATUSES.includes(status_code)) return 'retryable';
  return 'refused';
}

/** The wait after an attempt (counted from 1), in ms; `jitter` is from 0 to 1. */
export function backoffMs(attempt: number, jitter: number): number {
  const { delivery_backoff_ms, delivery_backoff_factor, delivery_backoff_jitter } = LIMITS;
  const rule = { first_ms: delivery_backoff_ms, max_ms: Number.POSITIVE_INFINITY, factor: delivery_backoff_factor };
  const spread = 1 + delivery_backoff_jitter * (2 * jitter - 1);
  return Math.round(backoffAfter(attempt, rule) * spread);
}

/** The ms until the next probe of a failing endpoint, after so many failures in a row. */
export function probeMs(failures: number, jitter: number): number {
  const { probe_ms_min, probe_ms_max, circuit_opens_after } = LIMITS;
  const rule = { first_ms: probe_ms_min, max_ms: Number.POSITIVE_INFINITY };
  const doubled = backoffAfter(failures - circuit_opens_after + 1, rule);
  return Math.round(Math.min(probe_ms_max, Math.max(probe_ms_min, doubled * (0.75 + jitter / 2))));
}

/** A Retry-After of RFC 9110, 10.2.3, in seconds or as a date, up to twelve hours; null for anything else or what is past. */
export function retryAfterMs(header: string | undefined, now_ms: number): number | null {
  if (header === undefined) return null;
  const text = header.trim();
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : (httpDateMs(text, now_ms) ?? now_ms) - now_ms;
  return ms > 0 ? Math.min(ms, LIMITS.retry_after_ms_max) : null;
}
