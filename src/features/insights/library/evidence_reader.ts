import type {
  Conversation,
  ItemKind,
  Items,
  Memory,
  Span,
  Suggestion,
} from '../../../../actors/insights/library_state.js';
import { withoutSpeech } from '../../../../actors/insights/library_withdrawal.js';
import {
  heardText,
  type PageTurn,
  pageOf,
  type TranscriptPage,
} from '../../../../actors/transcripts/transcript_page.js';
import { fits } from '../../../../actors/transcripts/transcript_spans.js';
import { type Interval, shared } from '../../../domain/intervals.js';
import { LIMITS } from '../../../domain/limits.js';
import { orNull, orRefused } from '../../../domain/refusals.js';
import type { Actors } from '../../../engine/runtime/actors.js';
import {
  type OfPipeline,
  type ReadableTranscript,
  somePages,
  type TranscriptReader,
} from '../../transcripts/transcript_pages.js';
import { cleanText } from '../engines/clean_text.js';

/** The present turns of a span. `readable`: null if the recording or its source is deleted. */
export type SpokenEvidence = {
  readable: ReadableTranscript | null;
  turns: { page: number; turn: PageTurn }[];
  has_expired: boolean;
  /** Whether a person deleted a turn in the span. */
  has_deleted: boolean;
};

/**
 * An item as callers see it. `is_forgotten`: people have deleted speech that it rests on, so its former values are not
 * shown.
 */
export type StandingItem<Kind extends ItemKind> = {
  item: Items[Kind];
  is_forgotten: boolean;
  /** The places of the summary's sentences that are removed, if the conversation stays. */
  gone_sentences?: number[];
};

type ReadTranscript = (stream_id: string, of: OfPipeline) => Promise<ReadableTranscript>;

/**
 * Reads the evidence of items, and whether people have deleted it. Retention removes quotations only; a deletion by a
 * person also removes what was made of the words (docs/areas.md, "Deleted speech"). Each page of a transcript is read
 * once.
 */
export class EvidenceReader {
  readonly #reader: TranscriptReader;
  readonly #readTranscript: ReadTranscript;
  readonly #transcripts = new Map<string, ReadableTranscript | null>();
  /** By transcript; null for a page that does not exist. */
  readonly #pages = new Map<string, Map<number, TranscriptPage | null>>();

  constructor(reader: TranscriptReader, readTranscript: ReadTranscript) {
    this.#reader = reader;
    this.#readTranscript = readTranscript;
  }

