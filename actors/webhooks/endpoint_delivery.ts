import { LIMITS } from '../../src/domain/limits.js';
import { unreachable } from '../../src/domain/refusals.js';
import { backoffMs, holderOf, probeMs } from '../../src/domain/webhooks.js';
import type { Decision, Effect, Facts, QueuedDelivery } from '../actor.js';
import {
  type Attempt,
  type AttemptResult,
  type DeliveryClaim,
  deadlineMs,
  type EndedDelivery,
  eventMs,
  type WaitingDelivery,
} from './delivery.js';
import {
  batchOf,
  disabled,
  ENDED,
  type Endpoint,
  isCircuitOpen,
  leaseEndsAt,
  mayWait,
  newBatch,
  TOO_MANY_FAILURES,
} from './endpoint_state.js';

/** From a dispatcher: the results of earlier claims, and how many more deliveries it wants. */
export type DeliveryRequest = {
  /** The account's present credential epoch, which fences the commit. */
  credential_epoch: number;
  results: AttemptResult[];
  /** One token for each wanted claim: the id of the caller, and random characters. */
  tokens: string[];
  /** Ended processes that left claims behind. */
  gone?: string[];
  /** A random number from 0 to 1. */
  jitter: number;
  /** The mail to the owner if this disables the endpoint; asked for when needed. */
  mail?: { mail_id: string; sealed: Uint8Array };
};

export type DeliveriesTaken = {
  claims: DeliveryClaim[];
  /** The number of late results that do not count, since others have claimed the deliveries. */
  late: number;
  /** When the endpoint is due again; null if nothing waits. */
  next_at_ms: number | null;
  disabled: boolean;
  ended: { outcome: EndedDelivery['outcome']; event_ms: number }[];
};
/** Nothing was done: the caller sends the same message again, with the mail. */
export type MailNeeded = { mail_needed: true; account_id: string; url: string };
export type DeliveryReply = DeliveriesTaken | MailNeeded;

/** The number of waiting deliveries that one batch reads. */
export const WAITING_READ_MAX = 64;
/** The number of queue entries that one batch reads: as many as may be claimed, and some that were cancelled. */
export const QUEUE_READ_MAX = 2 * LIMITS.endpoint_in_flight_max;
/** If this dispatcher has no free slots, another may take over after this time. */
const NO_SLOTS_MS = 5_000;
const CANCELLED_BATCHES_MAX = 32;

/**
 * One batch: takes results, gives up lost claims, makes new claims. Deliveries are written field by field, since
 * spreading each into a larger object takes 2 µs more.
 */
export class EndpointDeliveries {
  /** A copy of its own, since a batch changes it several times for each delivery. */
  #state: Endpoint;
  readonly #asked: DeliveryRequest;
  readonly #facts: Facts;
  readonly #now_ms: number;
  /** How far the clock may be ahead: no delivery is given up within this time. */
  readonly #uncertain_ms: number;
  readonly #last: number;
  /** The waiting deliveries that were loaded. */
  readonly #waiting: readonly { id: string; order: number; value: WaitingDelivery }[];
  readonly #effects: Effect[] = [];
  readonly #claimed: DeliveryClaim[] = [];
  readonly #ended: DeliveriesTaken['ended'] = [];
  /** When the next waiting delivery is due, as far as this batch has read. */
  #due_at_ms = Number.POSITIVE_INFINITY;
  #late = 0;
  #is_disabled_now = false;

  constructor(state: Endpoint, asked: DeliveryRequest, facts: Facts) {
    const { now_ms } = facts;
    this.#state =
      asked.credential_epoch === state.account_epoch
        ? { ...state }
        : newBatch(state, { ...state, account_epoch: asked.credential_epoch }, now_ms);
    this.#asked = asked;
    this.#facts = facts;
    this.#now_ms = now_ms;
    this.#uncertain_ms = now_ms - facts.certain_ms;
    this.#last = facts.deliveryQueue().last;
    this.#waiting = mayWait(state, asked.credential_epoch) ? facts.range<WaitingDelivery>(batchOf(state)) : [];
  }

