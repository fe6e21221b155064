import type { DueQueue } from '../store/store.js';
import type { DuePoll } from './due_poll.js';
import { PeriodicTask } from './periodic_task.js';

type DueTaskDeps = {
  poll: DuePoll;
  queue: DueQueue | null;
  every_ms: number;
};

/**
 * Runs a worker's look at its queue, one at a time: in the partitions where a poll found something due, and in all of them
 * whenever somebody asks.
 */
export class DueTask<Found> {
  readonly #deps: DueTaskDeps;
  readonly #task: PeriodicTask<Found>;
  /** Where the next look looks; null for everywhere. */
  #partitions: readonly number[] | null = null;
  #drop = () => {};

  constructor(deps: DueTaskDeps, look: (partitions: readonly number[]) => Promise<Found>) {
    this.#deps = deps;
    this.#task = new PeriodicTask(async () => {
      const partitions = this.#partitions;
      this.#partitions = null;
      return look(partitions ?? (await deps.poll.due(deps.queue)));
    });
  }

  start(): void {
    const { poll, queue, every_ms } = this.#deps;
    this.#drop = poll.add({ queue, every_ms, look: (partitions) => this.#lookAt(partitions) });
  }

  /** No longer looks by itself; resolves when no look is in progress and none follows. Never rejects. */
  async stop(): Promise<void> {
    this.#drop();
    await this.#task.stop();
  }

  /** Finds all that is due at the time of the call. */
  runOnce(): Promise<Found> {
    return this.#task.runOnce();
  }

  /** While a look is in progress, this does nothing: the next poll finds again what is still due. */
  #lookAt(partitions: readonly number[]): void {
    if (partitions.length === 0 || this.#task.is_running) return;
    this.#partitions = partitions;
    this.#task.runOnce().catch(() => {});
  }
}
