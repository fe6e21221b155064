import { Refused, refuse } from '../../domain/refusals.js';

/** The number of places of a pool, and the limits on those that wait. `Infinity` for no limit. */
export type PoolBounds = {
  /** Places in all. */
  places_max: number;
  /** Places of one owner. */
  share_max: number;
  /** All that wait. */
  waiting_max: number;
  /** Those of one owner that wait. */
  waiting_share_max: number;
  /** The ms after which a wait ends. */
  wait_ms_max: number;
};

/**
 * The reason for a refused place: too many of all wait, or of this owner; the wait was too long; the requester has
 * left.
 */
export type NoPlaceCause = 'waiting' | 'waiting_share' | 'late' | 'left';

/** A pool had no place: a refusal that passes. */
export class NoPlace extends Refused {
  override name = 'NoPlace';

  constructor(override readonly cause: NoPlaceCause) {
    super(refuse('UNAVAILABLE', cause === 'waiting_share' ? OWN : OTHERS, { retry_after_s: RETRY_AFTER_S }));
  }
}

/** Counts of a pool. `refused`: by cause, since the pool was made. */
export type PoolCounts = { taken: number; waiting: number; refused: Readonly<Record<NoPlaceCause, number>> };

/** `is_short`: overtakes all work that is not; it must be bounded elsewhere. `signal` ends the wait. */
export type PlaceWanted = { is_short?: boolean; signal?: AbortSignal | undefined };

/** For a pool in which nobody waits. */
export const NO_WAIT = { waiting_max: 0, waiting_share_max: 0, wait_ms_max: 0 };

type Begin = () => void;
/** Those that wait, by owner; the first owner has waited longest. */
type Queues = Map<string, Set<Begin>>;

const RETRY_AFTER_S = 2;
const OWN = 'Too much work of this kind waits for you already; try again.';
const OTHERS = 'Too much work of this kind waits at the moment; try again.';

/**
 * Places for work that accounts share. A place counts for its owner: usually an account, else a device or a network. No
 * owner has more than its share; waiting owners are served in turn.
 */
export class SharedPool {
  readonly name: string;
  readonly #bounds: PoolBounds;
  readonly #taken_by = new Map<string, number>();
  readonly #short: Queues = new Map();
  readonly #long: Queues = new Map();
  readonly #refused: Record<NoPlaceCause, number> = { waiting: 0, waiting_share: 0, late: 0, left: 0 };
  #taken = 0;
  #waiting = 0;

  constructor(name: string, bounds: PoolBounds) {
    this.name = name;
    this.#bounds = bounds;
  }

  get counts(): PoolCounts {
    return { taken: this.#taken, waiting: this.#waiting, refused: this.#refused };
  }

  /** Does work as soon as there is a place. Throws NoPlace, also if the signal aborts the wait. */
  async run<T>(owner: string, work: () => Promise<T>, wanted: PlaceWanted = {}): Promise<T> {
    if (!this.tryTake(owner)) await this.take(owner, wanted);
    try {
      return await work();
    } finally {
      this.leave(owner);
    }
  }

  /** Takes a place; false if there is none for this owner. */
  tryTake(owner: string): boolean {
    if (this.#taken >= this.#bounds.places_max || this.hasItsShare(owner)) return false;
    this.#count(owner, 1);
    return true;
  }

  /** Waits for a place. Throws NoPlace; then no place is taken. */
  take(owner: string, { is_short = false, signal }: PlaceWanted = {}): Promise<void> {
    if (this.tryTake(owner)) return Promise.resolve();
    const cause = this.#causeAgainst(owner, signal);
    if (cause !== null) return Promise.reject(this.#refusal(cause));
    const { wait_ms_max } = this.#bounds;
    const queues = is_short ? this.#short : this.#long;
    return new Promise((resolve, reject) => {
      const end = () => {
        clearTimeout(late);
        signal?.removeEventListener('abort', onAbort);
        this.#waiting -= 1;
        const waiters = queues.get(owner) as Set<Begin>;
        waiters.delete(begin);
        if (waiters.size === 0) queues.delete(owner);
      };
      const giveUp = (why: NoPlaceCause) => {
        end();
        reject(this.#refusal(why));
      };
      const onAbort = () => giveUp('left');
      const late = Number.isFinite(wait_ms_max) ? setTimeout(() => giveUp('late'), wait_ms_max).unref() : undefined;
      const begin = () => {
        end();
        this.#count(owner, 1);
        // Not at once: what others sent meanwhile is read first.
        setImmediate(resolve);
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#waiting += 1;
      queues.set(owner, (queues.get(owner) ?? new Set()).add(begin));
    });
  }

  /** Whether an owner has reached its limit of places. */
  hasItsShare(owner: string): boolean {
    return (this.#taken_by.get(owner) ?? 0) >= this.#bounds.share_max;
  }

  /** Gives back a place that was taken. */
  leave(owner: string): void {
    this.#count(owner, -1);
    this.#beginNext(this.#short);
    this.#beginNext(this.#long);
  }

  #beginNext(queues: Queues): void {
    // Owners that have their share are few: each has places taken.
    for (const [owner, waiters] of queues) {
      if (this.#taken >= this.#bounds.places_max) return;
      if (this.hasItsShare(owner)) continue;
      const [begin] = waiters;
      begin?.();
      if (waiters.size === 0) continue;
      // Behind all others; the loop comes to it again where places are left.
      queues.delete(owner);
      queues.set(owner, waiters);
    }
  }

  #count(owner: string, by: 1 | -1): void {
    const taken = (this.#taken_by.get(owner) ?? 0) + by;
    if (taken === 0) this.#taken_by.delete(owner);
    else this.#taken_by.set(owner, taken);
    this.#taken += by;
  }

  #causeAgainst(owner: string, signal: AbortSignal | undefined): NoPlaceCause | null {
    if (signal?.aborted) return 'left';
    const of_owner = (this.#short.get(owner)?.size ?? 0) + (this.#long.get(owner)?.size ?? 0);
    if (of_owner >= this.#bounds.waiting_share_max) return 'waiting_share';
    return this.#waiting >= this.#bounds.waiting_max ? 'waiting' : null;
  }

  #refusal(cause: NoPlaceCause): NoPlace {
    this.#refused[cause] += 1;
    return new NoPlace(cause);
  }
}
