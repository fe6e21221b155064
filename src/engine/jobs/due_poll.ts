import type { Logger } from 'pino';
import { PARTITIONS } from '../../domain/ids.js';
import type { Ownership } from '../cluster/cluster_processes.js';
import { randomFraction } from '../random/random.js';
import { type DueQueue, isRetryable, type Store } from '../store/store.js';
import { every } from '../time/periodic_timer.js';

const TICK_MS = 1_000;
/** The interval of ticks while nothing is known to fall due before. */
const IDLE_TICK_MS = 2_000;
/** A partition in which something stays due is asked again after a worker's interval, whichever tick that meets. */
const HALF_TICK_MS = TICK_MS / 2;
/**
 * The interval at which own partitions are asked if nothing is known to fall due before: other processes make something
 * due there as well.
 */
const OWN_EVERY_MS = 5_000;
/** The interval at which partitions of other processes are asked, or this multiple of a worker's own interval. */
const OTHERS_EVERY_MS = 15_000;
const OTHERS_TIMES = 4;
/** The time that the owner of a partition has to work on what fell due there. */
const OTHERS_LATE_MS = 5_000;

const NONE: readonly number[] = [];
export const ALL_PARTITIONS: readonly number[] = Array.from({ length: PARTITIONS }, (_, partition) => partition);

type DuePollDeps = {
  store: Pick<Store, 'firstDue'>;
  ownership: Ownership;
  log: Pick<Logger, 'error'>;
  now: () => number;
};

type Look = (partitions: readonly number[]) => void;
/** `queue`: null if all partitions are looked at. */
type Polled = { queue: DueQueue | null; every_ms: number; look: Look };

/** A queue that a worker polls, and the known time of the next question to each own partition. */
class PolledQueue {
  readonly queue: DueQueue;
  readonly every_ms: number;
  readonly look: Look;
  readonly #next_ms = new Float64Array(PARTITIONS);
  #first_ms = 0;

  constructor({ queue, every_ms, look }: Polled & { queue: DueQueue }) {
    this.queue = queue;
    this.every_ms = every_ms;
    this.look = look;
  }

  /** At or before the time of the first question to a partition; 0 at first, when all are asked. */
  get first_ms(): number {
    return this.#first_ms;
  }

