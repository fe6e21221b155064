import { LRUCache } from 'lru-cache';
import type { Block } from '../../../domain/search/block.js';
import { AS_IT_IS, BY_SOUND, BY_STEM, type OtherTerm, type QueryWord } from '../../../domain/search/matching.js';
import type { Stemmer } from '../../../domain/search/stemmers.js';
import { type PageVectors, quantized } from '../../../domain/search/vectors.js';

/** Places of words in texts. Those of transcripts are cached: their blocks never change. */

const SEARCH_PLACES_BYTES = 64 * 1024 * 1024; // ours: of where searched words stand in transcripts, kept in one process

/**
 * The places of a word in a transcript: positions among all of its texts, in order. Each has a cell with the best
 * variant of the word and its count, and the number of words of the text.
 */
export type WordPlaces = { texts: Uint32Array; cells: Uint16Array; lengths: Uint16Array };

/** The bits of a cell's count; the bits above hold the variant. */
const COUNT_BITS = 12;
const COUNT_MAX = 2 ** COUNT_BITS - 1;

export function variantOfCell(cell: number): number {
  return cell >>> COUNT_BITS;
}

export function countOfCell(cell: number): number {
  return cell & COUNT_MAX;
}

/** The cell of a text that counts once as having the word as it is. */
export const ONCE_AS_IT_IS = (AS_IT_IS << COUNT_BITS) | 1;

const NOWHERE = placesOf([]);
/** Bytes of an entry besides its arrays. */
const ENTRY_BYTES = 300;
const PLACE_BYTES = 8;
const TRANSCRIPT_BYTES_MAX = SEARCH_PLACES_BYTES / 4;

/** The block of a page in the index. */
type PageBlock = { block: Block };

export type WordPlace = { text: number; cell: number; length: number };

/** Places in their order. */
export function placesOf(places: readonly WordPlace[]): WordPlaces {
  return {
    texts: Uint32Array.from(places, ({ text }) => text),
    cells: Uint16Array.from(places, ({ cell }) => cell),
    lengths: Uint16Array.from(places, ({ length }) => length),
  };
}

/** The texts of a transcript together, valid while its pages are these. */
export class TranscriptTexts {
  /** The position of each page's first text, and the number of all texts. */
  readonly firsts: Uint32Array;
  /** Words of all texts. */
  readonly words: number;
  readonly places = new Map<string, WordPlaces>();
  /** Bytes of all places, with their overhead. */
  bytes = 0;

  constructor(pages: readonly PageBlock[]) {
    this.firsts = new Uint32Array(pages.length + 1);
    let words = 0;
    for (const [at, { block }] of pages.entries()) {
      this.firsts[at + 1] = (this.firsts[at] as number) + block.texts;
      words += block.words;
    }
    this.words = words;
  }

  get count(): number {
    return this.firsts.at(-1) as number;
  }

  forget(): void {
    this.places.clear();
    this.bytes = 0;
  }

  /** The index of the page that holds a position. */
  pageOf(position: number): number {
    let low = 0;
    let high = this.firsts.length - 1;
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if ((this.firsts[middle] as number) <= position) low = middle;
      else high = middle;
    }
    return low;
  }
}

/** The texts of recently searched transcripts, with the places of words in them. */
export class SearchedTexts {
  readonly #by_pages = new WeakMap<readonly PageBlock[], TranscriptTexts>();
  readonly #means = new WeakMap<PageVectors, Int8Array>();
  /** The bytes of transcripts' places. */
  readonly #bytes = new LRUCache<TranscriptTexts, number>({
    maxSize: SEARCH_PLACES_BYTES,
    sizeCalculation: (bytes) => bytes,
    noDisposeOnSet: true,
    dispose: (_bytes, texts) => texts.forget(),
  });

  of(pages: readonly PageBlock[]): TranscriptTexts {
    const known = this.#by_pages.get(pages) ?? new TranscriptTexts(pages);
    this.#by_pages.set(pages, known);
    return known;
  }

  /** The direction of all vectors of a page together. */
  meanOf(vectors: PageVectors): Int8Array {
    const known = this.#means.get(vectors);
    if (known !== undefined) return known;
    const sums = new Float64Array(vectors.dimension);
    for (let nth = 0; nth < vectors.count; nth++)
      for (const [at, value] of vectors.vectorAt(nth).entries()) sums[at] = (sums[at] as number) + value;
    const mean = quantized([...sums]) ?? new Int8Array(vectors.dimension);
    this.#means.set(vectors, mean);
    return mean;
  }

  /** The places of a word, if they are cached. */
  placesOf(texts: TranscriptTexts, key: string): WordPlaces | undefined {
    const known = texts.places.get(key);
    if (known !== undefined) this.#bytes.get(texts);
    return known;
  }

  keep(texts: TranscriptTexts, key: string, places: WordPlaces): void {
    const bytes = ENTRY_BYTES + key.length + places.texts.length * PLACE_BYTES;
    if (bytes > TRANSCRIPT_BYTES_MAX) return;
    if (texts.bytes + bytes > TRANSCRIPT_BYTES_MAX) texts.forget();
    texts.places.set(key, places);
    texts.bytes += bytes;
    this.#bytes.set(texts, texts.bytes);
  }
}

function isAtAnyTime({ from_ms, to_ms }: OtherTerm): boolean {
  return from_ms === undefined && to_ms === undefined;
}

