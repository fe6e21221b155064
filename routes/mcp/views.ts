import { z } from 'zod';
import { count, id, moment } from '../../src/access/response_schemas.js';
import { orRefused } from '../../src/domain/refusals.js';
import type {
  ConversationView,
  EvidenceView,
  MemoryView,
  SuggestionView,
} from '../../src/features/insights/insight_shapes.js';
import type { PipelineView } from '../../src/features/insights/pipelines.js';
import type { ContactView } from '../../src/features/transcripts/contacts.js';
import type { TurnView } from '../../src/features/transcripts/turn_shape.js';
import type { RecorderSessionView } from '../api/device_sessions.js';
import type { DeviceView } from '../api/devices.js';
import type { SourceView } from '../api/sources.js';
import type { StreamView } from '../api/streams.js';
import type { Services, Services, Services } from '../services.js';

/**
 * What tools give of resources: what an assistant needs to answer and to call the next tool. Ids carry the names that
 * arguments have, moments are ISO times beside ms of the timeline, speakers have their names.
 */

export const turnShape = z.strictObject({
  turn_id: id,
  stream_id: id,
  at: moment,
  start_ms: count,
  end_ms: count,
  speaker: z.string().nullable(),
  speaker_label: z.string().nullable(),
  contact_id: id.nullable(),
  text: z.string(),
});

export function turnOf(turn: TurnView): z.infer<typeof turnShape> {
  return {
    ...{ turn_id: turn.id, stream_id: turn.stream_id, at: turn.started_at },
    ...{ start_ms: turn.start_ms, end_ms: turn.end_ms, speaker: speakerOf(turn) },
    ...{ speaker_label: turn.speaker, contact_id: turn.contact_id, text: turn.text },
  };
}

/** The contact's name, or else that by which the recording tells speakers apart. */
export function speakerOf({ speaker_name, speaker }: Pick<TurnView, 'speaker_name' | 'speaker'>): string | null {
  return speaker_name ?? speaker;
}

const evidenceShape = z.strictObject({
  stream_id: id,
  at: moment.nullable(),
  start_ms: count,
  end_ms: count,
  turn_ids: z.array(id),
  quote: z.string().nullable(),
  state: z.string(),
});

export const suggestionShape = z.strictObject({
  suggestion_id: id,
  kind: z.string(),
  text: z.string(),
  status: z.string(),
  due_at: moment.nullable(),
  owner_contact_id: id.nullable(),
  requester_contact_id: id.nullable(),
  session_id: id.nullable(),
  state_version: count,
  updated_at: moment,
  evidence: z.array(evidenceShape),
});

export const conversationShape = z.strictObject({
  conversation_id: id,
  title: z.string().nullable(),
  summary: z.string().nullable(),
  topics: z.array(z.string()),
  started_at: moment,
  ended_at: moment,
  session_id: id.nullable(),
  participants: z.array(z.strictObject({ speaker: z.string().nullable(), contact_id: id.nullable(), talk_ms: count })),
  parts: z.array(z.strictObject({ stream_id: id, start_ms: count, end_ms: count })),
});

export const memoryShape = z.strictObject({
  memory_id: id,
  kind: z.string(),
  text: z.string(),
  state: z.string(),
  contact_id: id.nullable(),
  updated_at: moment,
  evidence: z.array(evidenceShape),
});

/** Of what rests on recordings: one request asks each recording once when its timeline begins. */
export class InsightViews {
  readonly #services: Services;
  readonly #begins_ms = new Map<string, number | null>();

  constructor(services: Services) {
    this.#services = services;
  }

  async suggestion(item: SuggestionView): Promise<z.infer<typeof suggestionShape>> {
    const { kind, text, status, due_at, roles, session_id, state_version, updated_at } = item;
    return {
      ...{ suggestion_id: item.id, kind, text, status, due_at, ...roles, session_id, state_version, updated_at },
      evidence: await this.#evidence(item.evidence),
    };
  }

  async memory(item: MemoryView): Promise<z.infer<typeof memoryShape>> {
    const { kind, text, state, contact_id, updated_at } = item;
    const evidence = await this.#evidence(item.evidence);
    return { memory_id: item.id, kind, text, state, contact_id, updated_at, evidence };
  }

  conversation(item: ConversationView): z.infer<typeof conversationShape> {
    const { title, summary, topics, started_at, ended_at, session_id } = item;
    return {
      ...{ conversation_id: item.id, title, summary, topics, started_at, ended_at, session_id },
      participants: participantsOf(item.participants),
      parts: item.parts.map(({ stream_id, start_ms, end_ms }) => ({ stream_id, start_ms, end_ms })),
    };
  }

  async #evidence(spans: readonly EvidenceView[]): Promise<z.infer<typeof evidenceShape>[]> {
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
    const stream = await this.#services.actors.stream(stream_id).view().catch(orRefused(null));
    const begins_ms = stream === null ? null : Date.parse(stream.captured_at);
    this.#begins_ms.set(stream_id, begins_ms);
    return begins_ms;
  }
}

export function participantsOf(participants: ConversationView['participants']) {
  return participants.map(({ speaker_name, contact_id, talk_ms }) => ({ speaker: speaker_name, contact_id, talk_ms }));
}

export const contactShape = z.strictObject({
  contact_id: id,
  name: z.string().nullable(),
  is_self: z.boolean(),
  merged_into: id.nullable(),
});

export function contactOf({ id: contact_id, name, is_self, merged_into }: ContactView): z.infer<typeof contactShape> {
  return { contact_id, name, is_self, merged_into };
}

export const streamShape = z.strictObject({
  stream_id: id,
  title: z.string().nullable(),
  captured_at: moment,
  end_ms: count.nullable(),
  source_id: id,
  workspace_id: id,
  transcript_revision: count,
});

export function streamOf(stream: StreamView): z.infer<typeof streamShape> {
  const { id: stream_id, title, captured_at, end_ms = null, source_id, workspace_id, transcript_revision } = stream;
  return { stream_id, title, captured_at, end_ms, source_id, workspace_id, transcript_revision };
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

/** Without the join code: who reads lists need not let others in. */
export function sessionOf(session: RecorderSessionView, account_id: string): z.infer<typeof sessionShape> {
  const { id: session_id, status, host_account_id, workspace_id, source_id, started_at, ended_at } = session;
  const is_host = host_account_id === account_id;
  return { session_id, status, is_host, workspace_id, source_id, started_at, ended_at };
}

export const pipelineShape = z.strictObject({
  pipeline_id: id,
  name: z.string(),
  default: z.boolean(),
  archived: z.boolean(),
  transcription: z.looseObject({ engine: z.string() }),
  insights: z.looseObject({ engine: z.string() }).nullable(),
});

export function pipelineOf(pipeline: PipelineView): z.infer<typeof pipelineShape> {
  const { id: pipeline_id, name, archived, transcription, insights } = pipeline;
  return { pipeline_id, name, default: pipeline.default, archived, transcription, insights };
}
