import { ANSWER_MARKS, type AnswerMark } from '../../../../domain/search/answer_marks.js';
import type { Block } from '../../../../domain/search/block.js';
import { answerTerm } from '../../../../domain/search/words.js';
import type { Slices } from '../../../../engine/time/slices.js';
import type { HitPlace, Hits, Weights } from '../../index/hits.js';
import type { IndexedPage } from '../../index/search_index.js';
import type { RecallQuestion } from '../recall_question.js';

/**
 * Scores the turns around the best hits: by the words that stand in them and near them, by signs of the kind of answer that
 * the question asks for, and below those that only ask. docs/choices.md, "Search and recall".
 */

/** Weights of a word by how many turns before the scored turn it occurs. */
const BEFORE = [1, 0.55, 0.4, 0.28, 0.2];
/** The same if the turn with the word is a question. */
const BEFORE_ASKED = [1, 0.85, 0.6, 0.35, 0.2];
/** Weights of a word by how many turns after the scored turn it occurs. */
const AFTER = [1, 0.4, 0.25, 0.12];
/** Factors of a turn's score. */
const ANSWERS_FACTOR = 1.45;
const ASKS_FACTOR = 0.7;
const SHORT_FACTOR = 0.6;
const PROMISES_FACTOR = 1.5;
const REFUSES_FACTOR = 0.6;
/** Turns with fewer words, and without the sign that is looked for, say too little. */
const SHORT_WORDS = 3;

type TurnHitPlace = Extract<HitPlace, { pages: unknown }>;

/** A turn by its position in its transcript. */
export type PlacedTurn = {
  transcript_id: string;
  pages: readonly IndexedPage[];
  page: IndexedPage;
  at: number;
  /** Its number in its page. */
  text: number;
  started_ms: number;
};

/** How well a turn has the words of a question. */
export type TurnWords = {
  /** BM25 of the turn alone; of it with the turns beside it; with all near it. */
  own: number;
  beside: number;
  near: number;
  /** `near` by signs of answers. */
  score: number;
  /** The part of the question's words in the turn; in it and those beside it; in all near it. 0 to 1. */
  share: number;
  share_beside: number;
  share_near: number;
  /** The weight of the rarest word in the turn. */
  rarest: number;
  /** Whether it has a sign of the kind of answer that is asked for. */
  answers: boolean;
  /** Turns near it with words of the question. */
  supports: number[];
};

export type WordScoring = {
  weights: Weights;
  question: RecallQuestion;
  said_by: ReadonlySet<number>;
  marks: TurnMarks;
};

/** The turns around hits, with what the words say of them, by transcript and position; in slices. */
export async function wordScoresOf(
  hits: Hits,
  best: readonly number[],
  scoring: WordScoring,
  slices: Slices,
): Promise<Map<string, Map<number, PlacedTurn & TurnWords>>> {
  const found = new Map<string, Map<number, PlacedTurn & TurnWords>>();
  for (const region of regionsOf(hits, best)) {
    await slices.pause();
    const turns = found.get(region.transcript_id) ?? new Map();
    found.set(region.transcript_id, turns);
    for (const turn of scoredTurns(hits, region, scoring)) turns.set(turn.at, turn);
  }
  return found;
}

/** A stretch of a transcript with hits; `hits` are by position. */
type Region = {
  transcript_id: string;
  pages: readonly IndexedPage[];
  from: number;
  to: number;
  hits: Map<number, number>;
};

function regionsOf(hits: Hits, best: readonly number[]): Region[] {
  const by_transcript = new Map<string, Region[]>();
  const placed = best.map((hit) => ({ hit, at: hits.position(hit) }));
  placed.sort((a, b) => a.at - b.at);
  for (const { hit, at } of placed) {
    const { index, transcript_id, pages } = hits.place(hit) as TurnHitPlace;
    const regions = by_transcript.get(transcript_id) ?? [];
    by_transcript.set(transcript_id, regions);
    const turns = index.searched_texts.of(pages).count;
    const from = Math.max(0, at - AFTER.length + 1);
    const to = Math.min(turns - 1, at + BEFORE.length - 1);
    const last = regions.at(-1);
    const region =
      last !== undefined && last.to >= from - 1 ? last : { transcript_id, pages, from, to, hits: new Map() };
    if (region !== last) regions.push(region);
    region.to = Math.max(region.to, to);
    region.hits.set(at, hit);
    addBeside(hits, hit, at, region);
  }
  return [...by_transcript.values()].flat();
}

/** Hits near one that are none of the best. Those of a transcript follow each other in their order. */
function addBeside(hits: Hits, hit: number, at: number, region: Region): void {
  for (const step of [-1, 1])
    for (let other = hit + step; other >= 0 && other < hits.count; other += step) {
      if (!hits.isTurn(other, region.transcript_id)) break;
      const position = hits.position(other);
      if (Math.abs(position - at) >= BEFORE.length || region.hits.has(position)) break;
      region.hits.set(position, other);
    }
}

