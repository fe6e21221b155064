import { rankTurns } from '../../src/features/search/questions/passage_ranking.js';
import type { TurnCandidate } from '../../src/features/search/questions/ranking/turn_candidates.js';
import type { AskedQuestion } from './asked_accounts.js';

/** How many questions recall answers, among the first passages. */

export type RecallFigures = { question: AskedQuestion; weights: Float64Array }[];
export type ReportedSet = { name: string; with_vectors: boolean; is_unseen: boolean; figures: RecallFigures };

const SHOWN_MAX = 8;
const RANKS = 60;
const FIRST = [1, 3, 8];

export function reportOf(
  sets: readonly ReportedSet[],
  { learned, set_aside }: { learned: number; set_aside: number },
): string {
  const lines = [
    '# How much recall finds',
    '',
    '`npm run spool -- train` writes this page.',
    '',
    `Of the questions of labelled talks, per cent that a passage answers: the first, one of three, one of eight. A passage is a`,
    'turn with the ones beside it, and answers if a labelled turn is among the three. Speakers are contacts with their names.',
    '`kept`: of the questions that words answered first, those that still are.',
    '',
  ];
  for (const is_unseen of [true, false]) {
    lines.push(
      is_unseen
        ? `## ${set_aside} talks that nothing was learned from or chosen by`
        : `## ${learned} talks in folds: each batch by what was learned from the others`,
      '',
    );
    for (const with_vectors of [true, false]) {
      lines.push(with_vectors ? 'With vectors:' : 'Without vectors:', '');
      lines.push(
        '| account | questions | words by fixed weights | fusion of ranks | learned | kept |',
        '| --- | --- | --- | --- | --- | --- |',
      );
      for (const set of sets)
        if (set.is_unseen === is_unseen && set.with_vectors === with_vectors) lines.push(rowOf(set));
      lines.push('');
    }
  }
  return `${lines.join('\n').trimEnd()}\n`;
}

function rowOf({ name, with_vectors, figures }: ReportedSet): string {
  const words = figures.map(({ question }) => placeOf(question, byWords(question)));
  const fusion = figures.map(({ question }) => placeOf(question, fused(question)));
  const learned = figures.map(({ question, weights }) => placeOf(question, byModel(question, weights)));
  const were_first = words.filter((place) => place === 1).length;
  const still = words.filter((place, at) => place === 1 && learned[at] === 1).length;
  const kept = were_first === 0 ? '' : percent(still / were_first);
  const cells = [name, figures.length, shares(words), with_vectors ? shares(fusion) : '', shares(learned), kept];
  return `| ${cells.join(' | ')} |`;
}

function shares(places: readonly number[]): string {
  return FIRST.map((most) => percent(places.filter((one) => one > 0 && one <= most).length / places.length)).join(
    ' / ',
  );
}

function percent(share: number): string {
  return (100 * share).toFixed(1);
}

/** Turns by words and fixed weights. */
function byWords({ candidates, ranking }: AskedQuestion): TurnCandidate[] {
  const scoreOf = ({ words, started_ms }: TurnCandidate) => words.score * ranking.factorOf(started_ms);
  return candidates.filter(({ words }) => words.score > 0).sort((a, b) => scoreOf(b) - scoreOf(a));
}

/** Words and vectors by their ranks. */
function fused(question: AskedQuestion): TurnCandidate[] {
  const values = new Map<TurnCandidate, number>();
  const by_vectors = question.candidates.filter(({ meaning }) => meaning !== null);
  by_vectors.sort((a, b) => (b.meaning?.plain_beside ?? 0) - (a.meaning?.plain_beside ?? 0));
  for (const ranked of [byWords(question), by_vectors])
    for (const [rank, one] of ranked.entries()) values.set(one, (values.get(one) ?? 0) + 1 / (RANKS + rank + 1));
  return [...values.keys()].sort((a, b) => (values.get(b) ?? 0) - (values.get(a) ?? 0));
}

function byModel({ candidates, features, ranking }: AskedQuestion, weights: Float64Array): TurnCandidate[] {
  const { factorOf } = ranking;
  return rankTurns(candidates, features, { factorOf, model: { words: weights, vectors: weights } }).map(
    ({ turn }) => turn,
  );
}

/** The place of the first passage that answers, from 1 on; 0 if none of eight does. */
function placeOf({ answers, transcript_id }: AskedQuestion, ranked: readonly TurnCandidate[]): number {
  const taken = new Set<string>();
  let place = 0;
  for (const { transcript_id: of, at } of ranked) {
    if (taken.has(`${of} ${at}`)) continue;
    place += 1;
    if (place > SHOWN_MAX) return 0;
    const shown = [at - 1, at, at + 1];
    for (const one of shown) taken.add(`${of} ${one}`);
    if (of === transcript_id && shown.some((one) => answers.has(one))) return place;
  }
  return 0;
}
