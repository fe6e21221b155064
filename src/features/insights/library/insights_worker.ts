import type { Logger } from 'pino';
import { EXTRACTIVE_ENGINE } from '../../../../actors/insights/context_state.js';
import { LIMITS } from '../../../domain/limits.js';
import type { DueWorker } from '../../../engine/jobs/due_worker.js';
import { engineWorker } from '../../../engine/jobs/engine_worker.js';
import type { Metrics } from '../../../engine/metrics/metrics.js';
import { EngineFailed } from '../../transcripts/engines/engine.js';
import type { InsightEngine } from '../engines/insight_engine.js';
import { ENGLISH_ONLY } from './insight_failures.js';
import type { InsightJobs, InsightWork } from './insight_jobs.js';

/** Conversations are analysed only after a quiet time, so a delay of seconds is not noticed. */
const EVERY_MS = 5_000;

type InsightsWorkerDeps = {
  jobs: InsightJobs;
  /** By the names that pipelines use. */
  engines: ReadonlyMap<string, InsightEngine>;
  metrics: Metrics;
  log: Pick<Logger, 'warn'>;
  at_once: number;
};

async function resultOf(engine: InsightEngine, { input }: InsightWork, signal: AbortSignal) {
  const { left_out = {}, is_english_only = false, ...raw } = await engine.think(input, signal);
  const failure = is_english_only ? { failure: { code: ENGLISH_ONLY, engine: engine.name } } : {};
  return { raw, left_out, made_by: engine.made_by, engine: engine.name, ...failure };
}

/**
 * Whether the built-in engine takes over: if no further try is made or would help, but never in place of an earlier
 * result of a model.
 */
function isGivenUp({ tries, made_by }: InsightWork, { code, retry }: EngineFailed['failure']): boolean {
  const is_last = !retry || (tries >= LIMITS.insight_job_tries_max && code !== 'ENGINE_STOPPED');
  return is_last && (made_by === null || made_by === 'extractive');
}

/** The built-in worker that analyses conversations, each with the engine of its pipeline. */
export function insightsWorker(deps: InsightsWorkerDeps): DueWorker {
  const { jobs, engines, metrics, log, at_once } = deps;
  return engineWorker({
    jobs,
    at_once,
    every_ms: EVERY_MS,
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
      try {
        return { ok: true, result: await resultOf(engine, work, signal) };
      } catch (error) {
        if (!(error instanceof EngineFailed)) throw error;
        const { code, message, retry, retry_after_ms: rest_ms } = error.failure;
        const built_in = engines.get(EXTRACTIVE_ENGINE);
        if (built_in !== undefined && isGivenUp(work, error.failure)) {
          const result = await resultOf(built_in, work, signal);
          metrics.insight_failures.inc({ code });
          log.warn({ job: work.job, code, reason: message }, 'the built-in engine looked into a conversation instead');
          return { ok: true, result: { ...result, failure: { code, engine: engine.name } } };
        }
        return { ok: false, failure: { code, message, retry, rest_ms, engine: engine.name } };
      }
    },

    badResult({ details }, { engine }) {
      const where = details?.[0]?.path ?? '';
      const message = `The answer is not what an answer may be, at ${where.replaceAll(/[^\w.]/g, '').slice(0, 60)}.`;
      return { code: 'ENGINE_BAD_ANSWER', message, retry: true, engine };
    },
  });
}
