import type { ItemKind } from '../../../../actors/insights/library_state.js';
import type { Block } from '../../../domain/search/block.js';
import { VARIANT_WEIGHTS } from '../../../domain/search/matching.js';
import { type NotePlace, noteOf } from '../../../domain/search/places.js';
import type { IndexedPage, SearchIndex } from './search_index.js';
import { countOfCell, type TranscriptTexts, variantOfCell } from './word_places.js';

/**
 * The texts of libraries that a query hits, and their scores, by their blocks. Computed at once from memory: only hits
 * become objects.
 */

export type SearchKind = 'turn' | 'note' | ItemKind;

/** Where a hit is: a turn in a page, which has that place in `pages`, its transcript's; or an item or a note, by its member. */
export type HitPlace =
  | { index: SearchIndex; block: Block; transcript_id: string; pages: readonly IndexedPage[]; page_at: number }
  | { index: SearchIndex; block: Block; entry: string };

/** A transcript, an item or a note of a library that has hits. */
export type Holder =
  | { index: SearchIndex; transcript_id: string; pages: readonly IndexedPage[]; texts: TranscriptTexts }
  | { index: SearchIndex; block: Block; entry: string };

/** The weight of each word, and how many words a text has: what scores follow from. */
export type Weights = { idf: readonly number[]; average: number };

const SATURATION = 1.2;
const LENGTH_SHARE = 0.75;
export const KIND_OF_ENTRY: Readonly<Record<string, ItemKind>> = { c: 'conversation', m: 'memory', s: 'suggestion' };

/** The kind and number that an item's entry stands for. */
export function itemOfEntry(entry: string): { kind: ItemKind; number: number } {
  return { kind: KIND_OF_ENTRY[entry.charAt(0)] as ItemKind, number: Number.parseInt(entry.slice(1), 16) };
}
/** The number of hits that there is room for at first. */
const HITS_MIN = 512;
const KEPT_COUNTS = 3;
const KEPT_LENGTHS = 64;

function shareOf(cell: number, { length, word }: { length: number; word: number }, { idf, average }: Weights): number {
  const count = countOfCell(cell);
  const norm = SATURATION * (1 - LENGTH_SHARE + (LENGTH_SHARE * length) / average);
  const weight = (idf[word] as number) * (VARIANT_WEIGHTS[variantOfCell(cell)] as number);
  return (weight * count * (SATURATION + 1)) / (count + norm);
}

/** Texts that a query hits, one number each. Those of a transcript follow each other in their order. */
export class Hits {
  readonly #words: number;
  readonly #holders: Holder[] = [];
  #holder_of = new Uint32Array(HITS_MIN);
  #position_of = new Uint32Array(HITS_MIN);
  #length_of = new Uint16Array(HITS_MIN);
  #cells: Uint16Array;
  /** By word, variant, count and length, under the weights that they were made with; 0 for what was not asked for. */
  #shares = new Float64Array(0);
  #shares_of: Weights | null = null;
  count = 0;

  constructor(words: number) {
    this.#words = words;
    this.#cells = new Uint16Array(HITS_MIN * words);
  }

  addHolder(holder: Holder): void {
    this.#holders.push(holder);
  }

