import { backoffAfter } from '../../domain/backoff.js';
import type { Metrics } from '../metrics/metrics.js';
import { type Commit, type CommitVerdict, type Store, StoreUnavailable } from '../store/store.js';

const TRIES_MAX = 4;
const PAUSE = { first_ms: 100, max_ms: 400 };

type CommitDeps = { store: Pick<Store, 'commit'>; metrics: Metrics; pause(ms: number): Promise<void> };

/**
 * Sends a commit until its outcome is known, at most four times; the same commit applies once. Throws StoreUnavailable
 * if storage is away or the outcome stays unknown.
 */
export async function commitUntilKnown(
  { store, metrics, pause }: CommitDeps,
  commit: Commit,
): Promise<Exclude<CommitVerdict, { verdict: 'forgotten' }>> {
  let is_doubtful = false; // an earlier try was sent, and may have been applied
  for (let tries = 1; ; tries++) {
    const began = performance.now();
    try {
      const verdict = await store.commit(commit);
      metrics.commit.observe((performance.now() - began) / 1000);
      metrics.commits.inc({ verdict: verdict.verdict });
      if (verdict.verdict === 'forgotten') {
        if (!is_doubtful) return { verdict: 'conflict', version: verdict.version };
        tries = TRIES_MAX; // it will never be known
        throw new StoreUnavailable('storage: too many writers came since to know whether a commit was applied');
      }
      if (is_doubtful) metrics.unknown_outcomes.inc({ resolved: verdict.verdict });
      return verdict;
    } catch (error) {
      const was_sent = !(error instanceof StoreUnavailable) || error.sent;
      if (!is_doubtful && (!was_sent || !(error instanceof StoreUnavailable))) throw error; // nothing can have been applied
      is_doubtful = true;
      if (tries >= TRIES_MAX) {
        metrics.unknown_outcomes.inc({ resolved: 'no' });
        throw error instanceof StoreUnavailable ? error : new StoreUnavailable(`storage: ${String(error)}`);
      }
      await pause(backoffAfter(tries, PAUSE));
    }
  }
}
