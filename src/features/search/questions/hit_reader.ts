import type { ItemKind, Items } from '../../../../actors/insights/library_state.js';
import type { Stream } from '../../../../actors/recordings/stream_state.js';
import { contactOf } from '../../../../actors/transcripts/transcript_attribution.js';
import type { PageTurn, TranscriptPage } from '../../../../actors/transcripts/transcript_page.js';
import type { Principal } from '../../../access/principal.js';
import { insightId, isPipelineOutputId } from '../../../domain/ids.js';
import { orNull } from '../../../domain/refusals.js';
import type { NotePlace } from '../../../domain/search/places.js';
import { type FoundItem, readableItem } from '../../insights/reading/insight_access.js';
import { InsightReader } from '../../insights/reading/insight_reader.js';
import { readNote } from '../../recordings/signals.js';
import { readableStream } from '../../recordings/stream_access.js';
import type { FeatureServices } from '../../services.js';
import { type ReadableTranscript, somePages } from '../../transcripts/transcript_pages.js';
import { type FoundTurn, readableTranscript, transcriptOfTurn } from '../../transcripts/transcript_reading.js';
import { type HitPlace, type Hits, itemOfEntry } from '../index/hits.js';
import type { TurnPlace } from './passages.js';

/** A turn in its page. */
export type TurnAt = { readable: ReadableTranscript; page: TranscriptPage; at: number; turn: PageTurn };
type TurnHitPlace = Extract<HitPlace, { transcript_id: string }>;

/** The conditions on a hit beside those that the index checks. */
export type HitFilters = {
  pipeline_id: string | null;
  /** Present contacts; a hit must show one of them. */
  contact_ids: ReadonlySet<string> | null;
  session_id: string | null;
};

/**
 * Reads the content of hits of the index, for one request: each transcript and page once. A hit that the caller may not
 * read, or that no longer exists, is null.
 */
export class HitReader {
  readonly #services: Pick<FeatureServices, 'actors' | 'runtime'>;
  readonly #who: Principal;
  readonly #filters: HitFilters;
  readonly #transcripts = new Map<string, Promise<ReadableTranscript | null>>();
  readonly #pages = new Map<string, Promise<TranscriptPage | null>>();
  readonly insights: InsightReader;
  /** The number of hits whose text was read. */
  looked = 0;

  constructor(services: Pick<FeatureServices, 'actors' | 'runtime'>, who: Principal, filters: HitFilters) {
    this.#services = services;
    this.#who = who;
    this.#filters = filters;
    this.insights = new InsightReader(services, who);
  }

