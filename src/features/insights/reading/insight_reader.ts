import { pipelineOf } from '../../../../actors/insights/context_state.js';
import { shownId } from '../../../../actors/insights/item_records.js';
import type { Conversation, ItemKind, Memory, Span, Suggestion } from '../../../../actors/insights/library_state.js';
import { contactOf } from '../../../../actors/transcripts/transcript_attribution.js';
import type { Principal } from '../../../access/principal.js';
import { momentOrNull } from '../../../access/response_schemas.js';
import { insightId, turnId } from '../../../domain/ids.js';
import { LIMITS } from '../../../domain/limits.js';
import type { FeatureServices } from '../../services.js';
import type { Contacts } from '../../transcripts/transcript_pages.js';
import type { EvidenceReader, SpokenEvidence } from '../library/evidence_reader.js';
import type {
  ConversationView,
  EvidenceView,
  MemoryView,
  ParticipantView,
  SuggestionView,
} from '../library/insight_shapes.js';
import { evidenceReader, type FoundItem, type LibraryPlace, standingItem } from './insight_access.js';

const iso = (ms: number) => new Date(ms).toISOString();

/**
 * Views of insights for one request. Names and quotes are read when an item is shown, and each page of a transcript
 * once.
 */
export class InsightReader {
  readonly #services: Pick<FeatureServices, 'actors'>;
  readonly #who: Principal;
  readonly #reader: EvidenceReader;
  readonly #contacts = new Map<string, Contacts>();

  constructor(services: Pick<FeatureServices, 'actors' | 'runtime'>, who: Principal) {
    this.#services = services;
    this.#who = who;
    this.#reader = evidenceReader(services, who);
  }

  /** The present contact behind an id; null for a deleted one. */
  async contact(account_id: string, contact_id: string): Promise<{ id: string; name: string | null } | null> {
    const known = this.#contacts.get(account_id) ?? {};
    if (Object.hasOwn(known, contact_id)) return known[contact_id] ?? null;
    const resolved = await this.#services.actors.contacts(account_id).resolve({ ids: [contact_id] });
    this.#contacts.set(account_id, { ...known, ...resolved.contacts });
    return resolved.contacts[contact_id] ?? null;
  }

  /** An item without deleted speech; null if nothing of it is left. */
  standing<Kind extends ItemKind, Found extends FoundItem<Kind>>(kind: Kind, found: Found): Promise<Found | null> {
    return standingItem(this.#reader, kind, found);
  }

  async suggestion({ place, number, item }: FoundItem<'suggestion'>): Promise<SuggestionView> {
    const { library_id } = place;
    const made = this.#made(place, item);
    const evidence = await this.#evidenceOf(item);
    const owner = await this.#shownContact(place, item.roles.owner_contact_id);
    const requester = await this.#shownContact(place, item.roles.requester_contact_id);
    const { kind, text, status, due_at_ms, group, review, feedback, state_version, made_by } = item;
    return {
      id: shownId(library_id, 'suggestion', number, item),
      conversation_id: conversationIdOf(library_id, item),
      kind,
      text,
      status,
      due_at: momentOrNull(due_at_ms),
      due_date: item.due_date,
      ...made,
      roles: { owner_contact_id: owner.id, requester_contact_id: requester.id },
      group_id: group === null ? null : insightId(library_id, 'group', group),
      review: review === null ? null : { verdict: review.verdict, note: review.note, at: iso(review.at_ms) },
      feedback,
      evidence,
      state_version,
      made_by,
    };
  }

  async memory({ place, number, item }: FoundItem<'memory'>): Promise<MemoryView> {
    const made = this.#made(place, item);
    const evidence = await this.#evidenceOf(item);
    const about = await this.#shownContact(place, item.contact_id);
    const { text, kind, state, origin } = item;
    return {
      id: shownId(place.library_id, 'memory', number, item),
      ...made,
      text,
      kind,
      contact_id: about.id,
      state,
      superseded_by: supersededId(place.library_id, item),
      origin,
      protected: item.protected,
      evidence,
    };
  }

  async conversation({ place, number, item }: FoundItem<'conversation'>): Promise<ConversationView> {
    const made = this.#made(place, item);
    const participants = await this.participants(place, item);
    const { parts, started_at_ms, ended_at_ms, title, summary, topics, language, made_by, pipeline_id } = item;
    const summary_sentences = await viewEach(item.sentences, async ({ text, evidence }) => ({
      text,
      evidence: await this.#evidenceOf({ evidence, pipeline_id }),
    }));
    return {
      id: shownId(place.library_id, 'conversation', number, item),
      ...made,
      parts,
      started_at: iso(started_at_ms),
      ended_at: iso(ended_at_ms),
      title,
      summary,
      summary_sentences,
      topics,
      participants,
      language,
      made_by,
    };
  }

  /**
   * The participants, each once, by talking time. Participants of deleted recordings are left out. Only callers who may
   * read turns see contacts and names.
   */
  async participants(
    { account_id }: LibraryPlace,
    { participants: stored, pipeline_id }: Pick<Conversation, 'participants' | 'pipeline_id'>,
  ): Promise<ParticipantView[]> {
    const found = new Map<string, ParticipantView>();
    const is_read = this.#readsTurns();
    const is_owner = is_read && account_id === this.#who.account_id;
    for (const participant of stored) {
      const readable = await this.#reader.readable(participant.stream_id, pipeline_id);
      if (readable === null) continue;
      const held = contactOf(readable.speakers, participant);
      const contact = held === null ? null : await this.contact(account_id, held);
      const speaker = readable.speakers.get(participant.speaker)?.into ?? participant.speaker;
      const key = contact?.id ?? `${participant.stream_id} ${speaker}`;
      const before = found.get(key)?.talk_ms ?? 0;
      found.set(key, {
        contact_id: is_owner ? (contact?.id ?? null) : null,
        speaker_name: is_read ? (contact?.name ?? null) : null,
        talk_ms: before + participant.talk_ms,
      });
    }
    return [...found.values()].sort((a, b) => b.talk_ms - a.talk_ms);
  }

  #readsTurns(): boolean {
    return this.#who.permissions.includes('turns:read');
  }

