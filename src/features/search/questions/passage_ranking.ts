import type { Slices } from '../../../engine/time/slices.js';
import type { SearchScope } from '../index/evaluate.js';
import type { Hits, Weights } from '../index/hits.js';
import type { TurnSimilarities } from '../index/turn_similarity.js';
import type { Passage } from './passages.js';
import { PageScores } from './ranking/page_scores.js';
import { RECALL_MODEL, type RecallModel, weighed } from './ranking/recall_model.js';
import { candidatesOf, type TurnCandidate } from './ranking/turn_candidates.js';
import { featuresOf, SCORE_RELATIVE_AT } from './ranking/turn_features.js';
import { TurnMarks } from './ranking/word_scores.js';
import type { RecallQuestion } from './recall_question.js';

/**
 * Ranks turns that may answer a question, by a linear model of what words, vectors and signs say of them.
 * docs/choices.md, "Search and recall".
 */

/** So much more counts what words found, so that a first place that they have right stays. */
const CAUTION = 1;
/** How much a factor of time, as a logarithm, counts. */
const TIME_WEIGHT = 3;
/** A turn's own chance counts a little more than that of each turn beside it. */
const OWN_SHARE = 1.01;
/** Turns beside the best one are of its passage from this part of its score by words on; without words, of its chance. */
const PASSAGE_SHARE = 0.6;
/** Without vectors a turn whose words are all in passages before it is one from this part of the best score on, unless it may answer. */
const BESIDE_SHARE = 0.35;
/** The most turns beside the best one, on each side. */
const BESIDE_MAX = 2;

export type RankedPassage = { passage: Passage; score: number };

export type PassageRanking = {
  scope: SearchScope;
  weights: Weights;
  question: RecallQuestion;
  said_by: ReadonlySet<number>;
  /** Turns that are shown on each side of a passage. */
  around: number;
  limit: number;
  /** Null without vectors. */
  similarities: TurnSimilarities | null;
  /** The factor of when a turn began. */
  factorOf: (started_ms: number) => number;
};

/** A turn with its features and its chance to answer the question, by itself and with the turns beside it. */
type RankedTurn = { turn: TurnCandidate; own: number; chance: number };

/** Passages around turns, the best first, in slices. `best`: the hits of turns with the best scores. */
export async function rankPassages(
  hits: Hits,
  best: readonly number[],
  ranking: PassageRanking,
  slices: Slices,
): Promise<RankedPassage[]> {
  const { candidates, features } = await candidatesWithFeatures(hits, best, ranking, slices);
  const { about, words } = ranking.question;
  // Of promises and the like alone, without a subject, nothing was learned.
  const ranked =
    about.size === words.length ? rankByWords(candidates, ranking) : rankTurns(candidates, features, ranking);
  return passagesOfTurns(ranked, ranking);
}

/** The turns that are ranked, each with the row of features that the model is learned from. */
export async function candidatesWithFeatures(
  hits: Hits,
  best: readonly number[],
  { scope, weights, question, said_by, similarities }: PassageRanking,
  slices: Slices,
): Promise<{ candidates: TurnCandidate[]; features: Float64Array[] }> {
  const marks = new TurnMarks();
  const page_scores = new PageScores(scope, hits, question);
  const scoring = { weights, question, said_by, marks };
  await slices.pause();
  const candidates = await candidatesOf({ hits, best, scoring, similarities }, slices);
  await slices.pause();
  return { candidates, features: featuresOf(candidates, { question, page_scores, marks }) };
}

export function rankTurns(
  candidates: readonly TurnCandidate[],
  features: readonly Float64Array[],
  {
    factorOf,
    model = RECALL_MODEL,
    caution = CAUTION,
  }: Pick<PassageRanking, 'factorOf'> & { model?: RecallModel; caution?: number },
): RankedTurn[] {
  const values = candidates.map(({ started_ms }, at) => {
    const own = features[at] as Float64Array;
    const weights = own.length === model.words.length ? model.words : model.vectors;
    const of_words = caution * (own[SCORE_RELATIVE_AT] as number);
    return weighed(weights, own) + of_words + TIME_WEIGHT * Math.log(factorOf(started_ms));
  });
  const most = Math.max(...values);
  const chances = new Map<string, number>();
  const keyOf = (transcript_id: string, at: number) => `${transcript_id} ${at}`;
  for (const [at, { transcript_id, at: position }] of candidates.entries())
    chances.set(keyOf(transcript_id, position), Math.exp((values[at] as number) - most));
  const ranked = candidates.map((turn): RankedTurn => {
    const chanceAt = (at: number) => chances.get(keyOf(turn.transcript_id, at)) ?? 0;
    const own = chanceAt(turn.at);
    return { turn, own, chance: OWN_SHARE * own + chanceAt(turn.at - 1) + chanceAt(turn.at + 1) };
  });
  return ranked.sort((a, b) => b.chance - a.chance || b.turn.started_ms - a.turn.started_ms || a.turn.at - b.turn.at);
}

