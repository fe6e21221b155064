import { pipelineOutputId } from '../../../domain/ids.js';
import type { Block } from '../../../domain/search/block.js';
import { AS_IT_IS, type QueryWord } from '../../../domain/search/matching.js';
import { noteMember, pipelineNumberOf } from '../../../domain/search/places.js';
import type { Slices } from '../../../engine/time/slices.js';
import { Hits, type Holder, KIND_OF_ENTRY, type SearchKind, type Weights } from './hits.js';
import type { IndexedPage, SearchIndex } from './search_index.js';
import {
  ONCE_AS_IT_IS,
  PlaceReader,
  placesOf,
  type TranscriptTexts,
  variantOfCell,
  type WordPlace,
  type WordPlaces,
} from './word_places.js';

/** The indexes that are searched and counted for the weight of words. */
export type SearchScope = {
  indexes: readonly SearchIndex[];
  kinds: ReadonlySet<SearchKind>;
  /** The number of the pipeline whose transcripts count; 0 for the default one. */
  pipeline: number;
  source_id: string | null;
  /** The only transcript whose turns count. */
  transcript_id?: string | undefined;
  deleted_sources: ReadonlySet<string>;
};

/** Whose words turns are: by transcript which of its speakers they are, and they themselves where a person named them. */
export type Voices = { contact_ids: ReadonlySet<string>; speakers: ReadonlyMap<string, ReadonlySet<number>> };

export type Wanted = {
  /** At most as many as a 16-bit number can distinguish. Without words every text is a hit. */
  words: readonly QueryWord[];
  /** Whether all words must be in a text or beside it, or any in it. */
  match: 'all' | 'any';
  /** Places of the words that must be in the text itself, unchanged. */
  exact: readonly number[];
  /** Terms that must not be in the text. */
  excluded: readonly number[];
  from_ms: number;
  to_ms: number;
  /** By the place of a word that is a person's name: turns of that person count as if they had the word. */
  said_by?: ReadonlyMap<number, Voices>;
  /** By the place of a word: the terms of suggestions that it stands for. */
  about?: ReadonlyMap<number, readonly number[]>;
};

const ITEMS_A_STEP = 100;

/** `found`: the number of texts with each word, whether or not these are hits. */
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
  const { pipeline, transcript_id: only = null } = scope;
  const deleted =
    pipeline === 0
      ? index.deleted_streams
      : new Set([...index.deleted_streams].map((stream_id) => pipelineOutputId(stream_id, pipeline)));
  const own = only === null ? undefined : index.transcripts.get(only);
  const transcripts = only === null ? index.transcripts : own === undefined ? [] : [[only, own] as const];
  for (const [transcript_id, pages] of transcripts)
    if (
      pipelineNumberOf(transcript_id) === pipeline &&
      !deleted.has(transcript_id) &&
      hasSource(pages[0]?.block, scope)
    )
      yield [transcript_id, pages];
}

/** Recordings of an index whose notes are searched: pipelines make none. */
function* searchedNotes(index: SearchIndex, scope: SearchScope): Generator<[string, ReadonlyMap<string, Block>]> {
  const { pipeline, transcript_id: only = null } = scope;
  if (pipeline !== 0) return;
  for (const [stream_id, notes] of index.notes) {
    const [first] = notes.values();
    if ((only === null || only === stream_id) && hasSource(first, scope)) yield [stream_id, notes];
  }
}

function hasSource(first: Block | undefined, { source_id, deleted_sources }: SearchScope): boolean {
  if (first === undefined) return false;
  if (source_id === null && deleted_sources.size === 0) return true;
  const of = first.source_id;
  return (source_id === null || of === source_id) && !deleted_sources.has(of ?? '');
}

/** One evaluation: the pages of a transcript are evaluated together, each item and note alone. */
class Evaluation {
  readonly #scope: SearchScope;
  readonly #wanted: Wanted;
  readonly #all: number;
  readonly #reader = new PlaceReader();
  /** For each word, how it occurs in one text. */
  readonly #own: Uint16Array;
  /** The number of texts with each word. */
  readonly #found: Uint32Array;
  #texts = 0;
  #words = 0;
  readonly hits: Hits;

