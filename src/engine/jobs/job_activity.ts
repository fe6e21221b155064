const HOUR_MS = 3_600_000;
const KEPT_MAX = 1_000;
const KINDS_MAX = 20;

/** Keeps the events of the last hour, at most a thousand. */
class RecentEvents<Event> {
  readonly #now: () => number;
  readonly #kept: { at_ms: number; event: Event }[] = [];

  constructor(now: () => number) {
    this.#now = now;
  }

  add(event: Event): void {
    this.#kept.push({ at_ms: this.#now(), event });
    if (this.#kept.length > KEPT_MAX) this.#kept.shift();
  }

  list(): { at_ms: number; event: Event }[] {
    const from_ms = this.#now() - HOUR_MS;
    return this.#kept.filter(({ at_ms }) => at_ms >= from_ms);
  }

  get last_ms(): number {
    return this.#kept.at(-1)?.at_ms ?? 0;
  }
}

/** Failed tries since the last success. */
export type Failing = { since_ms: number; tries: number; code: string; engine: string | null };
export type RecentFailure = { code: string; tries: number; last_at_ms: number };

/** The outcomes of jobs in the last hour, in this process. `Result`: the part of a result that is kept. */
export class JobActivity<Result> {
  readonly #now: () => number;
  readonly #published: RecentEvents<Result>;
  readonly #dropped: RecentEvents<string>;
  readonly #failed: RecentEvents<string>;
  #failing: Failing | null = null;

  constructor(now: () => number) {
    this.#now = now;
    this.#published = new RecentEvents(now);
    this.#dropped = new RecentEvents(now);
    this.#failed = new RecentEvents(now);
  }

  /** `instead`: the reason for which the intended engine did not do it. */
  published(result: Result, instead?: { code: string; engine: string }): void {
    if (instead === undefined) this.#failing = null;
    else this.failed(instead.code, instead.engine);
    this.#published.add(result);
  }

  failed(code: string, engine: string | null = null): void {
    const before = this.failing;
    this.#failing = { since_ms: before?.since_ms ?? this.#now(), tries: (before?.tries ?? 0) + 1, code, engine };
    this.#failed.add(code);
  }

  /** Notes a job that nobody does any more, with the reason. */
  dropped(reason: string): void {
    this.#dropped.add(reason);
  }

  /** Null also if nothing was tried for longer than the longest pause between tries. */
  get failing(): Failing | null {
    return this.#now() - this.#failed.last_ms > 2 * HOUR_MS ? null : this.#failing;
  }

  get results(): Result[] {
    return this.#published.list().map(({ event }) => event);
  }

  get drops(): string[] {
    return this.#dropped.list().map(({ event }) => event);
  }

  /** By code, the most frequent first. */
  get failures(): RecentFailure[] {
    const failures = new Map<string, RecentFailure>();
    for (const { at_ms, event: code } of this.#failed.list())
      failures.set(code, { code, tries: (failures.get(code)?.tries ?? 0) + 1, last_at_ms: at_ms });
    return [...failures.values()].sort((a, b) => b.tries - a.tries).slice(0, KINDS_MAX);
  }
}
