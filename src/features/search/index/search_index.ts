import { LRUCache } from 'lru-cache';
import { partitionOfId, pipelineOutputId } from '../../../domain/ids.js';
import { LIMITS } from '../../../domain/limits.js';
import { Block } from '../../../domain/search/block.js';
import {
  BLOCKS,
  type NotePlace,
  pipelineNumberOf,
  placeOfMember,
  SEARCH_INDEX,
} from '../../../domain/search/places.js';
import { type PageVectors, readVectors, VECTORS } from '../../../domain/search/vectors.js';
import type { Metrics } from '../../../engine/metrics/metrics.js';
import type { Runtime } from '../../../engine/runtime/runtime.js';
import { decodeStored } from '../../../engine/store/codec.js';
import type { Store } from '../../../engine/store/store.js';
import { SearchedTexts } from './word_places.js';

/** A page of a transcript in the index, with its block, and its vectors if it has any. */
export type IndexedPage = { page: number; block: Block; vectors?: PageVectors | null };

/**
 * The index of a library, as it is in storage when it is asked for. Pages of transcripts are by the transcript's id, in
 * their order; items by their entry. Of a recording that is deleted no page is kept; one that changes late may come again.
 */
export type SearchIndex = {
  library_id: string;
  transcripts: ReadonlyMap<string, readonly IndexedPage[]>;
  items: ReadonlyMap<string, Block>;
  /** By the id of their recording, then by that of the signal. */
  notes: ReadonlyMap<string, ReadonlyMap<string, Block>>;
  deleted_streams: ReadonlySet<string>;
  /** Those of all indexes of a server. */
  searched_texts: SearchedTexts;
};

type CachedIndex = {
  library_id: string;
  /** The number of the last change in this index. */
  seen: number;
  transcripts: Map<string, IndexedPage[]>;
  items: Map<string, Block>;
  notes: Map<string, Map<string, Block>>;
  deleted_streams: Set<string>;
  searched_texts: SearchedTexts;
  bytes: number;
};

type SearchIndexesDeps = {
  store: Pick<Store, 'list' | 'records'>;
  runtime: Pick<Runtime, 'invalidations'>;
  metrics: Pick<Metrics, 'search_kept' | 'search_blocks'>;
  bytes_max?: number;
  /** Whether vectors of pages are read as well. */
  has_vectors?: boolean;
};

/** Sorts after all members of one number. */
const LAST = '~';
/** Bytes of a block besides its content. */
const BLOCK_BYTES = 200;
/** Bytes for the id of a deleted recording. */
const DELETED_BYTES = 150;

/**
 * Blocks of libraries, kept in memory. Each request for a library first reads the changes since: every commit, by any
 * process, puts its change on the library's index. So results are never older than the question.
 */
export class SearchIndexes {
  readonly #deps: SearchIndexesDeps;
  readonly #kept: LRUCache<string, CachedIndex>;
  /** A library has one reader at a time; later requests then read the changes since. */
  readonly #reading = new Map<string, Promise<unknown>>();
  readonly #searched_texts = new SearchedTexts();
  #epoch = -1;

  constructor(deps: SearchIndexesDeps) {
    this.#deps = deps;
    const maxSize = deps.bytes_max ?? LIMITS.search_memory_bytes;
    this.#kept = new LRUCache({ maxSize, sizeCalculation: ({ bytes }) => bytes + 1 });
  }

