import { type Refusal, refuse, throwRefusal } from '../../domain/refusals.js';
import type { RateLimits, RateName } from '../../engine/limits/rate_limits.js';
import type { Metrics } from '../../engine/metrics/metrics.js';
import { NoPlace, type SharedPool } from '../../engine/pools/shared_pool.js';
import type { ArrivingBody, BodyBudget, BodyHead } from './body_budget.js';
import { type DeviceBudgets, overBudget } from './device_budgets.js';
import { type Overload, type Priority, spreadRetryAfter } from './overload.js';

type RequestAdmissionDeps = {
  account_requests: SharedPool;
  body_budget: BodyBudget;
  device_budgets: DeviceBudgets;
  metrics: Pick<Metrics, 'overload_refusals'>;
  overload: Overload;
  rates: RateLimits;
};

/** The admission of a listener, which answers "not now" under load, for any caller and any credential. */
export class RequestAdmission {
  readonly #deps: RequestAdmissionDeps;
  readonly #listener: 'public' | 'device' | 'operator';

  constructor(deps: RequestAdmissionDeps, listener: 'public' | 'device' | 'operator') {
    this.#deps = deps;
    this.#listener = listener;
  }

  /** Checks a request before any work is done for it. Operators are never refused for load. */
  refusalOf(
    { priority = 'normal', rate }: { priority?: Priority; rate?: RateName },
    address: string,
  ): Refusal | null | Promise<Refusal | null> {
    const { overload, metrics, rates } = this.#deps;
    if (overload.shedding !== 'nothing' && this.#listener !== 'operator') {
      const cause = overload.causeAgainst(priority);
      if (cause !== null) {
        metrics.overload_refusals.inc({ listener: this.#listener, cause });
        const text = 'The service has too much to do at the moment.';
        return refuse('UNAVAILABLE', text, { retry_after_s: spreadRetryAfter() });
      }
    }
    return rate === undefined ? null : rates.refusalOf(rate, address);
  }

  /** Counts an upload of a device until `ended` is called; throws the refusal if it exceeds the budget. */
  beginUpload(device_id: string): { ended: () => void } {
    const { device_budgets, metrics } = this.#deps;
    const ended = device_budgets.beginUpload(device_id);
    return ended === null ? throwRefusal(overBudget(metrics, 'device_uploads')) : { ended };
  }

  /** Counts a body that comes into memory until `end` is called. Throws NoPlace if it waited for others in vain. */
  beginBody(owner: string, body: BodyHead): Promise<ArrivingBody> {
    return this.#counted('bodies', this.#deps.body_budget.begin(owner, body));
  }

  /**
   * Does the work of a request in its turn among those of its account, so that an account that floods a process delays
   * only itself. `hasLeft` returns the signal that aborts the wait. Throws NoPlace.
   */
  async inTurn<T>(account_id: string, hasLeft: () => AbortSignal, work: () => Promise<T>): Promise<T> {
    const { account_requests } = this.#deps;
    if (!account_requests.tryTake(account_id))
      await this.#counted('account', account_requests.take(account_id, { signal: hasLeft() }));
    try {
      return await work();
    } finally {
      account_requests.leave(account_id);
    }
  }

  async #counted<T>(cause: 'account' | 'bodies', place: Promise<T>): Promise<T> {
    try {
      return await place;
    } catch (error) {
      if (error instanceof NoPlace && error.cause !== 'left')
        this.#deps.metrics.overload_refusals.inc({ listener: this.#listener, cause });
      throw error;
    }
  }
}
