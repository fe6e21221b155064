import type { Slices } from '../../../engine/time/slices.js';
import { FeatureBag, hashedRow } from './feature_bag.js';
import { answersOf, type HashedModel } from './hashed_model.js';
import { anyItem } from './item_finder.js';
import type { Talk } from './talk.js';
import {
  formOf,
  mostOf,
  shapeOf,
  stemOf,
  type TitleTalk,
  type TitleWord,
  titleFeatures,
  titleWords,
  tokensOf,
} from './title_words.js';
import type { WordTable } from './word_table.js';

/**
 * Phrases that name the matter of a talk: words that stood side by side. A first ranking weighs words, a second one the
 * phrases that the best words make.
 */

export type TitlePhrase = {
  text: string;
  stems: readonly string[];
  /** From 0 to 1, the weightiest phrase of the talk. */
  worth: number;
  /** How many of its words may be expected to stand in a title that somebody gives. */
  chance: number;
  /** The utterance that says it first. */
  at: number;
};

/** A phrase, and what the talk does with it. */
export type PhraseUse = {
  stems: readonly string[];
  forms: Map<string, number>;
  at: number;
  times: number;
  items: number;
  /** Sum of what the utterances where it stands are worth in a summary. */
  said: number;
  /** Small words and signs beside it, by how often. */
  before: Map<string, number>;
  after: Map<string, number>;
  /** Of its words: the chance that each stands in the title, and how often each was said. */
  worths: number[];
  word_times: number[];
  capitals: number;
};

/** Words of a phrase. */
const WORDS_MAX = 3;
/** How many words a title has, by which chances of words become chances of the title's words. */
const TITLE_WORDS = 5;
/** So many phrases, by the worth of their words, are compared. */
const PHRASES_MAX = 80;
/** A word of this share of capital letters keeps its capital. */
const PROPER_SHARE = 0.6;
const SUFFIX = /(?:ing|ed|ly|tion|ment|er|ies|s|y|al|ness)$/;

export type TitleReading = { table: WordTable; slices: Slices };
type TitleModels = { title: HashedModel; phrases: HashedModel };

/** The phrases of a talk, the weightiest first. */
export async function titlePhrases(
  models: TitleModels,
  heard: TitleTalk,
  reading: TitleReading,
): Promise<TitlePhrase[]> {
  const uses = await phraseUses(models.title, heard, reading);
  const sums = uses.map(
    (use) => answersOf(models.phrases, hashedRow(phraseFeatures(use), models.phrases.bits, null))[0] ?? 0,
  );
  const top = Math.max(...sums, Number.NEGATIVE_INFINITY);
  const phrases = uses.map(({ forms, stems, at, worths }, place): TitlePhrase => {
    const chance = worths.reduce((sum, one) => sum + one, 0);
    return { text: mostOf(forms), stems, at, worth: Math.exp((sums[place] as number) - top), chance };
  });
  return phrases.sort((a, b) => b.worth - a.worth || a.at - b.at);
}

/** The phrases that are compared. */
export async function phraseUses(
  model: HashedModel,
  { talk, chances, worths: said }: TitleTalk,
  reading: TitleReading,
): Promise<PhraseUse[]> {
  const words = await titleWords({ talk, chances, worths: said }, reading);
  const worths = await wordWorths(model, talk, words, reading);
  const by_stem = new Map(words.map((word) => [word.stem, word]));
  const found = new Map<string, PhraseUse>();
  for (const [at, { text }] of talk.utterances.entries()) {
    const tokens = tokensOf(text);
    for (const [from, to] of runsOf(tokens, reading.table)) {
      for (let first = from; first < to; first++)
        for (let last = first + 1; last <= Math.min(to, first + WORDS_MAX); last++) {
          const own = tokens.slice(first, last);
          const of = own.flatMap((token) => by_stem.get(stemOf(formOf(token))) ?? []);
          if (of.length < own.length || new Set(of).size < of.length) continue;
          const use = useOf(found, of, { at, worths });
          use.times++;
          use.items += anyItem(chances, at);
          use.said += said[at] ?? 0;
          count(use.forms, own.map((token, place) => shownWord(token, of[place] as TitleWord)).join(' '));
          count(use.before, shapeOf(tokens[first - 1] ?? '^', reading.table));
          count(use.after, shapeOf(tokens[last] ?? '$', reading.table));
        }
    }
    await reading.slices.pause();
  }
  const sum = ({ worths: own }: PhraseUse) => own.reduce((all, one) => all + one, 0);
  return [...found.values()].sort((a, b) => sum(b) - sum(a) || a.at - b.at).slice(0, PHRASES_MAX);
}