  async of(library_id: string): Promise<SearchIndex> {
    const before = this.#reading.get(library_id);
    const reading = (async () => {
      await before?.catch(() => {});
      return this.#read(library_id);
    })();
    this.#reading.set(library_id, reading);
    try {
      return await reading;
    } finally {
      if (this.#reading.get(library_id) === reading) this.#reading.delete(library_id);
    }
  }

  async #read(library_id: string): Promise<SearchIndex> {
    const { invalidations } = this.#deps.runtime;
    // Storage may have lost writes, and numbers with them.
    if (invalidations !== this.#epoch) this.#kept.clear();
    this.#epoch = invalidations;
    const kept = this.#kept.get(library_id) ?? empty(library_id, this.#searched_texts);
    const was = kept.bytes;
    const is_new = kept.seen === 0;
    const place = { owner: library_id, partition: partitionOfId(library_id) };
    const after = { order: kept.seen, member: LAST };
    const limit = Number.MAX_SAFE_INTEGER;
    const changed = await this.#deps.store.list(place, SEARCH_INDEX, { after, descending: false, limit });
    if (changed.length > 0) {
      try {
        await this.#take(kept, changed);
      } catch (error) {
        // What is half taken in is read anew.
        this.#kept.delete(library_id);
        throw error;
      }
    }
    if (is_new || kept.bytes !== was) {
      // The cache would count the same object by its former size.
      this.#kept.delete(library_id);
      this.#kept.set(library_id, kept);
      this.#keepShare(library_id);
    }
    this.#deps.metrics.search_kept.set(this.#kept.calculatedSize);
    return kept;
  }

  /**
   * The libraries of one account are in one partition. If a partition takes more than half of the memory, its own
   * libraries are dropped, not others'.
   */
  #keepShare(library_id: string): void {
    const partition = partitionOfId(library_id);
    const own = [...this.#kept.entries()].filter(([id]) => partitionOfId(id) === partition);
    let bytes = own.reduce((sum, [, index]) => sum + index.bytes, 0);
    for (const [id, index] of own.reverse()) {
      if (bytes <= this.#kept.maxSize / 2) return;
      if (id === library_id) continue;
      this.#kept.delete(id);
      bytes -= index.bytes;
    }
  }

  async #take(kept: CachedIndex, changed: { member: string; order: number }[]): Promise<void> {
    const entries: string[] = [];
    const deleted: string[] = [];
    const pages = new Map<string, string[]>();
    const notes = new Map<string, string[]>();
    for (const { member } of changed) {
      const place = placeOfMember(member);
      if (place.place === 'deleted_stream') deleted.push(place.stream_id);
      else if (place.place === 'left_transcript') {
        dropPages(kept, place.transcript_id);
        dropNotes(kept, place.transcript_id);
      } else if (place.place === 'item') entries.push(place.entry);
      else if (place.place === 'note')
        notes.set(place.stream_id, [...(notes.get(place.stream_id) ?? []), place.signal_id]);
      else pages.set(place.transcript_id, [...(pages.get(place.transcript_id) ?? []), place.page]);
    }
    const { library_id } = kept;
    await Promise.all([
      ...[...pages].map(async ([transcript_id, keys]) => {
        const address = { kind: 'transcript', id: transcript_id };
        const blocks = await this.#blocks(address, keys);
        const vectors = await this.#vectors(address, keys);
        putPages(
          kept,
          transcript_id,
          keys.map((key, at) => ({
            page: Number.parseInt(key, 16),
            block: blocks[at] ?? null,
            vectors: vectors[at] ?? null,
          })),
        );
      }),
      ...[...notes].map(async ([stream_id, ids]) => {
        const blocks = await this.#blocks({ kind: 'signals', id: stream_id }, ids);
        for (const [at, id] of ids.entries()) putNote(kept, { stream_id, signal_id: id }, blocks[at] ?? null);
      }),
      (async () => {
        const blocks = await this.#blocks({ kind: 'library', id: library_id }, entries);
        for (const [at, entry] of entries.entries()) putItem(kept, entry, blocks[at] ?? null);
      })(),
    ]);
    for (const stream_id of deleted) forget(kept, stream_id);
    kept.seen = changed.at(-1)?.order ?? kept.seen;
  }

  async #vectors(address: { kind: string; id: string }, ids: string[]): Promise<(PageVectors | null)[]> {
    if (this.#deps.has_vectors !== true) return [];
    const place = { address, partition: partitionOfId(address.id) };
    const values = await this.#deps.store.records(place, VECTORS, ids);
    return values.map((value) =>
      value === null ? null : readVectors(new Uint8Array(decodeStored(value) as Uint8Array)),
    );
  }

  async #blocks(address: { kind: string; id: string }, ids: string[]): Promise<(Block | null)[]> {
    if (ids.length === 0) return [];
    const place = { address, partition: partitionOfId(address.id) };
    const values = await this.#deps.store.records(place, BLOCKS, ids);
    this.#deps.metrics.search_blocks.inc(ids.length);
    // Copied: what arrives lies in buffers that hold much else.
    return values.map((value) =>
      value === null ? null : new Block(new Uint8Array(decodeStored(value) as Uint8Array)),
    );
  }
}

