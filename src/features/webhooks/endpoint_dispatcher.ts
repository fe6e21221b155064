import type { Logger } from 'pino';
import type { AttemptResult, DeliveryClaim } from '../../../actors/webhooks/delivery.js';
import { backoffAfter } from '../../domain/backoff.js';
import { LIMITS } from '../../domain/limits.js';
import { randomFraction } from '../../engine/random/random.js';
import { isRetryable } from '../../engine/store/store.js';
import type { Bound, ConcurrencyGroups, ConcurrencyLimit } from './concurrency_limit.js';
import type { DeliveryClient } from './delivery_client.js';
import type { EndpointQueue, Target } from './endpoint_queue.js';
import type { Queued, ReadyQueue } from './ready_queue.js';

/** How long results of an endpoint wait for requests in progress, so that one commit takes all of them. */
const GATHER_MS = 25;
/** How long an endpoint with more to send may reuse its places. */
const KEEPS_PLACES_MS = 100;
const TRY_AGAIN = { first_ms: 200, max_ms: 2_000 };

/** The parts that all dispatchers of a process share. */
export type DispatcherParts = {
  work: EndpointQueue;
  client: DeliveryClient;
  limit: ConcurrencyLimit;
  queue: ReadyQueue;
  log: Pick<Logger, 'error'>;
  now: () => number;
  isStopped: () => boolean;
  /** Called at the end of a request. */
  onPosted: () => void;
  /** Called when nothing is left to do for the endpoint. */
  onIdle: (endpoint_id: string) => void;
};

/** An endpoint with something in progress here: hands its results over, takes deliveries and sends them. */
export class EndpointDispatcher implements Queued {
  readonly #endpoint_id: string;
  readonly #parts: DispatcherParts;
  #target: Target | null;
  #results: AttemptResult[] = [];
  #in_flight = 0;
  /** There may be something due. */
  #is_due = false;
  #is_asking = false;
  #is_queued = false;
  /** Whether there was more to take at the last exchange, as far as is known. */
  #is_behind = false;
  /** Free places that the endpoint uses again. */
  #kept = 0;
  #keeps_until = 0;
  #failures = 0;
  #retry: NodeJS.Timeout | null = null;
  /** The timer that runs while more results may arrive. */
  #gathering: NodeJS.Timeout | null = null;

  constructor(endpoint_id: string, parts: DispatcherParts) {
    this.#endpoint_id = endpoint_id;
    this.#parts = parts;
    this.#target = parts.work.knownTarget(endpoint_id);
  }

  /** Begins an exchange: something is due, as far as the caller knows. */
  wake(): void {
    this.#is_due = true;
    this.#step();
  }

