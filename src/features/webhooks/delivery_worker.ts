import pMap from 'p-map';
import type { Logger } from 'pino';
import { LIMITS } from '../../domain/limits.js';
import { orRefused } from '../../domain/refusals.js';
import { holderOf } from '../../domain/webhooks.js';
import type { ClusterView } from '../../engine/cluster/cluster_processes.js';
import type { DueMember, DueMembersDeps } from '../../engine/jobs/due_members.js';
import { DueWorker } from '../../engine/jobs/due_worker.js';
import type { Metrics } from '../../engine/metrics/metrics.js';
import type { Actors } from '../../engine/runtime/actors.js';
import type { ServerKeys } from '../../engine/secrets/server_keys.js';
import type { Backlog } from '../../engine/store/store.js';
import type { Tracing } from '../../engine/tracing/tracing.js';
import { ConcurrencyLimit } from './concurrency_limit.js';
import { DeliveryClient } from './delivery_client.js';
import { EndpointActivity } from './endpoint_activity.js';
import { type DispatcherParts, EndpointDispatcher } from './endpoint_dispatcher.js';
import { EndpointQueue } from './endpoint_queue.js';
import { ReadyQueue } from './ready_queue.js';
import { listUnhealthyEndpoints, type UnhealthyEndpoints } from './unhealthy_endpoints.js';
import type { WebhookSender } from './webhook_sender.js';

const EVERY_MS = 1_000;
/** An endpoint that was found due becomes due for others after this time, unless its own commits say otherwise. */
const FOUND_MS = 5_000;
const PER_PARTITION_MAX = 64;
/** Endpoints of a partition that are looked through after a process ended; claims of others wait for the end of their leases. */
const TAKEN_BACK_MAX = 1_000;
const TAKEN_BACK_AT_ONCE = 16;
/** Longer than any request lasts. */
const IDLE_MAX_MS = LIMITS.delivery_timeout_ms + 5_000;
const IDLE_LOOKS_EVERY_MS = 5;

type DeliveryWorkerDeps = DueMembersDeps & {
  actors: Actors;
  poster: WebhookSender;
  keys: ServerKeys;
  members: ClusterView;
  metrics: Metrics;
  log: Pick<Logger, 'error' | 'info' | 'isLevelEnabled'>;
  /** Null without tracing. */
  tracing: Tracing | null;
};

export type DueEndpoint = { endpoint_id: string; since_ms: number };

/**
 * Posts due deliveries. An endpoint's actor hands out deliveries and takes their results in one message, so that a busy
 * endpoint costs a commit for several deliveries. Endpoints queue for places under the limit of requests in flight: a
 * slow one holds only its own places.
 */
export class DeliveryWorker {
  /** Finds endpoints that are due, and wakes their dispatchers. */
  readonly worker: DueWorker;
  readonly #deps: DeliveryWorkerDeps;
  readonly #limit = new ConcurrencyLimit();
  readonly #dispatchers = new Map<string, EndpointDispatcher>();
  readonly #shared: DispatcherParts;
  /** The results of the last requests to each endpoint. */
  readonly activity = new EndpointActivity();
  #due: DueEndpoint[] = [];
  #is_stopped = false;
  #posted = 0;