function empty(library_id: string, searched_texts: SearchedTexts): CachedIndex {
  const nothing = { transcripts: new Map(), items: new Map(), notes: new Map(), deleted_streams: new Set<string>() };
  return { library_id, seen: 0, ...nothing, searched_texts, bytes: 0 };
}

type ChangedPage = { page: number; block: Block | null; vectors: PageVectors | null };

function putPages(kept: CachedIndex, transcript_id: string, changed: ChangedPage[]): void {
  const pages = new Map((kept.transcripts.get(transcript_id) ?? []).map((one) => [one.page, one]));
  for (const { page, block, vectors } of changed) {
    const before = pages.get(page);
    const vector_bytes = (vectors?.bytes ?? 0) - (before?.vectors?.bytes ?? 0);
    kept.bytes += sizeOf(block) - sizeOf(before?.block ?? null) + vector_bytes;
    if (block === null) pages.delete(page);
    else pages.set(page, { page, block, vectors });
  }
  if (pages.size === 0) kept.transcripts.delete(transcript_id);
  else
    kept.transcripts.set(
      transcript_id,
      [...pages.values()].sort((a, b) => a.page - b.page),
    );
}

function putItem(kept: CachedIndex, entry: string, block: Block | null): void {
  kept.bytes += sizeOf(block) - sizeOf(kept.items.get(entry) ?? null);
  if (block === null) kept.items.delete(entry);
  else kept.items.set(entry, block);
}

function putNote(kept: CachedIndex, { stream_id, signal_id }: NotePlace, block: Block | null): void {
  const notes = kept.notes.get(stream_id) ?? new Map<string, Block>();
  kept.bytes += sizeOf(block) - sizeOf(notes.get(signal_id) ?? null);
  if (block === null) notes.delete(signal_id);
  else notes.set(signal_id, block);
  if (notes.size === 0) kept.notes.delete(stream_id);
  else kept.notes.set(stream_id, notes);
}

function dropNotes(kept: CachedIndex, stream_id: string): void {
  for (const block of kept.notes.get(stream_id)?.values() ?? []) kept.bytes -= sizeOf(block);
  kept.notes.delete(stream_id);
}

/** Drops the notes of a deleted recording, and its pages of all pipelines. */
function forget(kept: CachedIndex, stream_id: string): void {
  if (!kept.deleted_streams.has(stream_id)) kept.bytes += DELETED_BYTES;
  kept.deleted_streams.add(stream_id);
  dropNotes(kept, stream_id);
  for (const transcript_id of kept.transcripts.keys())
    if (transcript_id === stream_id || transcript_id === outputLike(transcript_id, stream_id))
      dropPages(kept, transcript_id);
}

function dropPages(kept: CachedIndex, transcript_id: string): void {
  const pages = kept.transcripts.get(transcript_id) ?? [];
  kept.bytes -= pages.reduce((sum, { block, vectors }) => sum + sizeOf(block) + (vectors?.bytes ?? 0), 0);
  kept.transcripts.delete(transcript_id);
}

/** The id of the transcript that the pipeline of another one would make of a recording. */
function outputLike(transcript_id: string, stream_id: string): string {
  return pipelineOutputId(stream_id, pipelineNumberOf(transcript_id));
}

function sizeOf(block: Block | null): number {
  return block === null ? 0 : block.bytes + BLOCK_BYTES;
}
