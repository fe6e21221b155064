import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import type { Account } from '../../actors/account_state.js';
import { type AttemptResult, type Claim, eventMs } from '../../actors/delivery.js';
import type { Endpoint } from '../../actors/endpoint_state.js';
import type { MailNeeded, Work, WorkDone, WorkMessage } from '../../actors/endpoint_turn.js';
import { deliveryId, PARTITIONS, partitionOfId } from '../domain/ids.js';
import { LIMITS } from '../domain/limits.js';
import { isRefusal } from '../domain/refusals.js';
import { retryAfterMs, verdictOf } from '../domain/webhooks.js';
import { eventView } from '../events.js';
import { endpointDisabledMail } from '../mail/endpoint_mail.js';
import { sealMail } from '../mail/sealed_mail.js';
import { randomBytes, randomFraction, randomId } from '../random.js';
import type { Metrics } from '../runtime/metrics.js';
import type { Runtime } from '../runtime/runtime.js';
import type { ServerKeys } from '../secrets/server_keys.js';
import { type Store, StoreUnavailable } from '../store/store.js';
import type { Tracing } from '../tracing/tracing.js';
import { type ConcurrencyGroups, ConcurrencyLimit } from '../webhooks/concurrency_limit.js';
import { deliveryHeaders } from '../webhooks/delivery_headers.js';
import type { Poster } from '../webhooks/poster.js';
import { openSigningSecret } from '../webhooks/signing_secret.js';
import { EndpointActivity } from './endpoint_activity.js';
import { PeriodicTask } from './periodic_task.js';

const LOOK_EVERY_MS = 1_000;
/** An endpoint that was found due is looked at by others again after this, unless its own commits say otherwise. */
const FOUND_MS = 5_000;
const PER_PARTITION_MAX = 64;
const KNOWN_MAX = 20_000;
/** Each but the last met a life that had moved, or lacked the mail. */
const ASK_TRIES_MAX = 4;
const TOKEN_BYTES = 9;
/** What came back for an endpoint waits so long for what is still under way, so that one commit takes all of it. */
const GATHER_MS = 25;
/** Slots that came free are handed out together after so long, several to one endpoint. */
const HAND_OUT_MS = 5;
const TRY_AGAIN_MS = 100;
const TRY_AGAIN_MS_MAX = 2_000;
/** Longer than any request lasts. */
const IDLE_MAX_MS = LIMITS.delivery_timeout_ms + 5_000;

type Parts = {
  store: Store;
  runtime: Runtime;
  poster: Poster;
  keys: ServerKeys;
  metrics: Metrics;
  log: Pick<Logger, 'error' | 'info' | 'isLevelEnabled'>;
  /** Null where traces go nowhere. */
  tracing: Tracing | null;
  now: () => number;
};

/** What became of an attempt, and of which event it was, where that could be read. */
type Posted = { result: AttemptResult; event_id: string | null };

/** What never changes of an endpoint, and the account's life as last seen. */
type Known = ConcurrencyGroups & { url: URL; key: Uint8Array | null; life: number };

export type DueEndpoint = { endpoint_id: string; since_ms: number };

/** One endpoint that has something under way here. */
type EndpointDispatcher = {
  endpoint_id: string;
  known: Known | null;
  results: AttemptResult[];
  in_flight: number;
  /** There may be something due. */
  is_due: boolean;
  is_asking: boolean;
  is_in_line: boolean;
  failures: number;
  retry: NodeJS.Timeout | null;
  /** Running while more may come back. */
  gathering: NodeJS.Timeout | null;
};

/**
 * Posts what is due. An endpoint's actor hands out deliveries and takes what came of them, both in one message, so
 * that a busy endpoint costs a commit for several deliveries. Endpoints stand in line for slots: one that is slow
 * holds its own few, and the others go on.
 */
