import { insightId, turnId } from '../../../domain/ids.js';
import { noteOf } from '../../../domain/search/places.js';
import { type Hits, itemOfEntry } from './hits.js';

/** Hits in their order, sorted only as far as they are read. */

export type Sort = 'relevance' | 'recent';
/** The rank of a hit among all, from which the next page continues. */
export type Rank = { score: number; started_ms: number; id: string };

/** The id of what a hit is. */
export function idOfHit(hits: Hits, hit: number): string {
  const place = hits.place(hit);
  if ('entry' in place) {
    const note = noteOf(place.entry);
    if (note !== null) return note.signal_id;
    const { kind, number } = itemOfEntry(place.entry);
    return insightId(place.index.library_id, kind, number);
  }
  const { transcript_id, pages, page_at, block } = place;
  return turnId(transcript_id, { page: pages[page_at]?.page ?? 0, serial: block.serial(hits.text(hit)) });
}

/** The number of hits that are ranked at once: more than most pages read. */
const RANKED_AT_ONCE = 64;

export class Ranking {
  readonly #hits: Hits;
  readonly #by_score: boolean;
  readonly #scores: Float64Array;
  /** When hits began, of those that were compared by it; else 0. */
  readonly #started: Float64Array;
  /** The next hits, in reverse order. */
  #ranked: number[];
  #left = 0;

  /** Of hits that come after that rank, where one is given. */
  constructor(
    hits: Hits,
    { scoreOf, sort, after }: { scoreOf: (hit: number) => number; sort: Sort; after: Rank | null },
  ) {
    this.#hits = hits;
    this.#by_score = sort === 'relevance';
    this.#scores = new Float64Array(hits.count);
    this.#started = new Float64Array(hits.count);
    for (let hit = 0; hit < hits.count; hit++) this.#scores[hit] = scoreOf(hit);
    this.#ranked = this.#firstBehind(after);
  }

  get left(): number {
    return this.#left;
  }

  /** Takes the next hits. */
  take(limit: number): number[] {
    const found: number[] = [];
    for (let hit = this.next(); hit !== null; hit = found.length < limit ? this.next() : null) found.push(hit);
    return found;
  }

  /** Null if no hit remains. */
  next(): number | null {
    const first = this.#ranked.pop();
    if (first === undefined) return null;
    this.#left -= 1;
    if (this.#ranked.length === 0 && this.#left > 0) this.#ranked = this.#firstBehind(this.rank(first));
    return first;
  }

  score(hit: number): number {
    return this.#scores[hit] as number;
  }

  rank(hit: number): Rank {
    return { score: this.score(hit), started_ms: this.#startedMs(hit), id: idOfHit(this.#hits, hit) };
  }

  /** Counts hits behind a rank, and returns the first of them in reverse order. */
  #firstBehind(after: Rank | null): number[] {
    this.#left = 0;
    /** A heap, the last on top. */
    const first: number[] = [];
    for (let hit = 0; hit < this.#hits.count; hit++) {
      if (after !== null && !this.#isBehind(hit, after)) continue;
      this.#left += 1;
      if (first.length < RANKED_AT_ONCE) this.#rise(first, hit);
      else if (this.#isFirst(hit, first[0] as number)) this.#replaceLast(first, hit);
    }
    return first.sort((one, other) => (this.#isFirst(one, other) ? 1 : -1));
  }

  #isBehind(hit: number, { score, started_ms, id }: Rank): boolean {
    const own = this.#scores[hit] as number;
    if (this.#by_score && own !== score) return own < score;
    const began = this.#startedMs(hit);
    if (began !== started_ms) return began < started_ms;
    return idOfHit(this.#hits, hit) > id;
  }

  #isFirst(one: number, other: number): boolean {
    const [score, than] = [this.#scores[one] as number, this.#scores[other] as number];
    if (this.#by_score && score !== than) return score > than;
    const [began, other_began] = [this.#startedMs(one), this.#startedMs(other)];
    if (began !== other_began) return began > other_began;
    return idOfHit(this.#hits, one) < idOfHit(this.#hits, other);
  }

  #startedMs(hit: number): number {
    const known = this.#started[hit] as number;
    if (known !== 0) return known;
    const started_ms = this.#hits.started_ms(hit);
    this.#started[hit] = started_ms;
    return started_ms;
  }

  #rise(heap: number[], hit: number): void {
    let at = heap.length;
    heap.push(hit);
    while (at > 0) {
      const parent = (at - 1) >>> 1;
      if (!this.#isFirst(heap[parent] as number, hit)) break;
      heap[at] = heap[parent] as number;
      at = parent;
    }
    heap[at] = hit;
  }

  #replaceLast(heap: number[], hit: number): void {
    let at = 0;
    for (let child = 1; child < heap.length; child = 2 * at + 1) {
      if (child + 1 < heap.length && this.#isFirst(heap[child] as number, heap[child + 1] as number)) child += 1;
      if (!this.#isFirst(hit, heap[child] as number)) break;
      heap[at] = heap[child] as number;
      at = child;
    }
    heap[at] = hit;
  }
}
