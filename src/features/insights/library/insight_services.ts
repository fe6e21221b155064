import type { InsightMaker } from '../engines/choose.js';
import type { InsightEngine } from '../engines/insight_engine.js';
import type { InsightJobs } from './insight_jobs.js';

/** Who looks into conversations, as operators and readers are told; `made_by` is null where nobody does. */
export type InsightServices = {
  jobs: InsightJobs;
  by: InsightMaker['by'];
  made_by: 'extractive' | 'model' | 'external' | null;
  /** Those of this server, by the names that pipelines have for them. */
  engines: ReadonlyMap<string, InsightEngine>;
  /** Other hosts that text goes to. */
  hosts: string[];
};
