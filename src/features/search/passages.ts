import { LIMITS } from '../../domain/limits.js';
import type { HitPlace, Hits, Weights } from './evaluate.js';
import type { IndexedPage } from './search_index.js';

/** Turns with matches that stand close to each other, as places in their transcript. */
export type Passage = {
  transcript_id: string;
  pages: readonly IndexedPage[];
  first: number;
  last: number;
  hits: number[];
};

/** Numbers of the pages in which it lies, with so many turns around it. */
export function pagesOfPassage({ pages, first, last }: Passage, around: number): number[] {
  const found: number[] = [];
  let begins = 0;
  for (const { page, block } of pages) {
    const ends = begins + block.texts;
    if (ends > first - around && begins <= last + around) found.push(page);
    begins = ends;
  }
  return found;
}

/** Where the turn of a hit stands among all of its transcript. */
function positionOf(hits: Hits, hit: number): number {
  const { pages, page_at } = hits.place(hit) as Extract<HitPlace, { pages: unknown }>;
  let before = 0;
  for (let at = 0; at < page_at; at++) before += pages[at]?.block.texts ?? 0;
  return before + hits.text(hit);
}

/** Passages of hits of turns, which come the best first: those with at most so many turns between them are one. */
export function passagesOf(hits: Hits, ranked: readonly number[], between: number): Passage[] {
  const by_transcript = new Map<string, Passage[]>();
  for (const hit of ranked) {
    const { transcript_id, pages } = hits.place(hit) as Extract<HitPlace, { pages: unknown }>;
    const at = positionOf(hits, hit);
    let passage: Passage = { transcript_id, pages, first: at, last: at, hits: [hit] };
    const apart: Passage[] = [];
    for (const known of by_transcript.get(transcript_id) ?? [])
      if (areOne(known, passage, between)) passage = joined(known, passage);
      else apart.push(known);
    by_transcript.set(transcript_id, [...apart, passage]);
  }
  return [...by_transcript.values()].flat();
}

function areOne(one: Passage, other: Passage, between: number): boolean {
  const { first, last } = joined(one, other);
  const [before, behind] = one.first <= other.first ? [one, other] : [other, one];
  return last - first < LIMITS.recall_passage_turns_max && behind.first - before.last - 1 <= between;
}

function joined(one: Passage, other: Passage): Passage {
  const [first, last] = [Math.min(one.first, other.first), Math.max(one.last, other.last)];
  return { ...one, first, last, hits: [...one.hits, ...other.hits] };
}

/** Each word counts once, as in the turn where it weighs most. */
export function scoreOfPassage(hits: Hits, passage: Passage, words: number, weights: Weights): number {
  let sum = 0;
  for (let word = 0; word < words; word++) {
    let best = 0;
    for (const hit of passage.hits) best = Math.max(best, hits.share(hit, word, weights));
    sum += best;
  }
  return sum;
}
