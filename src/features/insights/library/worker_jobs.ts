import { createHash } from 'node:crypto';
import type { z } from 'zod';
import type { InsightTally } from '../../../../actors/insights/library_state.js';
import type { PublicationTally } from '../../../../actors/transcripts/transcript_state.js';
import { isRefused, Refused, refuse } from '../../../domain/refusals.js';
import { joinedPart } from '../../recordings/joined_audio.js';
import type { FeatureServices } from '../../services.js';
import type { TranscriptionResult } from '../../transcripts/transcription.js';
import type { TranscriptionJobs } from '../../transcripts/transcription_jobs.js';
import { type windowJobShape, windowJobViews } from '../../transcripts/window_job_shape.js';
import { type InsightResult, type insightJobShape, insightJobView } from './insight_job_shape.js';
import { isInsightJob } from './insight_jobs.js';
import type { InsightServices } from './insight_services.js';

/**
 * Jobs for outside workers: windows to transcribe and conversations to analyse. docs/transcription.md, "Workers of your
 * own"; docs/architecture.md, "Jobs".
 */

const OTHER_KIND = refuse('BAD_REQUEST', 'The job is of another kind.', {
  details: [{ path: 'kind', message: 'must be that of the job' }],
});

export const WORKER_JOB_KINDS = ['transcribe', 'insights'] as const;
type WorkerJobKind = (typeof WORKER_JOB_KINDS)[number];

type JobView = z.infer<typeof windowJobShape> | z.infer<typeof insightJobShape>;

/** Claims windows, then conversations, for a worker; at most `limit` together. */
export async function claimJobs(
  services: Pick<FeatureServices, 'blobs'> & { insights: InsightServices; transcription: TranscriptionJobs },
  { kinds, limit, lease_s }: { kinds: readonly WorkerJobKind[]; limit: number; lease_s: number },
): Promise<JobView[]> {
  const { insights, transcription } = services;
  const lease_ms = lease_s * 1_000;
  const windows = kinds.includes('transcribe') ? await transcription.claim({ limit, lease_ms }) : [];
  const left = limit - windows.length;
  const is_asked = kinds.includes('insights') && left > 0 && insights.made_by !== null;
  const conversations = is_asked ? await insights.jobs.claim({ limit: left, lease_ms }) : [];
  return [...(await windowJobViews(services, windows)), ...conversations.map(insightJobView)];
}

/** The chunks of a claimed window as one file. */
export async function downloadJobAudio(
  services: Pick<FeatureServices, 'blobs'> & { transcription: TranscriptionJobs },
  job: string,
) {
  return joinedPart(services, await services.transcription.audioOf(job));
}

/** Prolongs a worker's lease. */
export async function prolongJob(
  services: Pick<FeatureServices, 'metrics'> & { insights: InsightServices; transcription: TranscriptionJobs },
  { job, claim, lease_s }: { job: string; claim: string; lease_s: number },
): Promise<{ lease_until: string }> {
  const lease = await jobsOf(services, job).jobs.prolong(job, claim, lease_s * 1_000);
  return { lease_until: new Date(lease.until_ms).toISOString() };
}

type JobResult = { claim: string } & (
  | InsightResult
  | ({ kind?: 'transcribe' | undefined } & Omit<TranscriptionResult, 'dropped'>)
);

/** Publishes the result of a window or conversation. A repetition gets the same answer. */
export async function publishJob(
  services: Pick<FeatureServices, 'metrics'> & { insights: InsightServices; transcription: TranscriptionJobs },
  job: string,
  result: JobResult,
): Promise<InsightTally | PublicationTally> {
  const digest = createHash('sha256').update(JSON.stringify(result)).digest('base64url');
  if (isInsightJob(job) !== (result.kind === 'insights')) throw new Refused(OTHER_KIND);
  const { ended } = jobsOf(services, job);
  try {
    const published = await publish(services, job, { result, digest });
    ended.inc({ worker: 'operator_port', status: 'published' });
    return published;
  } catch (error) {
    if (isRefused(error)) ended.inc({ worker: 'operator_port', status: 'refused' });
    throw error;
  }
}

/** Records a worker's failure. Returns whether the job is tried again after a rest. */
export async function failJob(
  services: Pick<FeatureServices, 'metrics'> & { insights: InsightServices; transcription: TranscriptionJobs },
  job: string,
  failure: { claim: string; code: string; retry: boolean },
): Promise<{ again: boolean; tries: number }> {
  const { jobs, ended } = jobsOf(services, job);
  const failed = await jobs.failed(job, { ...failure, engine: null });
  ended.inc({ worker: 'operator_port', status: 'failed' });
  return failed;
}

/** The queue of a job's kind, and the counter of its outcomes. */
function jobsOf(
  {
    insights,
    transcription,
    metrics,
  }: Pick<FeatureServices, 'metrics'> & { insights: InsightServices; transcription: TranscriptionJobs },
  job: string,
) {
  return isInsightJob(job)
    ? { jobs: insights.jobs, ended: metrics.insight_jobs }
    : { jobs: transcription, ended: metrics.windows };
}

function publish(
  { insights, transcription }: { insights: InsightServices; transcription: TranscriptionJobs },
  job: string,
  { result: { claim, ...said }, digest }: { result: JobResult; digest: string },
): Promise<InsightTally | PublicationTally> {
  if (said.kind === 'insights') {
    const { kind: _, ...raw } = said;
    return insights.jobs.publish(job, { claim, digest, raw, made_by: 'external', engine: null });
  }
  const { kind: _, ...heard } = said;
  return transcription.publish(job, { claim, digest, result: withLanguage(heard) });
}

/** A turn without a language has that of the result. */
function withLanguage({ language: all, turns, ...rest }: Omit<TranscriptionResult, 'dropped'>): TranscriptionResult {
  return { ...rest, turns: turns.map((turn) => ({ ...turn, language: turn.language ?? all })) };
}
