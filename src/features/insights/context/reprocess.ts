import { defaultPipeline } from '../../../../actors/insights/context.js';
import type { Principal } from '../../../access/principal.js';
import { libraryId } from '../../../domain/ids.js';
import { Refused, refuse } from '../../../domain/refusals.js';
import { closedAs } from '../../../engine/runtime/runtime_refusals.js';
import type { Fence } from '../../../engine/store/store.js';
import type { FeatureServices } from '../../services.js';
import { readableTranscript } from '../../transcripts/transcript_reading.js';
import type { TranscriptionJobs } from '../../transcripts/transcription_jobs.js';
import type { InsightServices } from '../library/insight_services.js';
import type { RUN_KINDS } from './debug_runs.js';
import { INSIGHTS_OFF } from './reprocess_for_staff.js';

const NO_STREAM = refuse('NOT_FOUND', 'There is no such stream.');
const ONLY_OWNER = refuse('FORBIDDEN', 'Only the owner of a stream may have it processed again.');
const MAKES_NONE = refuse('CONFLICT', 'The default pipeline makes no insights.');

/** Has a part of a stream transcribed again, or looked into again, by the default pipeline. Times are ms of its timeline. */
export async function reprocessStream(
  services: Pick<FeatureServices, 'actors' | 'runtime'> & {
    insights: InsightServices;
    transcription: TranscriptionJobs;
  },
  who: Principal,
  {
    kinds,
    from_ms,
    to_ms,
    ...asked
  }: { stream_id: string; kinds: readonly (typeof RUN_KINDS)[number][]; from_ms: number; to_ms: number },
): Promise<void> {
  const { actors, insights, transcription } = services;
  const { stream, transcript } = await readableTranscript(services, who, asked.stream_id);
  const { id: stream_id, account_id, workspace_id, source_id, stored_until_ms, end_ms } = stream;
  if (account_id !== who.account_id) throw new Refused(ONLY_OWNER);
  const context = await actors.context(account_id).view();
  if (kinds.includes('insights') && defaultPipeline(context).insights === null) throw new Refused(MAKES_NONE);
  if (kinds.includes('insights') && insights.made_by === null) throw new Refused(INSIGHTS_OFF);
  const open = [source_id, stream_id].map((held): Fence => ({ fence: 'open', id: held }));
  const fences = [...who.fences, ...open];
  if (kinds.includes('transcribe') && transcript !== null) {
    const part = { from_ms, to_ms, only_failed: false };
    await actors.transcript(stream_id).reprocess(part, fences).catch(closedAs(NO_STREAM));
    transcription.due.offer(stream_id);
  }
  if (kinds.includes('insights')) {
    const until_ms = Math.min(to_ms, Math.max(end_ms ?? 0, stored_until_ms, from_ms + 1));
    const run = { account_id, workspace_id, stream_id, source_id, from_ms, to_ms: until_ms, pipeline_id: null };
    await actors.library(libraryId(account_id, workspace_id)).request_run(run, fences).catch(closedAs(NO_STREAM));
  }
}