function isTimeOf({ begins_at_ms }: Block, { from_ms, to_ms }: OtherTerm): boolean {
  return (from_ms === undefined || begins_at_ms >= from_ms) && (to_ms === undefined || begins_at_ms <= to_ms);
}

/** Reads places of words. One read at a time: its buffers are reused. */
export class PlaceReader {
  /** How a word stands in each text of a block. */
  #cells = new Uint16Array(0);
  #having = new Uint16Array(0);
  /** Postings of one term. */
  #places = new Uint16Array(0);
  #counts = new Uint16Array(0);

  /** The places in all texts of a transcript. */
  inPages(searched_texts: SearchedTexts, pages: readonly PageBlock[], word: QueryWord): WordPlaces {
    if (!word.others.every(isAtAnyTime)) return this.#readPages(pages, word);
    const texts = searched_texts.of(pages);
    const known = searched_texts.placesOf(texts, word.key);
    if (known !== undefined) return known;
    const found = this.#readPages(pages, word);
    searched_texts.keep(texts, word.key, found);
    return found;
  }

  /** The cell of a word in the only text of an item; 0 if the word does not occur. `about`: terms that count little. */
  inItem(block: Block, word: QueryWord, about: readonly number[] = []): number {
    this.#makeRoom(block);
    this.#fill(block, word);
    // What it says outright counts for more.
    for (const term of about) if (this.#cells[0] === 0) this.#put(block, term, BY_SOUND);
    const cell = this.#cells[0] as number;
    this.#cells[0] = 0;
    return cell;
  }

  /** Whether each text of a block has any of the terms. */
  havingAny(block: Block, terms: readonly number[]): Uint8Array {
    this.#makeRoom(block);
    const having = new Uint8Array(block.texts);
    for (const term of terms) {
      const found = block.readPostings(term, this.#places, this.#counts);
      for (let one = 0; one < found; one++) having[this.#places[one] as number] = 1;
    }
    return having;
  }

  #readPages(pages: readonly PageBlock[], word: QueryWord): WordPlaces {
    const places: WordPlace[] = [];
    let first = 0;
    for (const { block } of pages) {
      this.#makeRoom(block);
      if (this.#fill(block, word)) {
        for (let text = 0; text < block.texts; text++) {
          const cell = this.#cells[text] as number;
          if (cell !== 0) places.push({ text: first + text, cell, length: block.length(text) });
        }
        this.#cells.fill(0, 0, block.texts);
      }
      first += block.texts;
    }
    return places.length === 0 ? NOWHERE : placesOf(places);
  }

  #makeRoom({ texts }: Block): void {
    if (this.#cells.length >= texts) return;
    this.#cells = new Uint16Array(texts);
    this.#having = new Uint16Array(texts);
    this.#places = new Uint16Array(texts);
    this.#counts = new Uint16Array(texts);
  }

  /** Notes how a word stands in a block's texts; false where it stands in none. */
  #fill(block: Block, word: QueryWord): boolean {
    let is_there = false;
    // The better variants come later.
    if (word.beginning !== 0) is_there = this.#put(block, word.beginning, BY_SOUND) || is_there;
    for (const sound of word.sounds) is_there = this.#put(block, sound, BY_SOUND) || is_there;
    for (const other of word.others)
      if (isTimeOf(block, other)) is_there = this.#put(block, other.term, other.variant) || is_there;
    if (word.pairs.length > 0) is_there = this.#putWhole(block, word.pairs) || is_there;
    for (const stemmer of block.stemmers) {
      const { inflected, plain } = word.stems(stemmer);
      const only = block.stemmers.length > 1 ? stemmer : null;
      is_there = this.#put(block, inflected, BY_STEM, only) || is_there;
      if (plain !== 0) is_there = this.#put(block, plain, BY_STEM, only) || is_there;
    }
    return this.#put(block, word.term, AS_IT_IS) || is_there;
  }

  /** `only`: only texts of that stemmer. */
  #put(block: Block, term: number, variant: number, only: Stemmer | null = null): boolean {
    const found = block.readPostings(term, this.#places, this.#counts);
    for (let one = 0; one < found; one++) {
      const text = this.#places[one] as number;
      if (only === null || block.stemmer(text) === only) this.#note(text, this.#counts[one] as number, variant);
    }
    return found > 0;
  }

  /** Notes texts that have all parts of a word. Whether these stand together, whoever reads the texts sees. */
  #putWhole(block: Block, parts: readonly number[]): boolean {
    const having = this.#having.fill(0, 0, block.texts);
    for (const part of parts) {
      const found = block.readPostings(part, this.#places, this.#counts);
      if (found === 0) return false;
      for (let one = 0; one < found; one++) {
        const text = this.#places[one] as number;
        having[text] = (having[text] as number) + 1;
      }
    }
    for (let text = 0; text < block.texts; text++) if (having[text] === parts.length) this.#note(text, 1, BY_STEM);
    return true;
  }

  #note(text: number, count: number, variant: number): void {
    const before = this.#cells[text] as number;
    if (before >>> COUNT_BITS > variant) return;
    const known = before >>> COUNT_BITS === variant ? before & COUNT_MAX : 0;
    this.#cells[text] = (variant << COUNT_BITS) | Math.min(COUNT_MAX, known + count);
  }
}
