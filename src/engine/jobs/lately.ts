const HOUR_MS = 3_600_000;
const KEPT_MAX = 1_000;
const KINDS_MAX = 20;

/** What happened in the last hour, among the last thousand. */
export class Lately<What> {
  readonly #now: () => number;
  readonly #kept: (What & { at_ms: number })[] = [];

  constructor(now: () => number) {
    this.#now = now;
  }

  add(what: What): void {
    this.#kept.push({ at_ms: this.#now(), ...what });
    if (this.#kept.length > KEPT_MAX) this.#kept.shift();
  }

  list(): (What & { at_ms: number })[] {
    const from_ms = this.#now() - HOUR_MS;
    return this.#kept.filter(({ at_ms }) => at_ms >= from_ms);
  }

  get last_ms(): number {
    return this.#kept.at(-1)?.at_ms ?? 0;
  }
}

/** Tries that failed since something was done last. */
export type Failing = { since_ms: number; tries: number; code: string };
export type FailedLately = { code: string; tries: number; last_at_ms: number };

/** Failures by code, and whether there is nothing else. */
export class Failures {
  readonly #now: () => number;
  readonly #failed: Lately<{ code: string }>;
  #failing: Failing | null = null;

  constructor(now: () => number) {
    this.#now = now;
    this.#failed = new Lately(now);
  }

  succeeded(): void {
    this.#failing = null;
  }

  failed(code: string): void {
    const before = this.failing;
    this.#failing = { since_ms: before?.since_ms ?? this.#now(), tries: (before?.tries ?? 0) + 1, code };
    this.#failed.add({ code });
  }

  /** Null also where nothing was tried any more for longer than any pause between tries. */
  get failing(): Failing | null {
    return this.#now() - this.#failed.last_ms > 2 * HOUR_MS ? null : this.#failing;
  }

  /** The most frequent first. */
  lately(): FailedLately[] {
    const failures = new Map<string, { tries: number; last_at_ms: number }>();
    for (const { at_ms, code } of this.#failed.list())
      failures.set(code, { tries: (failures.get(code)?.tries ?? 0) + 1, last_at_ms: at_ms });
    return [...failures]
      .map(([code, of]) => ({ code, ...of }))
      .sort((a, b) => b.tries - a.tries)
      .slice(0, KINDS_MAX);
  }
}
