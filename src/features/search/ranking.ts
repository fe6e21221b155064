import { insightId, turnId } from '../../domain/ids.js';
import { type Hits, itemOfEntry } from './evaluate.js';

/** Hits in their order, the first first, sorted as far as somebody asks. */

export type Sort = 'relevance' | 'recent';
/** Of a hit among all: by it the next page goes on. */
export type Rank = { score: number; started_ms: number; id: string };

/** The id of what a hit is. */
export function idOfHit(hits: Hits, hit: number): string {
  const place = hits.place(hit);
  if ('entry' in place) {
    const { kind, number } = itemOfEntry(place.entry);
    return insightId(place.index.library_id, kind, number);
  }
  const { transcript_id, pages, page_at, block } = place;
  return turnId(transcript_id, { page: pages[page_at]?.page ?? 0, serial: block.serial(hits.text(hit)) });
}

export class Ranking {
  readonly #hits: Hits;
  readonly #by_score: boolean;
  readonly #scores: Float64Array;
  readonly #started: Float64Array;
  /** A heap of what is left, the first on top. */
  readonly #left: Uint32Array;
  #size = 0;

  /** Of hits that come after that rank, where one is given. */
  constructor(
    hits: Hits,
    { scoreOf, sort, after }: { scoreOf: (hit: number) => number; sort: Sort; after: Rank | null },
  ) {
    this.#hits = hits;
    this.#by_score = sort === 'relevance';
    this.#scores = new Float64Array(hits.count);
    this.#started = new Float64Array(hits.count);
    this.#left = new Uint32Array(hits.count);
    for (let hit = 0; hit < hits.count; hit++) {
      this.#scores[hit] = scoreOf(hit);
      this.#started[hit] = hits.started_ms(hit);
      if (after === null || this.#isBehind(hit, after)) this.#left[this.#size++] = hit;
    }
    for (let at = (this.#size >>> 1) - 1; at >= 0; at--) this.#sink(at);
  }

  get left(): number {
    return this.#size;
  }

  /** The first of those that are left, which are no longer among them then. */
  take(limit: number): number[] {
    const found: number[] = [];
    for (let hit = this.next(); hit !== null; hit = found.length < limit ? this.next() : null) found.push(hit);
    return found;
  }

  /** Null where none is left. */
  next(): number | null {
    if (this.#size === 0) return null;
    const first = this.#left[0] as number;
    this.#size -= 1;
    this.#left[0] = this.#left[this.#size] as number;
    this.#sink(0);
    return first;
  }

  score(hit: number): number {
    return this.#scores[hit] as number;
  }

  rank(hit: number): Rank {
    return { score: this.score(hit), started_ms: this.#started[hit] as number, id: idOfHit(this.#hits, hit) };
  }

  #isBehind(hit: number, { score, started_ms, id }: Rank): boolean {
    const [own, began] = [this.#scores[hit] as number, this.#started[hit] as number];
    if (this.#by_score && own !== score) return own < score;
    if (began !== started_ms) return began < started_ms;
    return idOfHit(this.#hits, hit) > id;
  }

  #isFirst(one: number, other: number): boolean {
    const [score, than] = [this.#scores[one] as number, this.#scores[other] as number];
    if (this.#by_score && score !== than) return score > than;
    const [began, other_began] = [this.#started[one] as number, this.#started[other] as number];
    if (began !== other_began) return began > other_began;
    return idOfHit(this.#hits, one) < idOfHit(this.#hits, other);
  }

  #sink(from: number): void {
    const left = this.#left;
    for (let at = from; ; ) {
      let best = at;
      for (let child = 2 * at + 1; child <= 2 * at + 2 && child < this.#size; child++)
        if (this.#isFirst(left[child] as number, left[best] as number)) best = child;
      if (best === at) return;
      [left[at], left[best]] = [left[best] as number, left[at] as number];
      at = best;
    }
  }
}
