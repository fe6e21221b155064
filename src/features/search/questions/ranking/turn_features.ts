import { ANSWER_MARKS } from '../../../../domain/search/answer_marks.js';
import type { RecallQuestion } from '../recall_question.js';
import type { PageScore, PageScores } from './page_scores.js';
import type { TurnCandidate, TurnMeaning } from './turn_candidates.js';
import { bitOf, type TurnMarks, type TurnWords } from './word_scores.js';

/** Features of a turn that may answer a question, as numbers near 1, for the learned model of recall. */

export type FeatureContext = { question: RecallQuestion; page_scores: PageScores; marks: TurnMarks };

/** A candidate with all that its features follow from. */
type Described = {
  words: TurnWords;
  words_rank: number;
  meaning: TurnMeaning;
  /** Parts of the greatest of all candidates, 0 to 1. */
  relative: { own: number; beside: number; near: number; score: number };
  page: PageScore;
  page_relative: number;
  /** Of the number of pages: 0 for one, 1 for fifty. */
  many: number;
  /** How far the best turn by words is ahead of the next elsewhere. */
  sure: number;
  fused_behind: number;
  fused_rank: number;
  signs: number;
  fits: number;
  fits_before: number;
  fits_after: number;
  /** Whether the turn before asks. */
  answers: number;
  asks_promises: number;
  length: number;
  length_after: number;
  same_speaker: number;
  place: number;
};

const ASKS = bitOf('asks');
const [SHORT_WORDS, LONG_WORDS] = [3, 15];
const FAR = 1e9;
/** A turn without a vector is like the mean of all. */
const BEHIND = -3;
const NO_MEANING: TurnMeaning = {
  ...{ own: 0, with_next: 0, beside: 0, around: 0, before: 0, after: 0, plain: 0, plain_beside: 0, plain_before: 0 },
  ...{ own_behind: BEHIND, beside_behind: BEHIND, own_rank: FAR, beside_rank: FAR },
  ...{ page_best: 0, page_best_behind: BEHIND, page: 0, page_behind: BEHIND },
};

const BY_WORDS: Readonly<Record<string, (of: Described) => number>> = {
  own: ({ words }) => words.own / 8,
  beside: ({ words }) => words.beside / 8,
  near: ({ words }) => words.near / 8,
  score: ({ words }) => words.score / 8,
  own_relative: ({ relative }) => relative.own,
  beside_relative: ({ relative }) => relative.beside,
  near_relative: ({ relative }) => relative.near,
  score_relative: ({ relative }) => relative.score,
  share: ({ words }) => words.share,
  share_beside: ({ words }) => words.share_beside,
  share_near: ({ words }) => words.share_near,
  rarest: ({ words }) => words.rarest / 6,
  words_rank: ({ words_rank }) => 10 / (10 + words_rank),
  words_first: ({ words_rank }) => (words_rank === 0 ? 1 : 0),
  words_sure: ({ words_rank, sure }) => (words_rank === 0 ? sure : 0),
  words_first_share: ({ words_rank, words }) => (words_rank === 0 ? words.share_beside : 0),
  page: ({ page }) => page.score / 8,
  page_relative: ({ page_relative }) => page_relative,
  page_share: ({ page }) => page.share,
  page_names: ({ page }) => page.names,
  page_relative_of_many: ({ page_relative, many }) => page_relative * many,
  page_share_of_many: ({ page, many }) => page.share * many,
  page_names_of_many: ({ page, many }) => page.names * many,
  share_near_of_many: ({ words, many }) => words.share_near * many,
  score_relative_of_many: ({ relative, many }) => relative.score * many,
};

const BY_SIGNS: Readonly<Record<string, (of: Described) => number>> = {
  fits: ({ fits }) => fits,
  fits_before: ({ fits_before }) => fits_before,
  fits_after: ({ fits_after }) => fits_after,
  fits_with_words: ({ fits, words }) => fits * words.share_beside,
  answers: ({ answers }) => answers,
  answers_words: ({ answers, words }) => answers * words.share_beside,
  promises: ({ asks_promises, signs }) => (signs & bitOf('promises') ? asks_promises : 0),
  refuses: ({ asks_promises, signs }) => (signs & bitOf('refuses') ? asks_promises : 0),
  length: ({ length }) => Math.log(1 + length) / 2,
  length_after: ({ length_after }) => Math.log(1 + length_after) / 3,
  is_short: ({ length }) => (length <= SHORT_WORDS ? 1 : 0),
  is_long: ({ length }) => (length >= LONG_WORDS ? 1 : 0),
  same_speaker: ({ same_speaker }) => same_speaker,
  place: ({ place }) => place,
  ...Object.fromEntries(
    ANSWER_MARKS.map((mark) => [`is_${mark}`, ({ signs }: Described) => (signs & bitOf(mark) ? 1 : 0)]),
  ),
};

