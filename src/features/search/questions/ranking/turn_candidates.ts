import type { Slices } from '../../../../engine/time/slices.js';
import type { Hits } from '../../index/hits.js';
import type { IndexedPage } from '../../index/search_index.js';
import type { Spread, TranscriptSimilarity, TurnSimilarities } from '../../index/turn_similarity.js';
import { type PlacedTurn, type TurnWords, type WordScoring, wordScoresOf } from './word_scores.js';

/** The turns that may answer a question: the best by words and the best by vectors, with what both say of them. */

const BY_WORDS_MAX = 80; // ours
const BY_VECTORS_MAX = 40; // ours: by a turn alone, and as many by it with those beside it

/** How alike a turn and a question are by vectors, in deviations from the mean of all turns that were looked at. */
export type TurnMeaning = {
  own: number;
  /** Of the turn with the next one; with both beside it; with three on each side. */
  with_next: number;
  beside: number;
  around: number;
  before: number;
  after: number;
  /** Behind the best of all, in deviations; 0 for the best. */
  own_behind: number;
  beside_behind: number;
  own_rank: number;
  beside_rank: number;
  /** Of its page: the mean of its three best turns, and all of it together. */
  page_best: number;
  page_best_behind: number;
  page: number;
  page_behind: number;
  /** The turn, and it with those beside it, to the question itself and not to what its answers are like. */
  plain: number;
  plain_beside: number;
  plain_before: number;
};

export type TurnCandidate = PlacedTurn & { words: TurnWords; words_rank: number; meaning: TurnMeaning | null };

export type CandidateSources = {
  hits: Hits;
  /** The hits of turns with the best scores. */
  best: readonly number[];
  scoring: WordScoring;
  /** Null without vectors. */
  similarities: TurnSimilarities | null;
};

const NO_WORDS: TurnWords = {
  ...{ own: 0, beside: 0, near: 0, score: 0, share: 0, share_beside: 0, share_near: 0, rarest: 0 },
  ...{ answers: false, supports: [] },
};

/** In slices. */
export async function candidatesOf(
  { hits, best, scoring, similarities }: CandidateSources,
  slices: Slices,
): Promise<TurnCandidate[]> {
  const by_transcript = await wordScoresOf(hits, best, scoring, slices);
  const ranked = [...by_transcript.values()].flatMap((turns) => [...turns.values()]);
  ranked.sort((a, b) => b.score - a.score || b.started_ms - a.started_ms || a.at - b.at);
  const rank_of = new Map(ranked.map((turn, rank) => [turn, rank]));
  const found = new Map<string, TurnCandidate>();
  for (const [rank, turn] of ranked.slice(0, BY_WORDS_MAX).entries())
    if (turn.score > 0) found.set(keyOf(turn), { ...turn, words: turn, words_rank: rank, meaning: null });
  if (similarities === null) return [...found.values()];
  await slices.pause();
  const meanings = new TurnMeanings(similarities);
  for (const turn of meanings.nearest(BY_VECTORS_MAX)) {
    if (found.has(keyOf(turn))) continue;
    const scored = by_transcript.get(turn.transcript_id)?.get(turn.at);
    const words_rank = scored === undefined ? ranked.length : (rank_of.get(scored) ?? ranked.length);
    found.set(keyOf(turn), { ...turn, words: scored ?? NO_WORDS, words_rank, meaning: null });
  }
  return [...found.values()].map((turn) => ({ ...turn, meaning: meanings.of(turn) }));
}

function keyOf({ transcript_id, at }: PlacedTurn): string {
  return `${transcript_id} ${at}`;
}

type Scanned = { transcript: TranscriptSimilarity; at: number; near: number };

/** How alike turns and a question are by vectors. */
class TurnMeanings {
  readonly #similarities: TurnSimilarities;
  readonly #own: Scanned[];
  readonly #beside: Scanned[];
  readonly #page_best = new Map<IndexedPage, number>();
  readonly #page_best_most: number;
  readonly #own_values: Float64Array;
  readonly #beside_values: Float64Array;

  constructor(similarities: TurnSimilarities) {
    this.#similarities = similarities;
    const [own, beside] = [new Best(BY_VECTORS_MAX), new Best(BY_VECTORS_MAX)];
    const [all_own, all_beside]: [number[], number[]] = [[], []];
    let most = Number.NEGATIVE_INFINITY;
    for (const { transcript, from, to } of similarities.positions()) {
      const top = [-1, -1, -1];
      for (let at = from; at < to; at++) {
        const near = transcript.known(at);
        if (Number.isNaN(near)) continue;
        const with_beside = besideOf(transcript, at, near);
        own.offer(transcript, at, near);
        beside.offer(transcript, at, with_beside);
        all_own.push(near);
        all_beside.push(with_beside);
        if (near > (top[2] as number)) {
          top[2] = near;
          top.sort((a, b) => b - a);
        }
      }
      const known = top.filter((one) => one > -1);
      const page = transcript.pages[transcript.texts.pageOf(from)] as IndexedPage;
      const page_best = known.length === 0 ? 0 : known.reduce((sum, one) => sum + one, 0) / known.length;
      this.#page_best.set(page, page_best);
      most = Math.max(most, page_best);
    }
    this.#page_best_most = most;
    this.#own = own.taken;
    this.#beside = beside.taken;
    this.#own_values = Float64Array.from(all_own).sort();
    this.#beside_values = Float64Array.from(all_beside).sort();
  }

