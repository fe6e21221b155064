import { Slices } from '../../src/engine/time/slices.js';
import { sentencesOf } from '../../src/features/insights/engines/sentences.js';
import { spokenTalk } from '../../src/features/insights/engines/spoken_units.js';
import { hashedRow } from '../../src/features/insights/learned/feature_bag.js';
import type { HashedModel } from '../../src/features/insights/learned/hashed_model.js';
import { chancesAt, type ItemModel, itemChances } from '../../src/features/insights/learned/item_finder.js';
import {
  MANNER_LENGTH,
  MemoFeatures,
  type MemoModel,
  type MemoSentence,
  mannerOf,
  memoItems,
} from '../../src/features/insights/learned/memo_finder.js';
import type { CorpusTalk } from './corpus.js';
import { excerptsOf } from './excerpts.js';
import { type Answered, fitLogistic } from './logistic.js';
import { type LabelledMemo, type MemoLabel, memoInput } from './memos.js';
import { inputOf } from './talk_input.js';

/** Learns which sentences of a memo are to be done or kept in mind. No memo is scored by what its own set teaches. */

const FORM = { bits: 16, epochs: 60, rate: 0.03, l2: 5e-4, bias: -1, average: true };
/** The part of items that are right, for which the bound is chosen. */
const RIGHT_SHARE = 0.8;
const BOUNDS = Array.from({ length: 15 }, (_, step) => (20 + step * 4) / 100);

const MEMO_FORM = { bits: 15, epochs: 40, rate: 0.05, l2: 5e-4, bias: 0, average: true };
/** Memos have so many sentences at most, and so have the pieces of conversations beside them. */
const SENTENCES_MAX = 12;
const TURNS_OF_A_PIECE = 8;

/** `labels`: of each sentence; null for none. */
type ReadMemo = { of: LabelledMemo; sentences: MemoSentence[]; labels: (MemoLabel | null)[] };
export type LearnedMemos = { by_set: Map<string, MemoModel>; whole: MemoModel };

/** `talks`: conversations, which no memo shall be taken for. */
export async function learnMemos(
  items: ItemModel,
  memos: readonly LabelledMemo[],
  talks: readonly CorpusTalk[],
): Promise<LearnedMemos> {
  const reads: ReadMemo[] = [];
  for (const memo of memos) reads.push(await readMemo(items, memo));
  const pieces = await piecesOf(talks);
  const sets = [...new Set(memos.map(({ set }) => set))];
  const fitted = new Map(sets.map((set) => [set, fitMemos(reads.filter(({ of }) => of.set !== set))]));
  const bound = boundFor(reads, (set) => fitted.get(set) as HashedModel);
  const modelOf = (model: HashedModel, own: readonly ReadMemo[]): MemoModel => ({
    ...{ items: model, bound, memo: fitManner(own, pieces) },
  });
  const outside = (set: string) => reads.filter(({ of }) => of.set !== set);
  return {
    by_set: new Map([...fitted].map(([set, model]) => [set, modelOf(model, outside(set))])),
    whole: modelOf(fitMemos(reads), reads),
  };
}

/** The sentences of short pieces of conversations, around items and elsewhere. */
async function piecesOf(talks: readonly CorpusTalk[]): Promise<string[][]> {
  const several = talks.filter(({ speakers }) => Object.keys(speakers).length > 1);
  const parts = several.flatMap((talk) => [
    ...excerptsOf(talk).filter((_, at) => at % 2 === 0),
    ...Array.from({ length: Math.floor(talk.turns.length / TURNS_OF_A_PIECE) }, (_, at) => ({
      ...talk,
      turns: talk.turns.slice(at * TURNS_OF_A_PIECE, (at + 1) * TURNS_OF_A_PIECE),
    })),
  ]);
  const pieces: string[][] = [];
  for (const part of parts) {
    const sentences = await sentencesOf(inputOf(part, { knows_speakers: false }), new Slices());
    if (sentences.length <= SENTENCES_MAX) pieces.push(sentences.map(({ text }) => text));
  }
  return pieces;
}

/** All memos together count as much as all pieces. */
function fitManner(reads: readonly ReadMemo[], pieces: readonly string[][]): HashedModel {
  const row = (sentences: readonly string[], answer: number, count: number): Answered => ({
    row: hashedRow(mannerOf(sentences), MEMO_FORM.bits, MANNER_LENGTH),
    ...{ answers: [answer], counts: [count] },
  });
  const memos = reads.map(({ sentences }) => sentences.map(({ text }) => text));
  const weight = pieces.length / memos.length;
  return fitLogistic([...memos.map((one) => row(one, 1, weight)), ...pieces.map((one) => row(one, 0, 1))], MEMO_FORM);
}

async function readMemo(items: ItemModel, of: LabelledMemo): Promise<ReadMemo> {
  const slices = new Slices();
  const input = memoInput(of);
  const talk = spokenTalk(await sentencesOf(input, slices), input.people);
  const chances = await itemChances(items, talk, slices);
  const read: ReadMemo = { of, sentences: [], labels: [] };
  for (const [at, unit] of talk.utterances.entries())
    for (const { text, turns } of unit.sentences) {
      read.sentences.push({ text, chances: chancesAt(chances, at) });
      read.labels.push(of.labels.find((label) => turns.includes(label.at + 1)) ?? null);
    }
  return read;
}

function fitMemos(reads: readonly ReadMemo[]): HashedModel {
  const rows = reads.flatMap(({ sentences, labels }) => {
    const features = new MemoFeatures(sentences);
    return sentences.map((_, at): Answered => {
      const label = labels[at] ?? null;
      return {
        row: hashedRow(features.of(at), FORM.bits, null),
        answers: [label === null ? 0 : 1, label?.kind === 'reminder' ? 1 : 0],
        counts: [label?.is_optional === true ? 0 : 1, label === null ? 0 : 1],
      };
    });
  });
  return fitLogistic(rows, FORM);
}

/** The bound with which most is found while this share of what is given is right. */
function boundFor(reads: readonly ReadMemo[], modelFor: (set: string) => HashedModel): number {
  let [best, most] = [1, -1];
  for (const bound of BOUNDS) {
    let [right, given] = [0, 0];
    for (const { of, sentences, labels } of reads)
      for (const { at } of memoItems({ items: modelFor(of.set), bound }, sentences)) {
        given++;
        if (labels[at] !== null) right++;
      }
    if (right > most && right >= RIGHT_SHARE * given) [best, most] = [bound, right];
  }
  return best;
}