  decide(): Decision<Endpoint, DeliveryReply> {
    for (const result of this.#asked.results) this.#take(result);
    this.#takeBackLost();
    this.#claim();
    this.#dropOldBatches();
    const { account_id, url } = this.#state;
    if (this.#is_disabled_now) {
      const { mail } = this.#asked;
      if (mail === undefined) return { reply: { mail_needed: true, account_id, url } };
      this.#effects.push(
        { effect: 'unsubscribe', account_id, endpoint_id: this.#facts.self },
        { effect: 'enqueue_mail', ...mail, give_up_at_ms: this.#now_ms + LIMITS.mail_retried_ms },
      );
    }
    const next_at_ms = this.#nextAt();
    return {
      reply: {
        claims: this.#claimed,
        late: this.#late,
        next_at_ms,
        disabled: this.#is_disabled_now,
        ended: this.#ended,
      },
      next: this.#state,
      effects: [...this.#effects, { effect: 'schedule_endpoint', at_ms: next_at_ms, seen: this.#last }],
    };
  }

  #set(change: Partial<Endpoint>): void {
    Object.assign(this.#state, change);
  }

  #take({ sequence, token, attempt, verdict, retry_after_ms }: AttemptResult): void {
    const claim = this.#state.claims.find((one) => one.sequence === sequence && one.token === token);
    if (claim === undefined) {
      this.#late += 1;
      return;
    }
    this.#release(claim);
    const attempts = [...claim.attempts, attempt];
    if (!this.#isPresent(claim)) {
      this.#end(claim, attempts, 'cancelled');
      return;
    }
    switch (verdict) {
      case 'accepted':
        this.#set({
          failure_count: 0,
          last_success_at_ms: attempt.attempted_at_ms + (attempt.duration_ms ?? 0),
          retryable_failures: 0,
          probe_at_ms: 0,
        });
        this.#end(claim, attempts, 'succeeded');
        return;
      case 'refused':
        this.#end(claim, attempts, 'failed');
        this.#countFailure();
        return;
      case 'discarded':
        this.#end(claim, attempts, 'failed');
        return;
      case 'retryable': {
        const { jitter } = this.#asked;
        if (!this.#wasSentBeside(claim)) {
          const retryable_failures = this.#state.retryable_failures + 1;
          this.#set({ retryable_failures });
          if (isCircuitOpen(this.#state))
            this.#set({ probe_at_ms: this.#now_ms + probeMs(retryable_failures, jitter) });
        }
        const delay_ms = Math.max(backoffMs(attempts.length, jitter), retry_after_ms ?? 0);
        this.#tryAgain(claim, attempts, this.#now_ms + delay_ms);
        return;
      }
      default:
        unreachable(verdict);
    }
  }

  /** The circuit has opened since this attempt was sent, so its failure does not count again. */
  #wasSentBeside({ claimed_at_ms }: DeliveryClaim): boolean {
    return isCircuitOpen(this.#state) && claimed_at_ms < this.#state.probe_at_ms;
  }

  /** The claims of dispatchers that did not report in time. Whether these deliveries were posted is unknown. */
  #takeBackLost(): void {
    for (const claim of this.#state.claims.filter((one) => this.#isLost(one))) {
      this.#release(claim);
      const lost: Attempt = {
        attempted_at_ms: claim.claimed_at_ms,
        status_code: null,
        reason: null,
        error: 'interrupted',
        duration_ms: null,
      };
      const attempts = [...claim.attempts, lost];
      if (this.#isPresent(claim)) this.#tryAgain(claim, attempts, this.#now_ms);
      else this.#end(claim, attempts, 'cancelled');
    }
  }

  #isLost({ lease_until_ms, token }: DeliveryClaim): boolean {
    const { gone = [] } = this.#asked;
    return lease_until_ms <= this.#now_ms || (gone.length > 0 && gone.includes(holderOf(token) ?? ''));
  }

  #tryAgain(entry: QueuedDelivery, attempts: Attempt[], at_ms: number): void {
    if (attempts.length >= LIMITS.delivery_attempts_max || at_ms - this.#uncertain_ms >= deadlineMs(entry)) {
      this.#end(entry, attempts, 'failed');
      this.#countFailure();
      return;
    }
    const { sequence, log_id, account_epoch, enablement, type } = entry;
    const value: WaitingDelivery = { sequence, log_id, account_epoch, enablement, type, attempts, due_at_ms: at_ms };
    this.#effects.push({
      effect: 'put_record',
      collection: batchOf(entry),
      id: String(sequence),
      value,
      order: at_ms,
    });
    this.#set({ waiting: this.#state.waiting + 1 });
    this.#due_at_ms = Math.min(this.#due_at_ms, at_ms);
  }

  /** Claims due deliveries, those that have waited longest first, up to the number wanted. */
  #claim(): void {
    const waiting = this.#waiting;
    const { entries } = this.#facts.deliveryQueue();
    const tokens = [...this.#asked.tokens];
    let [at_waiting, at_queue] = [0, 0];
    while (this.#state.standing.status === 'active' && this.#room() > 0 && tokens.length > 0) {
      const row = waiting[at_waiting];
      const entry = entries[at_queue];
      const due_at_ms = row?.order ?? Number.POSITIVE_INFINITY;
      const since_ms = entry === undefined ? Number.POSITIVE_INFINITY : eventMs(entry);
      if (row !== undefined && due_at_ms <= this.#now_ms && due_at_ms <= since_ms) {
        at_waiting += 1;
        this.#effects.push({ effect: 'delete_record', collection: batchOf(row.value), id: row.id });
        this.#set({ waiting: this.#state.waiting - 1 });
        this.#claimOne(row.value, row.value.attempts, tokens);
      } else if (entry !== undefined) {
        at_queue += 1;
        this.#set({ taken: entry.sequence });
        if (this.#isPresent(entry)) this.#claimOne(entry, [], tokens);
      } else break;
    }
    // What is left of those that were looked at; one put back in this batch is counted where it was put.
    const next = waiting[at_waiting];
    if (next !== undefined) this.#due_at_ms = Math.min(this.#due_at_ms, next.order);
    else if (at_waiting === WAITING_READ_MAX) this.#due_at_ms = this.#now_ms;
  }

  #claimOne(entry: QueuedDelivery, attempts: Attempt[], tokens: string[]): void {
    if (this.#now_ms - this.#uncertain_ms >= deadlineMs(entry)) {
      // Its time ran out. That counts, unless it had before the endpoint was set active and the count began.
      this.#end(entry, attempts, 'failed');
      const { standing } = this.#state;
      if (standing.status === 'active' && deadlineMs(entry) > standing.since_ms) this.#countFailure();
      return;
    }
    const { sequence, log_id, account_epoch, enablement, type } = entry;
    const claim: DeliveryClaim = {
      sequence,
      log_id,
      account_epoch,
      enablement,
      type,
      attempts,
      token: tokens.shift() as string,
      claimed_at_ms: this.#now_ms,
      lease_until_ms: this.#now_ms + LIMITS.delivery_lease_ms,
    };
    this.#claimed.push(claim);
    this.#set({ claims: [...this.#state.claims, claim] });
  }

  /** The number of deliveries that may still be put in flight. */
  #room(): number {
    const { claims, probe_at_ms } = this.#state;
    if (!isCircuitOpen(this.#state)) return LIMITS.endpoint_in_flight_max - claims.length;
    return claims.length === 0 && this.#now_ms >= probe_at_ms ? 1 : 0;
  }

  #isPresent({ enablement, account_epoch }: QueuedDelivery): boolean {
    return enablement === this.#state.enablement && account_epoch === this.#state.account_epoch;
  }

  #release(claim: DeliveryClaim): void {
    this.#set({ claims: this.#state.claims.filter((one) => one !== claim) });
  }

  #end(entry: QueuedDelivery, attempts: Attempt[], outcome: EndedDelivery['outcome']): void {
    const { sequence, log_id, account_epoch, enablement, type } = entry;
    const ended_at_ms = this.#now_ms;
    const value: EndedDelivery = { sequence, log_id, account_epoch, enablement, type, attempts, outcome, ended_at_ms };
    this.#effects.push({ effect: 'put_record', collection: ENDED, id: String(sequence), value, order: ended_at_ms });
    this.#ended.push({ outcome, event_ms: eventMs(entry) });
  }

  #countFailure(): void {
    this.#set({ failure_count: this.#state.failure_count + 1 });
    const { failure_count, standing } = this.#state;
    if (failure_count < LIMITS.endpoint_failures_max || standing.status !== 'active') return;
    this.#state = disabled(this.#state, { reason: TOO_MANY_FAILURES, last: this.#last, now_ms: this.#now_ms });
    this.#is_disabled_now = true;
    // What this batch has claimed is cancelled with everything else, and nobody has posted it yet.
    for (const claim of this.#claimed.splice(0)) {
      this.#release(claim);
      this.#end(claim, claim.attempts, 'cancelled');
    }
  }

  #dropOldBatches(): void {
    const { cancelled } = this.#state;
    const too_many = cancelled.slice(0, Math.max(0, cancelled.length - CANCELLED_BATCHES_MAX));
    for (const { batch } of too_many) this.#effects.push({ effect: 'delete_collection', collection: batch });
    if (too_many.length > 0) this.#set({ cancelled: cancelled.slice(too_many.length) });
  }

  /** When the endpoint is due if nothing happens before. */
  #nextAt(): number | null {
    const lease_ends_at = leaseEndsAt(this.#state) ?? Number.POSITIVE_INFINITY;
    const { standing, taken, claims, probe_at_ms } = this.#state;
    let at_ms = Number.POSITIVE_INFINITY;
    if (standing.status === 'active') {
      at_ms = taken < this.#last ? this.#now_ms : Math.max(this.#due_at_ms, this.#now_ms);
      const in_flight_max = isCircuitOpen(this.#state) ? 1 : LIMITS.endpoint_in_flight_max;
      if (claims.length >= in_flight_max) at_ms = lease_ends_at;
      else if (isCircuitOpen(this.#state)) at_ms = Math.max(at_ms, probe_at_ms);
      if (at_ms <= this.#now_ms && this.#claimed.length === this.#asked.tokens.length) at_ms += NO_SLOTS_MS;
    }
    const next_at_ms = Math.min(at_ms, lease_ends_at);
    return Number.isFinite(next_at_ms) ? next_at_ms : null;
  }
}
