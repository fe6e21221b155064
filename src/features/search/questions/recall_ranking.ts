import type { Principal } from '../../../access/principal.js';
import { LIMITS } from '../../../domain/limits.js';
import type { Slices } from '../../../engine/time/slices.js';
import type { Hits, Weights } from '../index/hits.js';
import type { HitReader } from './hit_reader.js';
import { contactsOfItem } from './hit_reader.js';
import { fused } from './meaning.js';
import type { NamedContacts } from './named_contacts.js';
import { rankPassages } from './passage_ranking.js';
import { type Passage, passagesOf } from './passages.js';
import type { Period } from './period.js';
import type { Candidate } from './recall_candidates.js';
import type { RecallQuestion } from './recall_question.js';

const RECALL_HITS_MAX = 240; // ours: the best matches, of which passages are made
const RECALL_PASSAGES_MAX = 60; // ours: of those that matches make, the best

/** The results of a question. */
export type Recalled = {
  question: RecallQuestion;
  named: NamedContacts;
  hits: Hits;
  weights: Weights;
  reading: HitReader;
  context_turns: number;
  now_ms: number;
  /** A past period in the question that does not bind it. */
  near: Period | null;
  /** Windows that mean something alike, the nearest first. */
  windows: readonly Passage[];
};

/** The share of recency in a score. docs/choices.md, "Search and recall". */
const RECENCY_SHARE = 0.2;
/** The factor of a suggestion for the account's own person, if the question asks for the person's own. */
const OWN_FACTOR = 1.25;
/** The factor of turns and items in the period of the question. */
const NEAR_FACTOR = 1.3;
/** Hits that are ranked between two checks of the clock. */
const HITS_A_STEP = 2_000;

/** Passages and suggestions that the best hits make, the best first; without words the newest. */
export async function bestOf(who: Principal, recalled: Recalled, slices: Slices): Promise<Candidate[]> {
  const { hits, weights, question, named, context_turns, now_ms, near, windows } = recalled;
  const has_words = question.words.length > 0;
  const atOf = (started_ms: number) =>
    recency(now_ms - started_ms) *
    (near !== null && started_ms >= near.from_ms && started_ms <= near.to_ms ? NEAR_FACTOR : 1);
  const scoreOf = (hit: number) => hits.score(hit, weights) * atOf(hits.started_ms(hit));
  const sort: Sorting = has_words
    ? {
        scoreOf: (hit) => hits.score(hit, weights),
        factorOf: (hit) => atOf(hits.started_ms(hit)),
        factor_max: NEAR_FACTOR,
      }
    : { scoreOf: (hit) => hits.started_ms(hit), factorOf: () => 1, factor_max: 1 };
  const best = await bestHits(hits, sort, slices);
  const of_turns = best.filter((hit) => hits.isTurn(hit));
  const limit = RECALL_PASSAGES_MAX;
  const said_by = new Set(named.said_by.keys());
  const passages = has_words
    ? rankPassages(hits, of_turns, { weights, question, said_by, around: context_turns, limit })
    : passagesOf(hits, of_turns).map((passage) => ({ passage, score: 0 }));
  const candidates = passages.map(({ passage, score }): Candidate => {
    const { started_ms } = passage;
    return { passage, started_ms, score: score * atOf(started_ms) };
  });
  for (const hit of best.filter((one) => !hits.isTurn(one))) {
    const factor = await ownFactor(who, recalled, hit);
    candidates.push({ hit, started_ms: hits.started_ms(hit), score: scoreOf(hit) * factor });
  }
  candidates.sort((a, b) => b.score - a.score || b.started_ms - a.started_ms);
  return windows.length === 0 ? candidates : fused(candidates, windows);
}

/** `factorOf`: of a score, at most `factor_max`; it costs more than the score. */
type Sorting = { scoreOf: (hit: number) => number; factorOf: (hit: number) => number; factor_max: number };

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
    const score = most * factorOf(hit);
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
  if (!question.is_own || named.self_id === null) return 1;
  const found = await reading.item(hits, hit);
  const [owner = null] = found === null ? [] : contactsOfItem(found.kind, found.item);
  if (owner === null || found?.place.account_id !== account_id) return 1;
  const contact = await reading.insights.contact(account_id, owner);
  return contact?.id === named.self_id ? OWN_FACTOR : 1;
}