  /** Turns that are most alike alone, and with those beside them. */
  *nearest(limit: number): Generator<PlacedTurn> {
    for (const scanned of [this.#own.slice(0, limit), this.#beside.slice(0, limit)])
      for (const { transcript, at } of scanned) {
        const { transcript_id, pages, texts } = transcript;
        const page_at = texts.pageOf(at);
        const page = pages[page_at] as IndexedPage;
        const text = at - (texts.firsts[page_at] as number);
        const started_ms = page.block.begins_at_ms + page.block.start_ms(text);
        yield { transcript_id, pages, page, at, text, started_ms };
      }
  }

  /** Null for a turn without a vector. */
  of({ transcript_id, at, page }: PlacedTurn): TurnMeaning | null {
    const transcript = this.#similarities.transcript(transcript_id);
    const own = transcript?.turn(at) ?? Number.NaN;
    if (transcript === null || Number.isNaN(own)) return null;
    const { turns, pages, plain: spread } = this.#similarities;
    const turn = (position: number) => {
      const found = transcript.turn(position);
      return Number.isNaN(found) ? own : found;
    };
    const plain = transcript.plain(at);
    const [plain_before, plain_after] = [-1, 1].map((step) => {
      const found = transcript.plain(at + step);
      return Number.isNaN(found) ? plain : found;
    }) as [number, number];
    const beside = (turn(at - 1) + own + turn(at + 1)) / 3;
    let around = 0;
    for (let other = at - 3; other <= at + 3; other++) around += turn(other) / 7;
    const page_at = transcript.texts.pageOf(at);
    const page_own = transcript.of_page.get(page_at) ?? pages.mean;
    const page_best = this.#page_best.get(page) ?? own;
    const in_turns = (value: number) => deviationsOf(value, turns);
    return {
      own: in_turns(own),
      with_next: in_turns((own + turn(at + 1)) / 2),
      beside: in_turns(beside),
      around: in_turns(around),
      before: in_turns(turn(at - 1)),
      after: in_turns(turn(at + 1)),
      own_behind: (own - (this.#own[0]?.near ?? own)) / turns.deviation,
      beside_behind: (beside - (this.#beside[0]?.near ?? beside)) / turns.deviation,
      own_rank: rankIn(this.#own_values, own),
      beside_rank: rankIn(this.#beside_values, beside),
      page_best: in_turns(page_best),
      page_best_behind: (page_best - this.#page_best_most) / turns.deviation,
      page: deviationsOf(page_own, pages),
      page_behind: (page_own - pages.most) / pages.deviation,
      plain: deviationsOf(plain, spread),
      plain_beside: deviationsOf((plain_before + plain + plain_after) / 3, spread),
      plain_before: deviationsOf(plain_before, spread),
    };
  }
}

function besideOf(transcript: TranscriptSimilarity, at: number, own: number): number {
  const [before, after] = [transcript.known(at - 1), transcript.known(at + 1)];
  return ((Number.isNaN(before) ? own : before) + own + (Number.isNaN(after) ? own : after)) / 3;
}

function deviationsOf(value: number, { mean, deviation }: Spread): number {
  return (value - mean) / deviation;
}

/** How many of the values, which rise, are greater. */
function rankIn(values: Float64Array, value: number): number {
  let [low, high] = [0, values.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((values[middle] as number) > value) high = middle;
    else low = middle + 1;
  }
  return values.length - low;
}

/** The best so many. */
class Best {
  #kept: Scanned[] = [];
  #least = Number.NEGATIVE_INFINITY;

  constructor(readonly limit: number) {}

  /** Most are none of the best: an object is made of few. */
  offer(transcript: TranscriptSimilarity, at: number, near: number): void {
    if (near <= this.#least) return;
    this.#kept.push({ transcript, at, near });
    if (this.#kept.length >= 4 * this.limit) this.#prune();
  }

  get taken(): Scanned[] {
    this.#prune();
    return this.#kept;
  }

  #prune(): void {
    this.#kept.sort((a, b) => b.near - a.near);
    this.#kept.length = Math.min(this.limit, this.#kept.length);
    if (this.#kept.length === this.limit) this.#least = this.#kept.at(-1)?.near ?? this.#least;
  }
}
