import { type Refusal, Refused, refuse, throwRefusal } from '../../domain/refusals.js';
import type { RateLimits, RateName } from '../../engine/limits/rate_limits.js';
import type { Metrics } from '../../engine/metrics/metrics.js';
import type { AccountConcurrencyLimiter } from './account_concurrency.js';
import type { BodyBudget } from './body_budget.js';
import { type DeviceBudgets, overBudget } from './device_budgets.js';
import { type Overload, type Priority, spreadRetryAfter } from './overload.js';

const TOO_MANY_AT_ONCE = refuse('UNAVAILABLE', 'Too many requests of this account wait already.', { retry_after_s: 2 });

type RequestAdmissionDeps = {
  account_concurrency: AccountConcurrencyLimiter;
  body_budget: BodyBudget;
  device_budgets: DeviceBudgets;
  metrics: Pick<Metrics, 'overload_refusals'>;
  overload: Overload;
  rates: RateLimits;
};

/** Where a listener says "not now", whoever asks and however good the credential is. */
export class RequestAdmission {
  readonly #deps: RequestAdmissionDeps;
  readonly #listener: 'public' | 'device' | 'operator';

  constructor(deps: RequestAdmissionDeps, listener: 'public' | 'device' | 'operator') {
    this.#deps = deps;
    this.#listener = listener;
  }

  /** Before anything is done for a request. Operators are never refused for load. */
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

  /** Counts an upload of a device until `ended` is called; the refusal when it is one too many. */
  beginUpload(device_id: string): { ended: () => void } {
    const { device_budgets, metrics } = this.#deps;
    const ended = device_budgets.beginUpload(device_id);
    return ended === null ? throwRefusal(overBudget(metrics, 'device_uploads')) : { ended };
  }

  /** Counts a body that will lie in memory until `ended` is called; the refusal when there is no room for it. */
  beginBody(bytes: number): { ended: () => void } {
    const { body_budget, metrics } = this.#deps;
    const ended = body_budget.begin(bytes);
    if (ended !== null) return { ended };
    metrics.overload_refusals.inc({ listener: this.#listener, cause: 'bodies' });
    throw new Refused(refuse('UNAVAILABLE', 'Too many uploads come at once.', { retry_after_s: spreadRetryAfter() }));
  }

  /** Does the work of a request when it is its turn among those of its account; `bytes` of body wait in memory. */
  async inTurn<T>({ account_id, bytes }: { account_id: string; bytes: number }, work: () => Promise<T>): Promise<T> {
    const { account_concurrency, metrics } = this.#deps;
    const entrance = account_concurrency.enter(account_id, bytes);
    if (entrance === 'full') {
      metrics.overload_refusals.inc({ listener: this.#listener, cause: 'account' });
      throw new Refused(TOO_MANY_AT_ONCE);
    }
    if (entrance !== 'at once') await entrance;
    try {
      return await work();
    } finally {
      account_concurrency.leave(account_id, bytes);
    }
  }
}
