/** The most waiting members of one account. */
const WAITING_MAX = 1_000;

type InFlightLimitDeps = {
  now: () => number;
  per_account_max: number;
  /** Skips a member until one of its account's jobs has ended; `wake` ends that. */
  rest: (member: string) => void;
  wake: (member: string) => void;
};

/**
 * Counts the jobs of each account that this process has handed out and that are not done. An account at its limit waits
 * until one is done.
 */
export class InFlightLimit {
  readonly #deps: InFlightLimitDeps;
  /** The ends of the leases of an account's jobs. */
  readonly #jobs = new Map<string, Map<string, number>>();
  readonly #waiting = new Map<string, Set<string>>();

  constructor(deps: InFlightLimitDeps) {
    this.#deps = deps;
  }

  get size(): number {
    return [...this.#jobs.keys()].reduce((sum, account_id) => sum + this.#countOf(account_id), 0);
  }

  /** False if the account is at its limit; `member` is tried again when one of its jobs has ended. */
  hasRoom(account_id: string, member: string): boolean {
    if (this.#countOf(account_id) < this.#deps.per_account_max) return true;
    this.#deps.rest(member);
    const waiting = this.#waiting.get(account_id) ?? new Set<string>();
    // Beyond the bound it is found again by itself, a moment later.
    if (waiting.size < WAITING_MAX) this.#waiting.set(account_id, waiting.add(member));
    return false;
  }

  note(account_id: string, job: string, until_ms: number): void {
    const jobs = this.#jobs.get(account_id) ?? new Map<string, number>();
    this.#jobs.set(account_id, jobs.set(job, until_ms));
  }

  prolonged(job: string, until_ms: number): void {
    for (const jobs of this.#jobs.values()) if (jobs.has(job)) jobs.set(job, until_ms);
  }

  /** Notes the end of a job. Wakes members of its account that waited for this. */
  forget(job: string): void {
    for (const [account_id, jobs] of this.#jobs) {
      if (!jobs.delete(job)) continue;
      for (const member of [...(this.#waiting.get(account_id) ?? [])].slice(0, this.#deps.per_account_max)) {
        this.#waiting.get(account_id)?.delete(member);
        this.#deps.wake(member);
      }
      if (this.#waiting.get(account_id)?.size === 0) this.#waiting.delete(account_id);
      return;
    }
  }

  #countOf(account_id: string): number {
    const jobs = this.#jobs.get(account_id);
    if (jobs === undefined) return 0;
    const now_ms = this.#deps.now();
    for (const [job, until_ms] of jobs) if (now_ms >= until_ms) jobs.delete(job);
    if (jobs.size === 0) this.#jobs.delete(account_id);
    return jobs.size;
  }
}
