import { Refused, refuse } from '../../domain/refusals.js';

/** How many places a pool has, and who may wait for one. `Infinity` where there is no bound of that kind. */
export type PoolBounds = {
  /** Places in all. */
  places_max: number;
  /** Places of one owner. */
  share_max: number;
  /** Those that wait, in all. */
  waiting_max: number;
  /** Those of one owner that wait. */
  waiting_share_max: number;
  /** A wait ends after so many ms. */
  wait_ms_max: number;
};

/** Why there was no place: too many of all wait, or of this owner; the wait was too long; whoever wanted it has left. */
export type NoPlaceCause = 'waiting' | 'waiting_share' | 'late' | 'left';

/** There was no place in a pool: a refusal that passes. */
export class NoPlace extends Refused {
  override name = 'NoPlace';

  constructor(
    readonly pool: string,
    override readonly cause: NoPlaceCause,
  ) {
    super(refuse('UNAVAILABLE', cause === 'waiting_share' ? OWN : OTHERS, { retry_after_s: RETRY_AFTER_S }));
  }
}

/** Counts of a pool. `refused`: by cause, since it was made. */
export type PoolCounts = { taken: number; waiting: number; refused: Readonly<Record<NoPlaceCause, number>> };

type Waiter = { begin: () => void };
type Owner = { taken: number; waiters: Set<Waiter> };

const RETRY_AFTER_S = 2;
const OWN = 'Too much work of this kind waits for you already; try again.';
const OTHERS = 'Too much work of this kind waits at the moment; try again.';

/**
 * Places for work that accounts share. An owner is whom a place counts for: an account as a rule, else a device or a
 * network. No owner has more than its share; those that wait are served by owners in turns.
 */
export class SharedPool {
  readonly name: string;
  readonly #bounds: PoolBounds;
  readonly #owners = new Map<string, Owner>();
  /** Owners whose work waits; the first has waited longest for its turn. */
  readonly #turns = new Set<Owner>();
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

  /** Whether work waits for a place. */
  get is_awaited(): boolean {
    return this.#waiting > 0;
  }

  /** Does work as soon as there is a place. Throws NoPlace, where the signal aborts the wait as well. */
  async run<T>(owner: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    if (!this.tryTake(owner)) await this.take(owner, signal);
    try {
      return await work();
    } finally {
      this.leave(owner);
    }
  }

  /** Takes a place; false where there is none, or where others wait for theirs. */
  tryTake(name: string): boolean {
    const { places_max, share_max } = this.#bounds;
    const owner = this.#owners.get(name);
    if (this.#taken >= places_max || (owner !== undefined && owner.taken >= share_max)) return false;
    if (owner === undefined) this.#owners.set(name, { taken: 1, waiters: new Set() });
    else owner.taken += 1;
    this.#taken += 1;
    return true;
  }

  /** Waits for a place. Throws NoPlace; then no place is taken. */
  take(name: string, signal?: AbortSignal): Promise<void> {
    if (this.tryTake(name)) return Promise.resolve();
    const { wait_ms_max } = this.#bounds;
    const owner = this.#owners.get(name) ?? { taken: 0, waiters: new Set() };
    const cause = this.#causeAgainst(owner, signal);
    if (cause !== null) return Promise.reject(this.#refusal(cause));
    this.#owners.set(name, owner);
    return new Promise((resolve, reject) => {
      const end = () => {
        clearTimeout(late);
        signal?.removeEventListener('abort', onAbort);
        owner.waiters.delete(waiter);
        this.#waiting -= 1;
        if (owner.waiters.size === 0) this.#turns.delete(owner);
      };
      const giveUp = (why: NoPlaceCause) => {
        end();
        if (owner.taken === 0 && owner.waiters.size === 0) this.#owners.delete(name);
        reject(this.#refusal(why));
      };
      const onAbort = () => giveUp('left');
      const late = Number.isFinite(wait_ms_max) ? setTimeout(() => giveUp('late'), wait_ms_max).unref() : undefined;
      const waiter: Waiter = {
        begin: () => {
          end();
          owner.taken += 1;
          this.#taken += 1;
          // Not at once: what others sent meanwhile is read first.
          setImmediate(resolve);
        },
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      owner.waiters.add(waiter);
      this.#waiting += 1;
      this.#turns.add(owner);
    });
  }

  /** Gives back a place that was taken. */
  leave(name: string): void {
    const owner = this.#owners.get(name) as Owner;
    owner.taken -= 1;
    this.#taken -= 1;
    if (owner.taken === 0 && owner.waiters.size === 0) this.#owners.delete(name);
    this.#beginNext();
  }

  #beginNext(): void {
    // Owners that have their share are few: each has places taken.
    for (const owner of this.#turns) {
      if (this.#taken >= this.#bounds.places_max) return;
      if (owner.taken >= this.#bounds.share_max) continue;
      const [first] = owner.waiters;
      this.#turns.delete(owner);
      // Behind all others; the loop comes to it again where places are left.
      if (owner.waiters.size > 1) this.#turns.add(owner);
      first?.begin();
    }
  }

  #causeAgainst({ waiters }: Owner, signal?: AbortSignal): NoPlaceCause | null {
    if (signal?.aborted) return 'left';
    if (waiters.size >= this.#bounds.waiting_share_max) return 'waiting_share';
    return this.#waiting >= this.#bounds.waiting_max ? 'waiting' : null;
  }

  #refusal(cause: NoPlaceCause): NoPlace {
    this.#refused[cause] += 1;
    return new NoPlace(this.name, cause);
  }
}
