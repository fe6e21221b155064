import type { InsightTally } from '../../../../actors/insights/library_state.js';
import type { JobActivity, RecentFailure } from '../../../engine/jobs/job_activity.js';

type RecentInsights = {
  conversations: number;
  suggestions: number;
  memories: number;
  /** Items that were left out, and jobs that were dropped, by reason. */
  dropped: { reason: string; count: number }[];
  failures: RecentFailure[];
};

/** Counts the outcomes of conversations in the last hour. */
export function recentInsights({
  results,
  drops,
  failures,
}: Pick<JobActivity<InsightTally>, 'results' | 'drops' | 'failures'>): RecentInsights {
  const sum = (of: (tally: InsightTally) => number) => results.reduce((total, tally) => total + of(tally), 0);
  const dropped = new Map<string, number>();
  const add = (reason: string, count: number) => dropped.set(reason, (dropped.get(reason) ?? 0) + count);
  for (const reason of drops) add(reason, 1);
  for (const tally of results) for (const [reason, count] of Object.entries(tally.dropped)) add(reason, count);
  return {
    conversations: results.length,
    suggestions: sum(({ suggestions }) => suggestions),
    memories: sum(({ memories }) => memories),
    dropped: [...dropped].filter(([, count]) => count > 0).map(([reason, count]) => ({ reason, count })),
    failures,
  };
}