  /** Of the holder that was added last. `length`: words of the text. `cells`: from `at` on, one for each word. */
  add({ position, length }: { position: number; length: number }, cells: Uint16Array, at: number): void {
    if (this.count === this.#position_of.length) this.#grow();
    this.#holder_of[this.count] = this.#holders.length - 1;
    this.#position_of[this.count] = position;
    this.#length_of[this.count] = length;
    const own = this.count * this.#words;
    for (let word = 0; word < this.#words; word++) this.#cells[own + word] = cells[at + word] as number;
    this.count += 1;
  }

  place(hit: number): HitPlace {
    const holder = this.#holder(hit);
    if ('entry' in holder) return holder;
    const { index, transcript_id, pages, texts } = holder;
    const page_at = texts.pageOf(this.position(hit));
    return { index, transcript_id, pages, page_at, block: (pages[page_at] as IndexedPage).block };
  }

  /** Hits of turns, page by page: from a hit to before another. */
  *ofPages(): Generator<{ page: IndexedPage; from: number; to: number }> {
    for (let from = 0, to = 1; from < this.count; from = to) {
      const holder = this.#holder(from);
      to = from + 1;
      if ('entry' in holder) continue;
      const page_at = holder.texts.pageOf(this.position(from));
      const end = holder.texts.firsts[page_at + 1] as number;
      while (to < this.count && this.#holder_of[to] === this.#holder_of[from] && this.position(to) < end) to += 1;
      yield { page: holder.pages[page_at] as IndexedPage, from, to };
    }
  }

  /** Whether the hit is a turn, and of that transcript if one is given. */
  isTurn(hit: number, transcript_id?: string): boolean {
    const holder = this.#holder(hit);
    return !('entry' in holder) && (transcript_id === undefined || holder.transcript_id === transcript_id);
  }

  /** The note that the hit is; null for a turn or an item. */
  note(hit: number): NotePlace | null {
    const holder = this.#holder(hit);
    return 'entry' in holder ? noteOf(holder.entry) : null;
  }

  /** The position among all texts of its transcript. */
  position(hit: number): number {
    return this.#position_of[hit] as number;
  }

  /** The number of the text in its block. */
  text(hit: number): number {
    const holder = this.#holder(hit);
    if ('entry' in holder) return 0;
    const position = this.position(hit);
    return position - (holder.texts.firsts[holder.texts.pageOf(position)] as number);
  }

  started_ms(hit: number): number {
    const holder = this.#holder(hit);
    if ('entry' in holder) return holder.block.begins_at_ms + holder.block.start_ms(0);
    const { pages, texts } = holder;
    const position = this.position(hit);
    const page_at = texts.pageOf(position);
    const { block } = pages[page_at] as IndexedPage;
    return block.begins_at_ms + block.start_ms(position - (texts.firsts[page_at] as number));
  }

  #holder(hit: number): Holder {
    return this.#holders[this.#holder_of[hit] as number] as Holder;
  }

  /** Whether a word occurs in the text itself, in some form. */
  has(hit: number, word: number): boolean {
    return this.#cells[hit * this.#words + word] !== 0;
  }

  /** How much a word stands in the text: its count by the weight of its best variant. */
  occurrence(hit: number, word: number): number {
    const cell = this.#cells[hit * this.#words + word] as number;
    return countOfCell(cell) * (VARIANT_WEIGHTS[variantOfCell(cell)] as number);
  }

  /** The score by BM25; each word counts by its best variant in the text. */
  score(hit: number, weights: Weights): number {
    let sum = 0;
    for (let word = 0; word < this.#words; word++) sum += this.share(hit, word, weights);
    return sum;
  }

  /** The share of a word in the score. Most texts are short and have a word once: that share is cached. */
  share(hit: number, word: number, weights: Weights): number {
    const cell = this.#cells[hit * this.#words + word] as number;
    if (cell === 0) return 0;
    const count = countOfCell(cell);
    const length = this.#length_of[hit] as number;
    if (count >= KEPT_COUNTS || length >= KEPT_LENGTHS) return shareOf(cell, { length, word }, weights);
    if (this.#shares_of !== weights) {
      this.#shares = new Float64Array(this.#words * VARIANT_WEIGHTS.length * KEPT_COUNTS * KEPT_LENGTHS);
      this.#shares_of = weights;
    }
    const row = (word * VARIANT_WEIGHTS.length + variantOfCell(cell)) * KEPT_COUNTS + count;
    const at = row * KEPT_LENGTHS + length;
    const known = this.#shares[at] as number;
    if (known !== 0) return known;
    const share = shareOf(cell, { length, word }, weights);
    this.#shares[at] = share;
    return share;
  }

  #grow(): void {
    const size = this.#position_of.length * 2;
    const [holders, positions, lengths] = [new Uint32Array(size), new Uint32Array(size), new Uint16Array(size)];
    const cells = new Uint16Array(size * this.#words);
    holders.set(this.#holder_of);
    positions.set(this.#position_of);
    lengths.set(this.#length_of);
    cells.set(this.#cells);
    [this.#holder_of, this.#position_of, this.#length_of, this.#cells] = [holders, positions, lengths, cells];
  }
}