function rankByWords(candidates: readonly TurnCandidate[], { factorOf }: PassageRanking): RankedTurn[] {
  const ranked = candidates.flatMap((turn): RankedTurn[] => {
    const chance = turn.words.score * factorOf(turn.started_ms);
    return chance > 0 ? [{ turn, own: chance, chance }] : [];
  });
  return ranked.sort((a, b) => b.chance - a.chance || b.turn.started_ms - a.turn.started_ms || a.turn.at - b.turn.at);
}

/** Passages of turns that come the best first; no turn is in two. They take the scores of words, the greatest first. */
function passagesOfTurns(ranked: readonly RankedTurn[], { around, limit, factorOf }: PassageRanking): RankedPassage[] {
  const own = new Map<string, Map<number, RankedTurn>>();
  for (const one of ranked) {
    const turns = own.get(one.turn.transcript_id) ?? new Map();
    own.set(one.turn.transcript_id, turns.set(one.turn.at, one));
  }
  const best = ranked.reduce((most, { turn }) => Math.max(most, turn.words.score), 0);
  const covered = new Map<string, Set<number>>();
  const passages: Passage[] = [];
  const scores: number[] = [];
  for (const one of ranked) {
    if (passages.length >= limit) break;
    const { transcript_id, at, words, meaning, started_ms } = one.turn;
    const taken = covered.get(transcript_id) ?? new Set();
    if (taken.has(at)) continue;
    covered.set(transcript_id, taken);
    const is_shown = meaning === null && words.supports.every((support) => taken.has(support));
    if (is_shown && !words.answers && words.score < best * BESIDE_SHARE) continue;
    const beside = own.get(transcript_id) ?? new Map<number, RankedTurn>();
    const passage = passageAround(likeliest(one, { beside, taken }), { beside, taken });
    for (let position = passage.first - around; position <= passage.last + around; position++) taken.add(position);
    taken.add(at);
    passages.push(passage);
    scores.push(words.score * factorOf(started_ms));
  }
  scores.sort((a, b) => b - a);
  return passages.map((passage, at) => ({ passage, score: scores[at] as number }));
}

type Beside = { beside: ReadonlyMap<number, RankedTurn>; taken: ReadonlySet<number> };

/** Of a turn and those beside it, whose chances it has as well, the one that answers by itself. */
function likeliest(one: RankedTurn, { beside, taken }: Beside): RankedTurn {
  const near = [one.turn.at - 1, one.turn.at + 1].flatMap((at) => (taken.has(at) ? [] : (beside.get(at) ?? [])));
  return near.reduce((best, other) => (other.own > best.own ? other : best), one);
}

/** The turn with those beside it that are nearly as good. */
function passageAround({ turn, own }: RankedTurn, { beside, taken }: Beside): Passage {
  const { transcript_id, pages, at, words, meaning, started_ms } = turn;
  let [first, last] = [at, at];
  const isNear = (one: RankedTurn | undefined) =>
    words.score > 0
      ? (one?.turn.words.score ?? 0) >= words.score * PASSAGE_SHARE
      : (one?.own ?? 0) >= own * PASSAGE_SHARE;
  const isOfIt = (one: number) => !taken.has(one) && isNear(beside.get(one));
  while (at - first < BESIDE_MAX && isOfIt(first - 1)) first -= 1;
  while (last - at < BESIDE_MAX && isOfIt(last + 1)) last += 1;
  return { transcript_id, pages, at, first, last, supports: words.supports, by_meaning: meaning !== null, started_ms };
}
