import { LIMITS } from '../../domain/limits.js';

/** The groups for which requests in flight are counted, besides the total. */
export type ConcurrencyGroups = { account_id: string; origin: string };

/** The limit that an endpoint has reached: of all requests, of its origin or of its account. */
export type Bound = 'all' | 'origin' | 'account';

/** Counts the requests in flight of this process: in total, for each account and to each origin. */
export class ConcurrencyLimit {
  #all = 0;
  readonly #accounts = new Map<string, number>();
  readonly #origins = new Map<string, number>();

  get taken(): number {
    return this.#all;
  }

  /**
   * The number of requests that an endpoint with `in_flight` requests may still begin. It gets its nth place of its
   * account only while n are free: hanging requests cannot take the last places, and an endpoint without a request
   * finds one.
   */
  free({ account_id, origin }: ConcurrencyGroups, in_flight: number): number {
    const of_account = LIMITS.account_in_flight_max - (this.#accounts.get(account_id) ?? 0);
    return Math.min(
      LIMITS.deliveries_in_flight_max - this.#all,
      LIMITS.origin_in_flight_max - (this.#origins.get(origin) ?? 0),
      Math.floor((of_account - in_flight + 1) / 2),
    );
  }

  /** The limit that an endpoint with `in_flight` requests waits for; null if it may begin one more. */
  boundOf(groups: ConcurrencyGroups, in_flight: number): Bound | null {
    if (this.#all >= LIMITS.deliveries_in_flight_max) return 'all';
    if ((this.#origins.get(groups.origin) ?? 0) >= LIMITS.origin_in_flight_max) return 'origin';
    return this.free(groups, in_flight) > 0 ? null : 'account';
  }

  take({ account_id, origin }: ConcurrencyGroups, count: number): void {
    this.#all += count;
    add(this.#accounts, account_id, count);
    add(this.#origins, origin, count);
  }

  giveBack(groups: ConcurrencyGroups, count: number): void {
    this.take(groups, -count);
  }
}

function add(counts: Map<string, number>, key: string, count: number): void {
  const sum = (counts.get(key) ?? 0) + count;
  if (sum === 0) counts.delete(key);
  else counts.set(key, sum);
}
