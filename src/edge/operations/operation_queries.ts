import type { Address } from '../../../actors/actor.js';
import type { QueryAnswers } from '../../engine/cluster/process_queries.js';
import type { Runtime } from '../../engine/runtime/runtime.js';
import type { HealthFacts } from './health_problems.js';
import type { BatchTimes, HealthWatch } from './health_watch.js';
import type { HistoryView, Range } from './history.js';
import type { ProcessRow } from './process_row.js';

/** The health of a process, for the overview. */
export type ProcessHealth = { row: ProcessRow; standing: HealthFacts; history: HistoryView };

/** The entities in the memory of a process, and the times of batches of each kind there. */
export type ActorsSeen = ReturnType<Runtime['inspect']> & { times: Record<string, BatchTimes> };

/** The queries that operators send to each process. */
export type OperationQueries = {
  metrics: { about: null; value: string };
  standing: { about: { after_ms: number; range: Range }; value: ProcessHealth };
  actors: { about: { limit: number }; value: ActorsSeen };
  look: { about: Address; value: ReturnType<Runtime['look']> };
  release: { about: Address; value: boolean };
};

export function operationAnswers({
  metrics,
  runtime,
  watch,
}: {
  metrics: { registry: { metrics(): Promise<string> } };
  runtime: Pick<Runtime, 'inspect' | 'look' | 'releaseQuarantine'>;
  watch: Pick<HealthWatch, 'turnTimes' | 'row' | 'standing' | 'history'>;
}): QueryAnswers<OperationQueries> {
  return {
    metrics: () => metrics.registry.metrics(),
    standing: ({ after_ms, range }) => ({
      row: watch.row(),
      standing: watch.standing(),
      history: watch.history(after_ms, range),
    }),
    actors({ limit }) {
      const seen = runtime.inspect(limit);
      return { ...seen, times: Object.fromEntries(watch.turnTimes(Object.keys(seen.kinds))) };
    },
    look: (address) => runtime.look(address),
    release: (address) => runtime.releaseQuarantine(address),
  };
}
