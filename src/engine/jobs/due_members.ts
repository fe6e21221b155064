import { partitionOfId } from '../../domain/ids.js';
import { isRetryable, type Store, type TimedQueue } from '../store/store.js';
import { Backoff } from './backoff.js';
import { ALL_PARTITIONS, type DuePoll } from './due_poll.js';

/** The time after which a request for work finds what another process has left in a partition. */
const SWEPT_FRESH_MS = 1_000;
const READ_AT_ONCE = 50;
/** The most reads of one partition while all its members are skipped. */
const STEPS_MAX = 200;
/** A member that failed, for example a quarantined entity, is skipped for this long. */
const RETRY = { first_ms: 2_000, max_ms: 60_000, kept_max: 100_000 };
/** A member that has to wait for others is tried again after this time. */
const REST = { first_ms: 2_000, max_ms: 2_000, kept_max: 10_000 };
/** The most members of one partition that operators are shown. */
const SHOWN_MAX = 100;

/** A due member of a queue. `name`: the key under which it is skipped while it fails. */
export type DueMember = { partition: number; name: string };

export type DueMembersDeps = {
  store: Store;
  poll: DuePoll;
  now: () => number;
  log: { error(details: object, text: string): void };
};

export type DueMembersOptions<Member extends DueMember = DueMember> = {
  /** Where members wait, in the order in which they are due. Those of an index end with the id of an entity. */
  queue: TimedQueue;
  /** Logged with every error except `NotNow` and unavailable storage. */
  complaint: string;
  /** Finds members of a partition in another way than by their names in the queue. */
  find?: (partition: number, now_ms: number, skips: (name: string) => boolean) => Promise<Member[]>;
};

/** Thrown if nothing can be done with a member now; the member is tried again after a while. */
export class NotNow extends Error {
  override name = 'NotNow';
}

/** Finds the due members of a queue. A member that failed delays no other: it is skipped for a while. */
export class DueMembers<Member extends DueMember = DueMember> {
  readonly poll: DuePoll;
  readonly queue: TimedQueue;
  /** Called when something may have fallen due. */
  onOffer = () => {};
  readonly #deps: DueMembersDeps;
  readonly #options: DueMembersOptions<Member>;
  /** Partitions that may have something due. */
  readonly #hot = new Set<number>();
  readonly #failed = new Backoff(RETRY);
  readonly #resting = new Backoff(REST);
  #swept_ms = Number.NEGATIVE_INFINITY;

  constructor(deps: DueMembersDeps, options: DueMembersOptions<Member>) {
    this.#deps = deps;
    this.#options = options;
    this.poll = deps.poll;
    this.queue = options.queue;
  }

  /** Notes that this member may have something due. */
  offer(name: string): void {
    this.offerPartitions([partitionOfId(name)]);
  }

  /** Notes that these partitions may have something due. */
  offerPartitions(partitions: readonly number[]): void {
    for (const partition of partitions) this.#hot.add(partition);
    this.onOffer();
  }

  /** Skips this member for a moment; those behind it come first. */
  rest(name: string): void {
    this.#resting.failed(name, this.#deps.now());
  }

  /** Ends the skipping of this member. */
  wake(name: string): void {
    this.#resting.succeeded(name);
    this.offer(name);
  }

  /** Finds out which partitions have something. */
  async sweep(): Promise<void> {
    this.#swept_ms = performance.now();
    for (const partition of await this.poll.due(this.queue)) this.#hot.add(partition);
  }

  /**
   * Due members of the partitions known to have some. A partition without any is not read again until it is offered.
   */
  async due(): Promise<Member[]> {
    const found = await Promise.all([...this.#hot].map((partition) => this.#dueIn(partition)));
    return found.flat();
  }

  async #dueIn(partition: number): Promise<Member[]> {
    this.#hot.delete(partition);
    const now_ms = this.#deps.now();
    const skips = (name: string) => this.#failed.isWaiting(name, now_ms) || this.#resting.isWaiting(name, now_ms);
    const { find = this.#read } = this.#options;
    const found = await find(partition, now_ms, skips);
    if (found.length > 0) this.#hot.add(partition);
    return found;
  }

  /** Reads the queue up to a member that is not skipped. */
  readonly #read: NonNullable<DueMembersOptions<Member>['find']> = async (partition, now_ms, skips) => {
    let after: { order: number; member: string } | undefined;
    for (let steps = 0; steps < STEPS_MAX; steps++) {
      const page = { after, descending: false, limit: READ_AT_ONCE };
      const rows = await this.#deps.store.listDue(this.queue, partition, page);
      const due = rows.filter(({ order }) => order <= now_ms);
      const usable = due.filter(({ member }) => !skips(member));
      if (usable.length > 0 || due.length < READ_AT_ONCE)
        return usable.map(({ member: name }) => ({ partition, name }) as Member);
      after = due.at(-1);
    }
    return [];
  };

  /** Claims up to `limit` jobs of due members. `left`: the number of jobs still wanted. */
  async claim<Work>(limit: number, claimOf: (name: string, left: number) => Promise<Work[]>): Promise<Work[]> {
    const claimed: Work[] = [];
    if (this.#hot.size === 0 && performance.now() - this.#swept_ms > SWEPT_FRESH_MS) await this.sweep();
    for (const partition of [...this.#hot]) {
      for (const member of await this.#dueIn(partition)) {
        claimed.push(...((await this.tryOn(member.name, () => claimOf(member.name, limit - claimed.length))) ?? []));
        if (claimed.length >= limit) return claimed;
      }
    }
    return claimed;
  }

  /** Works on a member. Null if that failed; the member is then skipped for a while. */
  async tryOn<T>(name: string, work: () => Promise<T>): Promise<T | null> {
    try {
      const done = await work();
      this.#failed.succeeded(name);
      return done;
    } catch (error) {
      this.#failed.failed(name, this.#deps.now());
      this.complain(error);
      return null;
    }
  }

  /** Logs an error that is not temporary. */
  complain(error: unknown): void {
    const { log } = this.#deps;
    if (!(error instanceof NotNow || isRetryable(error))) log.error({ err: error }, this.#options.complaint);
  }

  /** Names of members, due or not, the earliest first; for operators. */
  async list(): Promise<string[]> {
    const page = { descending: false, limit: SHOWN_MAX };
    const rows = await Promise.all(
      ALL_PARTITIONS.map((partition) => this.#deps.store.listDue(this.queue, partition, page)),
    );
    return rows.flat().map(({ member }) => member);
  }
}
