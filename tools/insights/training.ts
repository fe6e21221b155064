import { Slices } from '../../src/engine/time/slices.js';
import { sentencesOf } from '../../src/features/insights/engines/sentences.js';
import { spokenTalk } from '../../src/features/insights/engines/spoken_units.js';
import type { HashedModel } from '../../src/features/insights/learned/hashed_model.js';
import {
  type Chances,
  chosenItems,
  ITEM_KINDS,
  type ItemKind,
  type Margins,
} from '../../src/features/insights/learned/item_finder.js';
import type { SmallTrees } from '../../src/features/insights/learned/small_trees.js';
import { type SummaryModel, summaryWorths } from '../../src/features/insights/learned/summary_scorer.js';
import type { TalkModel } from '../../src/features/insights/learned/talk_model.js';
import type { WordTable } from '../../src/features/insights/learned/word_table.js';
import { type CorpusTalk, foldsOf } from './corpus.js';
import { excerptsOf } from './excerpts.js';
import { fitFirst, fitSecond, marginsOf, type ReadTalk, secondOf } from './item_training.js';
import { inputOf } from './talk_input.js';
import { fitPhrases, fitSaid, fitSummary, fitTitles, type HeardTalk, type KnownTalk } from './text_training.js';

/**
 * Learns the model from labelled talks. What a later model learns from the answers of an earlier one are answers about
 * talks that the earlier one has not seen: whole batches of talks are dealt to folds.
 */

const FOLDS = 8;

const BITS = 18;
/** The part of items that are right, for which bounds are chosen. */
const RIGHT_SHARE = 0.79;

/** A talk as the server reads it: with speakers, and as if nobody told them apart. */
async function readTalk(of: CorpusTalk, knows_speakers: boolean): Promise<ReadTalk> {
  const input = inputOf(of, { knows_speakers });
  const talk = spokenTalk(await sentencesOf(input, new Slices()), input.people);
  return { of, talk, turns: talk.utterances.map(({ sentences }) => sentences.flatMap(({ turns }) => turns)) };
}

export type Learned = Omit<TalkModel, 'words' | 'memos'>;
type Trees = Record<ItemKind, SmallTrees>;
type ItemFinder = { first: HashedModel; trees: Trees };

/** The item finder: by fold what is learned from all other talks, and `whole` from all. */
export type LearnedItems = {
  talks: HeardTalk[];
  foldOf: (talk: CorpusTalk) => number;
  by_fold: ItemFinder[];
  whole: ItemFinder;
};

export async function learnItems(talks: readonly CorpusTalk[], say: (line: string) => void): Promise<LearnedItems> {
  const plain = await Promise.all(talks.map((of) => readTalk(of, true)));
  // Of every second excerpt nobody told the speakers apart.
  const short = await Promise.all(talks.flatMap(excerptsOf).map((of, at) => readTalk(of, at % 2 === 0)));
  const all = [...plain, ...short];
  const foldOf = foldsOf(talks, FOLDS);
  const folds = [...new Set(talks.map(foldOf))].sort((one, other) => one - other);
  const outside = (fold: number) => all.filter(({ of }) => foldOf(of) !== fold);
  const firsts: HashedModel[] = [];
  const margins = new Map<ReadTalk, Margins>();
  for (const fold of folds) {
    const model = fitFirst(outside(fold), BITS);
    firsts.push(model);
    for (const read of all) if (foldOf(read.of) === fold) margins.set(read, marginsOf(model, read));
    say(`first pass without fold ${fold + 1}`);
  }
  const marginsFor = (reads: readonly ReadTalk[]) => reads.map((read) => margins.get(read) as Margins);
  const by_fold = folds.map((fold): ItemFinder => {
    const trees = fitSecond(outside(fold), marginsFor(outside(fold)));
    say(`second pass without fold ${fold + 1}`);
    return { first: firsts[fold] as HashedModel, trees };
  });
  const known = plain.map((read): HeardTalk => {
    const { trees } = by_fold[foldOf(read.of)] as ItemFinder;
    const { rows: _, ...talk } = read;
    return { ...talk, chances: secondOf(trees, read, margins.get(read) as Margins) };
  });
  const whole = { first: fitFirst(all, BITS), trees: fitSecond(all, marginsFor(all)) };
  say('items of all');
  return { talks: known, foldOf, by_fold, whole };
}