export class DeliveryWorker {
  readonly #parts: Parts;
  readonly #known = new LRUCache<string, Known>({ max: KNOWN_MAX });
  readonly #couriers = new Map<string, EndpointDispatcher>();
  readonly #slots = new ConcurrencyLimit();
  /** What came of the last requests to each endpoint. */
  readonly activity = new EndpointActivity();
  #due: DueEndpoint[] = [];
  /** Those that want a slot, each once, in turn. */
  readonly #line: EndpointDispatcher[] = [];
  readonly #looks = new PeriodicTask(() => this.#look(), LOOK_EVERY_MS);
  #handing_out: NodeJS.Timeout | null = null;
  #is_stopped = false;
  #posted = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  start(): void {
    this.#looks.start();
  }

  /** Claims nothing more, and waits for what is in flight and for what came of it. */
  async stop(): Promise<void> {
    this.#is_stopped = true;
    await this.#looks.stop();
    await this.#idle();
    for (const { retry } of this.#couriers.values()) if (retry !== null) clearTimeout(retry);
  }

  get in_flight(): number {
    return this.#slots.taken;
  }

  /** These have something due, as far as the caller knows. */
  wake(endpoint_ids: Iterable<string>): void {
    if (this.#is_stopped) return;
    for (const endpoint_id of endpoint_ids) {
      const courier = this.#courier(endpoint_id);
      courier.is_due = true;
      this.#step(courier);
    }
  }

  /** Posts all that is due now, and gives how many requests that took. */
  async handleDue(): Promise<number> {
    const before = this.#posted;
    await this.#looks.runOnce();
    await this.#idle();
    return this.#posted - before;
  }

  async #look(): Promise<void> {
    const { store, now, log } = this.#parts;
    try {
      const now_ms = now();
      const due = { now_ms, again_ms: now_ms + FOUND_MS, limit: PER_PARTITION_MAX };
      const found = await Promise.all(
        Array.from({ length: PARTITIONS }, (_, partition) => store.leaseEndpoints(partition, due)),
      );
      this.wake(found.flat());
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) log.error({ err: error }, 'due endpoints could not be looked for');
    }
  }

  async #idle(): Promise<void> {
    const until = performance.now() + IDLE_MAX_MS;
    while (this.#couriers.size > 0 && performance.now() < until) await new Promise((resolve) => setTimeout(resolve, 5));
  }

  #courier(endpoint_id: string): EndpointDispatcher {
    let courier = this.#couriers.get(endpoint_id);
    if (courier === undefined) {
      const known = this.#known.get(endpoint_id) ?? null;
      courier = {
        ...{ endpoint_id, known, results: [], in_flight: 0, failures: 0, retry: null, gathering: null },
        ...{ is_due: false, is_asking: false, is_in_line: false },
      };
      this.#couriers.set(endpoint_id, courier);
    }
    return courier;
  }

  /** Does what can be done for an endpoint now; forgets it when there is nothing. */
  #step(courier: EndpointDispatcher): void {
    const { is_asking, is_in_line, retry, results, in_flight } = courier;
    if (is_asking || is_in_line || retry !== null) return;
    if (courier.is_due && !this.#is_stopped && in_flight < LIMITS.endpoint_in_flight_max) {
      courier.is_in_line = true;
      this.#line.push(courier);
      if (this.#line.length === 1) this.#serveLine();
      else this.#serveLineSoon();
    } else if (results.length > 0) void this.#turn(courier, 0);
    else if (in_flight === 0) {
      this.#gathered(courier);
      this.#couriers.delete(courier.endpoint_id);
    }
  }

  /** As `#step`, but not before all is back that is under way, or a little time has passed. */
  #stepGathered(courier: EndpointDispatcher): void {
    if (courier.in_flight === 0) this.#step(courier);
    else
      courier.gathering ??= setTimeout(() => {
        this.#gathered(courier);
        this.#step(courier);
      }, GATHER_MS);
  }

  #gathered(courier: EndpointDispatcher): void {
    if (courier.gathering !== null) clearTimeout(courier.gathering);
    courier.gathering = null;
  }

  #serveLineSoon(): void {
    if (this.#line.length === 0) return;
    this.#handing_out ??= setTimeout(() => {
      this.#handing_out = null;
      this.#serveLine();
    }, HAND_OUT_MS);
  }

  /** Gives free slots to those in line, each as many as it may have; who gets none keeps its place. */
  #serveLine(): void {
    for (let left = this.#line.length; left > 0; left--) {
      const courier = this.#line.shift() as EndpointDispatcher;
      const { known, in_flight } = courier;
      // Of one that is not known yet nobody can say what it may have.
      const free = known === null ? LIMITS.endpoint_in_flight_max : this.#slots.free(known, in_flight);
      if (free <= 0 && courier.results.length === 0) {
        this.#line.push(courier);
        continue;
      }
      courier.is_in_line = false;
      void this.#turn(courier, Math.max(0, Math.min(free, LIMITS.endpoint_in_flight_max - in_flight)));
    }
  }

  /** Hands over what came back and takes up to `want` deliveries. Never rejects. */
  async #turn(courier: EndpointDispatcher, want: number): Promise<void> {
    courier.is_asking = true;
    courier.is_due = false;
    this.#gathered(courier);
    const results = courier.results.splice(0);
    try {
      courier.known ??= await this.#learn(courier.endpoint_id);
      const { known } = courier;
      if (known === null) {
        this.#forget(courier);
        return;
      }
      const granted = this.#is_stopped ? 0 : Math.max(0, Math.min(want, this.#slots.free(known, courier.in_flight)));
      this.#slots.take(known, granted);
      let work: WorkDone | null;
      try {
        work = await this.#ask(courier.endpoint_id, known, { results, granted });
      } catch (error) {
        this.#slots.giveBack(known, granted);
        throw error;
      }
      this.#slots.giveBack(known, granted - (work?.claims.length ?? 0));
      if (work === null) {
        this.#forget(courier);
        return;
      }
      courier.failures = 0;
      this.#observe(courier.endpoint_id, work);
      courier.in_flight += work.claims.length;
      for (const claim of work.claims) void this.#deliver(courier, known, claim);
      const has_more = work.next_at_ms !== null && work.next_at_ms <= this.#parts.now();
      const lacks_slots = work.claims.length === granted && courier.in_flight < LIMITS.endpoint_in_flight_max;
      if (has_more || lacks_slots) courier.is_due = true;
    } catch (error) {
      courier.is_due = true;
      this.#tryAgain(courier, results, error);
    } finally {
      courier.is_asking = false;
      this.#stepGathered(courier);
      this.#serveLineSoon();
    }
  }

  /** Storage is away, or too much waits: what came back is kept as long as it counts. */
  #tryAgain(courier: EndpointDispatcher, results: AttemptResult[], error: unknown): void {
    const { log, now } = this.#parts;
    if (!(error instanceof StoreUnavailable))
      log.error({ err: error }, 'deliveries of an endpoint could not be dealt with');
    const counts_from_ms = now() - LIMITS.delivery_lease_ms;
    courier.results.unshift(...results.filter(({ attempt }) => attempt.attempted_at_ms > counts_from_ms));
    if (this.#is_stopped && courier.results.length === 0) {
      courier.is_due = false;
      return;
    }
    courier.failures += 1;
    const pause_ms = Math.min(TRY_AGAIN_MS_MAX, TRY_AGAIN_MS * 2 ** courier.failures) * (0.5 + randomFraction() / 2);
    courier.retry = setTimeout(() => {
      courier.retry = null;
      this.#step(courier);
    }, pause_ms);
  }

  /** There is no such endpoint any more. */
  #forget(courier: EndpointDispatcher): void {
    this.#known.delete(courier.endpoint_id);
    courier.known = null;
    courier.results = [];
    courier.is_due = false;
  }

  /** What it takes to deliver to an endpoint; null when there is none. */
  async #learn(endpoint_id: string): Promise<Known | null> {
    const { runtime, keys } = this.#parts;
    const endpoint = await runtime.ask<Endpoint>({ kind: 'endpoint', id: endpoint_id }, { type: 'view' });
    if (isRefusal(endpoint)) {
      if (endpoint.refused === 'NOT_FOUND') return null;
      throw new StoreUnavailable(`endpoint: ${endpoint.message}`);
    }
    const { account_id, sealed_secret } = endpoint;
    const url = new URL(endpoint.url);
    const key = openSigningSecret(keys, sealed_secret);
    const known = { account_id, origin: url.origin, url, key, life: await this.#life(account_id) };
    this.#known.set(endpoint_id, known);
    return known;
  }

  async #life(account_id: string): Promise<number> {
    const { account = 0 } = await this.#parts.store.epochs({ account_id, partition: partitionOfId(account_id) });
    return account;
  }

  /** One turn of the endpoint's actor; null when there is none. */
  async #ask(
    endpoint_id: string,
    known: Known,
    { results, granted }: { results: AttemptResult[]; granted: number },
  ): Promise<WorkDone | null> {
    const { runtime } = this.#parts;
    let mail: WorkMessage['mail'];
    for (let tries = 0; tries < ASK_TRIES_MAX; tries++) {
      const { account_id, life } = known;
      const tokens = Array.from({ length: granted }, () => Buffer.from(randomBytes(TOKEN_BYTES)).toString('base64url'));
      const message: WorkMessage = {
        type: 'work',
        life,
        results,
        tokens,
        jitter: randomFraction(),
        ...(mail && { mail }),
      };
      const fences = [{ fence: 'epoch' as const, account_id, epoch: 'account', value: life }];
      const work = await runtime.ask<Work>({ kind: 'endpoint', id: endpoint_id }, message, fences);
      if (isRefusal(work)) {
        if (work.refused === 'NOT_FOUND') return null;
        // The account was deleted or restored meanwhile: what came back is counted under its present life.
        if (work.refused === 'UNAUTHORIZED') known.life = await this.#life(account_id);
        else if (work.refused === 'UNAVAILABLE') throw new StoreUnavailable(`endpoint: ${work.message}`);
        else throw new Error(`endpoint: ${work.message}`);
      } else if ('mail_needed' in work) {
        mail = await this.#disabledMail(endpoint_id, work);
      } else return work;
    }
    throw new StoreUnavailable('endpoint: it changes all the time');
  }

  async #disabledMail(endpoint_id: string, { account_id, url }: MailNeeded) {
    const { runtime, keys, now } = this.#parts;
    const account = await runtime.ask<Account>({ kind: 'account', id: account_id }, { type: 'view' });
    if (isRefusal(account)) throw new StoreUnavailable(`account: ${account.message}`);
    const { host } = new URL(url);
    const failures = LIMITS.endpoint_failures_max;
    return {
      mail_id: randomId({ partition: 0, now_ms: now() }),
      sealed: sealMail(keys, endpointDisabledMail({ to: account.email, host, endpoint_id, failures })),
    };
  }

  /** Posts one delivery and brings its result. Never rejects. */
  async #deliver(courier: EndpointDispatcher, known: Known, claim: Claim): Promise<void> {
    const { metrics, log } = this.#parts;
    try {
      const { result, event_id } = await this.#post(courier.endpoint_id, known, claim);
      this.#note(courier.endpoint_id, claim, { result, event_id });
      metrics.delivery_attempts.inc({ verdict: result.verdict, error: result.attempt.error ?? 'none' });
      this.activity.attempted({ endpoint_id: courier.endpoint_id, account_id: known.account_id }, result);
      courier.results.push(result);
    } catch (error) {
      // Its lease runs out, and it comes again.
      if (!(error instanceof StoreUnavailable)) log.error({ err: error }, 'a delivery could not be posted');
    }
    this.#posted += 1;
    courier.in_flight -= 1;
    courier.is_due = true;
    this.#slots.giveBack(known, 1);
    this.#stepGathered(courier);
    this.#serveLineSoon();
  }

  /** The webhook-id is also what the receiver sees; the event's id stands in the log of the turn that recorded it. */
  #note(endpoint_id: string, { sequence, attempts }: Claim, { result: { verdict, attempt }, event_id }: Posted): void {
    const { log, tracing } = this.#parts;
    if (tracing === null && !log.isLevelEnabled('info')) return;
    const { status_code, error, duration_ms } = attempt;
    const webhook_id = deliveryId(endpoint_id, sequence);
    const told = { endpoint_id, webhook_id, event_id, attempt: attempts.length + 1, verdict, status_code, error };
    log.info({ ...told, ms: duration_ms }, 'delivery');
    const attributes = Object.entries(told).flatMap(([name, value]) =>
      value === null ? [] : [[`spool.delivery.${name}`, value]],
    );
    tracing?.noteDelivery(Object.fromEntries(attributes), { took_ms: duration_ms ?? 0, error });
  }

  async #post(endpoint_id: string, { account_id, url, key }: Known, claim: Claim): Promise<Posted> {
    const { store, poster, metrics, now } = this.#parts;
    const { sequence, token, log_id } = claim;
    const place = { account_id, partition: partitionOfId(account_id) };
    const [event] = await store.events(place, { from: log_id, to: log_id, descending: false, limit: 1 });
    const attempted_at_ms = now();
    const unsent = { sequence, token, verdict: 'void' as const, retry_after_ms: null };
    const nothing = { attempted_at_ms, status_code: null, reason: null, duration_ms: null };
    const failed = (error: AttemptResult['attempt']['error']): Posted => ({
      result: { ...unsent, attempt: { ...nothing, error } },
      event_id: null,
    });
    if (key === null) return failed('secret_unreadable');
    let view: ReturnType<typeof eventView>;
    try {
      if (event === undefined) throw new Error('the event is gone');
      view = eventView(event);
    } catch {
      return failed('event_unreadable');
    }
    const body = JSON.stringify(view);
    if (claim.attempts.length === 0)
      metrics.delivery_first_attempt.observe(Math.max(0, attempted_at_ms - eventMs(claim)) / 1000);
    const headers = deliveryHeaders(key, { id: deliveryId(endpoint_id, sequence), at_ms: attempted_at_ms, body });
    const { status_code, reason, error, duration_ms, retry_after } = await poster.post(url, { headers, body });
    const result: AttemptResult = {
      sequence,
      token,
      attempt: { attempted_at_ms, status_code, reason, error, duration_ms },
      verdict: status_code === null ? 'passing' : verdictOf(status_code),
      retry_after_ms: retryAfterMs(retry_after, now()),
    };
    return { result, event_id: view.id };
  }

  #observe(endpoint_id: string, { late, disabled, ended }: WorkDone): void {
    const { metrics, now } = this.#parts;
    if (late > 0) metrics.delivery_late_results.inc(late);
    if (disabled) {
      metrics.endpoints_disabled.inc();
      this.activity.disabled(endpoint_id, now());
    }
    for (const { outcome, event_ms } of ended) {
      metrics.deliveries.inc({ outcome });
      if (outcome === 'succeeded') metrics.delivery_success.observe(Math.max(0, now() - event_ms) / 1000);
    }
  }

  /** Sets the gauges: how many endpoints are due, since when the longest waits, what is in flight here. */
  async measure(): Promise<void> {
    const { store, metrics, now } = this.#parts;
    const now_ms = now();
    const due = await Promise.all(
      Array.from({ length: PARTITIONS }, (_, partition) => store.endpointsDue(partition, now_ms)),
    );
    const oldest_ms = Math.min(now_ms, ...due.map(({ oldest_ms: at_ms }) => at_ms ?? now_ms));
    metrics.endpoints_due.set(due.reduce((sum, { count }) => sum + count, 0));
    metrics.endpoints_due_age.set((now_ms - oldest_ms) / 1000);
    metrics.deliveries_in_flight.set(this.in_flight);
    this.#due = due
      .flatMap(({ oldest_id, oldest_ms }) =>
        oldest_id === null || oldest_ms === null ? [] : [{ endpoint_id: oldest_id, since_ms: oldest_ms }],
      )
      .sort((a, b) => a.since_ms - b.since_ms);
  }

  /** As last measured, of each partition the endpoint that has been due for longest; the longest first. */
  get due(): readonly DueEndpoint[] {
    return this.#due;
  }
}
