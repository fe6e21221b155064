import { setMaxListeners } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { partitionOfId } from '../../domain/ids.js';
import { NoPlace, SharedPool } from '../pools/shared_pool.js';
import { type DueMember, DueMembers, type DueMembersDeps, type DueMembersOptions } from './due_members.js';
import { SerialTask } from './serial_task.js';

/** The most time that a request waits for the work it has caused. */
const OFFER_WAIT_MAX_MS = 2_000;
/** The share of places, one in this number, that must be free before more work is looked for. */
const REFILLED_PARTS = 8;

export type DueWorkerOptions = {
  /** The interval at which members are found that fall due, or that other processes have left. */
  every_ms: number;
  /** The number of members that are worked on at a time. */
  at_once: number;
  /** The number of members that are worked on after one reading of the clock; the others wait for the next. */
  round_max?: number;
  /** The time for which offered members gather before they are worked on. */
  gather_ms?: number;
  /** Called when a round has nothing left to do. Never rejects. */
  onIdle?: () => Promise<void> | void;
};

/** One kind of work that falls due. */
export type DueWork<Member extends DueMember = DueMember> = DueMembersOptions<Member> & DueWorkerOptions;

/**
 * Does the due work of a member. False if nothing could be done: the member rests until it is found again. A member for
 * which this throws is skipped for a while.
 */
export type WorkOn<Member extends DueMember = DueMember> = (member: Member, signal: AbortSignal) => Promise<unknown>;

/** The number of members worked on, by outcome. */
export type DueCounts = { done: number; nothing: number; failed: number };

/**
 * The loop of a worker: does the due work of a queue's members, a few at a time, until none is left. All items of an
 * account are in one partition: partitions take turns, and none has the last place.
 */
export class DueWorker<Member extends DueMember = DueMember> {
  readonly due: DueMembers<Member>;
  readonly places: SharedPool;
  readonly counts: DueCounts = { done: 0, nothing: 0, failed: 0 };
  readonly #options: DueWorkerOptions;
  readonly #workOn: WorkOn<Member>;
  readonly #look = new SerialTask(() => this.#begin());
  readonly #stopping = new AbortController();
  /** Members with due work, and the function that does it. */
  readonly #under_way = new Map<string, Promise<void>>();
  readonly #offered = new Set<Promise<unknown>>();
  #gathering: NodeJS.Timeout | null = null;
  #stopPolling = () => {};
  #resting: Promise<void> = Promise.resolve();
  #round_left = 0;
  /** Members that ended since the last search began. The result of that search may still list them. */
  readonly #ended = new Set<string>();

