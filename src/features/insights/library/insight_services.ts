import type { InsightMaker } from '../engines/choose.js';
import type { InsightEngine } from '../engines/insight_engine.js';
import type { InsightJobs } from './insight_jobs.js';

/** The engines that analyse conversations. `made_by` is null without one. */
export type InsightServices = {
  jobs: InsightJobs;
  by: InsightMaker['by'];
  made_by: 'extractive' | 'model' | 'external' | null;
  /** The engines of this server, by the names that pipelines use. */
  engines: ReadonlyMap<string, InsightEngine>;
  /** Other hosts that receive text. */
  hosts: string[];
};