/** The whole model: by fold what is learned from all other talks, and `whole` from all. */
export async function learnTexts(
  { talks: heard, foldOf, by_fold: finders, whole }: LearnedItems,
  words: WordTable,
  say: (line: string) => void,
): Promise<{ by_fold: Learned[]; whole: Learned }> {
  const summaries = finders.map((_, fold) =>
    fitSummary(
      heard.filter(({ of }) => foldOf(of) !== fold),
      words,
    ),
  );
  const talks: KnownTalk[] = [];
  for (const talk of heard)
    talks.push({ ...talk, worths: await worthsOf(talk, summaries[foldOf(talk.of)] as SummaryModel, words) });
  say('summaries');
  const outside = (fold: number) => talks.filter(({ of }) => foldOf(of) !== fold);
  const titles: HashedModel[] = [];
  for (const fold of finders.keys()) titles.push(await fitTitles(outside(fold), words));
  const titleFor = ({ of }: KnownTalk) => titles[foldOf(of)] as HashedModel;
  const learn = async (
    own: readonly KnownTalk[],
    { items, ...known }: { items: ItemFinder; summary: SummaryModel; title: HashedModel },
  ): Promise<Learned> => ({
    ...known,
    items: { ...items, bounds: boundsFor(own, RIGHT_SHARE) },
    said: fitSaid(own, words),
    phrases: await fitPhrases(own, titleFor, words),
  });
  const by_fold: Learned[] = [];
  for (const [fold, items] of finders.entries()) {
    const [summary, title] = [summaries[fold] as SummaryModel, titles[fold] as HashedModel];
    by_fold.push(await learn(outside(fold), { items, summary, title }));
    say(`texts without fold ${fold + 1}`);
  }
  const of_all = { items: whole, summary: fitSummary(talks, words), title: await fitTitles(talks, words) };
  return { by_fold, whole: await learn(talks, of_all) };
}

async function worthsOf({ talk, chances }: HeardTalk, model: SummaryModel, words: WordTable): Promise<number[]> {
  const worths = await summaryWorths(model, { talk, chances, words }, new Slices());
  return worths.map(({ worth }) => worth);
}

const NONE: Record<ItemKind, number> = { task: 2, decision: 2, question: 2, reminder: 2 };
const GRID = Array.from({ length: 38 }, (_, step) => 1 / (1 + Math.exp(5 - step * 0.2)));
const GROUPS: readonly (readonly ItemKind[])[] = [['task', 'reminder'], ['decision'], ['question']];

type Count = { right: number; given: number };

/** The bounds with which most is found while this share of what is given is right. */
function boundsFor(reads: readonly (ReadTalk & { chances: Chances })[], share: number): Record<ItemKind, number> {
  const counted = Object.fromEntries(
    ITEM_KINDS.map((kind) => [kind, GRID.map((bound) => ({ bound, ...countOf(reads, kind, bound) }))]),
  ) as Record<ItemKind, (Count & { bound: number })[]>;
  let [best, most] = [NONE, -1];
  for (const a of counted.task)
    for (const b of counted.decision)
      for (const c of counted.question)
        for (const d of counted.reminder) {
          const right = a.right + b.right + c.right + d.right;
          if (right <= most || right < share * (a.given + b.given + c.given + d.given)) continue;
          best = { task: a.bound, decision: b.bound, question: c.bound, reminder: d.bound };
          most = right;
        }
  return best;
}

function countOf(reads: readonly (ReadTalk & { chances: Chances })[], kind: ItemKind, bound: number): Count {
  const count = { right: 0, given: 0 };
  const group = GROUPS.find((kinds) => kinds.includes(kind)) ?? [kind];
  for (const { of, turns, chances } of reads) {
    const labels = of.labels.filter((label) => group.includes(label.kind as ItemKind));
    const optional = of.labels.filter((label) => label.kind === 'optional');
    const taken = new Set<number>();
    for (const { at } of chosenItems(chances, { ...NONE, [kind]: bound })) {
      const own = turns[at] ?? [];
      const isIn = (label: { turns: number[] }) => label.turns.some((turn) => own.includes(turn));
      const place = labels.findIndex((label, i) => !taken.has(i) && isIn(label));
      if (place >= 0) {
        taken.add(place);
        count.right++;
      }
      if (place >= 0 || !optional.some(isIn)) count.given++;
    }
  }
  return count;
}