  async readable(transcript_id: string): Promise<ReadableTranscript | null> {
    const known = this.#transcripts.get(transcript_id);
    if (known !== undefined) return known;
    const reading = isPipelineOutputId(transcript_id)
      ? transcriptOfTurn(this.#services, this.#who, { stream_id: transcript_id })
      : readableTranscript(this.#services, this.#who, transcript_id);
    const found = orNull(reading, 'NOT_FOUND', 'CONTENT_EXPIRED');
    this.#transcripts.set(transcript_id, found);
    return found;
  }

  /** The transcript of a pipeline for a recording, or the default one's if it has none. */
  async heard(stream_id: string, pipeline_id: string | null): Promise<ReadableTranscript | null> {
    return orNull(
      readableTranscript(this.#services, this.#who, stream_id, { pipeline_id, or_default: true }),
      'NOT_FOUND',
      'CONTENT_EXPIRED',
    );
  }

  /** Turns of those pages in order; missing pages are skipped. */
  async turnsOf(readable: ReadableTranscript, numbers: readonly number[]): Promise<FoundTurn[]> {
    const pages = await Promise.all(numbers.map((number) => this.page(readable, number)));
    return pages.flatMap((page) => page?.turns.map((turn) => ({ page: page.number, turn })) ?? []);
  }

  /** An existing page. */
  async page(readable: ReadableTranscript, number: number): Promise<TranscriptPage | null> {
    const key = `${readable.id} ${number}`;
    const known = this.#pages.get(key);
    const reading = known ?? this.#read(readable, number);
    if (known === undefined) this.#pages.set(key, reading);
    return reading;
  }

  async #read(readable: ReadableTranscript, number: number): Promise<TranscriptPage | null> {
    const pages = await somePages(this.#services, readable, { page: number, limit: 1 });
    return pages.find((page) => page.number === number) ?? null;
  }

  /** The turn of a hit, if it passes the filters. */
  async turn(hits: Hits, hit: number): Promise<TurnAt | null> {
    return this.turnAt({ ...(hits.place(hit) as TurnHitPlace), text: hits.text(hit) });
  }

  /** A turn of the index, if it passes the filters. */
  async turnAt({ transcript_id, pages, page_at, text }: TurnPlace): Promise<TurnAt | null> {
    const block = pages[page_at]?.block;
    const readable = await this.readable(transcript_id);
    if (readable === null || block === undefined) return null;
    const { session_id } = this.#filters;
    if (session_id !== null && readable.stream.recorder?.binding_epoch !== session_id) return null;
    const named = block.contacts.get(text);
    const indexed = { speaker: block.speaker(text), ...(named === undefined ? {} : { contact_id: named }) };
    // What the index knows of the speaker spares the page.
    if (!(await this.#shows(readable.stream.account_id, contactOf(readable.speakers, indexed)))) return null;
    this.looked += 1;
    const page = await this.page(readable, pages[page_at]?.page ?? 0);
    if (page === null) return null;
    const serial = block.serial(text);
    const at = page.turns.findIndex((turn) => turn.serial === serial);
    const turn = page.turns[at];
    if (turn === undefined) return null;
    const passes = await this.#shows(readable.stream.account_id, contactOf(readable.speakers, turn));
    return passes ? { readable, page, at, turn } : null;
  }

  /** The turns before and after a turn, which may be in other pages. */
  async beside(hits: Hits, hit: number, { readable, page, at }: TurnAt): Promise<PageTurn[]> {
    const { pages, page_at } = hits.place(hit) as TurnHitPlace;
    const found: PageTurn[] = [];
    for (const step of [-1, 1]) {
      let turn = page.turns[at + step];
      const other = pages[page_at + step]?.page;
      if (turn === undefined && other !== undefined) {
        const read = await this.page(readable, other);
        turn = read?.turns.at(step === 1 ? 0 : -1);
      }
      if (turn !== undefined) found.push(turn);
    }
    return found;
  }

  /** The item of a hit, if it passes the filters. */
  async item(hits: Hits, hit: number): Promise<(FoundItem<ItemKind> & { kind: ItemKind }) | null> {
    const { index, entry } = hits.place(hit) as Extract<HitPlace, { entry: string }>;
    const { kind, number } = itemOfEntry(entry);
    this.looked += 1;
    const id = insightId(index.library_id, kind, number);
    const found = await orNull(readableItem(this.#services, this.#who, { kind, id }), 'NOT_FOUND', 'CONTENT_EXPIRED');
    if (found === null) return null;
    const { item, place } = found;
    const { pipeline_id, session_id } = this.#filters;
    if (kind === 'suggestion' && (item as Items['suggestion']).status === 'withdrawn') return null;
    if (item.pipeline_id !== pipeline_id || (session_id !== null && item.session_id !== session_id)) return null;
    return (await this.#isOf(kind, item, place.account_id)) ? { ...found, kind } : null;
  }

  /** The note of a hit, if it passes the filters: it names no contact. */
  async note({ stream_id, signal_id }: NotePlace): Promise<{ stream: Stream; start_ms: number; text: string } | null> {
    const { contact_ids, session_id } = this.#filters;
    if (contact_ids !== null) return null;
    this.looked += 1;
    const stream = await orNull(readableStream(this.#services, this.#who, stream_id), 'NOT_FOUND');
    if (stream === null || (session_id !== null && stream.recorder?.binding_epoch !== session_id)) return null;
    const note = await readNote(this.#services, { stream_id, id: signal_id });
    return note === null ? null : { stream, ...note };
  }

  async #isOf(kind: ItemKind, item: Items[ItemKind], account_id: string): Promise<boolean> {
    if (this.#filters.contact_ids === null) return true;
    if (kind === 'conversation') {
      for (const participant of (item as Items['conversation']).participants) {
        const readable = await this.readable(participant.stream_id);
        if (readable !== null && (await this.#shows(account_id, contactOf(readable.speakers, participant))))
          return true;
      }
      return false;
    }
    for (const held of contactsOfItem(kind, item)) {
      if (await this.#shows(account_id, held)) return true;
    }
    return false;
  }

  /** Whether a contact is one of the requested ones. */
  async #shows(account_id: string, held: string | null): Promise<boolean> {
    const { contact_ids } = this.#filters;
    if (contact_ids === null) return true;
    // Nobody has contacts of others.
    if (held === null || account_id !== this.#who.account_id) return false;
    const contact = await this.insights.contact(account_id, held);
    return contact !== null && contact_ids.has(contact.id);
  }
}

/** The contacts that a suggestion or a memory names, in order. */
export function contactsOfItem(kind: ItemKind, item: Items[ItemKind]): (string | null)[] {
  if (kind === 'memory') return [(item as Items['memory']).contact_id];
  if (kind === 'conversation') return [];
  const { owner_contact_id, requester_contact_id } = (item as Items['suggestion']).roles;
  return [owner_contact_id, requester_contact_id];
}
