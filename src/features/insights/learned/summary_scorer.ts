import type { Slices } from '../../../engine/time/slices.js';
import { FeatureBag, hashedRow, sigmoid } from './feature_bag.js';
import { answersOf, type HashedModel } from './hashed_model.js';
import { anyItem, type Chances, ITEM_KINDS } from './item_finder.js';
import { plainWords, type Talk, talkParts } from './talk.js';
import type { WordTable } from './word_table.js';

/**
 * How much an utterance says of what a summary must say. A model has two answers: that it says such a point, and that it
 * says something that a summary must not say (what was rejected, corrected, or meant as a joke).
 */

export type SummaryModel = HashedModel;

const NUMBER =
  /\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|twenty|thirty|forty|fifty|sixty|hundred|thousand|half)\b/i;
const DAY = /\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b/i;
const DAMPING = 0.85;
const STEPS = 25;

/** The words of a matter in an utterance, and how rare each is. */
export type Matter = { words: readonly string[]; weight: number };

export type SummaryWorth = { matter: Matter; worth: number };

export class SummaryFeatures {
  readonly #talk: Talk;
  readonly #chances: Chances;
  readonly #words: string[][];
  readonly #matters: Matter[];
  readonly #times = new Map<string, number>();
  readonly #any: number[];
  readonly #order: number[];
  readonly #central: number[];

