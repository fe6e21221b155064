import { z } from 'zod';
import type { Conversation, ItemKind, Items } from '../../../../actors/insights/library_state.js';
import { onRecording } from '../../../../actors/insights/summary.js';
import type { Principal } from '../../../access/principal.js';
import { count, id, moment } from '../../../access/response_schemas.js';
import { libraryId } from '../../../domain/ids.js';
import { LIMITS } from '../../../domain/limits.js';
import { orNull, Refused, refuse } from '../../../domain/refusals.js';
import { readableStream } from '../../recordings/stream_access.js';
import type { FeatureServices } from '../../services.js';
import type { TranscriberSettings } from '../../transcripts/engines/choose_engine.js';
import type { TranscriptionJobs } from '../../transcripts/transcription_jobs.js';
import { insightFailure } from '../library/insight_failures.js';
import type { InsightServices } from '../library/insight_services.js';
import {
  type ConversationView,
  conversationShape,
  participantShape,
  type SuggestionView,
  suggestionShape,
} from '../library/insight_shapes.js';
import type { FoundItem, LibraryPlace } from './insight_access.js';
import { InsightReader, viewEach } from './insight_reader.js';
import { isProcessingPending } from './pending_processing.js';

/** The summary of a recording, for its owner. Rule K-184; docs/choices.md, "Insights". */

const ONLY_OWNER = refuse('FORBIDDEN', 'Only its owner reads what came of a recording.');
/** The kinds of suggestions that are tasks. */
export const TASKS: ReadonlySet<SuggestionView['kind']> = new Set(['task', 'follow_up', 'reminder']);

const told = {
  edited: z.boolean().describe('Whether a person wrote the summary, which no run changes.'),
  title: conversationShape.shape.title,
  summary: conversationShape.shape.summary,
  summary_sentences: conversationShape.shape.summary_sentences,
  topics: conversationShape.shape.topics,
  participants: z.array(participantShape).describe('Who spoke, and who spoke most first.'),
};

export const streamSummaryShape = z
  .strictObject({
    stream_id: id.describe('The recording.'),
    state: z
      .enum(['none', 'pending', 'ready'])
      .describe('pending: something is still to be made of it; none: nothing was made of it.'),
    ...told,
    decisions: z.array(suggestionShape).describe('What was decided, in the order in which it was said.'),
    tasks: z.array(suggestionShape).describe('Tasks, follow-ups and reminders, in the same order.'),
    questions: z.array(suggestionShape).describe('What was left open, in the same order.'),
    conversations: z
      .array(
        z.strictObject({
          id: id.describe('The conversation, as `conversation_id` names it.'),
          start_ms: count.describe("Where it begins, in ms of the stream's timeline."),
          end_ms: count.describe('Where it is over there.'),
          ...told,
        }),
      )
      .describe(
        'The conversations that lie in it, in order. Title, summary and topics of all are those of the longest.',
      ),
    failure: z
      .strictObject({
        code: z
          .string()
          .describe(
            'As in debug runs; INSIGHTS_OFF where nobody looks into recordings, ENGLISH_ONLY where the built-in engine looked for no suggestions.',
          ),
        message: z.string().describe('A sentence for people.'),
      })
      .nullable()
      .describe('Why nothing was made of it, or why the built-in engine did it in place of a model; null otherwise.'),
    updated_at: moment.nullable().describe('When any of these last changed; null where there is none.'),
  })
  .meta({ id: 'StreamSummary' });

export type StreamSummaryView = z.infer<typeof streamSummaryShape>;

export type SummaryServices = Pick<FeatureServices, 'actors' | 'runtime'> & {
  insights: InsightServices;
  settings: TranscriberSettings;
  transcription: TranscriptionJobs;
};

/** Reads the summary of a recording of the caller. */
export async function streamSummary(
  services: SummaryServices,
  who: Principal,
  stream_id: string,
): Promise<StreamSummaryView> {
  const { account_id, workspace_id } = await readableStream(services, who, stream_id);
  if (account_id !== who.account_id) throw new Refused(ONLY_OWNER);
  const place = { library_id: libraryId(account_id, workspace_id), account_id, workspace_id };
  const waits = await isProcessingPending(services, { library_id: place.library_id, stream_ids: [stream_id] });
  const reading = new InsightReader(services, who);
  const found = await conversationsOn(services, { place, stream_id, reading });
  const conversations = await viewEach(found, async (row) => {
    const view = await reading.conversation({ ...row, item: onRecording(row.item, stream_id) });
    return {
      number: row.number,
      view,
      ...spanOn(row.item, stream_id),
      participants: await participantsOn([row], stream_id, reading),
    };
  });
  const suggestions = await suggestionsOf(services, { place, stream_id, reading, conversations: found });
  const longest = longestOn(found, stream_id);
  const { view } = conversations.find(({ number }) => number === longest?.number) ?? {};
  const updated = [...conversations.map(({ view }) => view), ...suggestions].map(({ updated_at }) => updated_at).sort();
  return {
    stream_id,
    state: waits ? 'pending' : updated.length === 0 ? 'none' : 'ready',
    ...toldBy(view),
    participants: await participantsOn(found, stream_id, reading),
    decisions: suggestions.filter(({ kind }) => kind === 'decision'),
    tasks: suggestions.filter(({ kind }) => TASKS.has(kind)),
    questions: suggestions.filter(({ kind }) => kind === 'question'),
    conversations: conversations.map(({ view, start_ms, end_ms, participants }) => {
      return { id: view.id, start_ms, end_ms, ...toldBy(view), participants };
    }),
    failure: await failureOn(services, { place, stream_id }),
    updated_at: updated.at(-1) ?? null,
  };
}

