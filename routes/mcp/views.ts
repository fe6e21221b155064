import { z } from 'zod';
import { count, id, moment } from '../../src/access/response_schemas.js';
import type { DeviceView } from '../../src/features/devices/devices.js';
import type { RecorderSessionView } from '../../src/features/devices/recorder_sessions.js';
import { type PipelineView, pipelineShape } from '../../src/features/insights/context/pipelines.js';
import { timelineBegin } from '../../src/features/insights/library/evidence_reader.js';
import {
  type ConversationView,
  conversationShape,
  type EvidenceView,
  evidenceShape,
  type MemoryView,
  memoryShape,
  participantShape,
  type SuggestionView,
  suggestionShape,
} from '../../src/features/insights/library/insight_shapes.js';
import type { SourceView } from '../../src/features/recordings/sources.js';
import type { StreamView } from '../../src/features/recordings/streams.js';
import { type ContactView, contactShape } from '../../src/features/transcripts/contacts.js';
import { type TurnView, turnShape } from '../../src/features/transcripts/turn_shape.js';
import type { Services } from '../services.js';

/**
 * The views of resources that tools give: what an assistant needs to answer and to call the next tool. Ids carry the
 * names that arguments have, moments are ISO times beside ms of the timeline, speakers have their names.
 */

const turn = turnShape.shape;

export const toolTurnShape = z.strictObject({
  turn_id: turn.id,
  stream_id: turn.stream_id,
  at: turn.started_at,
  start_ms: turn.start_ms,
  end_ms: turn.end_ms,
  speaker: turn.speaker_name,
  speaker_label: turn.speaker,
  contact_id: turn.contact_id,
  text: turn.text,
  heard_text: turn.heard_text,
});

export function turnOf(turn: TurnView): z.infer<typeof toolTurnShape> {
  return {
    turn_id: turn.id,
    stream_id: turn.stream_id,
    at: turn.started_at,
    start_ms: turn.start_ms,
    end_ms: turn.end_ms,
    speaker: speakerOf(turn),
    speaker_label: turn.speaker,
    contact_id: turn.contact_id,
    text: turn.text,
    ...(turn.heard_text === undefined ? {} : { heard_text: turn.heard_text }),
  };
}

/** The contact's name, or else the speaker's label in the recording. */
export function speakerOf({ speaker_name, speaker }: Pick<TurnView, 'speaker_name' | 'speaker'>): string | null {
  return speaker_name ?? speaker;
}

const evidence = evidenceShape.shape;
const suggestion = suggestionShape.shape;
const conversation = conversationShape.shape;
const participant = participantShape.shape;
const part = conversation.parts.element.shape;
const memory = memoryShape.shape;

const toolEvidenceShape = z.strictObject({
  stream_id: evidence.stream_id,
  at: moment.nullable(),
  start_ms: evidence.start_ms,
  end_ms: evidence.end_ms,
  turn_ids: evidence.turn_ids,
  quote: evidence.quote,
  state: evidence.state,
});

export const toolSuggestionShape = z.strictObject({
  suggestion_id: suggestion.id,
  kind: suggestion.kind,
  text: suggestion.text,
  status: suggestion.status,
  due_at: suggestion.due_at,
  due_date: suggestion.due_date,
  owner_contact_id: suggestion.roles.shape.owner_contact_id,
  requester_contact_id: suggestion.roles.shape.requester_contact_id,
  session_id: suggestion.session_id,
  state_version: suggestion.state_version,
  updated_at: suggestion.updated_at,
  evidence: z.array(toolEvidenceShape),
});

export const toolConversationShape = z.strictObject({
  conversation_id: conversation.id,
  title: conversation.title,
  summary: conversation.summary,
  topics: conversation.topics,
  started_at: conversation.started_at,
  ended_at: conversation.ended_at,
  session_id: conversation.session_id,
  participants: z.array(
    z.strictObject({
      speaker: participant.speaker_name,
      contact_id: participant.contact_id,
      talk_ms: participant.talk_ms,
    }),
  ),
  parts: z.array(z.strictObject({ stream_id: part.stream_id, start_ms: part.start_ms, end_ms: part.end_ms })),
});

export const toolMemoryShape = z.strictObject({
  memory_id: memory.id,
  kind: memory.kind,
  text: memory.text,
  state: memory.state,
  contact_id: memory.contact_id,
  updated_at: memory.updated_at,
  evidence: z.array(toolEvidenceShape),
});

/** Times of items: one request reads the start of each recording once. */
export class InsightViews {
  readonly #services: Services;
  readonly #begins_ms = new Map<string, number | null>();

  constructor(services: Services) {
    this.#services = services;
  }

  async suggestion(item: SuggestionView): Promise<z.infer<typeof toolSuggestionShape>> {
    const { kind, text, status, due_at, due_date, roles, session_id, state_version, updated_at } = item;
    return {
      suggestion_id: item.id,
      kind,
      text,
      status,
      due_at,
      due_date,
      ...roles,
      session_id,
      state_version,
      updated_at,
      evidence: await this.#evidence(item.evidence),
    };
  }

