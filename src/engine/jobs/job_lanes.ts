import { setTimeout } from 'node:timers/promises';
import type { Logger } from 'pino';
import { isRefusal, type Refusal } from '../../domain/refusals.js';
import { StoreUnavailable } from '../store/store.js';
import type { DueEntities } from './due_entities.js';
import type { DuePoll } from './due_poll.js';
import { PeriodicTask } from './periodic_task.js';

/** What was offered by others than the worker is taken up after this. */
const OFFERED_EVERY_MS = 1_000;
const PROLONG_EVERY_MS = 10_000;
const PUBLISH_TRIES_MAX = 10;
const PUBLISH_PAUSE_MS = 1_000;

export const LEASE_MS = 30_000;

type Parts = {
  due: DueEntities;
  poll: DuePoll;
  at_once: number;
  /** What falls due, or other processes have left, is found after this. */
  sweep_every_ms: number;
  /** Does one thing that is due there, to its end. */
  workOn: (member: string, signal: AbortSignal) => Promise<void>;
  log: Pick<Logger, 'error'>;
  /** Said where what is due can not be found. */
  complaint: string;
};

/** How a built-in worker goes about it: members of an index that are due, a few at a time. */
export class JobLanes {
  readonly #parts: Parts;
  readonly #task = new PeriodicTask(() => this.#run());
  readonly #stopping = new AbortController();
  /** Members with something due, and those that are worked on. */
  readonly #waiting = new Set<string>();
  readonly #in_hand = new Set<string>();
  readonly #lanes = new Set<Promise<void>>();
  #drops: (() => void)[] = [];

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  start(): void {
    const { due, poll, sweep_every_ms } = this.#parts;
    const found = (partitions: readonly number[]) => {
      due.offerPartitions(partitions);
      if (due.known.length > 0) void this.#task.runOnce();
    };
    this.#drops = [
      poll.add({ queue: due.index, every_ms: sweep_every_ms, look: found }),
      poll.add({ queue: null, every_ms: OFFERED_EVERY_MS, look: () => found([]) }),
    ];
  }

  /** Gives back what is in hand. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    for (const drop of this.#drops) drop();
    await this.#task.stop();
    await Promise.all(this.#lanes);
  }

  /** There may be something to do for this one. */
  offer(member: string): void {
    this.#parts.due.offer(member);
    void this.#task.runOnce();
  }

  /** Does all that is due, to the end; for the test clock. Never rejects. */
  async look(): Promise<void> {
    for (let was_due = true; was_due && !this.#stopping.signal.aborted; ) {
      await this.#parts.due.sweep();
      await this.#task.runOnce();
      was_due = this.#lanes.size > 0;
      await Promise.all(this.#lanes);
    }
  }

  async #run(): Promise<void> {
    const { due, at_once } = this.#parts;
    try {
      const members = await Promise.all(due.known.map((partition) => due.due(partition)));
      for (const member of members.flat()) if (!this.#in_hand.has(member)) this.#waiting.add(member);
    } catch (error) {
      this.#complain(error);
    }
    while (this.#lanes.size < at_once && this.#waiting.size > 0 && !this.#stopping.signal.aborted) {
      const lane = this.#lane().finally(() => {
        this.#lanes.delete(lane);
        // What fell due meanwhile, such as the next of what was done here.
        if (!this.#stopping.signal.aborted) void this.#task.runOnce();
      });
      this.#lanes.add(lane);
    }
  }

  async #lane(): Promise<void> {
    for (const member of this.#waiting) {
      if (this.#stopping.signal.aborted) return;
      this.#waiting.delete(member);
      this.#in_hand.add(member);
      await this.#parts.due.tryOn(member, () => this.#parts.workOn(member, this.#stopping.signal));
      this.#in_hand.delete(member);
    }
  }

  #complain(error: unknown): void {
    if (!(error instanceof StoreUnavailable)) this.#parts.log.error({ err: error }, this.#parts.complaint);
  }
}

/** Says now and then that somebody is still at it. */
export async function prolonging<T>(prolong: () => Promise<unknown>, work: () => Promise<T>): Promise<T> {
  const timer = setInterval(() => void prolong(), PROLONG_EVERY_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

/** What was found out is worth more than one try to write it down. */
export async function persisting<T>(publish: () => Promise<T | Refusal>, signal: AbortSignal): Promise<T | Refusal> {
  for (let tries = 1; ; tries++) {
    const published = await publish();
    const is_away = isRefusal(published) && published.refused === 'UNAVAILABLE';
    if (!is_away || tries === PUBLISH_TRIES_MAX || signal.aborted) return published;
    await setTimeout(PUBLISH_PAUSE_MS, undefined, { signal }).catch(() => {});
  }
}
