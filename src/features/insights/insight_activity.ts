import type { InsightTally } from '../../../actors/insights/library_state.js';
import { type FailedLately, type Failing, Failures, Lately } from '../../engine/jobs/lately.js';

export type InsightsLately = {
  conversations: number;
  suggestions: number;
  memories: number;
  /** Items that came to nothing, and libraries whose work was dropped, by reason. */
  dropped: { reason: string; count: number }[];
  failures: FailedLately[];
};

/** What came of conversations in the last hour, as this process has seen it, among the last thousand of each kind. */
export class InsightActivity {
  readonly #published: Lately<{ tally: InsightTally }>;
  readonly #dropped: Lately<{ reason: string }>;
  readonly #failures: Failures;

  constructor(now: () => number) {
    this.#published = new Lately(now);
    this.#dropped = new Lately(now);
    this.#failures = new Failures(now);
  }

  published(tally: InsightTally): void {
    this.#failures.succeeded();
    this.#published.add({ tally });
  }

  failed(code: string): void {
    this.#failures.failed(code);
  }

  dropped(reason: string): void {
    this.#dropped.add({ reason });
  }

  get failing(): Failing | null {
    return this.#failures.failing;
  }

  lately(): InsightsLately {
    const tallies = this.#published.list().map(({ tally }) => tally);
    const sum = (of: (tally: InsightTally) => number) => tallies.reduce((total, tally) => total + of(tally), 0);
    const dropped = new Map<string, number>();
    const add = (reason: string, count: number) => dropped.set(reason, (dropped.get(reason) ?? 0) + count);
    for (const { reason } of this.#dropped.list()) add(reason, 1);
    for (const tally of tallies) for (const [reason, count] of Object.entries(tally.dropped)) add(reason, count);
    return {
      conversations: tallies.length,
      suggestions: sum(({ suggestions }) => suggestions),
      memories: sum(({ memories }) => memories),
      dropped: [...dropped].filter(([, count]) => count > 0).map(([reason, count]) => ({ reason, count })),
      failures: this.#failures.lately(),
    };
  }
}
