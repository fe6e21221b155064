import type { Logger } from 'pino';
import type { DuePoll } from '../../engine/jobs/due_poll.js';
import { EngineWorker } from '../../engine/jobs/engine_worker.js';
import type { Metrics } from '../../engine/metrics/metrics.js';
import { EngineFailed } from '../transcripts/engines/engine.js';
import type { InsightEngine } from './engines/insight_engine.js';
import type { InsightJobs, InsightResult, InsightWork } from './insight_jobs.js';

/** Conversations are looked for when they have been quiet for a while: seconds more are not noticed. */
const SWEEP_EVERY_MS = 5_000;

type InsightsWorkerDeps = {
  jobs: InsightJobs;
  poll: DuePoll;
  /** By the names that pipelines have for them. */
  engines: ReadonlyMap<string, InsightEngine>;
  metrics: Metrics;
  log: Pick<Logger, 'warn'>;
  at_once: number;
};

/** The built-in worker that looks into conversations, each with the engine of its pipeline. */
export function insightsWorker(deps: InsightsWorkerDeps): EngineWorker<InsightWork, InsightResult> {
  const { jobs, poll, engines, metrics, log, at_once } = deps;
  return new EngineWorker({
    jobs,
    poll,
    at_once,
    sweep_every_ms: SWEEP_EVERY_MS,
    engines,
    in_flight: metrics.insights_in_hand,
    ended: metrics.insight_jobs,
    log,
    failed_text: 'a conversation could not be looked into',
    onFailure: (code) => metrics.insight_failures.inc({ code }),

    async run(work, signal) {
      const engine = engines.get(work.engine);
      if (engine === undefined) {
        const message = 'The pipeline names an engine that this server does not know.';
        return { ok: false, failure: { code: 'ENGINE_UNKNOWN', message, retry: false } };
      }
      const { name, made_by } = engine;
      try {
        return { ok: true, result: { raw: await engine.think(work.input, signal), made_by, engine: name } };
      } catch (error) {
        if (!(error instanceof EngineFailed)) throw error;
        const { code, message, retry, retry_after_ms: rest_ms } = error.failure;
        return { ok: false, failure: { code, message, retry, rest_ms, engine: name } };
      }
    },

    badResult({ details }, { engine }) {
      const where = details?.[0]?.path ?? '';
      const message = `The answer is not what an answer may be, at ${where.replaceAll(/[^\w.]/g, '').slice(0, 60)}.`;
      return { code: 'ENGINE_BAD_ANSWER', message, retry: true, engine };
    },
  });
}
