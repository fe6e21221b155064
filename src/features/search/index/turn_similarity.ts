import { type PageVectors, similarity } from '../../../domain/search/vectors.js';
import type { Slices } from '../../../engine/time/slices.js';
import { type SearchScope, searchedTranscripts } from './evaluate.js';
import type { IndexedPage, SearchIndex } from './search_index.js';
import type { TranscriptTexts } from './word_places.js';

/** How alike turns and a question are, by vectors. Only pages that may hold an answer are scanned. */

const SCANNED_TURNS_MAX = 6_000; // ours: of one question, about 5 ms; of more, the pages that are most alike as a whole

/**
 * The question's vector, with the model that made it. `sought`: the vector that its answers are like, where that was
 * learned for the model; else the same.
 */
export type QuestionVector = { vector: Int8Array; sought: Int8Array; model: number };

type Bounds = { from_ms: number; to_ms: number };

/** A page with its place in its transcript. */
type PlacedPage = { transcript: TranscriptSimilarity; page_at: number; vectors: PageVectors; mean: number };

/** The mean, the spread and the greatest of some similarities. */
export type Spread = { mean: number; deviation: number; most: number };

const SAMPLE_EVERY = 16;

/** Similarities of one transcript's turns to what is sought, by position; NaN where none is known yet, or none can be. */
export class TranscriptSimilarity {
  readonly #question: QuestionVector;
  readonly #bounds: Bounds;
  /** Made when the first is known: most transcripts of a large account are never looked at. */
  #of_turn: Float32Array | null = null;
  /** Of the mean of each page that has vectors. */
  readonly of_page = new Map<number, number>();

  constructor(
    readonly transcript_id: string,
    readonly pages: readonly IndexedPage[],
    readonly texts: TranscriptTexts,
    question: QuestionVector,
    bounds: Bounds,
  ) {
    this.#question = question;
    this.#bounds = bounds;
  }

  /** Of a turn, computed where it is not known; NaN outside of the transcript and of the bounds, and without a vector. */
  turn(position: number): number {
    if (position < 0 || position >= this.texts.count) return Number.NaN;
    const known = this.known(position);
    if (!Number.isNaN(known)) return known;
    const vector = this.#vectorAt(position);
    if (vector === null) return Number.NaN;
    const found = similarity(this.#question.sought, vector);
    this.#ofTurns()[position] = found;
    return found;
  }

  /** The similarity of a turn to the question itself. */
  plain(position: number): number {
    const vector = position < 0 || position >= this.texts.count ? null : this.#vectorAt(position);
    return vector === null ? Number.NaN : similarity(this.#question.vector, vector);
  }

  #vectorAt(position: number): Int8Array | null {
    const page_at = this.texts.pageOf(position);
    const vectors = this.usable(page_at);
    const text = position - (this.texts.firsts[page_at] as number);
    const nth = vectors === null ? null : windowOf(vectors, text);
    return vectors === null || nth === null || !this.#isInside(page_at, text) ? null : vectors.vectorAt(nth);
  }

  /** Of a turn as far as it is known; nothing is computed. */
  known(position: number): number {
    return this.#of_turn?.[position] ?? Number.NaN;
  }

  scan(page_at: number): void {
    const begin = this.texts.firsts[page_at] as number;
    const { texts } = (this.pages[page_at] as IndexedPage).block;
    const of_turns = this.#ofTurns();
    const vectors = this.usable(page_at);
    for (let nth = 0; nth < (vectors?.count ?? 0); nth++) {
      const { first, last } = (vectors as PageVectors).windowAt(nth);
      if (last >= texts) continue;
      const near = similarity(this.#question.sought, (vectors as PageVectors).vectorAt(nth));
      for (let text = first; text <= last; text++) if (this.#isInside(page_at, text)) of_turns[begin + text] = near;
    }
  }

  #ofTurns(): Float32Array {
    this.#of_turn ??= new Float32Array(this.texts.count).fill(Number.NaN);
    return this.#of_turn;
  }

  /** Whether a turn of the page began within the bounds. */
  hasTurnInside(page_at: number): boolean {
    const { block } = this.pages[page_at] as IndexedPage;
    const { from_ms, to_ms } = this.#bounds;
    if (block.begins_at_ms > to_ms) return false;
    return from_ms === Number.NEGATIVE_INFINITY || block.begins_at_ms + block.start_ms(block.texts - 1) >= from_ms;
  }

  #isInside(page_at: number, text: number): boolean {
    const { from_ms, to_ms } = this.#bounds;
    if (from_ms === Number.NEGATIVE_INFINITY && to_ms === Number.POSITIVE_INFINITY) return true;
    const { block } = this.pages[page_at] as IndexedPage;
    const started_ms = block.begins_at_ms + block.start_ms(text);
    return started_ms >= from_ms && started_ms <= to_ms;
  }

  isOfOtherModel(page_at: number): boolean {
    const model = this.pages[page_at]?.vectors?.model;
    return model !== undefined && model !== this.#question.model;
  }

  /** The vectors of a page if the question's model made them. */
  usable(page_at: number): PageVectors | null {
    const vectors = this.pages[page_at]?.vectors ?? null;
    const { model, vector } = this.#question;
    return vectors !== null && vectors.model === model && vectors.dimension === vector.length ? vectors : null;
  }
}

/** The similarities of the turns of a scope to a question. */
export class TurnSimilarities {
  readonly #question: QuestionVector;
  readonly #bounds: Bounds;
  readonly #by_transcript = new Map<string, TranscriptSimilarity>();
  /** Transcripts with vectors of another model. */
  readonly others = new Set<string>();
  /** Pages that were scanned. */
  readonly scanned: PlacedPage[] = [];
  /** Of the turns that were scanned. */
  turns: Spread = { mean: 0, deviation: 1, most: 0 };
  /** The same to the question itself, of some of them. */
  plain: Spread = { mean: 0, deviation: 1, most: 0 };
  /** Of all pages' means. */
  pages: Spread = { mean: 0, deviation: 1, most: 0 };

