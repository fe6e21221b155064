import type { Logger } from 'pino';
import { LIMITS } from '../../domain/limits.js';
import type { DuePoll } from '../../engine/jobs/due_poll.js';
import { DueTask } from '../../engine/jobs/due_task.js';
import type { Metrics } from '../../engine/metrics/metrics.js';
import { isRetryable, type Store } from '../../engine/store/store.js';

const RUN_EVERY_MS = 10 * 60_000;
const PER_PARTITION_MAX = 100;

type EventRetentionDeps = {
  store: Store;
  poll: DuePoll;
  metrics: Metrics;
  log: Pick<Logger, 'error'>;
  /** Where clocks disagree, the earlier: what is taken away does not come back. */
  certain: () => number;
};

/** Takes events away that are older than they are kept. Rule E-023. */
export class EventRetention {
  readonly #deps: EventRetentionDeps;
  #is_stopped = false;
  readonly #task: DueTask<void>;

  constructor(deps: EventRetentionDeps) {
    this.#deps = deps;
    const asked = { poll: deps.poll, queue: null, every_ms: RUN_EVERY_MS };
    this.#task = new DueTask(asked, (partitions) => this.#run(partitions));
  }

  start(): void {
    this.#task.start();
  }

  async stop(): Promise<void> {
    this.#is_stopped = true;
    await this.#task.stop();
  }

  /** Sweeps every log that has something over its time. Never rejects. */
  look(): Promise<void> {
    return this.#task.runOnce();
  }

  async #run(partitions: readonly number[]): Promise<void> {
    const { store, metrics, log, certain } = this.#deps;
    const before_ms = certain() - LIMITS.event_kept_ms;
    try {
      for (const partition of partitions) {
        for (let left = true; left && !this.#is_stopped; ) {
          const accounts = await store.accountsWithEventsBefore(partition, before_ms, PER_PARTITION_MAX);
          let trimmed = 0;
          for (const account_id of accounts) if (await this.#trim({ account_id, partition }, before_ms)) trimmed += 1;
          metrics.events_swept.inc(trimmed);
          left = accounts.length === PER_PARTITION_MAX && trimmed > 0;
        }
      }
    } catch (error) {
      if (!isRetryable(error)) log.error({ err: error }, 'old events could not be swept');
    }
  }

  /** Whether it was done; a log that can't be trimmed keeps no other from it. */
  async #trim(place: { account_id: string; partition: number }, before_ms: number): Promise<boolean> {
    try {
      await this.#deps.store.trimEvents(place, before_ms);
      return true;
    } catch (error) {
      if (isRetryable(error)) throw error;
      this.#deps.log.error({ err: error, ...place }, 'old events of an account could not be swept');
      return false;
    }
  }
}
