import type { InsightRun } from '../../../../actors/insights/library_state.js';
import type { Stream } from '../../../../actors/recordings/stream_state.js';
import { libraryId } from '../../../domain/ids.js';
import { isRefused, Refused, refuse } from '../../../domain/refusals.js';
import { isClosed } from '../../../engine/runtime/runtime_refusals.js';
import type { Fence } from '../../../engine/store/store.js';
import type { FeatureServices } from '../../services.js';
import type { TranscriptionJobs } from '../../transcripts/transcription_jobs.js';
import type { InsightServices } from '../library/insight_services.js';

export const INSIGHTS_OFF = refuse('CONFLICT', 'Nobody looks into conversations here (INSIGHTS=off).');

type StreamPart = { from_ms: number; to_ms: number; only_failed: boolean };

const NO_TRANSCRIPT = refuse('NOT_FOUND', 'There is no transcript of this stream.');

export const REPROCESSED_KINDS = ['transcribe', 'insights'] as const;

/** Has a part of a recording transcribed again, or its conversations looked into again. NOT_FOUND without a transcript. */
export async function reprocessStreamForStaff(
  services: Pick<FeatureServices, 'actors'> & { insights: InsightServices; transcription: TranscriptionJobs },
  stream_id: string,
  { kinds, ...part }: StreamPart & { kinds: readonly (typeof REPROCESSED_KINDS)[number][] },
): Promise<void> {
  const { actors, transcription } = services;
  try {
    const stream = await actors.stream(stream_id).view();
    await actors.transcript(stream.id).view();
    if (kinds.includes('insights')) await requestInsights(services, stream, part);
    if (kinds.includes('transcribe')) {
      await actors.transcript(stream.id).reprocess(part);
      transcription.due.offer(stream.id);
    }
  } catch (error) {
    throw isRefused(error, 'NOT_FOUND') || isClosed(error) ? new Refused(NO_TRANSCRIPT) : error;
  }
}

/** Has conversations of a recording looked into again by the default pipeline, or those that could not be, by theirs. */
async function requestInsights(
  { actors, insights }: Pick<FeatureServices, 'actors'> & { insights: InsightServices },
  { id: stream_id, account_id, workspace_id, source_id, end_ms, stored_until_ms }: Stream,
  { from_ms, to_ms, only_failed }: StreamPart,
): Promise<void> {
  // It would wait for ever.
  if (insights.made_by === null) {
    if (only_failed) return;
    throw new Refused(INSIGHTS_OFF);
  }
  const library_id = libraryId(account_id, workspace_id);
  const library = actors.library(library_id);
  const ended = only_failed ? await library.runs({ stream_id }) : { runs: [], jobs: [] };
  const until_ms = Math.min(to_ms, Math.max(end_ms ?? 0, stored_until_ms, from_ms + 1));
  const parts = only_failed
    ? failedIn(ended.runs, { from_ms, to_ms })
    : [{ from_ms, to_ms: until_ms, pipeline_id: null }];
  const fences = [source_id, stream_id].map((id): Fence => ({ fence: 'open', id }));
  for (const part of parts) {
    await library.request_run({ account_id, workspace_id, stream_id, source_id, ...part }, fences);
  }
  if (parts.length > 0) insights.jobs.due.offer(library_id);
}

/** Where the last that came of a conversation is a failure. */
function failedIn(
  newest_first: readonly InsightRun[],
  within: { from_ms: number; to_ms: number },
): Pick<InsightRun, 'from_ms' | 'to_ms' | 'pipeline_id'>[] {
  const seen = new Set<number>();
  return newest_first.flatMap(({ conversation, status, from_ms, to_ms, pipeline_id }) => {
    if (seen.has(conversation)) return [];
    seen.add(conversation);
    const is_wanted = status === 'failed' && from_ms < within.to_ms && to_ms >= within.from_ms;
    return is_wanted ? [{ from_ms, to_ms, pipeline_id }] : [];
  });
}