/** The last failure among the newest runs of the conversations there. */
async function failureOn(
  { actors, insights }: Pick<FeatureServices, 'actors'> & { insights: InsightServices },
  { place, stream_id }: { place: LibraryPlace; stream_id: string },
): Promise<StreamSummaryView['failure']> {
  if (insights.made_by === null) return insightFailure('INSIGHTS_OFF');
  const found = await orNull(actors.library(place.library_id).runs({ stream_id }), 'NOT_FOUND');
  const own = (found?.runs ?? []).filter(({ pipeline_id }) => pipeline_id === null);
  const newest = own.filter(({ conversation }, at) => own.findIndex((one) => one.conversation === conversation) === at);
  const failed = newest.find(({ failure }) => failure !== null);
  return failed === undefined || failed.failure === null ? null : insightFailure(failed.failure, failed.status);
}

function toldBy(view: ConversationView | undefined) {
  const { title = null, summary = null, summary_sentences = [], topics = [], protected_fields = [] } = view ?? {};
  return { edited: protected_fields.includes('summary'), title, summary, summary_sentences, topics };
}

/** The first of the longest conversations of a recording. */
export function longestOn(
  found: readonly FoundItem<'conversation'>[],
  stream_id: string,
): FoundItem<'conversation'> | undefined {
  return found.reduce<FoundItem<'conversation'> | undefined>((best, one) => {
    const is_longer =
      best === undefined || lengthOf(spanOn(one.item, stream_id)) > lengthOf(spanOn(best.item, stream_id));
    return is_longer ? one : best;
  }, undefined);
}

type OnStream = { place: LibraryPlace; stream_id: string; reading: InsightReader };

/** The conversations of a recording, as callers see them, in its order. */
export async function conversationsOn(
  services: Pick<FeatureServices, 'actors'>,
  { place, stream_id, reading }: OnStream,
): Promise<FoundItem<'conversation'>[]> {
  const library = services.actors.library(place.library_id);
  const { conversations } = await library.conversations_on({ stream_id });
  const numbers = conversations.slice(0, LIMITS.stream_conversations_told_max);
  const found = await standing(services, 'conversation', { place, numbers, reading });
  return found.sort((a, b) => spanOn(a.item, stream_id).start_ms - spanOn(b.item, stream_id).start_ms);
}

/** Lists suggestions of these conversations in the order in which they were said, without those dismissed or withdrawn. */
export async function suggestionsOf(
  services: Pick<FeatureServices, 'actors'>,
  { place, stream_id, reading, conversations }: OnStream & { conversations: FoundItem<'conversation'>[] },
): Promise<SuggestionView[]> {
  const numbers = conversations.flatMap(({ item }) => item.suggestions).slice(0, LIMITS.items_read_max);
  const found = await standing(services, 'suggestion', { place, numbers, reading });
  const startOf = ({ item }: FoundItem<'suggestion'>) =>
    item.evidence.find((span) => span.stream_id === stream_id)?.start_ms ?? null;
  const shown = found
    .filter(({ item: { status } }) => status !== 'dismissed' && status !== 'withdrawn')
    .filter((row) => startOf(row) !== null)
    .sort((a, b) => (startOf(a) ?? 0) - (startOf(b) ?? 0));
  return viewEach(shown, (row) => reading.suggestion(row));
}

async function standing<Kind extends ItemKind>(
  services: Pick<FeatureServices, 'actors'>,
  kind: Kind,
  { place, numbers, reading }: { place: LibraryPlace; numbers: number[]; reading: InsightReader },
): Promise<FoundItem<Kind>[]> {
  const asked = services.actors.library(place.library_id).items_of({ kind, numbers });
  const items = ((await orNull(asked, 'NOT_FOUND'))?.items ?? []) as { number: number; item: Items[Kind] }[];
  const found: FoundItem<Kind>[] = [];
  for (const one of items) {
    const row = await reading.standing(kind, { place, ...one });
    if (row !== null) found.push(row);
  }
  return found;
}

/** The speakers of this recording. */
function participantsOn(rows: FoundItem<'conversation'>[], stream_id: string, reading: InsightReader) {
  const [first] = rows;
  if (first === undefined) return Promise.resolve([]);
  const participants = rows.flatMap(({ item }) => item.participants).filter((one) => one.stream_id === stream_id);
  return reading.participants(first.place, { participants, pipeline_id: null });
}

function spanOn({ parts }: Conversation, stream_id: string): { start_ms: number; end_ms: number } {
  const here = parts.filter((part) => part.stream_id === stream_id);
  return {
    start_ms: Math.min(...here.map(({ start_ms }) => start_ms)),
    end_ms: Math.max(...here.map(({ end_ms }) => end_ms)),
  };
}

function lengthOf({ start_ms, end_ms }: { start_ms: number; end_ms: number }): number {
  return end_ms - start_ms;
}