function useOf(
  found: Map<string, PhraseUse>,
  words: readonly TitleWord[],
  { at, worths }: { at: number; worths: ReadonlyMap<string, number> },
): PhraseUse {
  const stems = words.map(({ stem }) => stem);
  const key = stems.join(' ');
  const known = found.get(key);
  if (known !== undefined) return known;
  const use: PhraseUse = {
    ...{ stems, forms: new Map(), at, times: 0, items: 0, said: 0, before: new Map(), after: new Map() },
    worths: stems.map((stem) => worths.get(stem) ?? 0),
    word_times: words.map(({ times }) => times),
    capitals: words.reduce((sum, { capitals, times }) => sum + capitals / times, 0) / words.length,
  };
  found.set(key, use);
  return use;
}

/** The features of a phrase for the second ranking. */
export function phraseFeatures(use: PhraseUse): FeatureBag {
  const { stems, worths, times, word_times, before, after } = use;
  const bag = new FeatureBag();
  const count = stems.length;
  const [least, most] = [Math.min(...worths), Math.max(...worths)];
  const sum = worths.reduce((all, one) => all + one, 0);
  bag.add(`words${count}`);
  bag.add('sum', sum);
  bag.add('least', least);
  bag.add('mean', sum / count);
  bag.addSteps('sum', sum, [0.1, 0.2, 0.35, 0.5, 0.8, 1.2]);
  bag.addSteps(`least${count}`, least, [0.02, 0.05, 0.1, 0.2, 0.4]);
  bag.addSteps('share', least / (most || 1), [0.1, 0.3, 0.6]);
  // How often its words stand together, of how often they are said.
  const together = times / Math.min(...word_times);
  bag.addSteps(`together${count}`, together, [0.3, 0.5, 0.75, 1]);
  bag.addSteps(`apart${count}`, times / Math.max(...word_times), [0.3, 0.5, 0.75, 1]);
  bag.addSteps(`times${count}`, times, [2, 3, 4, 6]);
  bag.add('items', use.items / times);
  bag.add('said', use.said / times);
  bag.addSteps('said', use.said, [0.2, 0.5, 1, 2]);
  bag.add('capitals', use.capitals);
  bag.add('first', 1 / (1 + use.at));
  for (const [shape, n] of before) bag.add(`before:${shape}`, n / times);
  for (const [shape, n] of after) bag.add(`after:${shape}`, n / times);
  const [form = ''] = use.forms.keys();
  const words = form.split(' ');
  const [head = '', tail = ''] = [words[0]?.toLowerCase(), words.at(-1)?.toLowerCase()];
  bag.add(`last ${SUFFIX.exec(tail)?.[0] ?? ''}`, 0.7);
  if (count > 1) bag.add(`head ${SUFFIX.exec(head)?.[0] ?? ''}`, 0.7);
  bag.add(`last:${stems.at(-1)}`, 0.5);
  if (count > 1) bag.add(`head:${stems[0]}`, 0.5);
  return bag;
}

/** The chance of each word that it stands in the title. */
async function wordWorths(
  model: HashedModel,
  talk: Talk,
  words: readonly TitleWord[],
  reading: TitleReading,
): Promise<Map<string, number>> {
  const bags = await titleFeatures(talk, words, reading);
  const sums = bags.map((bag) => answersOf(model, hashedRow(bag, model.bits, null))[0] ?? 0);
  const top = Math.max(...sums);
  const total = sums.reduce((all, one) => all + Math.exp(one - top), 0);
  return new Map(
    words.map(({ stem }, at) => [stem, Math.min(1, (TITLE_WORDS * Math.exp((sums[at] as number) - top)) / total)]),
  );
}

/** Where words of matter stand that nothing is between. A possessive begins another phrase. */
function runsOf(tokens: readonly string[], table: WordTable): [number, number][] {
  const runs: [number, number][] = [];
  let from = 0;
  for (let at = 0; at <= tokens.length; at++) {
    const token = tokens[at] ?? '';
    const is_matter = at < tokens.length && table.isMatter(formOf(token));
    if (is_matter && !/'s$/i.test(token)) continue;
    const to = is_matter ? at + 1 : at;
    if (to > from) runs.push([from, to]);
    from = at + 1;
  }
  return runs;
}

function count(map: Map<string, number>, key: string): void {
  map.set(key, (map.get(key) ?? 0) + 1);
}

function shownWord(token: string, { capitals, times }: TitleWord): string {
  const bare = token.replace(/'s$/i, '');
  return capitals >= times * PROPER_SHARE ? bare.charAt(0).toUpperCase() + bare.slice(1) : bare.toLowerCase();
}
