import type { Principal } from '../../../access/principal.js';
import { LIMITS } from '../../../domain/limits.js';
import type { Slices } from '../../../engine/time/slices.js';
import type { SearchScope } from '../index/evaluate.js';
import type { Hits, Weights } from '../index/hits.js';
import type { TurnSimilarities } from '../index/turn_similarity.js';
import type { HitReader } from './hit_reader.js';
import { contactsOfItem } from './hit_reader.js';
import type { NamedContacts } from './named_contacts.js';
import { type RankedPassage, rankPassages } from './passage_ranking.js';
import { passagesOf } from './passages.js';
import type { Period } from './period.js';
import type { Candidate } from './recall_candidates.js';
import type { RecallQuestion } from './recall_question.js';

const RECALL_HITS_MAX = 240; // ours: the best matches, of which passages are made
const RECALL_PASSAGES_MAX = 60; // ours: of those that matches make, the best

/** The results of a question. */
export type Recalled = {
  scope: SearchScope;
  question: RecallQuestion;
  named: NamedContacts;
  hits: Hits;
  weights: Weights;
  reading: HitReader;
  context_turns: number;
  now_ms: number;
  /** A past period in the question that does not bind it. */
  near: Period | null;
  /** Null without vectors. */
  similarities: TurnSimilarities | null;
};

/** The share of recency in a score. docs/choices.md, "Search and recall". */
const RECENCY_SHARE = 0.2;
/** The factor of a suggestion for the account's own person, if the question asks for the person's own. */
const OWN_FACTOR = 1.25;
/** The factor of turns and items in the period of the question. */
const NEAR_FACTOR = 1.3;
/** Hits that are ranked between two checks of the clock. */
const HITS_A_STEP = 2_000;

/** Passages, suggestions and notes that the best hits make, the best first; without words the newest. */
export async function bestOf(who: Principal, recalled: Recalled, slices: Slices): Promise<Candidate[]> {
  const { hits, weights, question } = recalled;
  const factorOf = factorOfTime(recalled);
  const best = await bestHitsOf({ hits, weights, question, factorOf }, slices);
  const of_turns = best.filter((hit) => hits.isTurn(hit));
  const passages =
    question.words.length > 0 ? await passagesFor(recalled, of_turns, factorOf, slices) : newest(hits, of_turns);
  const candidates = passages.map(({ passage, score }): Candidate => {
    return { passage, started_ms: passage.started_ms, score };
  });
  for (const hit of best.filter((one) => !hits.isTurn(one))) {
    const factor = (await ownFactor(who, recalled, hit)) * factorOf(hits.started_ms(hit));
    candidates.push({ hit, started_ms: hits.started_ms(hit), score: hits.score(hit, weights) * factor });
  }
  // Passages come in their order, and keep it: of equals none is moved.
  return candidates.sort((a, b) => b.score - a.score);
}

/** The factor of when something began: newer is a little better, and so is the past period of a question. */
export function factorOfTime({ now_ms, near }: Pick<Recalled, 'now_ms' | 'near'>): (started_ms: number) => number {
  return (started_ms) =>
    recency(now_ms - started_ms) *
    (near !== null && started_ms >= near.from_ms && started_ms <= near.to_ms ? NEAR_FACTOR : 1);
}

function newest(hits: Hits, best: readonly number[]): RankedPassage[] {
  const passages = passagesOf(hits, best).sort((a, b) => b.started_ms - a.started_ms);
  return passages.map((passage) => ({ passage, score: 0 }));
}

function passagesFor(
  { scope, hits, weights, question, named, context_turns, similarities }: Recalled,
  best: readonly number[],
  factorOf: (started_ms: number) => number,
  slices: Slices,
): Promise<RankedPassage[]> {
  const said_by = new Set(named.said_by.keys());
  const limit = RECALL_PASSAGES_MAX;
  const around = context_turns;
  const ranking = { scope, weights, question, said_by, around, limit, similarities, factorOf };
  return rankPassages(hits, best, ranking, slices);
}

/** `factorOf`: of a score, by when the hit began, at most `factor_max`; it costs more than the score. */
type Sorting = { scoreOf: (hit: number) => number; factorOf: (started_ms: number) => number; factor_max: number };

/** The hits of which passages and suggestions are made: the best by their own words; without words the newest. */
export async function bestHitsOf(
  { hits, weights, question, factorOf }: Pick<Recalled, 'hits' | 'weights' | 'question'> & Pick<Sorting, 'factorOf'>,
  slices: Slices,
): Promise<number[]> {
  const sort: Sorting =
    question.words.length > 0
      ? { scoreOf: (hit) => hits.score(hit, weights), factorOf, factor_max: NEAR_FACTOR }
      : { scoreOf: (hit) => hits.started_ms(hit), factorOf: () => 1, factor_max: 1 };
  return bestHits(hits, sort, slices);
}

/** So many of the best hits as make passages, the best first; of equals the newest. In slices. */
async function bestHits(hits: Hits, sort: Sorting, slices: Slices): Promise<number[]> {
  const { scoreOf, factorOf, factor_max } = sort;
  const limit = RECALL_HITS_MAX;
  let kept: { hit: number; score: number }[] = [];
  let least = Number.NEGATIVE_INFINITY;
  const prune = () => {
    kept.sort((a, b) => b.score - a.score || hits.started_ms(b.hit) - hits.started_ms(a.hit) || a.hit - b.hit);
    kept = kept.slice(0, limit);
    if (kept.length === limit) least = kept.at(-1)?.score ?? least;
  };
  for (let hit = 0; hit < hits.count; hit++) {
    if (hit % HITS_A_STEP === 0) await slices.pause();
    const most = scoreOf(hit);
    if (most * factor_max < least) continue;
    const score = most * factorOf(hits.started_ms(hit));
    if (score >= least) kept.push({ hit, score });
    if (kept.length === 4 * limit) prune();
  }
  prune();
  return kept.map(({ hit }) => hit);
}

/** 1 for a new hit; a part of it halves with time. */
function recency(age_ms: number): number {
  return 1 - RECENCY_SHARE + RECENCY_SHARE * 0.5 ** (Math.max(0, age_ms) / LIMITS.recall_half_ms);
}

async function ownFactor(
  { account_id }: Principal,
  { question, named, hits, reading }: Recalled,
  hit: number,
): Promise<number> {
  if (!question.is_own || named.self_id === null || hits.note(hit) !== null) return 1;
  const found = await reading.item(hits, hit);
  const [owner = null] = found === null ? [] : contactsOfItem(found.kind, found.item);
  if (owner === null || found?.place.account_id !== account_id) return 1;
  const contact = await reading.insights.contact(account_id, owner);
  return contact?.id === named.self_id ? OWN_FACTOR : 1;
}
