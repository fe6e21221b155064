import { setTimeout as wait } from 'node:timers/promises';
import { partitionOfId } from '../../domain/ids.js';
import { NoPlace, SharedPool } from '../pools/shared_pool.js';
import { isRetryable } from '../store/store.js';
import type { DueEntities } from './due_entities.js';
import type { DuePoll } from './due_poll.js';
import { PeriodicTask } from './periodic_task.js';

/** Members that others than the worker offered to `due` are taken up after this. */
const OFFERED_EVERY_MS = 1_000;
/** A request waits at most so long for what it has caused. */
const OFFER_WAIT_MAX_MS = 2_000;
const PROLONG_EVERY_MS = 10_000;
const PUBLISH_TRIES_MAX = 10;
const PUBLISH_PAUSE_MS = 1_000;

export const LEASE_MS = 30_000;

type JobPoolDeps = {
  due: DueEntities;
  poll: DuePoll;
  /** The number of members that are worked on at a time. */
  at_once: number;
  /** Members that fall due, or that other processes have left, are found after this. */
  sweep_every_ms: number;
  /** Does something that is due for a member. False where nothing could be done. */
  workOn: (member: string, signal: AbortSignal) => Promise<unknown>;
  /** Others offer members to `due` as well. */
  is_due_shared?: boolean;
  /** The time for which offered members gather before they are worked on. */
  gather_ms?: number;
  /** Called when nothing is left to do. */
  onIdle?: () => void;
};

/**
 * The loop of a worker: does what is due for members of an index, a few at a time, until nothing is. All that an account has
 * lies in one partition: partitions are served one after the other, and none has the last place.
 */
export class JobPool {
  readonly places: SharedPool;
  readonly #deps: JobPoolDeps;
  readonly #task = new PeriodicTask(() => this.#run());
  readonly #stopping = new AbortController();
  /** Members with something due, and what is done for them. */
  readonly #under_way = new Map<string, Promise<void>>();
  readonly #offered = new Set<Promise<unknown>>();
  #gathering: NodeJS.Timeout | null = null;
  #drops: (() => void)[] = [];
  /** Rises with each member for which something was done. */
  #done = 0;

  constructor(deps: JobPoolDeps) {
    this.#deps = deps;
    const { at_once, due } = deps;
    const { owner, index } = due.index;
    this.places = new SharedPool(`${owner}_${index}`, {
      places_max: at_once,
      share_max: Math.max(1, at_once - 1),
      waiting_max: Number.POSITIVE_INFINITY, // a page of each partition
      waiting_share_max: Number.POSITIVE_INFINITY,
      wait_ms_max: Number.POSITIVE_INFINITY,
    });
  }

  start(): void {
    const { due, poll, sweep_every_ms, is_due_shared } = this.#deps;
    const found = (partitions: readonly number[]) => {
      due.offerPartitions(partitions);
      if (due.known.length > 0) void this.#task.runOnce();
    };
    this.#drops.push(poll.add({ queue: due.index, every_ms: sweep_every_ms, look: found }));
    if (is_due_shared) this.#drops.push(poll.add({ queue: null, every_ms: OFFERED_EVERY_MS, look: () => found([]) }));
  }

  /** Lets go of what is in progress; resolves when it has ended. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    if (this.#gathering !== null) clearTimeout(this.#gathering);
    for (const drop of this.#drops) drop();
    await this.#task.stop();
    await Promise.all([...this.#under_way.values(), ...this.#offered]);
  }

  /** There may be something to do for this member. */
  offer(member: string): void {
    const { due, gather_ms } = this.#deps;
    due.offer(member);
    if (this.#stopping.signal.aborted || this.#gathering !== null) return;
    if (gather_ms === undefined) {
      void this.#task.runOnce();
      return;
    }
    this.#gathering = setTimeout(() => {
      this.#gathering = null;
      void this.#task.runOnce();
    }, gather_ms);
    this.#gathering.unref();
  }

  /** Works on a member at once. Resolves when that is done, or after a while. Never rejects. */
  async offerAndWait(member: string): Promise<void> {
    const { due, workOn } = this.#deps;
    if (this.#stopping.signal.aborted) return;
    const done = due.tryOn(member, () => workOn(member, this.#stopping.signal));
    this.#offered.add(done);
    void done.finally(() => this.#offered.delete(done));
    const waiting = new AbortController();
    const waited = wait(OFFER_WAIT_MAX_MS, undefined, { signal: waiting.signal }).catch(() => {});
    await Promise.race([done, waited]);
    waiting.abort();
  }

  /** Does all that is due, to the end; for the test clock. Never rejects. */
  async look(): Promise<void> {
    let before: number;
    do {
      before = this.#done;
      await this.#deps.due.sweep();
      await this.#task.runOnce();
      while (this.#under_way.size > 0) await Promise.all(this.#under_way.values());
    } while (this.#done > before && !this.#stopping.signal.aborted);
  }

  async #run(): Promise<void> {
    const { due } = this.#deps;
    try {
      const members = await Promise.all(due.known.map((partition) => due.due(partition)));
      for (const member of members.flat()) if (!this.#under_way.has(member)) this.#begin(member);
    } catch (error) {
      due.complain(error);
    }
    this.#tellIdle();
  }

  #begin(member: string): void {
    const before = this.#done;
    const work = this.#workOn(member).finally(() => {
      this.#under_way.delete(member);
      // What fell due meanwhile, such as the next of what was done here.
      const is_last = this.places.counts.waiting === 0;
      if (is_last && this.#done > before && !this.#stopping.signal.aborted) void this.#task.runOnce();
      else if (!this.#task.is_running) this.#tellIdle();
    });
    this.#under_way.set(member, work);
  }

  async #workOn(member: string): Promise<void> {
    const { due, workOn } = this.#deps;
    const { signal } = this.#stopping;
    const work = async () => {
      const done = signal.aborted ? false : await due.tryOn(member, () => workOn(member, signal));
      if (done !== false) this.#done += 1;
    };
    await this.places.run(String(partitionOfId(member)), work, { signal }).catch((error: unknown) => {
      if (!(error instanceof NoPlace)) throw error;
    });
  }

  #tellIdle(): void {
    if (this.#under_way.size === 0 && this.#gathering === null) this.#deps.onIdle?.();
  }
}

/** Prolongs a lease now and then while the work goes on. */
export async function prolonging<T>(prolong: () => Promise<unknown>, work: () => Promise<T>): Promise<T> {
  // A lease that is lost shows when the result is published.
  const timer = setInterval(() => void prolong().catch(() => {}), PROLONG_EVERY_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

/** Publishes a result; while storage is away, several times. */
export async function persisting<T>(publish: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await publish();
    } catch (error) {
      if (!isRetryable(error) || tries === PUBLISH_TRIES_MAX || signal.aborted) throw error;
    }
    await wait(PUBLISH_PAUSE_MS, undefined, { signal }).catch(() => {});
  }
}
