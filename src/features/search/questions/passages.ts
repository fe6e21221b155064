import { LIMITS } from '../../../domain/limits.js';
import type { HitPlace, Hits } from '../index/hits.js';
import type { IndexedPage } from '../index/search_index.js';

type TurnHitPlace = Extract<HitPlace, { pages: unknown }>;

/** A turn among all of its transcript, by its position there. */
export type TurnPlace = { transcript_id: string; pages: readonly IndexedPage[]; page_at: number; text: number };

/**
 * Turns that belong together, as positions in their transcript. `at`: the best of them. `supports`: turns with words of the
 * question, for which it was found; some may stand beside it. `by_meaning`: its vectors count as well, so that it may have
 * none of the words.
 */
export type Passage = {
  transcript_id: string;
  pages: readonly IndexedPage[];
  at: number;
  first: number;
  last: number;
  supports: number[];
  by_meaning: boolean;
  started_ms: number;
};

/** Numbers of the pages of a passage, with this number of turns around it. */
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

/** The turn at a position of a transcript; null if there is none. */
export function turnAt(transcript_id: string, pages: readonly IndexedPage[], position: number): TurnPlace | null {
  let before = 0;
  for (const [page_at, { block }] of pages.entries()) {
    if (position >= before && position < before + block.texts)
      return { transcript_id, pages, page_at, text: position - before };
    before += block.texts;
  }
  return null;
}

/** Passages of hits of turns, which come the newest first: those that follow each other are one. */
export function passagesOf(hits: Hits, ranked: readonly number[]): Passage[] {
  const by_transcript = new Map<string, Passage[]>();
  for (const hit of ranked) {
    const { transcript_id, pages } = hits.place(hit) as TurnHitPlace;
    const at = hits.position(hit);
    const started_ms = hits.started_ms(hit);
    const place = { transcript_id, pages, at, first: at, last: at };
    let passage: Passage = { ...place, supports: [at], by_meaning: false, started_ms };
    const apart: Passage[] = [];
    for (const known of by_transcript.get(transcript_id) ?? [])
      if (areOne(known, passage)) passage = joined(known, passage);
      else apart.push(known);
    by_transcript.set(transcript_id, [...apart, passage]);
  }
  return [...by_transcript.values()].flat();
}

function areOne(one: Passage, other: Passage): boolean {
  const { first, last } = joined(one, other);
  const [before, behind] = one.first <= other.first ? [one, other] : [other, one];
  return last - first < LIMITS.recall_passage_turns_max && behind.first - before.last === 1;
}

function joined(one: Passage, other: Passage): Passage {
  const [first, last] = [Math.min(one.first, other.first), Math.max(one.last, other.last)];
  const started_ms = Math.max(one.started_ms, other.started_ms);
  return { ...one, first, last, supports: [...one.supports, ...other.supports], started_ms };
}
