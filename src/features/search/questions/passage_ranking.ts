import { ANSWER_MARKS, type AnswerMark } from '../../../domain/search/answer_marks.js';
import type { Block } from '../../../domain/search/block.js';
import { answerTerm } from '../../../domain/search/words.js';
import type { HitPlace, Hits, Weights } from '../index/hits.js';
import type { IndexedPage } from '../index/search_index.js';
import type { Passage } from './passages.js';
import type { RecallQuestion } from './recall_question.js';

/**
 * Ranks the turns around the best hits: by the words that stand in them and near them, by signs of the kind of answer that
 * the question asks for, and below those that only ask. docs/choices.md, "Search and recall".
 */

/** Weights of a word by how many turns before the ranked turn it occurs. */
const BEFORE = [1, 0.55, 0.4, 0.28, 0.2];
/** The same if the turn with the word is a question. */
const BEFORE_ASKED = [1, 0.85, 0.6, 0.35, 0.2];
/** Weights of a word by how many turns after the ranked turn it occurs. */
const AFTER = [1, 0.4, 0.25, 0.12];
/** Factors of a turn's score. */
const ANSWERS_FACTOR = 1.45;
const ASKS_FACTOR = 0.7;
const SHORT_FACTOR = 0.6;
const PROMISES_FACTOR = 1.5;
const REFUSES_FACTOR = 0.6;
/** Turns with fewer words, and without the sign that is looked for, say too little. */
const SHORT_WORDS = 3;
/** Turns beside the best one are of its passage from this part of its score on. */
const PASSAGE_SHARE = 0.6;
/** A turn whose words are all in passages before it is one from this part of the best score on, unless it may answer. */
const BESIDE_SHARE = 0.35;
/** The most turns beside the best one, on each side. */
const BESIDE_MAX = 2;

type TurnHitPlace = Extract<HitPlace, { pages: unknown }>;
export type RankedPassage = { passage: Passage; score: number };

/** Passages around hits of turns, the best first. */
export function rankPassages(
  hits: Hits,
  best: readonly number[],
  {
    weights,
    question,
    said_by,
    around,
    limit,
  }: {
    weights: Weights;
    question: RecallQuestion;
    said_by: ReadonlySet<number>;
    around: number;
    limit: number;
  },
): RankedPassage[] {
  const regions = regionsOf(hits, best);
  const marks = new BlockMarks(question);
  const turns = regions.flatMap((region) => scoredTurns(hits, region, { weights, question, said_by, marks }));
  turns.sort((a, b) => b.score - a.score || b.started_ms - a.started_ms || a.at - b.at);
  const covered = new Map<string, Set<number>>();
  const found: RankedPassage[] = [];
  for (const turn of turns) {
    if (found.length >= limit) break;
    const { region, at } = turn;
    const taken = covered.get(region.transcript_id) ?? new Set();
    if (taken.has(at)) continue;
    covered.set(region.transcript_id, taken);
    const passage = passageAround(turn, taken);
    const is_shown = passage.supports.every((one) => taken.has(one));
    if (is_shown && !turn.answers && turn.score < (turns[0]?.score ?? 0) * BESIDE_SHARE) continue;
    for (let one = passage.first - around; one <= passage.last + around; one++) taken.add(one);
    found.push({ passage, score: turn.score });
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

type ScoredTurn = {
  region: Region;
  at: number;
  score: number;
  started_ms: number;
  answers: boolean;
  beside: Map<number, ScoredTurn>;
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

function scoredTurns(
  hits: Hits,
  region: Region,
  {
    weights,
    question,
    said_by,
    marks,
  }: { weights: Weights; question: RecallQuestion; said_by: ReadonlySet<number>; marks: BlockMarks },
): ScoredTurn[] {
  const words = question.words.length;
  const size = region.to - region.from + 1;
  const shares = new Float64Array(size * words);
  for (const [at, hit] of region.hits) {
    if (at < region.from || at > region.to) continue;
    for (let word = 0; word < words; word++) shares[(at - region.from) * words + word] = hits.share(hit, word, weights);
  }
  const places = placesOf(region);
  const signs = places.map(({ block, text }) => marks.of(block, text));
  const beside = new Map<number, ScoredTurn>();
  return places.map(({ block, text }, own) => {
    let sum = 0;
    for (let word = 0; word < words; word++) {
      let best = 0;
      for (let other = Math.max(0, own - BEFORE.length + 1); other < Math.min(size, own + AFTER.length); other++) {
        const share = shares[other * words + word] as number;
        if (share === 0) continue;
        const apart = own - other;
        const before = (signs[other] as number) & ASKS ? BEFORE_ASKED : BEFORE;
        const near = (apart >= 0 ? before[apart] : AFTER[-apart]) as number;
        best = Math.max(best, share * (apart !== 0 && said_by.has(word) ? near * near : near));
      }
      sum += best;
    }
    const answers = question.answered_by.some((mark) => (signs[own] as number) & bitOf(mark));
    const score = sum * factorOf(signs[own] as number, { length: block.length(text), answers, question });
    const at = region.from + own;
    const turn = { answers, region, at, score, started_ms: block.begins_at_ms + block.start_ms(text), beside };
    beside.set(at, turn);
    return turn;
  });
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

/** The turns of a region, by their place in their page. */
function placesOf({ pages, from, to }: Region): { block: Block; text: number }[] {
  const found: { block: Block; text: number }[] = [];
  let before = 0;
  for (const { block } of pages) {
    for (let text = Math.max(0, from - before); text < block.texts && before + text <= to; text++)
      found.push({ block, text });
    before += block.texts;
  }
  return found;
}

/** The best turn and those beside it that are nearly as good. */
function passageAround({ region, at, score, started_ms, beside }: ScoredTurn, taken: ReadonlySet<number>): Passage {
  let [first, last] = [at, at];
  const isOfIt = (one: number) => !taken.has(one) && (beside.get(one)?.score ?? 0) >= score * PASSAGE_SHARE;
  while (at - first < BESIDE_MAX && isOfIt(first - 1)) first -= 1;
  while (last - at < BESIDE_MAX && isOfIt(last + 1)) last += 1;
  const supports = [...region.hits.keys()].filter((one) => one > at - BEFORE.length && one < at + AFTER.length);
  const { transcript_id, pages } = region;
  return { transcript_id, pages, first, last, supports, started_ms };
}

const bitOf = (mark: AnswerMark) => 1 << ANSWER_MARKS.indexOf(mark);
const [ASKS, PROMISES, REFUSES] = [bitOf('asks'), bitOf('promises'), bitOf('refuses')];

/** Signs of turns, a bit each, read once a block. */
class BlockMarks {
  readonly #known = new Map<Block, Uint16Array>();
  readonly #marks: ReadonlySet<AnswerMark>;

  /** Of those that count for a question. */
  constructor({ answered_by, asks_promises }: RecallQuestion) {
    this.#marks = new Set(['asks', ...answered_by, ...(asks_promises ? (['promises', 'refuses'] as const) : [])]);
  }

  of(block: Block, text: number): number {
    const known = this.#known.get(block) ?? this.#read(block);
    return known[text] as number;
  }

  #read(block: Block): Uint16Array {
    const signs = new Uint16Array(block.texts);
    const [texts, counts] = [new Uint16Array(block.texts), new Uint16Array(block.texts)];
    for (const mark of this.#marks) {
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
