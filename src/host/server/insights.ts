import type { DuePoll } from '../../engine/jobs/due_poll.js';
import { closeEngines } from '../../engine/jobs/engine_worker.js';
import type { Metrics } from '../../engine/metrics/metrics.js';
import { insightEngines, insightHosts, insightMakerOf } from '../../features/insights/engines/choose.js';
import { Extractive } from '../../features/insights/engines/extractive.js';
import { readTalkModel, TALK_MODEL } from '../../features/insights/learned/talk_model.js';
import { InsightJobs } from '../../features/insights/library/insight_jobs.js';
import type { InsightServices } from '../../features/insights/library/insight_services.js';
import { insightsWorker } from '../../features/insights/library/insights_worker.js';
import { RecallAnswers } from '../../features/search/questions/recall_answer.js';
import type { EnginesFile } from '../../features/transcripts/engines/engines_file.js';
import type { Start } from './start.js';
import type { Entities, Foundation } from './storage.js';

type OpenInsightsDeps = Pick<Entities, 'store' | 'actors' | 'runtime'> &
  Pick<Foundation, 'clock' | 'keys'> & { poll: DuePoll; metrics: Metrics; further: EnginesFile['insights'] };

/** Null if no model of this server analyses conversations. */
export function openRecallAnswers(
  { settings, log }: Pick<Start, 'settings' | 'log'>,
  { metrics, clock }: { metrics: Metrics } & Pick<Foundation, 'clock'>,
): RecallAnswers | null {
  const { insights_url: url, insights_key: key, insights_model: model } = settings;
  if (url === null || insightMakerOf(settings).by !== 'server') return null;
  const answers = new RecallAnswers({ url, key, model, metrics, log, now: clock.now });
  metrics.pools.add(answers.pool);
  return answers;
}

/** Hosts to which text of conversations may be sent, for insights or vectors. */
function hostsOf(settings: Start['settings'], further: EnginesFile['insights']): string[] {
  const { embed_url } = settings;
  const embedding = embed_url === null ? [] : [new URL(embed_url).host];
  return [...new Set([...insightHosts(settings, further), ...embedding])].sort();
}

const MADE_BY = { server: 'model', built_in: 'extractive', workers: 'external', nobody: null } as const;

/** Opens the insights: the jobs for workers, and the built-in worker if there is one. */
export function openInsights(
  { settings, log, shutdown }: Start,
  { store, actors, runtime, clock, keys, poll, metrics, further }: OpenInsightsDeps,
) {
  const { now } = clock;
  const built_in = new Extractive(readTalkModel(TALK_MODEL));
  const jobs = new InsightJobs({ store, actors, runtime, keys, poll, metrics, log, now, built_in });
  const { by } = insightMakerOf(settings);
  const engines = insightEngines(settings, further, { now, built_in });
  const at_once = settings.content_at_once;
  shutdown.add(() => closeEngines(engines));
  const worker = engines.size === 0 ? null : insightsWorker({ jobs, engines, metrics, log, at_once });
  const hosts = hostsOf(settings, further);
  const insights: InsightServices = { jobs, by, made_by: MADE_BY[by], engines, hosts };
  return {
    insights,
    workers: worker === null ? [] : [worker],
    look: async () => worker?.look(),
  };
}
