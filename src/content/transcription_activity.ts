const HOUR_MS = 3_600_000;
const KEPT_MAX = 1_000;
const KINDS_MAX = 20;

type Published = { at_ms: number; turns: number; lag_ms: number | null };
type Failed = { at_ms: number; code: string };

/** Tries that failed since something was transcribed last. */
export type Failing = { since_ms: number; tries: number; code: string };

export type TranscribedLately = {
  windows: number;
  turns: number;
  /** From the arrival of audio to its turns; null where there were none. */
  lag_ms: { p50: number; p99: number } | null;
  failures: { code: string; tries: number; last_at_ms: number }[];
};

/** What came of windows in the last hour, as this process has seen it, among the last thousand of each kind. */
export class TranscriptionActivity {
  readonly #now: () => number;
  readonly #published: Published[] = [];
  readonly #failed: Failed[] = [];
  #failing: Failing | null = null;

  constructor(now: () => number) {
    this.#now = now;
  }

  published(of: Omit<Published, 'at_ms'>): void {
    this.#failing = null;
    keep(this.#published, { at_ms: this.#now(), ...of });
  }

  failed(code: string): void {
    const at_ms = this.#now();
    const before = this.failing;
    this.#failing = { since_ms: before?.since_ms ?? at_ms, tries: (before?.tries ?? 0) + 1, code };
    keep(this.#failed, { at_ms, code });
  }

  /** Null also where nothing was tried any more for longer than any pause between tries. */
  get failing(): Failing | null {
    const last_ms = this.#failed.at(-1)?.at_ms ?? 0;
    return this.#now() - last_ms > 2 * HOUR_MS ? null : this.#failing;
  }

  lately(): TranscribedLately {
    const from_ms = this.#now() - HOUR_MS;
    const published = this.#published.filter(({ at_ms }) => at_ms >= from_ms);
    const lags = published.flatMap(({ lag_ms }) => (lag_ms === null ? [] : [lag_ms])).sort((a, b) => a - b);
    const quantile = (share: number) => lags[Math.min(lags.length - 1, Math.floor(lags.length * share))] as number;
    const failures = new Map<string, { tries: number; last_at_ms: number }>();
    for (const { at_ms, code } of this.#failed)
      if (at_ms >= from_ms) failures.set(code, { tries: (failures.get(code)?.tries ?? 0) + 1, last_at_ms: at_ms });
    return {
      windows: published.length,
      turns: published.reduce((sum, { turns }) => sum + turns, 0),
      lag_ms: lags.length === 0 ? null : { p50: quantile(0.5), p99: quantile(0.99) },
      failures: [...failures]
        .map(([code, of]) => ({ code, ...of }))
        .sort((a, b) => b.tries - a.tries)
        .slice(0, KINDS_MAX),
    };
  }
}

function keep<T>(list: T[], one: T): void {
  list.push(one);
  if (list.length > KEPT_MAX) list.shift();
}
