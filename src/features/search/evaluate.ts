import type { ItemKind } from '../../../actors/insights/library_state.js';
import { pipelineOutputId } from '../../domain/ids.js';
import type { Block } from '../../domain/search/block.js';
import {
  AS_IT_IS,
  BY_SOUND,
  BY_STEM,
  type OtherTerm,
  type QueryWord,
  VARIANT_WEIGHTS,
} from '../../domain/search/matching.js';
import { pipelineNumberOf } from '../../domain/search/places.js';
import type { Stemmer } from '../../domain/search/stemmers.js';
import type { Slices } from '../../engine/time/slices.js';
import type { IndexedPage, SearchIndex } from './search_index.js';

/**
 * Which texts of libraries a query hits, by what their blocks say, and how well. It is computed at once from what is in
 * memory: of texts that are no hit no object is made.
 */

export type SearchKind = 'turn' | ItemKind;

/** The indexes that are searched, and counted for the weight of words. */
export type SearchScope = {
  indexes: readonly SearchIndex[];
  kinds: ReadonlySet<SearchKind>;
  /** The number of the pipeline whose own it must be; 0 for the default one. */
  pipeline: number;
  source_id: string | null;
  deleted_sources: ReadonlySet<string>;
};

/** Whose words turns are: by transcript which of its speakers they are, and they themselves where a person named them. */
export type Voices = { contact_ids: ReadonlySet<string>; speakers: ReadonlyMap<string, ReadonlySet<number>> };

export type Wanted = {
  /** At most as many as a number of 16 bits can tell apart. Without any every text is a hit. */
  words: readonly QueryWord[];
  /** Whether all of them must stand in a text or beside it, or any in it. */
  match: 'all' | 'any';
  /** Places of the words that must stand in the text itself as they are. */
  exact: readonly number[];
  /** Terms that must not stand there. */
  excluded: readonly number[];
  from_ms: number;
  to_ms: number;
  /** By the place of a word that is somebody's name: what they say counts as if the word stood there. */
  said_by?: ReadonlyMap<number, Voices>;
  /** By the place of a word: terms of suggestions that it is about. */
  about?: ReadonlyMap<number, readonly number[]>;
};

/** A page or an item with hits. `page_at`: its place in `pages`, which are a transcript's. */
export type HitPlace =
  | { index: SearchIndex; block: Block; transcript_id: string; pages: readonly IndexedPage[]; page_at: number }
  | { index: SearchIndex; block: Block; entry: string };

/** The weight of each word, and how many words a text has: what scores follow from. */
export type Weights = { idf: readonly number[]; average: number };

const SATURATION = 1.2;
const LENGTH_SHARE = 0.75;
/** The bits of a match's count; its variant lies above them. */
const COUNT_BITS = 12;
const COUNT_MAX = 2 ** COUNT_BITS - 1;
const KIND_OF_ENTRY: Readonly<Record<string, ItemKind>> = { c: 'conversation', m: 'memory', s: 'suggestion' };

/** The kind and number that an item's entry stands for. */
export function itemOfEntry(entry: string): { kind: ItemKind; number: number } {
  return { kind: KIND_OF_ENTRY[entry.charAt(0)] as ItemKind, number: Number.parseInt(entry.slice(1), 16) };
}

function isTimeOf({ begins_at_ms }: Block, { from_ms, to_ms }: OtherTerm): boolean {
  return (from_ms === undefined || begins_at_ms >= from_ms) && (to_ms === undefined || begins_at_ms <= to_ms);
}

const ITEMS_A_STEP = 100;
const KEPT_COUNTS = 8;
const KEPT_LENGTHS = 128;

function shareOf(cell: number, { length, word }: { length: number; word: number }, { idf, average }: Weights): number {
  const count = cell & COUNT_MAX;
  const norm = SATURATION * (1 - LENGTH_SHARE + (LENGTH_SHARE * length) / average);
  const weight = (idf[word] as number) * (VARIANT_WEIGHTS[cell >>> COUNT_BITS] as number);
  return (weight * count * (SATURATION + 1)) / (count + norm);
}

/** Texts that a query hits, one number each. */
export class Hits {
  readonly #words: number;
  readonly #places: HitPlace[] = [];
  #place_of = new Uint32Array(64);
  #text_of = new Uint16Array(64);
  #cells: Uint16Array;
  /** By word, variant, count and length, under the weights that they were made with; 0 for what was not asked for. */
  #shares = new Float64Array(0);
  #shares_of: Weights | null = null;
  count = 0;

