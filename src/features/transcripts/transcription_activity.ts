import { type FailedLately, type Failing, Failures, Lately } from '../../engine/jobs/lately.js';

export type TranscribedLately = {
  windows: number;
  turns: number;
  /** From the arrival of audio to its turns; null where there were none. */
  lag_ms: { p50: number; p99: number } | null;
  failures: FailedLately[];
};

/** What came of windows in the last hour, as this process has seen it, among the last thousand of each kind. */
export class TranscriptionActivity {
  readonly #published: Lately<{ turns: number; lag_ms: number | null }>;
  readonly #failures: Failures;

  constructor(now: () => number) {
    this.#published = new Lately(now);
    this.#failures = new Failures(now);
  }

  published(of: { turns: number; lag_ms: number | null }): void {
    this.#failures.succeeded();
    this.#published.add(of);
  }

  failed(code: string): void {
    this.#failures.failed(code);
  }

  get failing(): Failing | null {
    return this.#failures.failing;
  }

  lately(): TranscribedLately {
    const published = this.#published.list();
    const lags = published.flatMap(({ lag_ms }) => (lag_ms === null ? [] : [lag_ms])).sort((a, b) => a - b);
    const quantile = (share: number) => lags[Math.min(lags.length - 1, Math.floor(lags.length * share))] as number;
    return {
      windows: published.length,
      turns: published.reduce((sum, { turns }) => sum + turns, 0),
      lag_ms: lags.length === 0 ? null : { p50: quantile(0.5), p99: quantile(0.99) },
      failures: this.#failures.lately(),
    };
  }
}
