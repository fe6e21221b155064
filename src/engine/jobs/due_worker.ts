import type { SharedPool } from '../pools/shared_pool.js';
import type { Store } from '../store/store.js';
import { DueEntities } from './due_entities.js';
import type { DuePoll } from './due_poll.js';
import { JobPool } from './job_pool.js';

type DueWorkerDeps = {
  store: Store;
  poll: DuePoll;
  log: { error(details: object, text: string): void };
  now: () => number;
};

/** `complaint`: logged where something that was due could not be done. `sweep_every_ms`: how soon what others left is found. */
type DueWorkerOptions = {
  index: { owner: string; index: string };
  complaint: string;
  at_once: number;
  sweep_every_ms: number;
};

/** A worker that does what is due for members of an index. */
export abstract class DueWorker {
  protected readonly pool: JobPool;

  constructor({ store, poll, log, now }: DueWorkerDeps, options: DueWorkerOptions) {
    const { index, complaint, at_once, sweep_every_ms } = options;
    const due = new DueEntities({ store, poll, now, index, log, complaint });
    const workOn = (member: string, signal: AbortSignal) => this.workOn(member, signal);
    this.pool = new JobPool({ due, poll, at_once, sweep_every_ms, workOn });
  }

  get places(): SharedPool {
    return this.pool.places;
  }

  start(): void {
    this.pool.start();
  }

  /** Lets go of what is in progress; resolves when it has ended. */
  stop(): Promise<void> {
    return this.pool.stop();
  }

  /** Does all that is due, to the end; for the test clock. Never rejects. */
  look(): Promise<void> {
    return this.pool.look();
  }

  /** Does something that is due for a member. False where nothing could be done. */
  protected abstract workOn(member: string, signal: AbortSignal): Promise<unknown>;
}
