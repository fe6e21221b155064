import type { Logger } from 'pino';
import type { ClusterView } from '../../engine/cluster/cluster_processes.js';
import type { DuePoll } from '../../engine/jobs/due_poll.js';
import { isRetryable, type Store } from '../../engine/store/store.js';
import type { DeliveryWorker } from './delivery_worker.js';

const LOOK_EVERY_MS = 1_000;

type TakeoverDeps = {
  store: Pick<Store, 'takeBack'>;
  poll: DuePoll;
  members: ClusterView;
  deliveries: Pick<DeliveryWorker, 'takeBack'>;
  log: Pick<Logger, 'error' | 'info'>;
  now: () => number;
};

/**
 * Makes mails, jobs, sweeps and deliveries due at once whose process ended while it had leased them. Without it they come back
 * when their leases end. A process that stands still keeps its leases, since it may go on.
 */
export class Takeover {
  readonly #deps: TakeoverDeps;
  /** Partitions that were looked through, by the member that ended. */
  readonly #done = new Map<string, Set<number>>();
  #drop = () => {};
  #looking: Promise<void> | null = null;

  constructor(deps: TakeoverDeps) {
    this.#deps = deps;
  }

  start(): void {
    const look = (partitions: readonly number[]) => {
      this.#looking ??= this.#look(partitions).finally(() => {
        this.#looking = null;
      });
    };
    this.#drop = this.#deps.poll.add({ queue: null, every_ms: LOOK_EVERY_MS, look });
  }

  async stop(): Promise<void> {
    this.#drop();
    await this.#looking;
  }

  async #look(partitions: readonly number[]): Promise<void> {
    const { store, members, deliveries, log, now } = this.#deps;
    const { gone } = members;
    for (const id of this.#done.keys()) if (!gone.has(id)) this.#done.delete(id);
    if (gone.size === 0) return;
    const left = partitions.filter((partition) => [...gone].some((id) => !this.#done.get(id)?.has(partition)));
    if (left.length === 0) return;
    try {
      const taken = await store.takeBack(left, { gone, now_ms: now() });
      await deliveries.takeBack(left, gone);
      for (const id of gone) this.#done.set(id, new Set([...(this.#done.get(id) ?? []), ...left]));
      if (taken > 0) log.info({ taken }, 'leases of a process that ended were taken over');
    } catch (error) {
      // Storage is away: the next look tries again.
      if (!isRetryable(error)) log.error({ err: error }, 'leases could not be taken over');
    }
  }
}
