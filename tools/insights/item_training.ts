import type { SpokenTalk } from '../../src/features/insights/engines/spoken_units.js';
import { type FeatureRow, hashedRow } from '../../src/features/insights/learned/feature_bag.js';
import { answersOf, type HashedModel } from '../../src/features/insights/learned/hashed_model.js';
import { ItemFeatures } from '../../src/features/insights/learned/item_features.js';
import {
  aroundValues,
  type Chances,
  FIRST_PASS,
  type FirstPassKind,
  ITEM_KINDS,
  type ItemKind,
  type Margins,
  ROW_LENGTH,
  secondChance,
} from '../../src/features/insights/learned/item_finder.js';
import { type SmallTrees, treesAnswer } from '../../src/features/insights/learned/small_trees.js';
import { boost, type Example } from './boosting.js';
import type { CorpusTalk, Label } from './corpus.js';
import { type Answered, fitLogistic } from './logistic.js';
import { shareIn, stems } from './score.js';

/** Learns both passes of the item finder. */

/** A talk as the finder reads it. `turns`: the numbers of the turns of each utterance. */
export type ReadTalk = { of: CorpusTalk; talk: SpokenTalk; turns: readonly (readonly number[])[]; rows?: FeatureRow[] };

const FIRST_FORM = { epochs: 40, rate: 0.8, l2: 1e-4, bias: -3, average: false };
const SECOND_FORM = { rounds: 120, depth: 3, rate: 0.06, least: 15, share: 0.7, columns: 0.4 };
/** How much an utterance counts: that with which an item is there, and one that only sounds like one. */
const COUNTS = { item: 3, trap: 1.5, plain: 1 };

type Target = { answer: number; count: number };

/** Whether an item of a kind is there with each utterance. */
function targetsOf({ of, talk, turns }: ReadTalk, kind: FirstPassKind): Target[] {
  const own = of.labels.filter((label) => label.kind === kind);
  const traps = of.labels.filter((label) => label.kind === 'trap');
  const optional = of.labels.filter((label) => label.kind === 'optional');
  const isOf = (at: number, labels: readonly Label[]) =>
    labels.some((label) => label.turns.some((turn) => turns[at]?.includes(turn)));
  if (kind === 'trap') return turns.map((_, at) => ({ answer: isOf(at, traps) ? 1 : 0, count: COUNTS.plain }));
  const places = new Set(own.map((label) => placeOf(label, { talk, turns })));
  return turns.map((_, at) => {
    if (places.has(at)) return { answer: 1, count: COUNTS.item };
    if (isOf(at, own) || isOf(at, optional)) return { answer: 0, count: 0 };
    return { answer: 0, count: isOf(at, traps) ? COUNTS.trap : COUNTS.plain };
  });
}

/** The utterance of a label's last turn which says most of it; of those that say as much, the last. */
export function placeOf(label: Label, { talk, turns }: Pick<ReadTalk, 'talk' | 'turns'>): number {
  const last = label.turns.at(-1) ?? 0;
  const gist = stems(label.gist);
  let [place, most] = [-1, -1];
  for (const [at, own] of turns.entries()) {
    if (!own.includes(last)) continue;
    const share = shareIn(gist, stems(talk.utterances[at]?.text ?? ''));
    if (share >= most) [place, most] = [at, share];
  }
  return place;
}

function rowsOf(read: ReadTalk, bits: number): FeatureRow[] {
  if (read.rows === undefined) {
    const features = new ItemFeatures(read.talk);
    read.rows = read.talk.utterances.map((_, at) => hashedRow(features.of(at), bits, ROW_LENGTH));
  }
  return read.rows;
}

export function fitFirst(talks: readonly ReadTalk[], bits: number): HashedModel {
  const rows = talks.flatMap((read): Answered[] => {
    const targets = FIRST_PASS.map((kind) => targetsOf(read, kind));
    return rowsOf(read, bits).map((row, at) => ({
      row,
      answers: targets.map((of) => of[at]?.answer ?? 0),
      counts: targets.map((of) => of[at]?.count ?? 0),
    }));
  });
  return fitLogistic(rows, { ...FIRST_FORM, bits });
}

export function marginsOf(model: HashedModel, read: ReadTalk): Margins {
  const answers = rowsOf(read, model.bits).map((row) => answersOf(model, row));
  return Object.fromEntries(FIRST_PASS.map((kind, at) => [kind, answers.map((own) => own[at] as number)])) as Margins;
}

/** `margins`: of each talk, by a first pass that has not seen it. */
export function fitSecond(talks: readonly ReadTalk[], margins: readonly Margins[]): Record<ItemKind, SmallTrees> {
  const values = talks.map(({ talk }, at) =>
    talk.utterances.map((_, i) => aroundValues(talk, margins[at] as Margins, i)),
  );
  const trees = ITEM_KINDS.map((kind) => {
    const examples = talks.flatMap((read, at): Example[] =>
      targetsOf(read, kind).flatMap(({ answer, count }, i) =>
        count === 0 ? [] : [{ values: (values[at] as number[][])[i] as number[], answer, weight: count }],
      ),
    );
    return [kind, boost(examples, SECOND_FORM)];
  });
  return Object.fromEntries(trees) as Record<ItemKind, SmallTrees>;
}

export function secondOf(trees: Record<ItemKind, SmallTrees>, { talk }: ReadTalk, margins: Margins): Chances {
  const values = talk.utterances.map((_, at) => aroundValues(talk, margins, at));
  const all = ITEM_KINDS.map((kind) => [
    kind,
    values.map((own, at) => secondChance(margins[kind][at] as number, treesAnswer(trees[kind], own))),
  ]);
  return Object.fromEntries(all) as Chances;
}
