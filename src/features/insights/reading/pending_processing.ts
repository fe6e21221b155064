import { orRefused } from '../../../domain/refusals.js';
import type { FeatureServices } from '../../services.js';
import type { TranscriberSettings } from '../../transcripts/engines/choose_engine.js';
import { transcriberOf } from '../../transcripts/engines/choose_engine.js';
import type { TranscriptionJobs } from '../../transcripts/transcription_jobs.js';
import type { InsightServices } from '../library/insight_services.js';

/** Whether transcripts or insights of recordings are still to be made. */
export async function isProcessingPending(
  services: Pick<FeatureServices, 'actors'> & {
    insights: InsightServices;
    settings: TranscriberSettings;
    transcription: TranscriptionJobs;
  },
  { library_id, stream_ids }: { library_id: string; stream_ids: readonly string[] },
): Promise<boolean> {
  const { actors, transcription, settings, insights } = services;
  if (stream_ids.length === 0) return false;
  if (transcriberOf(settings).by !== 'nobody') {
    for (const stream_id of stream_ids) {
      const stream = await actors.stream(stream_id).view().catch(orRefused(null));
      const unprocessed = stream?.unprocessed ?? 0;
      const waiting = (await transcription.awaited(stream_id)) ?? [];
      if (unprocessed > 0 || waiting.length > 0) return true;
    }
  }
  if (insights.made_by === null) return false;
  const found = await actors.library(library_id).waiting({ stream_ids: [...stream_ids] });
  return found.waiting;
}