  /** Stops retries; attempts in progress finish. */
  stop(): void {
    if (this.#retry !== null) clearTimeout(this.#retry);
  }

  get groups(): ConcurrencyGroups | null {
    return this.#target;
  }

  tryStart(): Bound | null {
    const { limit } = this.#parts;
    const bound = this.#target === null ? null : limit.boundOf(this.#target, this.#in_flight);
    if (bound !== null) return bound;
    // Of one that is not known yet nobody can say what it may have.
    const free = this.#target === null ? LIMITS.endpoint_in_flight_max : limit.free(this.#target, this.#in_flight);
    this.#is_queued = false;
    this.#keeps_until = performance.now() + KEEPS_PLACES_MS;
    void this.#turn(Math.min(free, LIMITS.endpoint_in_flight_max - this.#in_flight));
    return null;
  }

  /** Takes the next step, or reports that there is none. */
  #step(): void {
    if (this.#is_asking || this.#retry !== null) return;
    const { queue } = this.#parts;
    if (this.#is_queued) {
      if (this.#kept === 0 && this.#results.length === 0) return;
      // What came back does not wait for a place.
      queue.remove(this);
      this.#is_queued = false;
    }
    if (this.#kept > 0) void this.#turn(this.#kept);
    else if (this.#results.length > 0 && this.#mustWait()) void this.#turn(0);
    else if (this.#is_due && !this.#parts.isStopped() && this.#in_flight < LIMITS.endpoint_in_flight_max) {
      this.#is_queued = true;
      queue.add(this);
    } else if (this.#results.length > 0) void this.#turn(0);
    else if (this.#in_flight === 0) {
      this.#stopGathering();
      this.#parts.onIdle(this.#endpoint_id);
    }
  }

  #mustWait(): boolean {
    const { limit, queue } = this.#parts;
    if (this.#target === null) return false;
    return limit.boundOf(this.#target, this.#in_flight) !== null || queue.isAhead(this.#target);
  }

  /** As `#step`, after all requests in progress have ended or a short time has passed. */
  #stepGathered(): void {
    if (this.#in_flight === 0) this.#step();
    else
      this.#gathering ??= setTimeout(() => {
        this.#stopGathering();
        this.#step();
      }, GATHER_MS);
  }

  #stopGathering(): void {
    if (this.#gathering !== null) clearTimeout(this.#gathering);
    this.#gathering = null;
  }

  #giveBackKept(): void {
    if (this.#target !== null) this.#parts.limit.giveBack(this.#target, this.#kept);
    this.#kept = 0;
  }

  /** Hands over results and takes up to `want` deliveries. Never rejects. */
  async #turn(want: number): Promise<void> {
    const known = this.#target;
    this.#is_asking = true;
    this.#is_due = false;
    this.#stopGathering();
    const results = this.#results.splice(0);
    this.#giveBackKept(); // it takes them again before anybody else can, if it still may
    try {
      this.#target ??= await this.#parts.work.targetOf(this.#endpoint_id);
      if (this.#target === null) this.#forget();
      else await this.#exchange(this.#target, { want, results });
    } catch (error) {
      this.#is_due = true;
      this.#tryAgain(results, error);
    } finally {
      this.#is_asking = false;
      this.#stepGathered();
      const groups = this.#target ?? known;
      if (groups !== null) this.#parts.queue.freed(groups);
    }
  }

  async #exchange(target: Target, { want, results }: { want: number; results: AttemptResult[] }): Promise<void> {
    const { isStopped, limit, now, work } = this.#parts;
    const granted = isStopped() ? 0 : Math.max(0, Math.min(want, limit.free(target, this.#in_flight)));
    limit.take(target, granted);
    let claims: DeliveryClaim[] = [];
    try {
      const done = await work.exchange(target, { results, granted });
      if (done === null) {
        this.#forget();
        return;
      }
      claims = done.claims;
      const has_more = done.next_at_ms !== null && done.next_at_ms <= now();
      const was_short = claims.length === granted && this.#in_flight + granted < LIMITS.endpoint_in_flight_max;
      this.#is_behind = claims.length === granted && granted > 0;
      if (has_more || was_short) this.#is_due = true;
    } finally {
      limit.giveBack(target, granted - claims.length);
    }
    this.#failures = 0;
    this.#in_flight += claims.length;
    const { client } = this.#parts;
    const ahead = claims.length > 1 ? client.readAhead(target, claims) : null;
    for (const claim of claims) void this.#deliver(target, claim, ahead);
  }

  /** Sends one delivery and keeps its result. Never rejects. */
  async #deliver(target: Target, claim: DeliveryClaim, ahead: Promise<void> | null): Promise<void> {
    const { client, isStopped, limit, log, onPosted, queue } = this.#parts;
    try {
      if (ahead !== null) await ahead;
      this.#results.push(await client.send(target, claim));
    } catch (error) {
      // Its lease expires, and it is claimed again.
      if (!isRetryable(error)) log.error({ err: error }, 'a delivery could not be posted');
    }
    onPosted();
    this.#in_flight -= 1;
    this.#is_due = true;
    const keeps = this.#is_behind && !isStopped() && this.#retry === null && performance.now() < this.#keeps_until;
    if (keeps) this.#kept += 1;
    else limit.giveBack(target, 1);
    this.#stepGathered();
    queue.freed(target);
  }

  /** Storage is away, or too much waits: results are kept while they are valid. */
  #tryAgain(results: AttemptResult[], error: unknown): void {
    const { isStopped, log, now } = this.#parts;
    this.#giveBackKept();
    if (!isRetryable(error)) log.error({ err: error }, 'deliveries of an endpoint could not be dealt with');
    const counts_from_ms = now() - LIMITS.delivery_lease_ms;
    this.#results.unshift(...results.filter(({ attempt }) => attempt.attempted_at_ms > counts_from_ms));
    if (isStopped() && this.#results.length === 0) {
      this.#is_due = false;
      return;
    }
    this.#failures += 1;
    const pause_ms = backoffAfter(this.#failures, TRY_AGAIN) * (0.5 + randomFraction() / 2);
    this.#retry = setTimeout(() => {
      this.#retry = null;
      this.#step();
    }, pause_ms);
  }

  /** Forgets an endpoint that no longer exists. */
  #forget(): void {
    this.#giveBackKept();
    this.#parts.work.forget(this.#endpoint_id);
    this.#target = null;
    this.#results = [];
    this.#is_due = false;
  }
}
