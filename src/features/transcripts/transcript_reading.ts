import type { Stream } from '../../../actors/recordings/stream_state.js';
import { attributionOf, contactOf, speakerShown } from '../../../actors/transcripts/transcript_attribution.js';
import type { PageTurn } from '../../../actors/transcripts/transcript_page.js';
import type { Word } from '../../../actors/transcripts/transcript_state.js';
import type { Principal } from '../../access/principal.js';
import { isPipelineOutputId, pipelineId, placeOfTurn, turnId } from '../../domain/ids.js';
import { shared } from '../../domain/intervals.js';
import { orNull, Refused, refuse, throwRefusal } from '../../domain/refusals.js';
import { readableStream } from '../recordings/stream_access.js';
import type { FeatureServices } from '../services.js';
import { selectPipeline, selectsPipelines } from './pipeline_access.js';
import {
  type Contacts,
  namesOf,
  type OfPipeline,
  type ReadableTranscript,
  readableTranscriptOf,
} from './transcript_pages.js';
import type { TurnView } from './turn_shape.js';

/**
 * Transcripts as they are read: who said a turn is looked up when it is shown, so that a speaker who gets a name has it
 * everywhere at once. What was recorded from a source that is deleted is not shown any more.
 */

const NO_TURN = refuse('NOT_FOUND', 'There is no such turn.');
const NO_TRANSCRIPT = refuse('NOT_FOUND', 'There is no such transcript.');

/** A turn with its page, and its words where they were asked for. */
export type FoundTurn = { page: number; turn: PageTurn; words?: Word[] | null };

/** The stream's transcript, as far as the caller may read it; NOT_FOUND as for the stream itself. */
export async function readableTranscript(
  services: Pick<FeatureServices, 'actors' | 'runtime'>,
  who: Principal,
  stream_id: string,
  of?: OfPipeline,
): Promise<ReadableTranscript> {
  const stream = await readableStream(services, who, stream_id);
  return readableTranscriptOf(services, stream, of);
}

/** Which transcript is read: the default pipeline's, or what the named one has heard itself. */
export type TranscriptQuery = { stream_id: string; pipeline_id?: string | undefined };

/** The transcript of the pipeline that is asked for, as far as the caller may read it. */
export async function requestedTranscript(
  services: Pick<FeatureServices, 'actors' | 'runtime'>,
  who: Principal,
  { stream_id, pipeline_id }: TranscriptQuery,
): Promise<ReadableTranscript> {
  const selected = await selectPipeline(services, who, pipeline_id);
  return readableTranscript(services, who, stream_id, { pipeline_id: selected, or_default: selected === null });
}

/** A turn's transcript, by whoever it is; other pipelines' are their account's, and for whoever may select those. */
export async function transcriptOfTurn(
  services: Pick<FeatureServices, 'actors' | 'runtime'>,
  who: Principal,
  { stream_id: id }: { stream_id: string },
): Promise<ReadableTranscript> {
  if (!isPipelineOutputId(id)) return readableTranscript(services, who, id);
  const transcript = await services.actors.transcript(id).view();
  const { pipeline_output, account_id } = transcript;
  if (pipeline_output === null || account_id !== who.account_id || !selectsPipelines(who))
    throw new Refused(NO_TRANSCRIPT);
  return readableTranscript(services, who, pipeline_output.stream_id, {
    pipeline_id: pipeline_output.pipeline_id,
    or_default: false,
  });
}

/** A turn, and with `words` each of its words. NOT_FOUND where the caller may not read its transcript. */
export async function readTurn(
  services: Pick<FeatureServices, 'actors' | 'runtime'>,
  who: Principal,
  { turn_id, words }: { turn_id: string; words: boolean },
): Promise<TurnView> {
  const place = placeOfTurn(turn_id);
  if (place === null) throw new Refused(NO_TURN);
  const { stream_id, page, serial } = place;
  const readable = await orNull(transcriptOfTurn(services, who, place), 'NOT_FOUND');
  if (readable === null) throw new Refused(NO_TURN);
  const found = await orNull(services.actors.transcript(stream_id).turn({ page, serial }), 'NOT_FOUND');
  if (found === null) throw new Refused(NO_TURN);
  const turns = [{ page, turn: found.turn, words: words ? found.words : null }];
  const views = await viewTurns(services, who, { readable, turns });
  return views[0] ?? throwRefusal(NO_TURN);
}

/** Turns of a stream as the caller sees them. */
export async function viewTurns(
  services: Pick<FeatureServices, 'actors'>,
  who: Principal,
  { readable, turns }: { readable: ReadableTranscript; turns: readonly FoundTurn[] },
): Promise<TurnView[]> {
  const contacts = await namesOf(
    services,
    readable,
    turns.map(({ turn }) => turn),
  );
  return turns.map((found) => viewTurn(who, readable, { ...found, contacts }));
}

function viewTurn(
  { account_id }: Principal,
  { id, stream, speakers }: ReadableTranscript,
  { page, turn, words, contacts }: FoundTurn & { contacts: Contacts },
): TurnView {
  const held = contactOf(speakers, turn);
  const contact = held === null ? null : (contacts[held] ?? null);
  const at = (ms: number) => new Date(Date.parse(stream.captured_at) + ms).toISOString();
  return {
    id: turnId(id, { page, serial: turn.serial }),
    stream_id: stream.id,
    source_id: stream.source_id,
    workspace_id: stream.workspace_id,
    start_ms: turn.start_ms,
    end_ms: turn.end_ms,
    started_at: at(turn.start_ms),
    ended_at: at(turn.end_ms),
    text: turn.text,
    ...(turn.heard_text === undefined ? {} : { heard_text: turn.heard_text }),
    language: turn.language,
    speaker: speakerShown(speakers, turn),
    // Whoever shares a workspace reads names, and has no contacts of others.
    contact_id: stream.account_id === account_id ? (contact?.id ?? null) : null,
    speaker_name: contact?.name ?? null,
    attribution: attributionOf(speakers, turn),
    confidence: turn.confidence,
    audio: audioOf(stream, turn),
    pipeline_id: pipelineId(stream.account_id, turn.run.pipeline ?? 1),
    published_at: new Date(turn.run.published_at_ms).toISOString(),
    ...(words == null
      ? {}
      : { words: words.map(([text, start_ms, end_ms, confidence]) => ({ text, start_ms, end_ms, confidence })) }),
  };
}

function audioOf({ stored_chunks, audio_expired }: Stream, { start_ms, end_ms }: PageTurn): TurnView['audio'] {
  const span: [number, number] = [start_ms, Math.max(end_ms, start_ms + 1)];
  if (audio_expired.some((expired) => shared(expired, span) > 0)) return 'expired';
  return stored_chunks > 0 ? 'available' : 'none';
}