  constructor(scope: SearchScope, wanted: Wanted) {
    this.#scope = scope;
    this.#wanted = wanted;
    this.#all = 2 ** wanted.words.length - 1;
    this.#own = new Uint16Array(wanted.words.length);
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

  /** Evaluates an index in steps. */
  *steps(index: SearchIndex): Generator<void> {
    const { kinds, pipeline } = this.#scope;
    if (kinds.has('turn'))
      for (const [transcript_id, pages] of searchedTranscripts(index, this.#scope))
        yield* this.#lookThrough(index, transcript_id, pages);
    if (kinds.has('note'))
      for (const [stream_id, notes] of searchedNotes(index, this.#scope)) {
        yield;
        for (const [signal_id, block] of notes) this.#lookAt(index, noteMember(stream_id, signal_id), block);
      }
    let items = 0;
    for (const [entry, block] of index.items) {
      if (++items % ITEMS_A_STEP === 0) yield;
      const kind = KIND_OF_ENTRY[entry.charAt(0)];
      if (kind !== undefined && kinds.has(kind) && block.speaker(0) === pipeline) this.#lookAt(index, entry, block);
    }
  }

  *#lookThrough(index: SearchIndex, transcript_id: string, pages: readonly IndexedPage[]): Generator<void> {
    const texts = index.searched_texts.of(pages);
    this.#texts += texts.count;
    this.#words += texts.words;
    const { words, match, said_by } = this.#wanted;
    const places: WordPlaces[] = [];
    for (const [at, word] of words.entries()) {
      const voices = said_by?.get(at);
      const written = this.#reader.inPages(index.searched_texts, pages, word);
      const found = voices === undefined ? written : withSaid(written, voices, { transcript_id, pages });
      places.push(found);
      this.#found[at] = (this.#found[at] as number) + found.texts.length;
      yield;
    }
    const to = new TranscriptHits({ index, transcript_id, pages, texts }, this.#wanted, this.#reader, this.hits);
    const [first = null] = places;
    if (first === null) to.offerTexts(texts.count);
    else if (places.length === 1) to.offerPlaces(first);
    else if (match === 'any') to.offerAny(places);
    else to.offerAll(places);
    yield;
  }

  #lookAt(index: SearchIndex, entry: string, block: Block): void {
    this.#texts += 1;
    this.#words += block.words;
    const { words, match, about, excluded } = this.#wanted;
    let there = 0;
    for (const [at, word] of words.entries()) {
      const cell = this.#reader.inItem(block, word, about?.get(at));
      this.#own[at] = cell;
      if (cell === 0) continue;
      there |= 1 << at;
      this.#found[at] = (this.#found[at] as number) + 1;
    }
    if (words.length > 0 && there === 0) return;
    if (match === 'all' && there !== this.#all) return;
    if (!hasExact(this.#wanted, this.#own, 0) || !isInTime(this.#wanted, block, 0)) return;
    if (excluded.length > 0 && this.#reader.havingAny(block, excluded)[0] === 1) return;
    this.hits.addHolder({ index, block, entry });
    this.hits.add({ position: 0, length: block.length(0) }, this.#own, 0);
  }
}

/** Offers texts of a transcript as hits, in their order. Those that pass the conditions on a text itself become some. */
class TranscriptHits {
  readonly #of: Extract<Holder, { texts: TranscriptTexts }>;
  readonly #wanted: Wanted;
  readonly #reader: PlaceReader;
  readonly #hits: Hits;
  /** For each word, how it occurs in the offered text. */
  readonly #own: Uint16Array;
  readonly #is_bound: boolean;
  #has_hits = false;
  /** The texts of one page with an excluded word. */
  #excluded: { page_at: number; texts: Uint8Array } | null = null;

  constructor(of: Extract<Holder, { texts: TranscriptTexts }>, wanted: Wanted, reader: PlaceReader, hits: Hits) {
    this.#of = of;
    this.#wanted = wanted;
    this.#reader = reader;
    this.#hits = hits;
    this.#own = new Uint16Array(wanted.words.length);
    this.#is_bound = wanted.excluded.length > 0 || !isAtAnyTime(wanted);
  }

  offerTexts(count: number): void {
    for (let position = 0; position < count; position++) this.#offer(position, 0, this.#own, 0);
  }

  offerPlaces({ texts, cells, lengths }: WordPlaces): void {
    for (let at = 0; at < texts.length; at++) this.#offer(texts[at] as number, lengths[at] as number, cells, at);
  }

  /** Offers texts with at least one of the words. */
  offerAny(places: readonly WordPlaces[]): void {
    const [words, { count }] = [places.length, this.#of.texts];
    const cells = new Uint16Array(count * words);
    /** One more than each text's length, 0 for texts without a word. */
    const having = new Uint16Array(count);
    for (const [word, { texts, cells: own, lengths }] of places.entries())
      for (let at = 0; at < texts.length; at++) {
        const position = texts[at] as number;
        having[position] = (lengths[at] as number) + 1;
        cells[position * words + word] = own[at] as number;
      }
    for (let position = 0; position < count; position++)
      if (having[position] !== 0) this.#offer(position, (having[position] as number) - 1, cells, position * words);
  }

  /** Offers texts with a word, of which all others stand there or in the text before or after: near the rarest word's. */
  offerAll(places: readonly WordPlaces[]): void {
    const { count } = this.#of.texts;
    const rarest = places.reduce((one, other) => (other.texts.length < one.texts.length ? other : one));
    const passed = new Uint32Array(places.length);
    let next = 0;
    for (let at = 0; at < rarest.texts.length; at++) {
      const near = rarest.texts[at] as number;
      for (let position = Math.max(next, near - 1); position <= near + 1 && position < count; position++) {
        next = position + 1;
        const length = this.#gather(places, passed, position);
        if (length !== null) this.#offer(position, length, this.#own, 0);
      }
    }
  }

  /**
   * How many words a text has that has one of those looked for, and with the texts beside it all; else null. What it has
   * itself is in `#own` then. `passed`: places before those that are still to come.
   */
  #gather(places: readonly WordPlaces[], passed: Uint32Array, position: number): number | null {
    let length: number | null = null;
    for (let word = 0; word < places.length; word++) {
      const { texts, cells, lengths } = places[word] as WordPlaces;
      let at = firstFrom(texts, position - 1, passed[word] as number);
      passed[word] = at;
      if (at === texts.length || (texts[at] as number) > position + 1) return null;
      if ((texts[at] as number) < position) at += 1;
      const is_own = texts[at] === position;
      this.#own[word] = is_own ? (cells[at] as number) : 0;
      if (is_own) length = lengths[at] as number;
    }
    return length;
  }

  #offer(position: number, length: number, cells: Uint16Array, at: number): void {
    if (!hasExact(this.#wanted, cells, at) || (this.#is_bound && !this.#isAllowed(position))) return;
    if (!this.#has_hits) this.#hits.addHolder(this.#of);
    this.#has_hits = true;
    this.#hits.add({ position, length }, cells, at);
  }

  /** Whether a text is in the period and has no excluded word. */
  #isAllowed(position: number): boolean {
    const { pages, texts } = this.#of;
    const page_at = texts.pageOf(position);
    const { block } = pages[page_at] as IndexedPage;
    const text = position - (texts.firsts[page_at] as number);
    if (!isInTime(this.#wanted, block, text)) return false;
    if (this.#wanted.excluded.length === 0) return true;
    if (this.#excluded?.page_at !== page_at)
      this.#excluded = { page_at, texts: this.#reader.havingAny(block, this.#wanted.excluded) };
    return this.#excluded.texts[text] === 0;
  }
}

function hasExact({ exact, match }: Wanted, cells: Uint16Array, at: number): boolean {
  return match === 'any' || exact.every((word) => variantOfCell(cells[at + word] as number) === AS_IT_IS);
}

function isAtAnyTime({ from_ms, to_ms }: Wanted): boolean {
  return from_ms === Number.NEGATIVE_INFINITY && to_ms === Number.POSITIVE_INFINITY;
}

function isInTime({ from_ms, to_ms }: Wanted, block: Block, text: number): boolean {
  const started_ms = block.begins_at_ms + block.start_ms(text);
  return started_ms >= from_ms && started_ms <= to_ms;
}

/** The first place from `from` on whose text is not before `text`. */
function firstFrom(texts: Uint32Array, text: number, from: number): number {
  let low = from;
  let high = from;
  for (let step = 1; high < texts.length && (texts[high] as number) < text; step *= 2) {
    low = high + 1;
    high += step;
  }
  high = Math.min(high, texts.length);
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((texts[middle] as number) < text) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The same places with turns of those voices, as if the word stood there. */
function withSaid(
  { texts, cells, lengths }: WordPlaces,
  { contact_ids, speakers }: Voices,
  { transcript_id, pages }: { transcript_id: string; pages: readonly IndexedPage[] },
): WordPlaces {
  const own = speakers.get(transcript_id);
  const all = new Map<number, WordPlace>();
  let first = 0;
  for (const { block } of pages) {
    for (let at = 0; at < block.texts && (own !== undefined || block.contacts.size > 0); at++) {
      const named = block.contacts.get(at);
      const is_theirs = named === undefined ? own?.has(block.speaker(at)) : named !== null && contact_ids.has(named);
      const text = first + at;
      if (is_theirs === true) all.set(text, { text, cell: ONCE_AS_IT_IS, length: block.length(at) });
    }
    first += block.texts;
  }
  for (const [at, text] of texts.entries()) {
    const [cell, length] = [cells[at] as number, lengths[at] as number];
    if (!all.has(text) || variantOfCell(cell) === AS_IT_IS) all.set(text, { text, cell, length });
  }
  return placesOf([...all.values()].sort((one, other) => one.text - other.text));
}