  /** Sets this time, unless an earlier one is set, for the next question to the partition. */
  askAt(partition: number, at_ms: number): void {
    if (at_ms < (this.#next_ms[partition] as number)) this.#next_ms[partition] = at_ms;
    if (at_ms < this.#first_ms) this.#first_ms = at_ms;
  }

  /** Takes all these partitions. After this, a partition is asked only if a time is noted for it. */
  takeAll(partitions: readonly number[]): readonly number[] {
    this.#next_ms.fill(Number.POSITIVE_INFINITY);
    this.#first_ms = Number.POSITIVE_INFINITY;
    return partitions;
  }

  /** Takes the partitions to be asked by now; each is asked again only if a time is noted for it. */
  takeDue(partitions: readonly number[], now_ms: number): readonly number[] {
    if (this.#first_ms > now_ms) return NONE;
    const taken = partitions.filter((partition) => (this.#next_ms[partition] as number) <= now_ms);
    for (const partition of taken) this.#next_ms[partition] = Number.POSITIVE_INFINITY;
    this.#first_ms = partitions.reduce(
      (first_ms, partition) => Math.min(first_ms, this.#next_ms[partition] as number),
      Number.POSITIVE_INFINITY,
    );
    return taken;
  }
}

type Question = { asked: PolledQueue; queue: DueQueue; partitions: readonly number[]; are_own: boolean };

/**
 * Finds out for all workers of a process in which partitions something is due. For each own partition it knows when the
 * first waiting item falls due: from the last answer, and from this process' commits. So it asks when something is due,
 * and otherwise rarely, for what other processes have made due; it asks partitions of other processes still more
 * rarely. A wrong view of the owners, or of the due times, costs only time.
 */
export class DuePoll {
  readonly #deps: DuePollDeps;
  readonly #queues = new Set<PolledQueue>();
  readonly #unasked = new Set<Polled>();
  readonly #owned = new Uint8Array(PARTITIONS);
  #owners: readonly string[] | undefined;
  #own: readonly number[] = [];
  #others: readonly number[] = ALL_PARTITIONS;
  /** Each process looks at partitions of others at its own times. */
  readonly #others_from_ms = Math.floor(randomFraction() * (OTHERS_EVERY_MS / TICK_MS)) * TICK_MS;
  /** The time of the last tick. */
  #ticked_ms: number | null = null;
  #tick_every_ms = 0;
  #stopTicking: (() => void) | null = null;
  #asking: Promise<void> | null = null;

  constructor(deps: DuePollDeps) {
    this.#deps = deps;
  }

  start(): void {
    this.#tickEvery(TICK_MS);
  }

  async stop(): Promise<void> {
    this.#stopTicking?.();
    this.#stopTicking = null;
    await this.#asking;
  }

  /** Asks about the partitions to be asked by now, unless that is in progress. Never rejects. */
  tick(): Promise<void> {
    this.#asking ??= this.#tick().finally(() => {
      this.#asking = null;
      this.#tickAsNeeded();
    });
    return this.#asking;
  }

  /** Calls `look` with the partitions in which something is due, until the returned function is called. */
  add({ queue, every_ms, look }: Polled): () => void {
    if (queue === null) {
      const polled = { queue, every_ms, look };
      this.#unasked.add(polled);
      return () => void this.#unasked.delete(polled);
    }
    const polled = new PolledQueue({ queue, every_ms, look });
    this.#queues.add(polled);
    return () => void this.#queues.delete(polled);
  }

  /**
   * Notes that something in a queue falls due at this time. If it is due already, a worker of this process has been
   * told of it.
   */
  note(queue: DueQueue, partition: number, at_ms: number): void {
    const now_ms = this.#deps.now();
    for (const polled of this.#queues) {
      if (!isSame(polled.queue, queue)) continue;
      polled.askAt(partition, at_ms > now_ms ? at_ms : now_ms + polled.every_ms - HALF_TICK_MS);
      if (this.#tick_every_ms === IDLE_TICK_MS) this.#tickAsNeeded();
    }
  }

  /** All partitions in which something is due now; all partitions if storage does not answer. Never rejects. */
  async due(queue: DueQueue | null): Promise<readonly number[]> {
    if (queue === null) return ALL_PARTITIONS;
    const { store, now } = this.#deps;
    const answers = await store.firstDue([{ queue, partitions: ALL_PARTITIONS }]).catch(() => null);
    if (answers === null) return ALL_PARTITIONS;
    const now_ms = now();
    return (answers[0] ?? []).filter(({ at_ms }) => at_ms <= now_ms).map(({ partition }) => partition);
  }

  async #tick(): Promise<void> {
    const now_ms = this.#deps.now();
    const is_first = this.#ticked_ms === null;
    const since_ms = this.#ticked_ms ?? now_ms - TICK_MS;
    this.#ticked_ms = now_ms;
    const isTime = (every_ms: number) => is_first || hasPassed(every_ms, since_ms, now_ms);
    const isTimeForOthers = (every_ms: number) =>
      hasPassed(othersEvery(every_ms), since_ms + this.#others_from_ms, now_ms + this.#others_from_ms);
    this.#readOwnership();
    for (const { every_ms, look } of this.#unasked) {
      const own = isTime(every_ms) ? this.#own : NONE;
      const others = isTimeForOthers(every_ms) ? this.#others : NONE;
      if (own.length + others.length > 0) look(others.length === 0 ? own : [...own, ...others]);
    }
    const questions: Question[] = [];
    for (const asked of this.#queues) {
      const { queue, every_ms } = asked;
      const are_all = isTime(Math.max(every_ms, OWN_EVERY_MS));
      const own = are_all ? asked.takeAll(this.#own) : asked.takeDue(this.#own, now_ms);
      if (own.length > 0) questions.push({ asked, queue, partitions: own, are_own: true });
      if (this.#others.length > 0 && isTimeForOthers(every_ms))
        questions.push({ asked, queue, partitions: this.#others, are_own: false });
    }
    if (questions.length > 0) await this.#ask(questions);
  }

  /** Ticks every second if something falls due before the next idle tick. */
  #tickAsNeeded(): void {
    if (this.#stopTicking === null) return;
    let first_ms = Number.POSITIVE_INFINITY;
    for (const polled of this.#queues) first_ms = Math.min(first_ms, polled.first_ms);
    this.#tickEvery(first_ms < this.#deps.now() + IDLE_TICK_MS ? TICK_MS : IDLE_TICK_MS);
  }

  #tickEvery(ms: number): void {
    if (ms === this.#tick_every_ms) return;
    this.#tick_every_ms = ms;
    this.#stopTicking?.();
    this.#stopTicking = every(ms, () => void this.tick());
  }

  async #ask(questions: readonly Question[]): Promise<void> {
    const { store, log, now } = this.#deps;
    try {
      const answers = await store.firstDue(questions.map(({ queue, partitions }) => ({ queue, partitions })));
      const now_ms = now();
      const found = new Map<PolledQueue, number[]>();
      for (const [nth, { asked, are_own }] of questions.entries()) {
        const due = found.get(asked) ?? [];
        for (const { partition, at_ms } of answers[nth] ?? []) {
          const is_due = at_ms <= (are_own ? now_ms : now_ms - OTHERS_LATE_MS);
          if (is_due) due.push(partition);
          if (are_own) asked.askAt(partition, is_due ? now_ms + asked.every_ms - HALF_TICK_MS : at_ms);
        }
        found.set(asked, due);
      }
      for (const [{ look }, partitions] of found) if (partitions.length > 0) look(partitions);
    } catch (error) {
      // Storage is away: the next tick asks again.
      for (const { asked, partitions } of questions) for (const partition of partitions) asked.askAt(partition, 0);
      if (!isRetryable(error)) log.error({ err: error }, 'what is due could not be looked for');
    }
  }

  /** Partitions that are new to this process are asked at once. */
  #readOwnership(): void {
    const { ownership } = this.#deps;
    const { owners } = ownership;
    if (owners !== undefined && owners === this.#owners) return;
    this.#owners = owners;
    let has_changed = false;
    for (const partition of ALL_PARTITIONS) {
      const owns = ownership.owns(partition) ? 1 : 0;
      if (owns === this.#owned[partition]) continue;
      has_changed = true;
      this.#owned[partition] = owns;
      if (owns === 1) for (const asked of this.#queues) asked.askAt(partition, 0);
    }
    if (!has_changed) return;
    this.#own = ALL_PARTITIONS.filter((partition) => this.#owned[partition] === 1);
    this.#others = ALL_PARTITIONS.filter((partition) => this.#owned[partition] === 0);
  }
}

/** Whether a multiple of this interval passed between these times; always true for an interval as short as a tick. */
function hasPassed(every_ms: number, since_ms: number, now_ms: number): boolean {
  return every_ms <= TICK_MS || Math.floor(since_ms / every_ms) !== Math.floor(now_ms / every_ms);
}

function othersEvery(every_ms: number): number {
  return Math.max(OTHERS_EVERY_MS, OTHERS_TIMES * every_ms);
}

function isSame(one: DueQueue, other: DueQueue): boolean {
  if (typeof one !== 'object' || typeof other !== 'object') return one === other;
  return one.owner === other.owner && one.index === other.index;
}
