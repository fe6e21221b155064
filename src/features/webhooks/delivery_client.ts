import type { Logger } from 'pino';
import { type AttemptResult, type DeliveryClaim, eventMs } from '../../../actors/webhooks/delivery.js';
import { deliveryId } from '../../domain/ids.js';
import { retryAfterMs, verdictOf } from '../../domain/webhooks.js';
import type { Metrics } from '../../engine/metrics/metrics.js';
import type { Store } from '../../engine/store/store.js';
import type { Tracing } from '../../engine/tracing/tracing.js';
import { deliveryHeaders } from './delivery_headers.js';
import type { EndpointActivity } from './endpoint_activity.js';
import type { Target } from './endpoint_queue.js';
import { EventBodies } from './event_bodies.js';
import type { WebhookSender } from './webhook_sender.js';

type DeliveryClientDeps = {
  store: Store;
  poster: WebhookSender;
  metrics: Metrics;
  log: Pick<Logger, 'info' | 'isLevelEnabled'>;
  /** Null without tracing. */
  tracing: Tracing | null;
  activity: EndpointActivity;
  now: () => number;
};

/** The result of an attempt, and its event if that could be read. */
type Attempted = { result: AttemptResult; event_id: string | null };

/** Sends one delivery: reads its event, signs it and posts it once. */
export class DeliveryClient {
  readonly #deps: DeliveryClientDeps;
  readonly #bodies: EventBodies;

  constructor(deps: DeliveryClientDeps) {
    this.#deps = deps;
    this.#bodies = new EventBodies(deps.store);
  }

  /** Reads the events of these at once, before they are sent one by one. Never rejects. */
  readAhead({ account_id }: Target, claims: readonly DeliveryClaim[]): Promise<void> {
    return this.#bodies.readAhead(
      account_id,
      claims.flatMap(({ log_id, attempts }) => (attempts.length > 0 ? [] : log_id)),
    );
  }

  /** Rejects if the event could not be read because storage is away; nothing was sent then. */
  async send(target: Target, claim: DeliveryClaim): Promise<AttemptResult> {
    const { activity, metrics } = this.#deps;
    const attempted = await this.#attempt(target, claim);
    const { result } = attempted;
    this.#note(target.endpoint_id, claim, attempted);
    metrics.delivery_attempts.inc({ verdict: result.verdict, error: result.attempt.error ?? 'none' });
    activity.attempted(target, result);
    return result;
  }

  async #attempt({ endpoint_id, account_id, url, key }: Target, claim: DeliveryClaim): Promise<Attempted> {
    const { metrics, now, poster } = this.#deps;
    const { sequence, token } = claim;
    const event = await this.#bodies.of(account_id, claim.log_id, { again: claim.attempts.length > 0 });
    const attempted_at_ms = now();
    const unsent = (error: string): Attempted => ({
      result: {
        sequence,
        token,
        verdict: 'discarded',
        retry_after_ms: null,
        attempt: { attempted_at_ms, status_code: null, reason: null, duration_ms: null, error },
      },
      event_id: null,
    });
    if (key === null) return unsent('secret_unreadable');
    if (event === null) return unsent('event_unreadable');
    const body = event.bytes;
    if (claim.attempts.length === 0)
      metrics.delivery_first_attempt.observe(Math.max(0, attempted_at_ms - eventMs(claim)) / 1000);
    const headers = deliveryHeaders(key, { id: deliveryId(endpoint_id, sequence), at_ms: attempted_at_ms, body });
    const { status_code, reason, error, duration_ms, retry_after } = await poster.post(url, { headers, body });
    const result: AttemptResult = {
      sequence,
      token,
      attempt: { attempted_at_ms, status_code, reason, error, duration_ms },
      verdict: status_code === null ? 'retryable' : verdictOf(status_code),
      retry_after_ms: retryAfterMs(retry_after, now()),
    };
    return { result, event_id: event.event_id };
  }

  /** The webhook-id is also what the receiver sees; the event's id stands in the log of the turn that recorded it. */
  #note(endpoint_id: string, { sequence, attempts }: DeliveryClaim, { result, event_id }: Attempted): void {
    const { log, tracing } = this.#deps;
    if (tracing === null && !log.isLevelEnabled('info')) return;
    const { verdict, attempt } = result;
    const { status_code, error, duration_ms } = attempt;
    const webhook_id = deliveryId(endpoint_id, sequence);
    const logged = { endpoint_id, webhook_id, event_id, attempt: attempts.length + 1, verdict, status_code, error };
    log.info({ ...logged, ms: duration_ms }, 'delivery');
    const attributes = Object.entries(logged).flatMap(([name, value]) =>
      value === null ? [] : [[`spool.delivery.${name}`, value]],
    );
    tracing?.noteDelivery(Object.fromEntries(attributes), { took_ms: duration_ms ?? 0, error });
  }
}