  /** The transcript of a recording by a pipeline; null if it or the source is gone. */
  async readable(stream_id: string, pipeline_id: string | null): Promise<ReadableTranscript | null> {
    const key = `${stream_id} ${pipeline_id ?? ''}`;
    const known = this.#transcripts.get(key);
    if (known !== undefined) return known;
    const found = await orNull(this.#readTranscript(stream_id, { pipeline_id, or_default: true }), 'NOT_FOUND');
    this.#transcripts.set(key, found);
    return found;
  }

  async evidence({ stream_id, start_ms, end_ms }: Span, pipeline_id: string | null): Promise<SpokenEvidence> {
    const readable = await this.readable(stream_id, pipeline_id);
    const pages = readable === null ? [] : await this.#pagesIn(readable, { start_ms, end_ms });
    const span: Interval = [start_ms, Math.max(end_ms, start_ms + 1)];
    const isThere = (one: { start_ms: number; end_ms: number }) => shared(timeOf(one), span) > 0;
    return {
      readable,
      turns: pages.flatMap((page) => page.turns.filter(isThere).map((turn) => ({ page: page.number, turn }))),
      has_expired: pages.some((page) => page.expired.spans.some((gone) => shared(gone, span) > 0)),
      has_deleted: pages.some((page) => page.corrections.some((one) => one.kind === 'deleted' && isThere(one))),
    };
  }

  /** The item as callers see it; null if nothing of it is left. */
  async standing<Kind extends ItemKind>(kind: Kind, item: Items[Kind]): Promise<StandingItem<Kind> | null> {
    const is_left = kind !== 'conversation' || (await this.#isLeft(item as Conversation));
    // Whatever a person called it: there is nothing that it could be of.
    if (!is_left) return null;
    const forgotten = await this.#forgottenIn(kind, item);
    if (forgotten === null) return { item, is_forgotten: false };
    const without = withoutSpeech(kind, item, { is_left, ...forgotten });
    return without === null ? null : { item: without, is_forgotten: true, ...forgotten };
  }

  /** Whether people have deleted all of a conversation, by recording or by turn. */
  async isDeleted({ parts, pipeline_id }: Conversation): Promise<boolean> {
    return this.#isAllDeleted(parts, pipeline_id);
  }

  /** Whether a recording of a conversation is left. */
  async #isLeft({ parts, pipeline_id }: Conversation): Promise<boolean> {
    for (const { stream_id } of parts) {
      const readable = await this.readable(stream_id, pipeline_id);
      if (readable !== null) return true;
    }
    return false;
  }

  /** Null if nothing of the item is removed; empty if all of it is. */
  async #forgottenIn<Kind extends ItemKind>(
    kind: Kind,
    item: Items[Kind],
  ): Promise<{ gone_sentences?: number[] } | null> {
    if (await this.#isForgotten(kind, item)) return {};
    if (kind !== 'conversation' || (item as Conversation).made_by === 'extractive') return null;
    const gone_sentences: number[] = [];
    for (const [at, { evidence }] of (item as Conversation).sentences.entries())
      if (await this.#isAllDeleted(evidence, item.pipeline_id)) gone_sentences.push(at);
    return gone_sentences.length === 0 ? null : { gone_sentences };
  }

  async #isForgotten<Kind extends ItemKind>(kind: Kind, item: Items[Kind]): Promise<boolean> {
    if (kind === 'memory') return this.#isAllDeleted((item as Memory).evidence, item.pipeline_id);
    if (kind === 'suggestion') {
      const { made_by, evidence, pipeline_id } = item as Suggestion;
      if (made_by === 'person') return false;
      return made_by === 'extractive'
        ? this.#isQuotationDeleted(item as Suggestion)
        : this.#isAllDeleted(evidence, pipeline_id);
    }
    const { made_by, parts, pipeline_id } = item as Conversation;
    if (made_by !== 'extractive') return false;
    for (const { stream_id } of parts) {
      const readable = await this.readable(stream_id, pipeline_id);
      if (readable === null) return true;
    }
    return false;
  }

  /**
   * A sentence is removed with its turn, unless another turn there says it, or said it before its text was corrected.
   */
  async #isQuotationDeleted({ text, evidence, pipeline_id }: Suggestion): Promise<boolean> {
    for (const span of evidence) {
      const found = await this.evidence(span, pipeline_id);
      const { readable, turns, has_deleted } = found;
      if (readable === null) return true;
      const says = ({ turn }: SpokenEvidence['turns'][number]) =>
        [turn.text, heardText(turn)].some((said) => cleanText(said).includes(text));
      if (has_deleted && !turns.some(says)) return true;
    }
    return false;
  }

  /** Whether no evidence is left and people have deleted some. */
  async #isAllDeleted(spans: readonly Span[], pipeline_id: string | null): Promise<boolean> {
    let is_deleted = false;
    for (const span of spans) {
      const found = await this.evidence(span, pipeline_id);
      const { readable, turns, has_deleted } = found;
      if (turns.some(({ turn }) => fits(span, turn))) return false;
      is_deleted ||= readable === null || has_deleted;
    }
    return is_deleted;
  }

  /** The pages that may hold turns of a span; a turn may begin in the page before. */
  async #pagesIn(
    readable: ReadableTranscript,
    { start_ms, end_ms }: { start_ms: number; end_ms: number },
  ): Promise<TranscriptPage[]> {
    const known = this.#pages.get(readable.id) ?? new Map<number, TranscriptPage | null>();
    this.#pages.set(readable.id, known);
    const first = Math.max(0, pageOf(start_ms) - 1);
    const last = Math.min(Math.max(first, pageOf(end_ms)), LIMITS.transcript_pages_max);
    const numbers = Array.from({ length: last - first + 1 }, (_, at) => first + at);
    const missing = numbers.filter((number) => !known.has(number));
    const [from] = missing;
    if (from !== undefined) {
      const pages = await somePages(this.#reader, readable, { page: from, limit: missing.length });
      for (const number of missing) known.set(number, null);
      for (const page of pages) known.set(page.number, page);
    }
    return numbers.flatMap((number) => known.get(number) ?? []);
  }
}

function timeOf({ start_ms, end_ms }: { start_ms: number; end_ms: number }): Interval {
  return [start_ms, Math.max(end_ms, start_ms + 1)];
}

/** The start of a recording's timeline, ms; null for a recording that is gone. */
export async function timelineBegin(
  { actors }: { actors: Pick<Actors, 'stream'> },
  stream_id: string,
): Promise<number | null> {
  const stream = await actors.stream(stream_id).view().catch(orRefused(null));
  return stream === null ? null : Date.parse(stream.captured_at);
}
