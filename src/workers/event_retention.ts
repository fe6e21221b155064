import type { Logger } from 'pino';
import type { Metrics } from '../runtime/metrics.js';
import { type Store, StoreUnavailable } from '../store/store.js';
import { PARTITIONS } from '../vocabulary/ids.js';
import { LIMITS } from '../vocabulary/limits.js';
import { Looks } from './looks.js';

const LOOK_EVERY_MS = 10 * 60_000;
const PER_PARTITION_MAX = 100;

type Parts = { store: Store; metrics: Metrics; log: Pick<Logger, 'error'>; now: () => number };

/** Takes events away that are older than they are kept. Interface: "Recording and retention of events". */
export class EventRetention {
  readonly #parts: Parts;
  #is_stopped = false;
  readonly #looks = new Looks(() => this.#look(), LOOK_EVERY_MS);

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  start(): void {
    this.#looks.start();
  }

  async stop(): Promise<void> {
    this.#is_stopped = true;
    await this.#looks.stop();
  }

  /** Sweeps every log that has something over its time. Never rejects. */
  look(): Promise<void> {
    return this.#looks.look();
  }

  async #look(): Promise<void> {
    const { store, metrics, log, now } = this.#parts;
    const before_ms = now() - LIMITS.event_kept_ms;
    try {
      for (let partition = 0; partition < PARTITIONS && !this.#is_stopped; partition++) {
        let accounts: string[];
        do {
          accounts = await store.accountsWithEventsBefore(partition, before_ms, PER_PARTITION_MAX);
          for (const account_id of accounts) {
            await store.trimEvents({ account_id, partition }, before_ms);
            metrics.events_swept.inc();
          }
        } while (accounts.length === PER_PARTITION_MAX && !this.#is_stopped);
      }
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) log.error({ err: error }, 'old events could not be swept');
    }
  }
}
