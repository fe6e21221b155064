import type { Slices } from '../../../engine/time/slices.js';
import { hashedRow, sigmoid } from './feature_bag.js';
import { answersOf, type HashedModel } from './hashed_model.js';
import { ItemFeatures } from './item_features.js';
import { type SmallTrees, treesAnswer } from './small_trees.js';
import { isSameSpeaker, plainWords, speakersOf, type Talk, talkParts } from './talk.js';

/**
 * Finds the utterances with which something becomes a task, a decision, an open question or a reminder. A first pass weighs
 * the words of each utterance and of its neighbours; a second one, of small trees, compares what the first says of the
 * utterances around.
 */

export const ITEM_KINDS = ['task', 'decision', 'question', 'reminder'] as const;
export type ItemKind = (typeof ITEM_KINDS)[number];
/** The answers of the first pass: the kinds, and a trap, which only sounds like one of them. */
export const FIRST_PASS = [...ITEM_KINDS, 'trap'] as const;
export type FirstPassKind = (typeof FIRST_PASS)[number];

export type ItemModel = {
  /** An answer for each of FIRST_PASS. */
  first: HashedModel;
  trees: Record<ItemKind, SmallTrees>;
  /** From this probability on an utterance is an item. */
  bounds: Record<ItemKind, number>;
};

/** Of each utterance, by kind. */
export type Chances = Record<ItemKind, number[]>;
export type Margins = Record<FirstPassKind, number[]>;
export type ItemPlace = { at: number; kind: ItemKind; chance: number };

/** Euclidean length of the rows of the first pass. */
export const ROW_LENGTH = 2.5;
/** Of one kind there is one item within so many utterances. */
const APART = 2;
/** With this chance an utterance is an item although another one of its kind is only two utterances away. */
const LIKELY = 0.5;
/** With this chance an utterance is an item of a kind although it is more likely one of another kind. */
const SURE = 0.5;
const AROUND = 3;
const NEAR = 6;
const BEYOND = -9;

export async function itemChances(model: ItemModel, talk: Talk, slices: Slices): Promise<Chances> {
  const chances: Chances = { task: [], decision: [], question: [], reminder: [] };
  for (const part of talkParts(talk)) {
    const margins = await firstPass(model, part, slices);
    for (const at of part.utterances.keys()) {
      const values = aroundValues(part, margins, at);
      for (const kind of ITEM_KINDS)
        chances[kind].push(secondChance(margins[kind][at] as number, treesAnswer(model.trees[kind], values)));
      await slices.pause();
    }
  }
  return chances;
}

/** The mean of what both passes say. */
export function secondChance(margin: number, answer: number): number {
  return sigmoid((margin + answer) / 2);
}

async function firstPass(model: ItemModel, talk: Talk, slices: Slices): Promise<Margins> {
  const margins: Margins = { task: [], decision: [], question: [], reminder: [], trap: [] };
  const features = new ItemFeatures(talk);
  for (const at of talk.utterances.keys()) {
    const answers = answersOf(model.first, hashedRow(features.of(at), model.first.bits, ROW_LENGTH));
    for (const [place, kind] of FIRST_PASS.entries()) margins[kind].push(answers[place] as number);
    await slices.pause();
  }
  return margins;
}

/** The values of an utterance for the second pass. */
export function aroundValues(talk: Talk, margins: Margins, at: number): number[] {
  const { utterances } = talk;
  const count = utterances.length;
  const values: number[] = [];
  for (const kind of FIRST_PASS)
    for (let distance = -AROUND; distance <= AROUND; distance++) values.push(margins[kind][at + distance] ?? BEYOND);
  for (const kind of ITEM_KINDS) {
    const all = margins[kind];
    const own = all[at] as number;
    let nearest = BEYOND;
    for (let distance = 1; distance <= NEAR; distance++)
      nearest = Math.max(nearest, all[at - distance] ?? BEYOND, all[at + distance] ?? BEYOND);
    const better = all.reduce((sum, one) => sum + (one > own ? 1 : 0), 0);
    values.push(
      own - nearest,
      better,
      better / count,
      all.reduce((most, one) => Math.max(most, one), BEYOND),
    );
  }
  const best = Math.max(...ITEM_KINDS.map((kind) => margins[kind][at] as number));
  for (const kind of ITEM_KINDS) values.push((margins[kind][at] as number) - best);
  const length = (distance: number) => (utterances[at + distance]?.text ?? '').split(' ').length;
  const asks = (distance: number) => (utterances[at + distance]?.text.includes('?') ? 1 : 0);
  const density = ITEM_KINDS.reduce((sum, kind) => margins[kind].reduce((all, one) => all + sigmoid(one), sum), 0);
  values.push(count, at / count, speakersOf(talk), length(0), length(-1), length(1));
  values.push(isSameSpeaker(talk, at, at - 1), isSameSpeaker(talk, at, at + 1), isSameSpeaker(talk, at, at + 2));
  values.push(asks(0), asks(1), density / count, plainWords(utterances[at]?.text ?? '').length);
  return values;
}

/** The most likely utterances, at most one of a kind in a stretch, in the order in which they were said. */
export function chosenItems(chances: Chances, bounds: Record<ItemKind, number>): ItemPlace[] {
  const peaks: ItemPlace[] = [];
  for (const kind of ITEM_KINDS)
    for (const [at, chance] of chances[kind].entries())
      if (chance >= bounds[kind] && chance >= (chances[kind][at - 1] ?? 0) && chance > (chances[kind][at + 1] ?? 0))
        peaks.push({ at, kind, chance });
  const own = peaks.filter(
    (one) => one.chance >= SURE || !peaks.some((other) => other.at === one.at && other.chance > one.chance),
  );
  const isBeside = (other: ItemPlace, one: ItemPlace) =>
    Math.abs(other.at - one.at) <= (one.chance >= LIKELY ? 1 : APART);
  const isBetter = (other: ItemPlace, one: ItemPlace) =>
    other.chance > one.chance || (other.chance === one.chance && other.at > one.at);
  return own
    .filter((one) => !own.some((other) => other.kind === one.kind && isBeside(other, one) && isBetter(other, one)))
    .sort((a, b) => a.at - b.at);
}

/** The chances of one utterance. */
export function chancesAt(chances: Chances, at: number): Record<ItemKind, number> {
  const of = (kind: ItemKind) => chances[kind][at] ?? 0;
  return { task: of('task'), decision: of('decision'), question: of('question'), reminder: of('reminder') };
}

/** The chance that an utterance is an item of any kind. */
export function anyItem(chances: Chances, at: number): number {
  return 1 - ITEM_KINDS.reduce((none, kind) => none * (1 - (chances[kind][at] ?? 0)), 1);
}
