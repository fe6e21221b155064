import { partitionOfId } from '../../domain/ids.js';
import type { Store } from '../store/store.js';
import { Backoff } from './backoff.js';
import type { DuePoll } from './due_poll.js';

/** Who asks for work finds what another process has left there after this. */
const SWEPT_FRESH_MS = 1_000;
const READ_AT_ONCE = 50;
/** Reads of one partition while all of it is skipped. */
const STEPS_MAX = 200;
/** An entity that nothing can be done with, for example a quarantined one, is skipped for this long. */
const RETRY = { first_ms: 5_000, max_ms: 5 * 60_000, kept_max: 10_000 };
/** One that has to wait for others is looked at again after this. */
const REST = { first_ms: 2_000, max_ms: 2_000, kept_max: 10_000 };

type Parts = {
  store: Store;
  poll: DuePoll;
  now: () => number;
  /** An index that each partition has. Members end with the id of an entity of the partition; their order is when they are due. */
  index: { owner: string; index: string };
  complain: (error: unknown) => void;
  /** How long what was found of all partitions holds, where nobody waits for a second. */
  fresh_ms?: number;
};

/**
 * Finds the entities that a worker has something to do with: those that are due in an index of their partition. Whose turn
 * it is, and what is left to do, entities decide; this only knows where to ask.
 */
export class DueEntities {
  readonly #parts: Parts;
  /** Partitions that may have something due. */
  readonly #hot = new Set<number>();
  readonly #unusable = new Backoff(RETRY);
  readonly #resting = new Backoff(REST);
  #swept_ms = Number.NEGATIVE_INFINITY;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  get index(): Parts['index'] {
    return this.#parts.index;
  }

  /** Something of this member may be due. */
  offer(member: string): void {
    this.#hot.add(partitionOfId(member));
  }

  /** Something is due in these partitions. */
  offerPartitions(partitions: readonly number[]): void {
    for (const partition of partitions) this.#hot.add(partition);
  }

  /** Partitions that may have something due, as far as that is known. */
  get known(): number[] {
    return [...this.#hot];
  }

  /** Nothing can be done with this member for a moment: those behind it come first. */
  rest(member: string): void {
    this.#resting.failed(member, this.#parts.now());
  }

  /** What it had to wait for is over. */
  wake(member: string): void {
    this.#resting.succeeded(member);
    this.offer(member);
  }

  /** Partitions that may have something due, found again where none is known. */
  async partitions(): Promise<number[]> {
    if (this.#hot.size === 0 && performance.now() - this.#swept_ms > (this.#parts.fresh_ms ?? SWEPT_FRESH_MS))
      await this.sweep();
    return this.known;
  }

  /** Finds out which partitions have something. */
  async sweep(): Promise<void> {
    this.#swept_ms = performance.now();
    this.offerPartitions(await this.#parts.poll.due(this.#parts.index));
  }

  /** Members of a partition that are due. One that has none is left alone until it is offered more. */
  async due(partition: number): Promise<string[]> {
    const { store, now, index } = this.#parts;
    this.#hot.delete(partition);
    const now_ms = now();
    let after: { order: number; member: string } | undefined;
    for (let steps = 0; steps < STEPS_MAX; steps++) {
      const page = { after, descending: false, limit: READ_AT_ONCE };
      const rows = await store.list({ owner: index.owner, partition }, index.index, page);
      const due = rows.filter(({ order }) => order <= now_ms);
      const usable = due.map(({ member }) => member).filter((id) => !this.#isSkipped(id, now_ms));
      if (usable.length > 0) {
        this.#hot.add(partition);
        return usable;
      }
      if (due.length < READ_AT_ONCE) break;
      after = due.at(-1);
    }
    return [];
  }

  #isSkipped(member: string, now_ms: number): boolean {
    return this.#unusable.isWaiting(member, now_ms) || this.#resting.isWaiting(member, now_ms);
  }

  /** Does something with a member; one that it can't be done with keeps nobody else waiting. */
  async tryOn<T>(member: string, work: () => Promise<T>): Promise<T | null> {
    try {
      const done = await work();
      this.#unusable.succeeded(member);
      return done;
    } catch (error) {
      this.#unusable.failed(member, this.#parts.now());
      this.#parts.complain(error);
      return null;
    }
  }

  /** Works on what is due, of known partitions, until nothing is, or until `work` finds nothing to do with all that is. */
  async workThrough(
    work: (member: string) => Promise<number>,
    { at_once, isStopped }: { at_once: number; isStopped: () => boolean },
  ): Promise<void> {
    for (let done = 1; done > 0 && !isStopped() && this.#hot.size > 0; ) {
      done = 0;
      for (const partition of [...this.#hot]) {
        const members = await this.due(partition);
        const lane = async () => {
          for (let one = members.shift(); one !== undefined && !isStopped(); one = members.shift())
            done += (await this.tryOn(one, () => work(one as string))) ?? 0;
        };
        await Promise.all(Array.from({ length: at_once }, lane));
      }
    }
  }
}