const BY_VECTORS: Readonly<Record<string, (of: Described) => number>> = {
  v_own: ({ meaning }) => meaning.own / 3,
  v_with_next: ({ meaning }) => meaning.with_next / 3,
  v_beside: ({ meaning }) => meaning.beside / 3,
  v_around: ({ meaning }) => meaning.around / 3,
  v_before: ({ meaning }) => meaning.before / 3,
  v_after: ({ meaning }) => meaning.after / 3,
  v_peak: ({ meaning }) => (meaning.own - Math.max(meaning.before, meaning.after)) / 3,
  v_own_behind: ({ meaning }) => meaning.own_behind / 3,
  v_beside_behind: ({ meaning }) => meaning.beside_behind / 3,
  v_own_rank: ({ meaning }) => 10 / (10 + meaning.own_rank),
  v_beside_rank: ({ meaning }) => 10 / (10 + meaning.beside_rank),
  v_own_first: ({ meaning }) => 1 / (1 + meaning.own_rank),
  v_page_best: ({ meaning }) => meaning.page_best / 3,
  v_page_best_behind: ({ meaning }) => meaning.page_best_behind / 3,
  v_page: ({ meaning }) => meaning.page / 3,
  v_page_behind: ({ meaning }) => meaning.page_behind / 3,
  v_plain: ({ meaning }) => meaning.plain / 3,
  v_plain_beside: ({ meaning }) => meaning.plain_beside / 3,
  v_plain_with_words: ({ meaning, relative }) => (Math.sqrt(relative.score) * meaning.plain_beside) / 3,
  v_plain_answers: ({ meaning, answers }) => (answers * meaning.plain_before) / 3,
  v_with_page: ({ meaning, page }) => (page.share * meaning.beside) / 3,
  v_with_words: ({ meaning, relative }) => (Math.sqrt(relative.score) * meaning.beside) / 3,
  v_answers: ({ meaning, answers }) => (answers * meaning.before) / 3,
  v_fits: ({ meaning, fits }) => (fits * meaning.beside) / 3,
  v_fused: ({ fused_behind }) => fused_behind,
  v_fused_rank: ({ fused_rank }) => 10 / (10 + fused_rank),
  v_fused_first: ({ fused_rank }) => 3 / (3 + fused_rank),
};

const WORD_FEATURES = Object.entries({ ...BY_WORDS, ...BY_SIGNS });
const FEATURES = [...WORD_FEATURES, ...Object.entries(BY_VECTORS)];
/** Without vectors, and with them. */
export const WORD_FEATURE_NAMES: readonly string[] = WORD_FEATURES.map(([name]) => name);
export const FEATURE_NAMES: readonly string[] = FEATURES.map(([name]) => name);
/** The place of the part that words alone have of the best turn by words. */
export const SCORE_RELATIVE_AT = FEATURE_NAMES.indexOf('score_relative');

/** A row for each candidate, in their order, by FEATURE_NAMES. */
export function featuresOf(candidates: readonly TurnCandidate[], context: FeatureContext): Float64Array[] {
  const has_meaning = candidates.some(({ meaning }) => meaning !== null);
  const features = has_meaning ? FEATURES : WORD_FEATURES;
  return described(candidates, context).map((one) => Float64Array.from(features, ([, of]) => of(one)));
}

function described(candidates: readonly TurnCandidate[], context: FeatureContext): Described[] {
  const { page_scores } = context;
  const greatest = (of: (words: TurnWords) => number) =>
    candidates.reduce((a, { words }) => Math.max(a, of(words)), 1e-9);
  const [own, beside] = [greatest((words) => words.own), greatest((words) => words.beside)];
  const [near, score] = [greatest((words) => words.near), greatest((words) => words.score)];
  const fused = candidates.map((candidate) => ({ candidate, value: fusedOf(candidate) }));
  fused.sort((a, b) => b.value - a.value);
  const fused_ranks = new Map(fused.map(({ candidate }, rank) => [candidate, rank]));
  const of_all = {
    many: Math.log(Math.max(1, page_scores.pages)) / 4,
    sure: sureness(candidates),
  };
  return candidates.map((one): Described => {
    const { words, page } = one;
    const of_page = page_scores.of(page);
    return {
      ...of_all,
      words,
      words_rank: one.words_rank,
      meaning: one.meaning ?? NO_MEANING,
      relative: {
        own: words.own / own,
        beside: words.beside / beside,
        near: words.near / near,
        score: words.score / score,
      },
      page: of_page,
      page_relative: of_page.score / Math.max(1e-9, page_scores.most),
      fused_behind: fusedOf(one) - (fused[0]?.value ?? 0),
      fused_rank: fused_ranks.get(one) ?? FAR,
      ...signsAround(one, context),
    };
  });
}

/** Words and vectors by fixed weights. */
function fusedOf({ words, meaning }: TurnCandidate): number {
  return (words.score + (meaning?.own ?? 0) + 2 * (meaning?.beside ?? 0)) / 8;
}

/** 0 to 1. */
function sureness(candidates: readonly TurnCandidate[]): number {
  const first = candidates.find(({ words_rank }) => words_rank === 0);
  if (first === undefined) return 0;
  let second = 1e-3;
  for (const { transcript_id, at, words } of candidates)
    if (transcript_id !== first.transcript_id || Math.abs(at - first.at) > 1) second = Math.max(second, words.score);
  return Math.min(1, first.words.score / second - 1);
}

function signsAround({ page, text }: TurnCandidate, { question, marks }: FeatureContext) {
  const { block } = page;
  const isIn = (at: number) => at >= 0 && at < block.texts;
  const signsAt = (at: number) => (isIn(at) ? marks.of(block, at) : 0);
  const wanted = question.answered_by.reduce((bits, mark) => bits | bitOf(mark), 0);
  const fitsAt = (at: number) => (signsAt(at) & wanted ? 1 : 0);
  return {
    signs: signsAt(text),
    fits: fitsAt(text),
    fits_before: fitsAt(text - 1),
    fits_after: fitsAt(text + 1),
    answers: signsAt(text - 1) & ASKS ? 1 : 0,
    asks_promises: question.asks_promises ? 1 : 0,
    length: block.length(text),
    length_after: isIn(text + 1) ? block.length(text + 1) : 0,
    same_speaker: text > 0 && block.speaker(text) === block.speaker(text - 1) ? 1 : 0,
    place: text / block.texts,
  };
}
