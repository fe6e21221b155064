import { partitionOfId } from '../../domain/ids.js';
import { isRetryable, type Store } from '../store/store.js';
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

type DueEntitiesDeps = {
  store: Store;
  poll: DuePoll;
  now: () => number;
  /** An index that each partition has. Members end with the id of an entity of the partition; their order is when they are due. */
  index: { owner: string; index: string };
  log: { error(details: object, text: string): void };
  /** Logged with an error that is not `NotNow` and not of storage that is away. */
  complaint: string;
};

/** Thrown where nothing can be done with an entity now; it is looked at again after a while. */
export class NotNow extends Error {
  override name = 'NotNow';
}

/** Finds the entities that are due in an index of their partition. What there is to do, each entity decides itself. */
export class DueEntities {
  readonly #deps: DueEntitiesDeps;
  /** Partitions that may have something due. */
  readonly #hot = new Set<number>();
  readonly #unusable = new Backoff(RETRY);
  readonly #resting = new Backoff(REST);
  #swept_ms = Number.NEGATIVE_INFINITY;

  constructor(deps: DueEntitiesDeps) {
    this.#deps = deps;
  }

  get index(): DueEntitiesDeps['index'] {
    return this.#deps.index;
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

  /** Leaves this member alone for a moment; those behind it come first. */
  rest(member: string): void {
    this.#resting.failed(member, this.#deps.now());
  }

  /** Ends the rest of this member. */
  wake(member: string): void {
    this.#resting.succeeded(member);
    this.offer(member);
  }

  /** Partitions that may have something due, found again where none is known. */
  async partitions(): Promise<number[]> {
    if (this.#hot.size === 0 && performance.now() - this.#swept_ms > SWEPT_FRESH_MS) await this.sweep();
    return this.known;
  }

  /** Finds out which partitions have something. */
  async sweep(): Promise<void> {
    this.#swept_ms = performance.now();
    this.offerPartitions(await this.#deps.poll.due(this.#deps.index));
  }

  /** Members of a partition that are due. One that has none is left alone until it is offered more. */
  async due(partition: number): Promise<string[]> {
    const { store, now, index } = this.#deps;
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

  /** Claims up to `limit` jobs of members that are due. `left`: how many more are wanted. */
  async claim<Work>(limit: number, claimOf: (member: string, left: number) => Promise<Work[]>): Promise<Work[]> {
    const claimed: Work[] = [];
    for (const partition of await this.partitions()) {
      for (const member of await this.due(partition)) {
        claimed.push(...((await this.tryOn(member, () => claimOf(member, limit - claimed.length))) ?? []));
        if (claimed.length >= limit) return claimed;
      }
    }
    return claimed;
  }

  #isSkipped(member: string, now_ms: number): boolean {
    return this.#unusable.isWaiting(member, now_ms) || this.#resting.isWaiting(member, now_ms);
  }

  /** Logs an error that does not pass by itself. */
  complain(error: unknown): void {
    const { log, complaint } = this.#deps;
    if (!(error instanceof NotNow || isRetryable(error))) log.error({ err: error }, complaint);
  }

  /** Does something with a member; one that it can't be done with keeps nobody else waiting. */
  async tryOn<T>(member: string, work: () => Promise<T>): Promise<T | null> {
    try {
      const done = await work();
      this.#unusable.succeeded(member);
      return done;
    } catch (error) {
      this.#unusable.failed(member, this.#deps.now());
      this.complain(error);
      return null;
    }
  }
}
