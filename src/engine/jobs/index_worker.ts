import type { Store } from '../store/store.js';
import { DueEntities } from './due_entities.js';
import type { DuePoll } from './due_poll.js';
import { DueTask } from './due_task.js';

const AT_ONCE = 4;
/** So long a request waits at most for what it has caused. */
const WAIT_MAX_MS = 2_000;

type IndexWorkerDeps = {
  store: Store;
  poll: DuePoll;
  now: () => number;
  /** Members are due in their order, and leave it by what is done with them. */
  index: { owner: string; index: string };
  /** Work that other processes left behind is found after this at the latest. */
  every_ms: number;
  /** Does what is due for a member; gives 1, or 0 where nothing could be done. */
  workOn: (member: string) => Promise<number>;
  complain: (error: unknown) => void;
};

/** Works on the members of an index: on those that are due, and at once on one that a request offers and waits for. */
export class IndexWorker {
  readonly #parts: IndexWorkerDeps;
  readonly #due: DueEntities;
  readonly #task: DueTask<void>;
  readonly #offered = new Set<Promise<unknown>>();
  #is_stopped = false;

  constructor(parts: IndexWorkerDeps) {
    this.#parts = parts;
    const { store, now, poll, index, every_ms, complain } = parts;
    this.#due = new DueEntities({ store, now, poll, index, complain });
    this.#task = new DueTask({ poll, queue: index, every_ms }, (partitions) => this.#run(partitions));
  }

  start(): void {
    this.#task.start();
  }

  async stop(): Promise<void> {
    this.#is_stopped = true;
    await Promise.all([this.#task.stop(), ...this.#offered]);
  }

  /** Does all that is due; for the test clock. Never rejects. */
  look(): Promise<void> {
    return this.#task.runOnce();
  }

  /** Something is due for this member. Resolves when that is done, or after a while. Never rejects. */
  async offer(member: string): Promise<void> {
    if (this.#is_stopped) return;
    const done = this.#due.tryOn(member, () => this.#parts.workOn(member));
    this.#offered.add(done);
    void done.finally(() => this.#offered.delete(done));
    let timer: NodeJS.Timeout | undefined;
    const waited = new Promise((resolve) => {
      timer = setTimeout(resolve, WAIT_MAX_MS);
    });
    await Promise.race([done, waited]);
    clearTimeout(timer);
  }

  async #run(partitions: readonly number[]): Promise<void> {
    try {
      this.#due.offerPartitions(partitions);
      const isStopped = () => this.#is_stopped;
      await this.#due.workThrough(this.#parts.workOn, { at_once: AT_ONCE, isStopped });
    } catch (error) {
      this.#parts.complain(error);
    }
  }
}
