import type { Attempt, DeliveryStatus } from '../../../actors/webhooks/delivery.js';
import { type Endpoint, isCircuitOpen } from '../../../actors/webhooks/endpoint_state.js';
import type { EventType } from '../../domain/event_types.js';
import { LIMITS } from '../../domain/limits.js';
import { spanText } from '../../domain/span_text.js';
import { verdictOf } from '../../domain/webhooks.js';

type LastRequest = { at_ms: number; status_code: number | null; error: string | null };

/** The facts that explain why an endpoint gets deliveries or not. */
export type EndpointFacts = {
  endpoint: Endpoint;
  account: 'open' | 'deleted' | 'gone';
  /** Types of the account's last events since the endpoint was made, the newest first; at most `EVENTS_LOOKED_AT`. */
  recent_types: readonly EventType[];
  /** Its last deliveries, the newest first. */
  deliveries: readonly { status: DeliveryStatus; next_attempt_at_ms: number | null; attempts: readonly Attempt[] }[];
  /** The last request to the endpoint that this process knows of, which may be for an older delivery. */
  last_seen: LastRequest | null;
  now_ms: number;
};

export const EVENTS_READ_MAX = 200;

/** `blocks`: no delivery arrives because of it. */
export type EndpointReason = { name: string; blocks: boolean; text: string };

type ReasonRow = { name: string; blocks: boolean; text: (facts: EndpointFacts) => string | null };

/** In the order in which a person would look. */
const ROWS: readonly ReasonRow[] = [
  {
    name: 'account_deleted',
    blocks: true,
    text: ({ account }) =>
      account === 'open'
        ? null
        : account === 'deleted'
          ? 'Its account is deleted. What waited is cancelled, and nothing is delivered unless the account is restored.'
          : 'Its account is erased, or about to be.',
  },
  {
    name: 'paused',
    blocks: true,
    text: ({ endpoint: { standing }, now_ms }) =>
      standing.status === 'paused'
        ? `Its owner paused it${sinceText(standing.since_ms, now_ms)}. What happens meanwhile is never delivered to it; what waited before goes out when its owner sets it active.`
        : null,
  },
  {
    name: 'disabled',
    blocks: true,
    text: (facts) => {
      const { standing } = facts.endpoint;
      if (standing.status !== 'disabled') return null;
      const since = sinceText(standing.since_ms, facts.now_ms);
      const again = 'What waited is cancelled; its owner must set it active again.';
      if (standing.reason === null) return `Its owner disabled it${since}. ${again}`;
      const last = lastRequest(facts);
      const why = last === null ? '' : ` The last request: ${requestText(last)}.`;
      return `It was disabled${since}: ${LIMITS.endpoint_failures_max} deliveries in a row failed.${why} ${again}`;
    },
  },
  {
    name: 'no_events',
    blocks: true,
    text: ({ recent_types }) =>
      recent_types.length === 0 ? 'Nothing has happened in its account since the endpoint was made.' : null,
  },
  {
    name: 'topics',
    blocks: true,
    text: ({ endpoint: { topics }, recent_types }) => {
      if (topics.length === 0 || recent_types.length === 0) return null;
      if (recent_types.some((type) => topics.includes(type))) return null;
      const others = [...new Set(recent_types)].slice(0, 6).join(', ');
      return `Its topics leave out all that happened: it wants ${topics.join(', ')}; the last ${recent_types.length} events of its account were ${others}.`;
    },
  },
  {
    name: 'circuit_open',
    blocks: true,
    text: (facts) => {
      const { endpoint, now_ms } = facts;
      if (endpoint.standing.status !== 'active' || !isCircuitOpen(endpoint)) return null;
      const wait_ms = endpoint.probe_at_ms - now_ms;
      const next = wait_ms > 0 ? `the next in ${spanText(wait_ms)}` : 'the next is due';
      return `It failed ${endpoint.retryable_failures} times in a row, so its circuit is open: one request at a time as a probe, ${next}.`;
    },
  },
  {
    name: 'failing',
    blocks: false,
    text: (facts) => {
      const { standing, failure_count } = facts.endpoint;
      const last = lastRequest(facts);
      if (standing.status !== 'active' || last === null || isAccepted(last)) return null;
      const count = failure_count === 0 ? '' : ` ${failure_count} deliveries in a row have failed for good.`;
      return `The last request was not accepted: ${requestText(last)}, ${spanText(facts.now_ms - last.at_ms)} ago.${count}`;
    },
  },
  {
    name: 'waiting',
    blocks: false,
    text: ({ deliveries, now_ms }) => {
      const waiting = deliveries.filter(({ status }) => status === 'pending');
      const times = waiting.flatMap(({ next_attempt_at_ms: at_ms }) => at_ms ?? []);
      if (waiting.length === 0) return null;
      const count = `${waiting.length} of its last ${deliveries.length} deliveries ${waiting.length === 1 ? 'waits' : 'wait'}`;
      if (times.length === 0) return `${count}.`;
      const wait_ms = Math.min(...times) - now_ms;
      return `${count}; the next is tried ${wait_ms > 0 ? `in ${spanText(wait_ms)}` : 'as soon as it is taken up'}.`;
    },
  },
];

/** Why an endpoint gets nothing, or not yet. Empty if there is no reason. */
export function endpointReasons(facts: EndpointFacts): EndpointReason[] {
  return ROWS.flatMap(({ name, blocks, text }) => {
    const reason = text(facts);
    return reason === null ? [] : [{ name, blocks, text: reason }];
  });
}

/** The status in one line. */
export function endpointHeadline(facts: EndpointFacts, reasons: readonly EndpointReason[]): string {
  if (reasons.some(({ blocks }) => blocks)) return 'It gets nothing at the moment';
  if (reasons.some(({ name }) => name === 'failing')) return 'It does not accept what it is sent';
  const { last_success_at_ms } = facts.endpoint;
  if (last_success_at_ms === null) return 'It has not accepted anything yet';
  return `It gets its events; the last was accepted ${spanText(facts.now_ms - last_success_at_ms)} ago`;
}

function lastRequest({ deliveries, last_seen }: EndpointFacts): LastRequest | null {
  const known = deliveries.flatMap(({ attempts }) => attempts.at(-1) ?? []);
  const requests = known.map(({ attempted_at_ms: at_ms, status_code, error }) => ({ at_ms, status_code, error }));
  const all = last_seen === null ? requests : [...requests, last_seen];
  return all.reduce<LastRequest | null>((last, one) => (last === null || one.at_ms >= last.at_ms ? one : last), null);
}

function isAccepted({ status_code }: LastRequest): boolean {
  return status_code !== null && verdictOf(status_code) === 'accepted';
}

function requestText({ status_code, error }: LastRequest): string {
  if (status_code !== null) return `it was answered with ${status_code}`;
  return `no answer came (${error ?? 'unknown'})`;
}

function sinceText(since_ms: number, now_ms: number): string {
  return ` ${spanText(now_ms - since_ms)} ago`;
}