  async memory(item: MemoryView): Promise<z.infer<typeof toolMemoryShape>> {
    const { kind, text, state, contact_id, updated_at } = item;
    const evidence = await this.#evidence(item.evidence);
    return { memory_id: item.id, kind, text, state, contact_id, updated_at, evidence };
  }

  conversation(item: ConversationView): z.infer<typeof toolConversationShape> {
    const { title, summary, topics, started_at, ended_at, session_id } = item;
    return {
      conversation_id: item.id,
      title,
      summary,
      topics,
      started_at,
      ended_at,
      session_id,
      participants: participantsOf(item.participants),
      parts: item.parts.map(({ stream_id, start_ms, end_ms }) => ({ stream_id, start_ms, end_ms })),
    };
  }

  async #evidence(spans: readonly EvidenceView[]): Promise<z.infer<typeof toolEvidenceShape>[]> {
    return Promise.all(
      spans.map(async ({ stream_id, start_ms, end_ms, turn_ids, quote, state }) => {
        const begins_ms = await this.#beginOf(stream_id);
        const at = begins_ms === null ? null : new Date(begins_ms + start_ms).toISOString();
        return { stream_id, at, start_ms, end_ms, turn_ids, quote, state };
      }),
    );
  }

  /** Null for a recording that is gone. */
  async #beginOf(stream_id: string): Promise<number | null> {
    const known = this.#begins_ms.get(stream_id);
    if (known !== undefined) return known;
    const begins_ms = await timelineBegin(this.#services, stream_id);
    this.#begins_ms.set(stream_id, begins_ms);
    return begins_ms;
  }
}

export function participantsOf(participants: ConversationView['participants']) {
  return participants.map(({ speaker_name, contact_id, talk_ms }) => ({ speaker: speaker_name, contact_id, talk_ms }));
}

const contact = contactShape.shape;

export const toolContactShape = z.strictObject({
  contact_id: contact.id,
  name: contact.name,
  is_self: contact.is_self,
  merged_into: contact.merged_into,
});

export function contactOf({ id, name, is_self, merged_into }: ContactView): z.infer<typeof toolContactShape> {
  return { contact_id: id, name, is_self, merged_into };
}

export const streamShape = z.strictObject({
  stream_id: id,
  title: z.string().nullable(),
  title_suggested: z.string().nullable().optional(),
  captured_at: moment,
  end_ms: count.nullable(),
  source_id: id,
  workspace_id: id,
  transcript_revision: count,
});

export function streamOf(stream: StreamView): z.infer<typeof streamShape> {
  const { id: stream_id, title, captured_at, end_ms = null, source_id, workspace_id, transcript_revision } = stream;
  const { title_suggested } = stream;
  const suggested = title_suggested === undefined ? {} : { title_suggested };
  return { stream_id, title, ...suggested, captured_at, end_ms, source_id, workspace_id, transcript_revision };
}

export const sourceShape = z.strictObject({ source_id: id, name: z.string().nullable(), device_id: id.nullable() });

export function sourceOf({ id: source_id, name, device_id }: SourceView): z.infer<typeof sourceShape> {
  return { source_id, name, device_id };
}

export const deviceShape = z.strictObject({
  device_id: id,
  kind: z.string(),
  last_seen_at: moment.nullable(),
  session_id: id.nullable(),
});

export function deviceOf({ id: device_id, kind, last_seen_at, session_id }: DeviceView): z.infer<typeof deviceShape> {
  return { device_id, kind, last_seen_at, session_id };
}

export const sessionShape = z.strictObject({
  session_id: id,
  status: z.string(),
  is_host: z.boolean(),
  workspace_id: id,
  source_id: id.nullable(),
  started_at: moment.nullable(),
  ended_at: moment.nullable(),
});

/** Without the join code, so that readers of lists cannot let others in. */
export function sessionOf(session: RecorderSessionView, account_id: string): z.infer<typeof sessionShape> {
  const { id: session_id, status, host_account_id, workspace_id, source_id, started_at, ended_at } = session;
  const is_host = host_account_id === account_id;
  return { session_id, status, is_host, workspace_id, source_id, started_at, ended_at };
}

const pipeline = pipelineShape.shape;

export const toolPipelineShape = z.strictObject({
  pipeline_id: pipeline.id,
  name: pipeline.name,
  default: pipeline.default,
  archived: pipeline.archived,
  transcription: pipeline.transcription,
  insights: pipeline.insights,
});

export function pipelineOf(of: PipelineView): z.infer<typeof toolPipelineShape> {
  const { id: pipeline_id, name, archived, transcription, insights } = of;
  return { pipeline_id, name, default: of.default, archived, transcription, insights };
}