  constructor(talk: Talk, chances: Chances, table: WordTable) {
    this.#talk = talk;
    this.#chances = chances;
    this.#words = talk.utterances.map(({ text }) => plainWords(text));
    this.#matters = talk.utterances.map(({ text }) => mattersOf(text, table));
    for (const { words } of this.#matters)
      for (const word of words) this.#times.set(word, (this.#times.get(word) ?? 0) + 1);
    this.#any = talk.utterances.map((_, at) => anyItem(chances, at));
    const ordered = [...this.#any.keys()].sort((a, b) => (this.#any[b] as number) - (this.#any[a] as number));
    this.#order = [];
    for (const [rank, at] of ordered.entries()) this.#order[at] = rank;
    this.#central = centrality(this.#matters, table);
  }

  get matters(): readonly Matter[] {
    return this.#matters;
  }

  of(at: number): FeatureBag {
    const bag = new FeatureBag();
    bag.add('one');
    const own = this.#words[at] ?? [];
    addWords(bag, own, { prefix: '0:', weight: 0.9, pairs: true });
    addWords(bag, this.#words[at + 1], { prefix: '+1:', weight: 0.45, pairs: false });
    addWords(bag, this.#words[at - 1], { prefix: '-1:', weight: 0.45, pairs: false });
    for (const kind of ITEM_KINDS) {
      const chances = this.#chances[kind];
      const [chance, before, after] = [chances[at] ?? 0, chances[at - 1] ?? 0, chances[at + 1] ?? 0];
      bag.add(`p ${kind}`, chance);
      bag.addSteps(`p ${kind}`, chance, [0.1, 0.25, 0.45, 0.7]);
      bag.add(`near ${kind}`, Math.max(before, after));
      if (chance >= Math.max(0.2, before, after)) bag.add(`peak ${kind}`, 0.5);
      if (after > 0.4) bag.add(`before ${kind}`, 0.5);
      if ((chances[at + 2] ?? 0) > 0.4) bag.add(`before2 ${kind}`, 0.5);
    }
    bag.add('any', this.#any[at]);
    for (const rank of [2, 4, 7, 11, 16]) if ((this.#order[at] as number) < rank) bag.add(`any<${rank}`, 0.5);
    const { words, weight } = this.#matters[at] as Matter;
    const { length: count } = this.#talk.utterances;
    const times = words.reduce((most, word) => Math.max(most, this.#times.get(word) ?? 0), 0);
    bag.addSteps('length', own.length, [4, 6, 8, 11, 15, 20, 28]);
    bag.addSteps('matter', words.length, [1, 2, 3, 4, 6, 8]);
    bag.addSteps('weight', weight, [2, 4, 6, 9, 12, 16]);
    bag.addSteps('times', times, [2, 3, 5, 8]);
    bag.add('central', this.#central[at]);
    bag.addSteps('place', at / count, [0.1, 0.25, 0.5, 0.75, 0.9]);
    bag.addSteps('at', at, [1, 2, 4, 8]);
    bag.addSteps('count', count, [25, 45, 70, 90]);
    if (count - at < 4) bag.add('end', 0.5);
    const { text = '' } = this.#talk.utterances[at] ?? {};
    if (text.includes('?')) bag.add('asks', 0.5);
    if (NUMBER.test(text)) bag.add('number', 0.5);
    if (DAY.test(text)) bag.add('day', 0.5);
    return bag;
  }
}

function addWords(
  bag: FeatureBag,
  words: readonly string[] | undefined,
  { prefix, weight, pairs }: { prefix: string; weight: number; pairs: boolean },
): void {
  if (words === undefined) return;
  const all = ['^', ...words, '$'];
  const own = weight / Math.sqrt(all.length);
  for (const [at, word] of all.entries()) {
    bag.add(prefix + word, own);
    if (pairs && at > 0) bag.add(`${prefix}${all[at - 1]}_${word}`, own);
  }
}

/** For each utterance its matter, and what it is worth in a summary, from 0 to 1. */
export async function summaryWorths(
  model: SummaryModel,
  { talk, chances, words }: { talk: Talk; chances: Chances; words: WordTable },
  slices: Slices,
): Promise<SummaryWorth[]> {
  const worths: SummaryWorth[] = [];
  for (const part of talkParts(talk)) {
    const from = worths.length;
    const own = Object.fromEntries(
      ITEM_KINDS.map((kind) => [kind, chances[kind].slice(from, from + part.utterances.length)]),
    ) as Chances;
    const features = new SummaryFeatures(part, own, words);
    for (const [at, matter] of features.matters.entries()) {
      const [says = 0, risks = 0] = answersOf(model, hashedRow(features.of(at), model.bits, null));
      worths.push({ matter, worth: sigmoid(says) * (1 - sigmoid(risks)) });
      await slices.pause();
    }
  }
  return worths;
}

/** The words of a text that name a matter, each once. */
function mattersOf(text: string, table: WordTable): Matter {
  const words = [...new Set(plainWords(text).filter((word) => table.isMatter(word)))];
  return { words, weight: words.reduce((sum, word) => sum + table.rarity(word), 0) };
}

/** How like each utterance is to those that are like many others, from 0 to 1 (PageRank over likeness of words). */
function centrality(matters: readonly Matter[], table: WordTable): number[] {
  const count = matters.length;
  const norms = matters.map(
    ({ words }) => Math.sqrt(words.reduce((sum, word) => sum + table.rarity(word) ** 2, 0)) || 1,
  );
  const places = new Map<string, number[]>();
  for (const [at, { words }] of matters.entries())
    for (const word of words) places.set(word, [...(places.get(word) ?? []), at]);
  const likeness = Array.from({ length: count }, () => new Float64Array(count));
  for (const [word, own] of places) {
    const weight = table.rarity(word) ** 2;
    for (const one of own)
      for (const other of own)
        if (one !== other) {
          const row = likeness[one] as Float64Array;
          row[other] = (row[other] as number) + weight / ((norms[one] as number) * (norms[other] as number));
        }
  }
  const sums = likeness.map((row) => row.reduce((sum, one) => sum + one, 0) || 1);
  let ranks = new Float64Array(count).fill(1 / count);
  for (let step = 0; step < STEPS; step++) {
    const next = new Float64Array(count).fill((1 - DAMPING) / count);
    for (const [one, row] of likeness.entries()) {
      const share = (DAMPING * (ranks[one] as number)) / (sums[one] as number);
      for (let other = 0; other < count; other++)
        next[other] = (next[other] as number) + share * (row[other] as number);
    }
    ranks = next;
  }
  const top = Math.max(...ranks, 1e-9);
  return [...ranks].map((rank) => rank / top);
}