  constructor(deps: DeliveryWorkerDeps) {
    this.#deps = deps;
    const work = {
      ...({ queue: 'endpoints', every_ms: EVERY_MS, at_once: Number.POSITIVE_INFINITY } as const),
      complaint: 'due endpoints could not be looked for',
      find: (partition: number, now_ms: number) => this.#lease(partition, now_ms),
    };
    this.worker = DueWorker.of(deps, work, async ({ name }) => {
      this.wake([name]);
      return false; // what there is to do, its dispatcher knows
    });
    const { activity } = this;
    this.#shared = {
      work: new EndpointQueue({ ...deps, activity }),
      client: new DeliveryClient({ ...deps, activity }),
      limit: this.#limit,
      queue: new ReadyQueue(),
      log: deps.log,
      now: deps.now,
      isStopped: () => this.#is_stopped,
      onPosted: () => {
        this.#posted += 1;
      },
      onIdle: (endpoint_id) => this.#dispatchers.delete(endpoint_id),
    };
  }

  start(): void {
    this.worker.start();
  }

  /** Claims nothing more, and waits for requests in flight and their results. */
  async stop(): Promise<void> {
    this.#is_stopped = true;
    await this.worker.stop();
    await this.#idle();
    for (const dispatcher of this.#dispatchers.values()) dispatcher.stop();
  }

  get in_flight(): number {
    return this.#limit.taken;
  }

  /** Wakes the dispatchers of endpoints that have something due, as far as the caller knows. */
  wake(endpoint_ids: Iterable<string>): void {
    if (this.#is_stopped) return;
    for (const endpoint_id of endpoint_ids) {
      let dispatcher = this.#dispatchers.get(endpoint_id);
      if (dispatcher === undefined) {
        dispatcher = new EndpointDispatcher(endpoint_id, this.#shared);
        this.#dispatchers.set(endpoint_id, dispatcher);
      }
      dispatcher.wake();
    }
  }

  /** Posts all deliveries that are due now, and returns the number of requests. */
  async handleDue(): Promise<number> {
    const before = this.#posted;
    await this.worker.look();
    await this.#idle();
    return this.#posted - before;
  }

  /** Wakes those endpoints of these partitions that have claims of ended members. */
  async takeBack(partitions: readonly number[], gone: ReadonlySet<string>): Promise<void> {
    const { store, actors, now } = this.#deps;
    const after_ms = now();
    const times = { after_ms, until_ms: after_ms + LIMITS.delivery_lease_ms, limit: TAKEN_BACK_MAX };
    // A claim makes its endpoint due when its lease ends, or before.
    const found = await Promise.all(partitions.map((partition) => store.endpointsBetween(partition, times)));
    const look = async (endpoint_id: string) => {
      const endpoint = await actors.endpoint(endpoint_id).view().catch(orRefused(null));
      if (endpoint?.claims.some(({ token }) => gone.has(holderOf(token) ?? ''))) this.wake([endpoint_id]);
    };
    await pMap(found.flat(), look, { concurrency: TAKEN_BACK_AT_ONCE });
  }

  /** Leases the due endpoints of a partition together, since one commit may make very many due. */
  async #lease(partition: number, now_ms: number): Promise<DueMember[]> {
    const due = { now_ms, again_ms: now_ms + FOUND_MS, limit: PER_PARTITION_MAX };
    const leased = await this.#deps.store.leaseEndpoints(partition, due);
    return leased.map((name) => ({ partition, name }));
  }

  async #idle(): Promise<void> {
    const until = performance.now() + IDLE_MAX_MS;
    while (this.#dispatchers.size > 0 && performance.now() < until)
      await new Promise((resolve) => setTimeout(resolve, IDLE_LOOKS_EVERY_MS));
  }

  /**
   * Sets the gauges, and returns their sources: how many endpoints are due, since when the longest waits, how many
   * requests are in flight here.
   */
  async measure(): Promise<Backlog[]> {
    const { store, metrics, now } = this.#deps;
    const now_ms = now();
    const backlogs = await store.backlogs(now_ms);
    const due = backlogs.map(({ endpoints }) => endpoints);
    const oldest_ms = Math.min(now_ms, ...due.map(({ oldest_ms: at_ms }) => at_ms ?? now_ms));
    metrics.endpoints_due.set(due.reduce((sum, { count }) => sum + count, 0));
    metrics.endpoints_due_age.set((now_ms - oldest_ms) / 1000);
    metrics.deliveries_in_flight.set(this.in_flight);
    this.#due = due
      .flatMap(({ oldest_id, oldest_ms }) =>
        oldest_id === null || oldest_ms === null ? [] : [{ endpoint_id: oldest_id, since_ms: oldest_ms }],
      )
      .sort((a, b) => a.since_ms - b.since_ms);
    return backlogs;
  }

  /** Endpoints that get nothing or do not accept it, as stored. */
  troubled(): Promise<UnhealthyEndpoints> {
    return listUnhealthyEndpoints(this.#deps.store);
  }

  /** The last measured endpoint of each partition that has been due for longest; the longest first. */
  get due(): readonly DueEndpoint[] {
    return this.#due;
  }
}