  constructor(words: number) {
    this.#words = words;
    this.#cells = new Uint16Array(64 * words);
  }

  addPlace(place: HitPlace): void {
    this.#places.push(place);
  }

  /** Of the place that was added last. `cells`: of each word, one of so many. */
  add(text: number, cells: Uint16Array, at: number, stride: number): void {
    if (this.count === this.#text_of.length) this.#grow();
    this.#place_of[this.count] = this.#places.length - 1;
    this.#text_of[this.count] = text;
    const own = this.count * this.#words;
    for (let word = 0; word < this.#words; word++) this.#cells[own + word] = cells[at + word * stride] as number;
    this.count += 1;
  }

  place(hit: number): HitPlace {
    return this.#places[this.#place_of[hit] as number] as HitPlace;
  }

  /** Which text of its block. */
  text(hit: number): number {
    return this.#text_of[hit] as number;
  }

  started_ms(hit: number): number {
    const { block } = this.place(hit);
    return block.begins_at_ms + block.start_ms(this.text(hit));
  }

  /** Whether a word stands in the text itself, in some form. */
  has(hit: number, word: number): boolean {
    return this.#cells[hit * this.#words + word] !== 0;
  }

  /** BM25, each word by the best way in which it stands there. */
  score(hit: number, weights: Weights): number {
    let sum = 0;
    for (let word = 0; word < this.#words; word++) sum += this.share(hit, word, weights);
    return sum;
  }

  /** The share of a word in the score. Most texts are short and have a word once: that share is cached. */
  share(hit: number, word: number, weights: Weights): number {
    const cell = this.#cells[hit * this.#words + word] as number;
    if (cell === 0) return 0;
    const count = cell & COUNT_MAX;
    const length = this.place(hit).block.length(this.text(hit));
    if (count >= KEPT_COUNTS || length >= KEPT_LENGTHS) return shareOf(cell, { length, word }, weights);
    if (this.#shares_of !== weights) {
      this.#shares = new Float64Array(this.#words * VARIANT_WEIGHTS.length * KEPT_COUNTS * KEPT_LENGTHS);
      this.#shares_of = weights;
    }
    const row = (word * VARIANT_WEIGHTS.length + (cell >>> COUNT_BITS)) * KEPT_COUNTS + count;
    const at = row * KEPT_LENGTHS + length;
    const known = this.#shares[at] as number;
    if (known !== 0) return known;
    const share = shareOf(cell, { length, word }, weights);
    this.#shares[at] = share;
    return share;
  }

  #grow(): void {
    const size = this.#text_of.length * 2;
    const [place_of, text_of] = [new Uint32Array(size), new Uint16Array(size)];
    const cells = new Uint16Array(size * this.#words);
    place_of.set(this.#place_of);
    text_of.set(this.#text_of);
    cells.set(this.#cells);
    [this.#place_of, this.#text_of, this.#cells] = [place_of, text_of, cells];
  }
}

/**
 * Of words that stand in a large part of a block's texts: in how many. Most queries have one of those, and blocks never
 * change.
 */
const common_words = new WeakMap<Block, Map<string, number>>();
/** Common is what stands in more than one of so many texts. */
const COMMON_PART = 8;
/** Words of one block. */
const COMMON_MAX = 64;

function keepCommon(block: Block, key: string, count: number): void {
  const known = common_words.get(block) ?? new Map<string, number>();
  if (known.size === 0) common_words.set(block, known);
  if (known.size < COMMON_MAX) known.set(key, count);
}

/** `found`: in how many texts each word stands, whether or not these are hits. */
export function evaluate(
  scope: SearchScope,
  wanted: Wanted,
): { hits: Hits; weights: Weights; found: readonly number[] } {
  const search = new Evaluation(scope, wanted);
  for (const index of scope.indexes) for (const _ of search.steps(index));
  return { hits: search.hits, weights: search.weights, found: search.found };
}

/** The same in slices: an account may have a million turns. */
export async function evaluateInSlices(
  scope: SearchScope,
  wanted: Wanted,
  slices: Slices,
): Promise<ReturnType<typeof evaluate>> {
  const search = new Evaluation(scope, wanted);
  for (const index of scope.indexes) for (const _ of search.steps(index)) await slices.pause();
  return { hits: search.hits, weights: search.weights, found: search.found };
}

/** Transcripts of an index whose turns are searched. */
export function* searchedTranscripts(
  index: SearchIndex,
  scope: SearchScope,
): Generator<[string, readonly IndexedPage[]]> {
  const { pipeline } = scope;
  const deleted =
    pipeline === 0
      ? index.deleted_streams
      : new Set([...index.deleted_streams].map((stream_id) => pipelineOutputId(stream_id, pipeline)));
  for (const [transcript_id, pages] of index.transcripts)
    if (pipelineNumberOf(transcript_id) === pipeline && !deleted.has(transcript_id) && hasSource(pages, scope))
      yield [transcript_id, pages];
}

function hasSource([first]: readonly IndexedPage[], { source_id, deleted_sources }: SearchScope): boolean {
  if (first === undefined) return false;
  if (source_id === null && deleted_sources.size === 0) return true;
  const of = first.block.source_id;
  return (source_id === null || of === source_id) && !deleted_sources.has(of ?? '');
}

/** One evaluation: pages of a transcript together, items each alone. */
class Evaluation {
  readonly #scope: SearchScope;
  readonly #wanted: Wanted;
  readonly #all: number;
  /** Of each text of a transcript: which words stand there, and 1 where one does that must not. */
  #marks = new Uint16Array(0);
  #banned = new Uint8Array(0);
  /** Of each word and text: how it stands there. */
  #cells = new Uint16Array(0);
  #is_used = false;
  /** The number of cells between one word's and the next's. */
  #cells_apart = 0;
  /** Postings of one term. */
  #places = new Uint16Array(0);
  #counts = new Uint16Array(0);
  /** In how many texts each word stands. */
  readonly #found: Uint32Array;
  #texts = 0;
  #words = 0;
  readonly hits: Hits;

  constructor(scope: SearchScope, wanted: Wanted) {
    this.#scope = scope;
    this.#wanted = wanted;
    this.#all = 2 ** wanted.words.length - 1;
    this.#found = new Uint32Array(wanted.words.length);
    this.hits = new Hits(wanted.words.length);
  }

  get found(): readonly number[] {
    return [...this.#found];
  }

  get weights(): Weights {
    const texts = this.#texts;
    return {
      idf: Array.from(this.#found, (found) => Math.log(1 + (texts - found + 0.5) / (found + 0.5))),
      average: texts === 0 ? 1 : Math.max(1, this.#words) / texts,
    };
  }

  /** Looks through an index, with steps in between. */
  *steps(index: SearchIndex): Generator<void> {
    const { kinds, pipeline } = this.#scope;
    if (kinds.has('turn'))
      for (const [transcript_id, pages] of searchedTranscripts(index, this.#scope))
        yield* this.#lookThrough(index, transcript_id, pages);
    let items = 0;
    for (const [entry, block] of index.items) {
      if (++items % ITEMS_A_STEP === 0) yield;
      const kind = KIND_OF_ENTRY[entry.charAt(0)];
      if (kind !== undefined && kinds.has(kind) && block.speaker(0) === pipeline) this.#lookAt(index, entry, block);
    }
  }

  *#lookThrough(index: SearchIndex, transcript_id: string, pages: readonly IndexedPage[]): Generator<void> {
    let texts = 0;
    for (const { block } of pages) {
      texts += block.texts;
      this.#words += block.words;
    }
    this.#texts += texts;
    this.#begin(texts);
    const looked = this.#wanted.match === 'all' ? this.#pagesWithAll(pages, texts) : null;
    let first = 0;
    for (const { block } of looked === null ? pages : []) {
      this.#fill(block, first, texts);
      this.#hear(transcript_id, block, first, texts);
      first += block.texts;
      yield;
    }
    yield;
    first = 0;
    for (const [page_at, { block }] of pages.entries()) {
      if (looked === null || looked[page_at] === 1) {
        const place: HitPlace = { index, block, transcript_id, pages, page_at };
        let is_known = false;
        for (let text = 0, at = first; text < block.texts; text++, at++) {
          if (!this.#isHit(at, texts) || !this.#isInTime(block, text)) continue;
          if (!is_known) this.hits.addPlace(place);
          is_known = true;
          this.hits.add(text, this.#cells, at, texts);
        }
      }
      first += block.texts;
    }
  }

  /**
   * Pages that may have a text with all words in or beside it: 1 for those. What stands in them, and at the borders of the
   * pages beside them, is noted; of others only in how many texts each word stands, which is kept for words that stand in
   * many.
   */
  #pagesWithAll(pages: readonly IndexedPage[], texts: number): Uint8Array {
    const { words } = this.#wanted;
    const there = new Uint16Array(pages.length);
    const noted = new Uint16Array(pages.length);
    let first = 0;
    for (const [at, { block }] of pages.entries()) {
      const known = common_words.get(block);
      for (let word = 0; word < words.length; word++) {
        const { key } = words[word] as QueryWord;
        let count = known?.get(key);
        if (count === undefined) {
          const before = this.#found[word] as number;
          this.#fillWord(block, word, first, texts);
          noted[at] = (noted[at] as number) | (1 << word);
          count = (this.#found[word] as number) - before;
          if (count * COMMON_PART > block.texts) keepCommon(block, key, count);
        } else this.#found[word] = (this.#found[word] as number) + count;
        if (count > 0) there[at] = (there[at] as number) | (1 << word);
      }
      first += block.texts;
    }
    const looked = new Uint8Array(pages.length);
    const needed = new Uint8Array(pages.length);
    for (let at = 0; at < pages.length; at++) {
      const own = there[at] as number;
      if (own === 0 || (own | (there[at - 1] ?? 0) | (there[at + 1] ?? 0)) !== this.#all) continue;
      looked[at] = 1;
      needed.fill(1, Math.max(0, at - 1), at + 2);
    }
    first = 0;
    for (const [at, { block }] of pages.entries()) {
      if (needed[at] === 1) {
        for (let word = 0; word < words.length; word++) {
          if ((noted[at] as number) & (1 << word)) continue;
          // It was counted before.
          const before = this.#found[word] as number;
          this.#fillWord(block, word, first, texts);
          this.#found[word] = before;
        }
        this.#ban(block, first);
      }
      first += block.texts;
    }
    return looked;
  }

  #lookAt(index: SearchIndex, entry: string, block: Block): void {
    this.#texts += 1;
    this.#words += block.words;
    this.#begin(1);
    this.#fill(block, 0, 1);
    // What it says outright counts for more.
    for (const [word, terms] of this.#wanted.about ?? [])
      for (const term of terms) if (this.#cells[word] === 0) this.#put(block, term, BY_SOUND, word, word);
    if (!this.#isHit(0, 1) || !this.#isInTime(block, 0)) return;
    this.hits.addPlace({ index, block, entry });
    this.hits.add(0, this.#cells, 0, 1);
  }

  #begin(texts: number): void {
    const { words } = this.#wanted;
    if (this.#marks.length < texts) {
      this.#marks = new Uint16Array(texts);
      this.#banned = new Uint8Array(texts);
      this.#cells = new Uint16Array(texts * words.length);
    } else if (this.#is_used) {
      this.#marks.fill(0, 0, texts);
      this.#banned.fill(0, 0, texts);
      this.#cells.fill(0, 0, texts * words.length);
    }
    this.#is_used = true;
    this.#cells_apart = texts;
  }

  /** Notes how the words stand in a block's texts, of which the first has that place. */
  #fill(block: Block, first: number, texts: number): void {
    for (let word = 0; word < this.#wanted.words.length; word++) this.#fillWord(block, word, first, texts);
    this.#ban(block, first);
  }

  #fillWord(block: Block, word: number, first: number, texts: number): void {
    this.#makeRoom(block);
    const wanted = this.#wanted.words[word] as QueryWord;
    const at = word * texts + first;
    // The better ways come later.
    if (wanted.beginning !== 0) this.#put(block, wanted.beginning, BY_SOUND, word, at);
    for (const sound of wanted.sounds) this.#put(block, sound, BY_SOUND, word, at);
    for (const other of wanted.others)
      if (isTimeOf(block, other)) this.#put(block, other.term, other.variant, word, at);
    if (wanted.pairs.length > 0) this.#putWhole(block, wanted.pairs, word, at);
    for (const stemmer of block.stemmers) {
      const { inflected, plain } = wanted.stems(stemmer);
      const only = block.stemmers.length > 1 ? stemmer : null;
      this.#put(block, inflected, BY_STEM, word, at, only);
      if (plain !== 0) this.#put(block, plain, BY_STEM, word, at, only);
    }
    this.#put(block, wanted.term, AS_IT_IS, word, at);
  }

  #ban(block: Block, first: number): void {
    this.#makeRoom(block);
    for (const term of this.#wanted.excluded) {
      const found = block.readPostings(term, this.#places, this.#counts);
      for (let at = 0; at < found; at++) this.#banned[first + (this.#places[at] as number)] = 1;
    }
  }

  #makeRoom({ texts }: Block): void {
    if (this.#places.length >= texts) return;
    this.#places = new Uint16Array(texts);
    this.#counts = new Uint16Array(texts);
  }

  /** Of the block's texts the first word has its cell at `at`; `only`: texts of that stemmer. */
  #put(block: Block, term: number, variant: number, word: number, at: number, only: Stemmer | null = null): void {
    const found = block.readPostings(term, this.#places, this.#counts);
    for (let one = 0; one < found; one++) {
      const text = this.#places[one] as number;
      if (only === null || block.stemmer(text) === only)
        this.#note(at + text, this.#counts[one] as number, word, variant, at + text - this.#cells_apart * word);
    }
  }

  /** Notes texts that have all parts of a word. Whether these stand together, whoever reads the texts sees. */
  #putWhole(block: Block, parts: readonly number[], word: number, at: number): void {
    const having = new Uint16Array(block.texts);
    for (const part of parts) {
      const found = block.readPostings(part, this.#places, this.#counts);
      for (let one = 0; one < found; one++) {
        const text = this.#places[one] as number;
        having[text] = (having[text] as number) + 1;
      }
    }
    for (const [text, count] of having.entries())
      if (count === parts.length) this.#note(at + text, 1, word, BY_STEM, at + text - this.#cells_apart * word);
  }

  #note(cell: number, count: number, word: number, variant: number, text: number): void {
    const before = this.#cells[cell] as number;
    if (before >>> COUNT_BITS > variant) return;
    if (before === 0) {
      this.#found[word] = (this.#found[word] as number) + 1;
      this.#marks[text] = (this.#marks[text] as number) | (1 << word);
    }
    const known = before >>> COUNT_BITS === variant ? before & COUNT_MAX : 0;
    this.#cells[cell] = (variant << COUNT_BITS) | Math.min(COUNT_MAX, known + count);
  }

  /** Counts a contact's turns as matches of the word that names the contact. */
  #hear(transcript_id: string, block: Block, first: number, texts: number): void {
    for (const [word, { contact_ids, speakers }] of this.#wanted.said_by ?? []) {
      const own = speakers.get(transcript_id);
      if (own === undefined && block.contacts.size === 0) continue;
      for (let text = 0; text < block.texts; text++) {
        const named = block.contacts.get(text);
        const is_theirs =
          named === undefined ? own?.has(block.speaker(text)) : named !== null && contact_ids.has(named);
        if (is_theirs !== true) continue;
        const cell = word * texts + first + text;
        if ((this.#cells[cell] as number) >>> COUNT_BITS !== AS_IT_IS)
          this.#note(cell, 1, word, AS_IT_IS, first + text);
      }
    }
  }

  #isHit(at: number, texts: number): boolean {
    const marks = this.#marks;
    const own = marks[at] as number;
    const { words, match, exact } = this.#wanted;
    if ((own === 0 && words.length > 0) || this.#banned[at] === 1) return false;
    if (match === 'any') return true;
    const before = at > 0 ? (marks[at - 1] as number) : 0;
    const after = at + 1 < texts ? (marks[at + 1] as number) : 0;
    if ((own | before | after) !== this.#all) return false;
    return exact.every((word) => (this.#cells[word * texts + at] as number) >>> COUNT_BITS === AS_IT_IS);
  }

  #isInTime(block: Block, text: number): boolean {
    const { from_ms, to_ms } = this.#wanted;
    if (from_ms === Number.NEGATIVE_INFINITY && to_ms === Number.POSITIVE_INFINITY) return true;
    const started_ms = block.begins_at_ms + block.start_ms(text);
    return started_ms >= from_ms && started_ms <= to_ms;
  }
}