  constructor(due: DueMembers<Member>, options: DueWorkerOptions, workOn: WorkOn<Member>) {
    const { at_once } = options;
    // Each member that waits for a place listens: a page of each partition.
    setMaxListeners(0, this.#stopping.signal);
    this.due = due;
    this.#options = options;
    this.#workOn = workOn;
    const { queue } = due;
    this.places = new SharedPool(typeof queue === 'string' ? queue : `${queue.owner}_${queue.index}`, {
      places_max: at_once,
      share_max: Math.max(1, at_once - 1),
      waiting_max: Number.POSITIVE_INFINITY, // a page of each partition
      waiting_share_max: Number.POSITIVE_INFINITY,
      wait_ms_max: Number.POSITIVE_INFINITY,
    });
  }

  /** A worker of its own queue, by one description and one function. */
  static of<Member extends DueMember = DueMember>(
    deps: DueMembersDeps,
    work: DueWork<Member>,
    workOn: WorkOn<Member>,
  ): DueWorker<Member> {
    return new DueWorker(new DueMembers(deps, work), work, workOn);
  }

  start(): void {
    const { due } = this;
    due.onOffer = () => this.#lookSoon();
    const look = (partitions: readonly number[]) => due.offerPartitions(partitions);
    this.#stopPolling = due.poll.add({ queue: due.queue, every_ms: this.#options.every_ms, look });
  }

  get is_stopping(): boolean {
    return this.#stopping.signal.aborted;
  }

  /** Tells the work in progress to end; resolves when it has. Never rejects. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    if (this.#gathering !== null) clearTimeout(this.#gathering);
    this.#stopPolling();
    await this.#look.stop();
    await Promise.all([...this.#under_way.values(), ...this.#offered]);
    await this.#resting;
  }

  /** Notes that this member may have something to do. */
  offer(name: string): void {
    this.due.offer(name);
  }

  /** Works on a member at once. Resolves when that is done, or after a while. Never rejects. */
  async offerAndWait(name: string): Promise<void> {
    if (this.is_stopping) return;
    const done = this.#tryOn({ partition: partitionOfId(name), name } as Member);
    this.#offered.add(done);
    void done.finally(() => this.#offered.delete(done));
    const waiting = new AbortController();
    const waited = wait(OFFER_WAIT_MAX_MS, undefined, { signal: waiting.signal }).catch(() => {});
    await Promise.race([done, waited]);
    waiting.abort();
  }

  /**
   * Does all due work, to the end or for one round; for the test clock. Returns the number of members. Never rejects.
   */
  async look(): Promise<number> {
    const { counts } = this;
    const done_before = counts.done;
    this.#beginRound();
    let before: number;
    do {
      before = this.#tried;
      await this.due.sweep();
      await this.#look.runOnce();
      while (this.#under_way.size > 0) await Promise.all(this.#under_way.values());
    } while (this.#tried > before && this.#round_left > 0 && !this.is_stopping);
    await this.#resting;
    return counts.done - done_before;
  }

  get #tried(): number {
    return this.counts.done + this.counts.failed;
  }

  #beginRound(): void {
    this.#round_left = this.#options.round_max ?? Number.POSITIVE_INFINITY;
  }

  #lookSoon(): void {
    const { gather_ms } = this.#options;
    this.#beginRound();
    if (this.is_stopping || this.#gathering !== null) return;
    if (gather_ms === undefined) {
      void this.#look.runOnce();
      return;
    }
    this.#gathering = setTimeout(() => {
      this.#gathering = null;
      void this.#look.runOnce();
    }, gather_ms);
    this.#gathering.unref();
  }

  /** Starts the due work that is not in progress. Never rejects. */
  async #begin(): Promise<void> {
    this.#ended.clear();
    try {
      for (const member of await this.due.due()) {
        if (this.#round_left <= 0 || this.is_stopping) break;
        if (this.#under_way.has(member.name) || this.#ended.has(member.name)) continue;
        this.#round_left -= 1;
        this.#under_way.set(member.name, this.#workInPlace(member));
      }
    } catch (error) {
      this.due.complain(error);
    }
    this.#tellIdle();
  }

  async #workInPlace(member: Member): Promise<void> {
    const before = this.#tried;
    const { signal } = this.#stopping;
    const work = async () => {
      if (!signal.aborted) await this.#tryOn(member);
    };
    await this.places.run(String(member.partition), work, { signal }).catch((error: unknown) => {
      if (!(error instanceof NoPlace)) throw error;
    });
    this.#under_way.delete(member.name);
    this.#ended.add(member.name);
    if (this.#tried > before && this.#mayRefill()) void this.#look.runOnce();
    else if (!this.#look.is_running) this.#tellIdle();
  }

  /** Looks for newly due members, such as the next item of a finished one, as soon as enough places are free. */
  #mayRefill(): boolean {
    if (this.is_stopping || this.#round_left <= 0 || this.places.counts.waiting > 0) return false;
    return this.#under_way.size === 0 || this.#ended.size >= this.#options.at_once / REFILLED_PARTS;
  }

  async #tryOn(member: Member): Promise<void> {
    const done = await this.due.tryOn(member.name, async () => ({
      result: await this.#workOn(member, this.#stopping.signal),
    }));
    if (done === null) this.counts.failed += 1;
    else if (done.result === false) this.counts.nothing += 1;
    else this.counts.done += 1;
  }

  #tellIdle(): void {
    const { onIdle } = this.#options;
    if (onIdle === undefined || this.#under_way.size > 0 || this.#gathering !== null) return;
    this.#resting = this.#resting.then(onIdle);
  }
}
