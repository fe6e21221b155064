import type { JobActivity, RecentFailure } from '../../engine/jobs/job_activity.js';

/** `lag_ms`: from the arrival of its audio; null where that was not new. */
export type TranscribedWindow = { turns: number; lag_ms: number | null };

type RecentTranscription = {
  windows: number;
  turns: number;
  /** From the arrival of audio to its turns; null where there were none. */
  lag_ms: { p50: number; p99: number } | null;
  failures: RecentFailure[];
};

/** Counts the outcomes of windows in the last hour. */
export function recentTranscription({
  results,
  failures,
}: Pick<JobActivity<TranscribedWindow>, 'results' | 'failures'>): RecentTranscription {
  const lags = results.flatMap(({ lag_ms }) => (lag_ms === null ? [] : [lag_ms])).sort((a, b) => a - b);
  const quantile = (share: number) => lags[Math.min(lags.length - 1, Math.floor(lags.length * share))] as number;
  return {
    windows: results.length,
    turns: results.reduce((sum, { turns }) => sum + turns, 0),
    lag_ms: lags.length === 0 ? null : { p50: quantile(0.5), p99: quantile(0.99) },
    failures,
  };
}
