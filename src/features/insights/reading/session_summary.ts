import { z } from 'zod';
import type { DeviceSession } from '../../../../actors/devices/device_session_state.js';
import { endOf, recorderOf } from '../../../../actors/devices/device_session_state.js';
import type { ItemKind, Items } from '../../../../actors/insights/library_state.js';
import { streamIndexOf } from '../../../../actors/recordings/stream.js';
import type { Principal } from '../../../access/principal.js';
import { count, id, moment, momentOrNull } from '../../../access/response_schemas.js';
import { libraryId, partitionOfId } from '../../../domain/ids.js';
import { orRefused, Refused, refuse } from '../../../domain/refusals.js';
import type { FeatureServices } from '../../services.js';
import type { TranscriberSettings } from '../../transcripts/engines/choose_engine.js';
import { selectPipeline } from '../../transcripts/pipeline_access.js';
import type { TranscriptionJobs } from '../../transcripts/transcription_jobs.js';
import type { InsightServices } from '../library/insight_services.js';
import { conversationShape, memoryShape, participantShape, suggestionShape } from '../library/insight_shapes.js';
import type { FoundItem, LibraryPlace } from './insight_access.js';
import { InsightReader, viewEach } from './insight_reader.js';
import { isProcessingPending } from './pending_processing.js';

/** The summary of a recorder session, for its host. Rule K-009; docs/choices.md, "Insights". */

const SESSION_STREAMS_MAX = 200; // ours: of one recorder session, looked at for its summary

const ONLY_HOST = refuse('FORBIDDEN', 'Only its host reads what came of a recorder session.');

export const sessionSummaryShape = z
  .strictObject({
    session_id: id.describe('The recorder session.'),
    state: z
      .enum(['none', 'pending', 'ready'])
      .describe('pending: something is still to be made of its recordings; none: nothing was made of them.'),
    started_at: moment.nullable().describe('When its recorder began; null while none has.'),
    ended_at: moment.nullable().describe('When it was over; null before that.'),
    talk_ms: count.describe('For how long people spoke in its conversations, in ms.'),
    participants: z.array(participantShape).describe('Who spoke, and who spoke most first.'),
    conversations: z.array(conversationShape).describe('The newest change first, as all of these lists.'),
    memories: z.array(memoryShape).describe('What is known from it.'),
    suggestions: z.array(suggestionShape).describe('What is to be done after it.'),
    updated_at: moment.nullable().describe('When any of these last changed; null where there is none.'),
  })
  .meta({ id: 'SessionSummary' });

type SessionSummaryView = z.infer<typeof sessionSummaryShape>;

/** Reads the summary of a recorder session that the caller hosted. */
export async function sessionSummary(
  services: Pick<FeatureServices, 'actors' | 'runtime' | 'store'> & {
    insights: InsightServices;
    settings: TranscriberSettings;
    transcription: TranscriptionJobs;
  },
  who: Principal,
  { session_id, ...query }: { session_id: string; pipeline_id?: string | undefined },
): Promise<SessionSummaryView> {
  const { account_id } = who;
  const session = await services.actors.deviceSession(session_id).view({ by: account_id });
  if (session.host_account_id !== account_id) throw new Refused(ONLY_HOST);
  const pipeline_id = await selectPipeline(services, who, query.pipeline_id);
  const { workspace_id } = session;
  const place = { library_id: libraryId(account_id, workspace_id), account_id, workspace_id };
  const found = await services.actors.library(place.library_id).session_items({ session_id });
  const stream_ids = await streamsOf(services, session);
  const waits = await isProcessingPending(services, { library_id: place.library_id, stream_ids });
  const reading = new InsightReader(services, who);
  const made = await viewsOf(reading, { place, found, pipeline_id });
  const { conversations, memories, suggestions, participants } = made;
  const updated = [...conversations, ...memories, ...suggestions].map(({ updated_at }) => updated_at).sort();
  return {
    session_id,
    state: waits ? 'pending' : updated.length === 0 ? 'none' : 'ready',
    started_at: momentOrNull(recorderOf(session)?.started_at_ms ?? null),
    ended_at: momentOrNull(endOf(session)?.ended_at_ms ?? null),
    talk_ms: participants.reduce((sum, { talk_ms }) => sum + talk_ms, 0),
    participants,
    conversations,
    memories,
    suggestions,
    updated_at: updated.at(-1) ?? null,
  };
}

type SessionItems = {
  conversations: { number: number; item: Items['conversation'] }[];
  memories: { number: number; item: Items['memory'] }[];
  suggestions: { number: number; item: Items['suggestion'] }[];
};

async function viewsOf(
  reading: InsightReader,
  { place, found, pipeline_id }: { place: LibraryPlace; found: SessionItems; pipeline_id: string | null },
) {
  const conversations = await standing(reading, 'conversation', placed(place, found.conversations, pipeline_id));
  const spoke = conversations.flatMap(({ item }) => item.participants);
  const participants = await reading.participants(place, { participants: spoke, pipeline_id });
  const of_conversations = await viewEach(conversations, (row) => reading.conversation(row));
  const known = await standing(reading, 'memory', placed(place, found.memories, pipeline_id));
  const memories = await viewEach(known, (row) => reading.memory(row));
  const suggested = await standing(reading, 'suggestion', placed(place, found.suggestions, pipeline_id));
  const suggestions = await viewEach(suggested, (row) => reading.suggestion(row));
  return { conversations: of_conversations, memories, suggestions, participants };
}

function placed<Kind extends ItemKind>(
  place: LibraryPlace,
  items: { number: number; item: Items[Kind] }[],
  pipeline_id: string | null,
): FoundItem<Kind>[] {
  return items.filter(({ item }) => item.pipeline_id === pipeline_id).map((one) => ({ place, ...one }));
}

/** The items as the caller may read them. */
async function standing<Kind extends ItemKind>(
  reading: InsightReader,
  kind: Kind,
  rows: FoundItem<Kind>[],
): Promise<FoundItem<Kind>[]> {
  const found: FoundItem<Kind>[] = [];
  for (const row of rows) {
    const one = await reading.standing(kind, row);
    if (one !== null) found.push(one);
  }
  return found;
}

/** Lists the streams of a recorder session: those of its source that were registered under it. */
async function streamsOf(
  { actors, store }: Pick<FeatureServices, 'actors' | 'store'>,
  session: DeviceSession,
): Promise<string[]> {
  const recorder = recorderOf(session);
  if (recorder === null) return [];
  const { host_account_id: owner, id } = session;
  const after = { order: session.created_at_ms - 1, member: '' };
  const page = { after, descending: false, limit: SESSION_STREAMS_MAX };
  const place = { owner, partition: partitionOfId(owner) };
  const rows = await store.list(place, streamIndexOf(recorder.source_id), page);
  const streams = await Promise.all(rows.map(({ member }) => actors.stream(member).view().catch(orRefused(null))));
  return streams.flatMap((stream) => (stream?.recorder?.binding_epoch === id ? [stream.id] : []));
}