  private constructor(question: QuestionVector, bounds: Bounds) {
    this.#question = question;
    this.#bounds = bounds;
  }

  /** Of turns that began within the bounds. In slices. */
  static async of(
    scope: SearchScope,
    question: QuestionVector,
    { bounds, slices }: { bounds: Bounds; slices: Slices },
  ): Promise<TurnSimilarities> {
    const found = new TurnSimilarities(question, bounds);
    const pages: PlacedPage[] = [];
    for (const index of scope.indexes)
      for (const [transcript_id, of_transcript] of searchedTranscripts(index, scope)) {
        await slices.pause();
        pages.push(...found.#place(index, transcript_id, of_transcript));
      }
    found.pages = spreadOf(pages.map(({ mean }) => mean));
    let turns = 0;
    pages.sort((a, b) => b.mean - a.mean);
    for (const page of pages) {
      turns += page.vectors.count;
      if (turns > SCANNED_TURNS_MAX && found.scanned.length > 0) break;
      await slices.pause();
      page.transcript.scan(page.page_at);
      found.scanned.push(page);
    }
    found.turns = spreadOf(found.#known());
    found.plain = spreadOf(found.#sampled());
    return found;
  }

  /** Null for a transcript outside of the scope. */
  transcript(transcript_id: string): TranscriptSimilarity | null {
    return this.#by_transcript.get(transcript_id) ?? null;
  }

  /** Positions of the scanned turns, page by page. */
  *positions(): Generator<{ transcript: TranscriptSimilarity; from: number; to: number }> {
    for (const { transcript, page_at } of this.scanned) {
      const from = transcript.texts.firsts[page_at] as number;
      yield { transcript, from, to: transcript.texts.firsts[page_at + 1] as number };
    }
  }

  #place(index: SearchIndex, transcript_id: string, pages: readonly IndexedPage[]): PlacedPage[] {
    const texts = index.searched_texts.of(pages);
    const transcript = new TranscriptSimilarity(transcript_id, pages, texts, this.#question, this.#bounds);
    this.#by_transcript.set(transcript_id, transcript);
    return pages.flatMap((_, page_at) => {
      const vectors = transcript.usable(page_at);
      if (transcript.isOfOtherModel(page_at)) this.others.add(transcript_id);
      if (vectors === null || vectors.count === 0 || !transcript.hasTurnInside(page_at)) return [];
      const mean = similarity(this.#question.vector, index.searched_texts.meanOf(vectors));
      transcript.of_page.set(page_at, mean);
      return [{ transcript, page_at, vectors, mean }];
    });
  }

  *#sampled(): Generator<number> {
    for (const { transcript, from, to } of this.positions())
      for (let position = from; position < to; position += SAMPLE_EVERY) {
        const one = transcript.plain(position);
        if (!Number.isNaN(one)) yield one;
      }
  }

  *#known(): Generator<number> {
    for (const { transcript, from, to } of this.positions())
      for (let position = from; position < to; position++) {
        const one = transcript.known(position);
        if (!Number.isNaN(one)) yield one;
      }
  }
}

/** The window of a turn; null for a turn without one. */
function windowOf(vectors: PageVectors, text: number): number | null {
  const isIn = (nth: number) => {
    if (nth >= vectors.count) return false;
    const { first, last } = vectors.windowAt(nth);
    return first <= text && text <= last;
  };
  // Usually a turn has a vector of its own.
  if (isIn(text)) return text;
  for (let nth = 0; nth < vectors.count; nth++) if (isIn(nth)) return nth;
  return null;
}

function spreadOf(values: Iterable<number>): Spread {
  let [count, sum, squares, most] = [0, 0, 0, Number.NEGATIVE_INFINITY];
  for (const value of values) {
    count += 1;
    sum += value;
    squares += value * value;
    most = Math.max(most, value);
  }
  if (count === 0) return { mean: 0, deviation: 1, most: 0 };
  const mean = sum / count;
  return { mean, deviation: Math.sqrt(Math.max(1e-6, squares / count - mean * mean)), most };
}
