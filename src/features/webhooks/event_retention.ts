import { LIMITS } from '../../domain/limits.js';
import type { DueMembersDeps } from '../../engine/jobs/due_members.js';
import { DueWorker } from '../../engine/jobs/due_worker.js';

type EventRetentionDeps = Omit<DueMembersDeps, 'now'> & {
  /** The earlier time if clocks disagree: removed events do not come back. */
  certain: () => number;
};

/** Removes events past their retention. Rule E-023. */
export function eventRetention(deps: EventRetentionDeps): DueWorker {
  const { store, certain } = deps;
  const keptFrom = () => certain() - LIMITS.event_kept_ms;
  const work = {
    ...({ queue: 'event_logs', every_ms: 10 * 60_000, at_once: 1 } as const),
    complaint: 'old events of an account could not be swept',
  };
  // An account's log is due by the time of its oldest event, so once that is past its retention.
  return DueWorker.of({ ...deps, now: () => keptFrom() - 1 }, work, async ({ partition, name: account_id }) => {
    await store.trimEvents({ partition, account_id }, keptFrom());
  });
}
