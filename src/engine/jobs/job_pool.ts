import { setTimeout as wait } from 'node:timers/promises';
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

/** The loop of a worker: does what is due for members of an index, a few at a time, until nothing is. */
export class JobPool {
  readonly #deps: JobPoolDeps;
  readonly #task = new PeriodicTask(() => this.#run());
  readonly #stopping = new AbortController();
  /** Members with something due, and those that are worked on. */
  readonly #waiting = new Set<string>();
  readonly #in_flight = new Set<string>();
  readonly #running = new Set<Promise<void>>();
  readonly #offered = new Set<Promise<unknown>>();
  #gathering: NodeJS.Timeout | null = null;
  #drops: (() => void)[] = [];
  /** Rises with each member for which something was done. */
  #done = 0;

  constructor(deps: JobPoolDeps) {
    this.#deps = deps;
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
    await Promise.all([...this.#running, ...this.#offered]);
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
      await Promise.all(this.#running);
    } while (this.#done > before && !this.#stopping.signal.aborted);
  }

  async #run(): Promise<void> {
    const { due, at_once } = this.#deps;
    try {
      const members = await Promise.all(due.known.map((partition) => due.due(partition)));
      for (const member of members.flat()) if (!this.#in_flight.has(member)) this.#waiting.add(member);
    } catch (error) {
      due.complain(error);
    }
    while (this.#running.size < at_once && this.#waiting.size > 0 && !this.#stopping.signal.aborted) {
      const before = this.#done;
      const running = this.#workThrough().finally(() => {
        this.#running.delete(running);
        // What fell due meanwhile, such as the next of what was done here.
        if (this.#done > before && !this.#stopping.signal.aborted) void this.#task.runOnce();
      });
      this.#running.add(running);
    }
    if (this.#running.size === 0 && this.#gathering === null) this.#deps.onIdle?.();
  }

  async #workThrough(): Promise<void> {
    const { due, workOn } = this.#deps;
    const { signal } = this.#stopping;
    for (const member of this.#waiting) {
      if (signal.aborted) return;
      this.#waiting.delete(member);
      this.#in_flight.add(member);
      const done = await due.tryOn(member, () => workOn(member, signal));
      if (done !== false) this.#done += 1;
      this.#in_flight.delete(member);
    }
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