function scoredTurns(hits: Hits, region: Region, scoring: WordScoring): (PlacedTurn & TurnWords)[] {
  const { weights, question, marks } = scoring;
  const words = question.words.length;
  const size = region.to - region.from + 1;
  const shares = new Float64Array(size * words);
  for (const [at, hit] of region.hits) {
    if (at < region.from || at > region.to) continue;
    for (let word = 0; word < words; word++) shares[(at - region.from) * words + word] = hits.share(hit, word, weights);
  }
  const places = placesOf(region);
  const signs = places.map(({ page, text }) => marks.of(page.block, text));
  const all = weights.idf.reduce((sum, one) => sum + one, 0) || 1;
  return places.map((place, own) => {
    const sums = { own: 0, beside: 0, near: 0, share: 0, share_beside: 0, share_near: 0, rarest: 0 };
    for (let word = 0; word < words; word++) {
      const idf = weights.idf[word] as number;
      const { here, beside, near } = nearest({ shares, words, size, signs, own, word }, scoring);
      sums.own += here;
      sums.beside += beside;
      sums.near += near;
      if (here > 0) sums.share += idf / all;
      if (here > 0) sums.rarest = Math.max(sums.rarest, idf);
      if (beside > 0) sums.share_beside += idf / all;
      if (near > 0) sums.share_near += idf / all;
    }
    const { block } = place.page;
    const answers = question.answered_by.some((mark) => (signs[own] as number) & bitOf(mark));
    const factor = factorOf(signs[own] as number, { length: block.length(place.text), answers, question });
    const { at } = place;
    const supports: number[] = [];
    for (let one = at - BEFORE.length + 1; one < at + AFTER.length; one++) if (region.hits.has(one)) supports.push(one);
    return { ...place, ...sums, score: sums.near * factor, answers, supports };
  });
}

type WordPlace = { shares: Float64Array; words: number; size: number; signs: number[]; own: number; word: number };

/** The share of a word in a turn's score: in the turn itself, in it or beside it, and where it weighs most near it. */
function nearest(
  { shares, words, size, signs, own, word }: WordPlace,
  { said_by }: WordScoring,
): { here: number; beside: number; near: number } {
  let [beside, near_most] = [0, 0];
  for (let other = Math.max(0, own - BEFORE.length + 1); other < Math.min(size, own + AFTER.length); other++) {
    const share = shares[other * words + word] as number;
    if (share === 0) continue;
    const apart = own - other;
    const before = (signs[other] as number) & ASKS ? BEFORE_ASKED : BEFORE;
    const near = (apart >= 0 ? before[apart] : AFTER[-apart]) as number;
    near_most = Math.max(near_most, share * (apart !== 0 && said_by.has(word) ? near * near : near));
    if (Math.abs(apart) <= 1) beside = Math.max(beside, share);
  }
  return { here: shares[own * words + word] as number, beside, near: near_most };
}

function factorOf(
  signs: number,
  { length, answers, question }: { length: number; answers: boolean; question: RecallQuestion },
): number {
  let factor = 1;
  if (answers) factor *= ANSWERS_FACTOR;
  if (signs & ASKS) factor *= ASKS_FACTOR;
  if (question.asks_promises) factor *= signs & REFUSES ? REFUSES_FACTOR : signs & PROMISES ? PROMISES_FACTOR : 1;
  if (length < SHORT_WORDS && !answers) factor *= SHORT_FACTOR;
  return factor;
}

/** The turns of a region. */
function placesOf({ transcript_id, pages, from, to }: Region): PlacedTurn[] {
  const found: PlacedTurn[] = [];
  let before = 0;
  for (const page of pages) {
    const { block } = page;
    for (let text = Math.max(0, from - before); text < block.texts && before + text <= to; text++)
      found.push({
        ...{ transcript_id, pages, page, at: before + text, text },
        started_ms: block.begins_at_ms + block.start_ms(text),
      });
    before += block.texts;
  }
  return found;
}

export const bitOf = (mark: AnswerMark) => 1 << ANSWER_MARKS.indexOf(mark);
const [ASKS, PROMISES, REFUSES] = [bitOf('asks'), bitOf('promises'), bitOf('refuses')];

/** Signs of turns, a bit each, read once a block. */
export class TurnMarks {
  readonly #known = new Map<Block, Uint16Array>();

  of(block: Block, text: number): number {
    const known = this.#known.get(block) ?? this.#read(block);
    return known[text] as number;
  }

  #read(block: Block): Uint16Array {
    const signs = new Uint16Array(block.texts);
    const [texts, counts] = [new Uint16Array(block.texts), new Uint16Array(block.texts)];
    for (const mark of ANSWER_MARKS) {
      const found = block.readPostings(answerTerm(mark), texts, counts);
      for (let at = 0; at < found; at++) {
        const text = texts[at] as number;
        signs[text] = (signs[text] as number) | bitOf(mark);
      }
    }
    this.#known.set(block, signs);
    return signs;
  }
}
