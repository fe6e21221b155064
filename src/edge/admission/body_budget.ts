import { LIMITS } from '../../domain/limits.js';
import { Refused, refuse } from '../../domain/refusals.js';
import { SharedPool } from '../../engine/pools/shared_pool.js';
import { spreadRetryAfter } from './overload.js';

/** A body that is arriving. `take` counts received bytes; throws Refused if there is no room for them. */
export type ArrivingBody = { take(bytes: number): void; end(): void };

/** A body that is expected. `hasLeft` returns the signal that aborts the wait for a place. */
export type BodyHead = { is_large: boolean; hasLeft: () => AbortSignal };

const LARGE = {
  places_max: 1_024, // what they hold together, the bytes below bound
  share_max: 1,
  waiting_max: 4_096,
  waiting_share_max: 32,
  wait_ms_max: 20_000, // a body that stands still ends after ten seconds
};

/**
 * Bodies that this process has in memory: all together, of one owner, and one at a time of those that are large. Counted is
 * what has come: whoever announces much and sends little takes nothing from others.
 */
export class BodyBudget {
  readonly large = new SharedPool('large_bodies', LARGE);
  readonly #owners = new Map<string, number>();
  #bytes = 0;

  /** Bytes of all bodies. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Waits for a place if the body is large. Throws NoPlace; then nothing is counted. */
  async begin(owner: string, { is_large, hasLeft }: BodyHead): Promise<ArrivingBody> {
    if (is_large && !this.large.tryTake(owner)) await this.large.take(owner, { signal: hasLeft() });
    let [came, has_ended] = [0, false];
    return {
      take: (bytes) => {
        if (has_ended) return;
        this.#add(owner, bytes);
        came += bytes;
      },
      end: () => {
        if (has_ended) return;
        has_ended = true;
        if (came > 0) this.#remove(owner, came);
        if (is_large) this.large.leave(owner);
      },
    };
  }

  #add(owner: string, bytes: number): void {
    const of_owner = (this.#owners.get(owner) ?? 0) + bytes;
    if (of_owner > LIMITS.bodies_bytes_share_max) throw new Refused(tooMany('Too many of your uploads come at once.'));
    if (this.#bytes + bytes > LIMITS.bodies_bytes_max) throw new Refused(tooMany('Too many uploads come at once.'));
    this.#owners.set(owner, of_owner);
    this.#bytes += bytes;
  }

  #remove(owner: string, bytes: number): void {
    const left = (this.#owners.get(owner) as number) - bytes;
    if (left === 0) this.#owners.delete(owner);
    else this.#owners.set(owner, left);
    this.#bytes -= bytes;
  }
}

function tooMany(text: string) {
  return refuse('UNAVAILABLE', text, { retry_after_s: spreadRetryAfter() });
}
