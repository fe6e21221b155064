import type { Slices } from '../../../engine/time/slices.js';
import { FeatureBag } from './feature_bag.js';
import { anyItem, type Chances } from './item_finder.js';
import { plainWords, speakersOf, type Talk } from './talk.js';
import type { WordTable } from './word_table.js';

/** The words that may stand in a title, and what a talk does with each: how often, where, by whom, beside which small words. */

/** A talk, the chances of items in it, and what each utterance is worth in a summary. */
export type TitleTalk = { talk: Talk; chances: Chances; worths: readonly number[] };

export type TitleWord = {
  /** Its plain form: singular and plural are one word. */
  stem: string;
  forms: Map<string, number>;
  times: number;
  places: Set<number>;
  speakers: Set<string>;
  first: number;
  last: number;
  /** Sum and most of the chances of an item where it stands. */
  items: number;
  item_max: number;
  /** Sum and most of what the utterances where it stands are worth in a summary. */
  worths: number;
  worth_max: number;
  /** How often it has a capital letter in the middle of a sentence. */
  capitals: number;
  asked: number;
  before: Map<string, number>;
  after: Map<string, number>;
};

const TOKEN = /[A-Za-z0-9][A-Za-z0-9'-]*|[.,?!;:]/g;
const SUFFIX = /(ing|ed|ly|tion|ment|er|s|y|al|ness|ist)$/;
/** Words of matter elsewhere that say nothing in a title. */
const UNTITLED =
  /^(?:mine|ours|yours|theirs|wow|hiya|oops|ooh|aah|haha|cheers|madam|folks|cause|since|during|between|beyond|behind|beside|among|against|within|towards?|instead|unless|while|altogether|anyway|indeed|surely|rather|almost|nearly|enough|soon|later|ago|once|twice|weekends?|(?:mon|tues|wednes|thurs|fri|satur|sun)days|stay(?:s|ed)?|start(?:s|ed)?|stop(?:s|ped)?|happen(?:s|ed)?|brings?|brought|guess|suppose|reckon|bet|hope|wish|wonder|pretends?|(?:twen|thir|for|fif|six|seven|eigh|nine)ty-.*)$/;
const WORDS_MAX = 300;
const NEAREST = { few: 5, many: 15 };

/** Words that may stand in a title: of a long talk those that are heaviest, by how often and how rare they are. */
export async function titleWords(
  { talk, chances, worths }: TitleTalk,
  { table, slices }: { table: WordTable; slices: Slices },
): Promise<TitleWord[]> {
  const found = new Map<string, TitleWord>();
  const speakers = new Set(talk.names.flatMap(plainWords).map(stemOf));
  const count = (map: Map<string, number>, key: string) => map.set(key, (map.get(key) ?? 0) + 1);
  for (const [at, { text, speaker }] of talk.utterances.entries()) {
    const tokens = tokensOf(text);
    const item = anyItem(chances, at);
    const worth = worths[at] ?? 0;
    for (const [place, token] of tokens.entries()) {
      const form = formOf(token);
      const stem = stemOf(form);
      if (!table.isMatter(form) || UNTITLED.test(form) || speakers.has(stem)) continue;
      const word = found.get(stem) ?? newWord(stem, at);
      found.set(stem, word);
      word.times++;
      word.places.add(at);
      if (speaker !== null) word.speakers.add(speaker);
      word.last = at;
      word.items += item;
      word.item_max = Math.max(word.item_max, item);
      word.worths += worth;
      word.worth_max = Math.max(word.worth_max, worth);
      if (text.includes('?')) word.asked++;
      if (/^[A-Z]/.test(token) && place > 0 && !/[.?!]/.test(tokens[place - 1] ?? '')) word.capitals++;
      count(word.forms, form);
      count(word.before, shapeOf(tokens[place - 1] ?? '^', table));
      count(word.after, shapeOf(tokens[place + 1] ?? '$', table));
    }
    await slices.pause();
  }
  const weight = ({ times, forms }: TitleWord) => times * table.rarity(mostOf(forms));
  return [...found.values()].sort((a, b) => weight(b) - weight(a)).slice(0, WORDS_MAX);
}

export function tokensOf(text: string): string[] {
  return text.replaceAll('’', "'").match(TOKEN) ?? [];
}

/** In lower case, without a possessive ending. */
export function formOf(token: string): string {
  return token.toLowerCase().replace(/'s$/, '');
}

export function stemOf(form: string): string {
  const stem =
    form.length > 4 ? form.replace(/(?:ies|es|s)$/, (end) => (end === 'ies' ? 'y' : '')) : form.replace(/s$/, '');
  return stem.replace(/e$/, '');
}

export function mostOf(map: ReadonlyMap<string, number>): string {
  let [most, times] = ['', 0];
  for (const [key, count] of map) if (count > times) [most, times] = [key, count];
  return most;
}

function newWord(stem: string, first: number): TitleWord {
  return {
    ...{ stem, forms: new Map(), times: 0, places: new Set(), speakers: new Set(), first, last: first, items: 0 },
    ...{ item_max: 0, worths: 0, worth_max: 0, capitals: 0, asked: 0, before: new Map(), after: new Map() },
  };
}

/** A small word or a sign as it is, any other word as a star. */
export function shapeOf(token: string, table: WordTable): string {
  const form = formOf(token);
  return table.isMatter(form) ? '*' : form;
}

/** The features of each word, which a ranking weighs. */
export async function titleFeatures(
  talk: Talk,
  words: readonly TitleWord[],
  { table, slices }: { table: WordTable; slices: Slices },
): Promise<FeatureBag[]> {
  const vectors = words.map(({ forms }) => vectorOf(forms, table));
  const centre = centreOf(words, vectors, table);
  const likeness = vectors.map((vector) => (vector === null ? 0 : dot(vector, centre)));
  const weights = words.map((word) => word.times * table.rarity(mostOf(word.forms)));
  const [rank, like_rank] = [ranksOf(weights), ranksOf(likeness)];
  const top = Math.max(...weights, 1e-9);
  const total = words.reduce((sum, { times }) => sum + times, 0);
  const { length: count } = talk.utterances;
  const is_alone = speakersOf(talk) <= 1;
  const bags: FeatureBag[] = [];
  for (const [at, word] of words.entries()) {
    const bag = new FeatureBag();
    const form = mostOf(word.forms);
    const vector = vectors[at] ?? null;
    bag.add('one');
    if (vector === null) bag.add('no vector');
    else {
      for (const [k, value] of vector.entries()) bag.add(`v${k}`, value * 2);
      addLikeness(bag, { vector, vectors, likeness: likeness[at] as number, rank: like_rank[at] as number });
    }
    const rarity = table.rarity(form);
    bag.addSteps('rare', rarity, [0.4, 0.8, 1.2, 1.6, 2, 2.4], 1);
    bag.add('rare-times', Math.log(1 + word.times) * rarity);
    bag.addSteps('times', word.times, [2, 3, 4, 5, 7, 10], 1);
    bag.addSteps('places', word.places.size, [2, 3, 4, 6, 9], 1);
    bag.addSteps('speakers', word.speakers.size, [2, 3, 4], 1);
    bag.addSteps('range', (word.last - word.first) / count, [0.1, 0.3, 0.5, 0.7], 1);
    bag.addSteps('at', word.first, [1, 2, 3, 5, 8, 15], 1);
    bag.addSteps('first', word.first / count, [0.1, 0.25, 0.5, 0.75], 1);
    for (const edge of [1, 2, 3, 5, 8, 12, 20, 40]) if ((rank[at] as number) < edge) bag.add(`rank<${edge}`);
    bag.add('weight', (weights[at] as number) / top);
    bag.add('density', Math.min(3, (100 * word.times) / total));
    if (is_alone) {
      bag.add('alone');
      bag.addSteps('alone-times', word.times, [2, 3], 1);
      if (word.first < 2) bag.add('alone-first');
    }
    bag.addSteps('item', word.items, [0.2, 0.5, 1, 2, 3], 1);
    bag.addSteps('item-max', word.item_max, [0.2, 0.4, 0.6, 0.8], 1);
    bag.add('item-share', word.items / word.times);
    bag.addSteps('worth', word.worths, [0.1, 0.3, 0.6, 1, 1.5, 2.5], 1);
    bag.addSteps('worth-max', word.worth_max, [0.1, 0.2, 0.35, 0.5, 0.7], 1);
    bag.add('worth-share', word.worths / word.times);
    bag.add('asked', word.asked / word.times);
    bag.addSteps('length', form.length, [4, 5, 6, 8, 10], 1);
    bag.add('capitals', word.capitals / word.times);
    const [, suffix] = SUFFIX.exec(form) ?? [];
    if (suffix !== undefined) bag.add(`suffix-${suffix}`, 0.7);
    for (const [shape, times] of word.before) bag.add(`before:${shape}`, (0.8 * times) / word.times);
    for (const [shape, times] of word.after) bag.add(`after:${shape}`, (0.8 * times) / word.times);
    bag.add(`word:${word.stem}`);
    bags.push(bag);
    await slices.pause();
  }
  return bags;
}

/** How near a word is to the middle of the talk, and to the words that are nearest to it. */
function addLikeness(
  bag: FeatureBag,
  {
    vector,
    vectors,
    likeness,
    rank,
  }: { vector: Float32Array; vectors: readonly (Float32Array | null)[]; likeness: number; rank: number },
): void {
  const near = vectors
    .flatMap((other) => (other === null || other === vector ? [] : dot(vector, other)))
    .sort((a, b) => b - a);
  const mean = (most: number) => near.slice(0, most).reduce((sum, one) => sum + one, 0) / most;
  bag.add('likeness', likeness);
  bag.addSteps('likeness', likeness, [0.2, 0.3, 0.4, 0.5, 0.6], 1);
  bag.add('near-few', mean(NEAREST.few));
  bag.add('near-many', mean(NEAREST.many));
  bag.addSteps('near-few', mean(NEAREST.few), [0.4, 0.5, 0.6, 0.7], 1);
  for (const edge of [3, 6, 12, 25, 50]) if (rank < edge) bag.add(`likeness-rank<${edge}`);
}

function vectorOf(forms: ReadonlyMap<string, number>, table: WordTable): Float32Array | null {
  for (const form of forms.keys()) {
    const vector = table.vector(form);
    if (vector !== null) return Float32Array.from(vector, (value) => value / 127);
  }
  return null;
}

function centreOf(
  words: readonly TitleWord[],
  vectors: readonly (Float32Array | null)[],
  table: WordTable,
): Float32Array {
  const centre = new Float32Array(table.dimensions);
  for (const [at, vector] of vectors.entries()) {
    const { times, forms } = words[at] as TitleWord;
    const weight = Math.sqrt(times) * table.rarity(mostOf(forms));
    for (const [k, value] of (vector ?? []).entries()) centre[k] = (centre[k] as number) + weight * value;
  }
  const length = Math.sqrt(dot(centre, centre)) || 1;
  return centre.map((value) => value / length);
}

function dot(one: Float32Array, other: Float32Array): number {
  let sum = 0;
  for (let k = 0; k < one.length; k++) sum += (one[k] as number) * (other[k] as number);
  return sum;
}

function ranksOf(values: readonly number[]): number[] {
  const ranks: number[] = [];
  const order = [...values.keys()].sort((a, b) => (values[b] as number) - (values[a] as number));
  for (const [rank, at] of order.entries()) ranks[at] = rank;
  return ranks;
}