  /** The fields that all kinds share: evidence, times, engine. */
  #made(place: LibraryPlace, item: Conversation | Memory | Suggestion) {
    const { session_id, revision, protected_fields, created_at_ms, updated_at_ms } = item;
    return {
      workspace_id: place.workspace_id,
      session_id,
      pipeline_id: pipelineOf(item, place),
      revision,
      protected_fields,
      created_at: iso(created_at_ms),
      updated_at: iso(updated_at_ms),
    };
  }

  /** Other members of a shared workspace see no contacts. */
  async #shownContact({ account_id }: LibraryPlace, contact_id: string | null): Promise<{ id: string | null }> {
    if (contact_id === null || account_id !== this.#who.account_id) return { id: null };
    const contact = await this.contact(account_id, contact_id);
    return { id: contact?.id ?? null };
  }

  async #evidenceOf({
    evidence,
    pipeline_id,
    made_by,
  }: Pick<Suggestion, 'evidence' | 'pipeline_id'> & { made_by?: Suggestion['made_by'] }): Promise<EvidenceView[]> {
    const found: EvidenceView[] = [];
    for (const span of evidence) {
      const view = await this.#evidence(span, pipeline_id);
      // What a person points at is there with its recording, whether or not anybody speaks then.
      const is_silent = made_by === 'person' && view.state === 'deleted' && (await this.#isThere(span, pipeline_id));
      found.push(is_silent ? { ...view, state: 'available' } : view);
    }
    return found;
  }

  async #isThere({ stream_id }: Span, pipeline_id: string | null): Promise<boolean> {
    return (await this.#reader.readable(stream_id, pipeline_id)) !== null;
  }

  /** The name of the speaker of the first turn. */
  async #speakerOf({ readable, turns }: SpokenEvidence): Promise<string | null> {
    const [first] = turns;
    const held = readable === null || first === undefined ? null : contactOf(readable.speakers, first.turn);
    const contact = readable === null || held === null ? null : await this.contact(readable.stream.account_id, held);
    return contact?.name ?? null;
  }

  async #evidence(span: Span, pipeline_id: string | null): Promise<EvidenceView> {
    const found = await this.#reader.evidence(span, pipeline_id);
    const { readable, turns, has_expired } = found;
    const { stream_id, source_id, start_ms, end_ms } = span;
    const is_read = this.#readsTurns();
    return {
      stream_id,
      source_id,
      start_ms,
      end_ms,
      turn_ids: is_read
        ? turns.map(({ page, turn }) => turnId(readable?.id ?? stream_id, { page, serial: turn.serial }))
        : [],
      quote: is_read && turns.length > 0 ? shortened(turns.map(({ turn }) => turn.text).join(' ')) : null,
      speaker_name: is_read ? await this.#speakerOf(found) : null,
      state: turns.length > 0 ? 'available' : has_expired ? 'expired' : 'deleted',
    };
  }
}

/** Makes views one after the other, so that those of one recording read its pages once. */
export async function viewEach<Row, View>(rows: readonly Row[], viewOf: (row: Row) => Promise<View>): Promise<View[]> {
  const views: View[] = [];
  for (const row of rows) {
    const view = await viewOf(row);
    views.push(view);
  }
  return views;
}

function shortened(text: string): string {
  const characters = [...text];
  if (characters.length <= LIMITS.quote_chars_max) return text;
  return `${characters.slice(0, LIMITS.quote_chars_max - 1).join('')}…`;
}

function conversationIdOf(library_id: string, { conversation, kept_conversation_id }: Suggestion): string | null {
  return conversation === null ? null : (kept_conversation_id ?? insightId(library_id, 'conversation', conversation));
}

function supersededId(library_id: string, { superseded_by, kept_superseded_by }: Memory): string | null {
  return superseded_by === null ? (kept_superseded_by ?? null) : insightId(library_id, 'memory', superseded_by);
}
