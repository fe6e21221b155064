import { defaultPipeline } from '../../../../actors/insights/context.js';
import type { Context, Pipeline } from '../../../../actors/insights/context_state.js';
import { libraryId, pipelineOutputId } from '../../../domain/ids.js';
import { orNull, Refused, refuse } from '../../../domain/refusals.js';
import type { Fence } from '../../../engine/store/store.js';
import type { FeatureServices } from '../../services.js';
import type { TranscriptionJobs } from '../../transcripts/transcription_jobs.js';
import type { InsightServices } from '../library/insight_services.js';
import { INSIGHTS_OFF } from './reprocess_for_staff.js';

const MAKES_NONE = refuse('CONFLICT', 'The pipeline makes no insights.');

/** `pipeline_id`: null for the default one. */
type AskedRun = {
  account_id: string;
  workspace_id: string;
  stream_id: string;
  source_id: string;
  from_ms: number;
  to_ms: number;
  pipeline_id: string | null;
};
type PipelineRunRequest = { pipeline: Pipeline; asked: AskedRun; fences: Fence[] };

/**
 * Lets a pipeline work on a part of a recording. One that transcribes as the default one does looks into the turns that
 * there are; another one transcribes into an output of its own, and looks into what it hears.
 */
export async function runPipeline(
  services: Pick<FeatureServices, 'actors'> & { insights: InsightServices; transcription: TranscriptionJobs },
  run: PipelineRunRequest,
): Promise<unknown> {
  const { pipeline, asked, fences } = run;
  const context = await services.actors.context(asked.account_id).view();
  const heard = await hears(services, run, context);
  // What it hears tells the library; what was heard before is looked into anew.
  const is_nobody = services.insights.made_by === null;
  if (heard !== null && (heard.turns === 0 || pipeline.insights === null || is_nobody)) return heard;
  if (pipeline.insights === null) throw new Refused(MAKES_NONE);
  if (is_nobody) throw new Refused(INSIGHTS_OFF);
  return services.actors.library(libraryId(asked.account_id, asked.workspace_id)).request_run(asked, fences);
}

/** Null where it takes the turns of the default one. */
async function hears(
  { actors, transcription }: Pick<FeatureServices, 'actors'> & { transcription: TranscriptionJobs },
  { pipeline, asked: { pipeline_id, stream_id, from_ms, to_ms }, fences }: PipelineRunRequest,
  context: Context,
): Promise<{ turns: number } | null> {
  if (pipeline_id === null) return null;
  const base = await orNull(actors.transcript(stream_id).view(), 'NOT_FOUND');
  const has_output = base?.pipeline_outputs.includes(pipeline.number) === true;
  if (!has_output && hearsTheSame(pipeline, defaultPipeline(context))) return null;
  const { number } = pipeline;
  const opened = await actors.transcript(stream_id).open_pipeline_output({ number, from_ms, to_ms }, fences);
  const id = pipelineOutputId(stream_id, number);
  const begun = await actors
    .transcript(id)
    .run_pipeline({ ...opened, pipeline_output: { stream_id, pipeline_id } }, fences);
  transcription.due.offer(id);
  return begun;
}

function hearsTheSame({ transcription: one }: Pipeline, { transcription: other }: Pipeline): boolean {
  return one.engine === other.engine && one.language === other.language && one.diarize === other.diarize;
}
