import { Slices } from '../../src/engine/time/slices.js';
import type { SpokenUnit } from '../../src/features/insights/engines/spoken_units.js';
import { type FeatureRow, hashedRow } from '../../src/features/insights/learned/feature_bag.js';
import type { HashedModel } from '../../src/features/insights/learned/hashed_model.js';
import type { Chances } from '../../src/features/insights/learned/item_finder.js';
import { SAID_BEFORE_MAX, saidFeatures } from '../../src/features/insights/learned/said_ranking.js';
import { SummaryFeatures } from '../../src/features/insights/learned/summary_scorer.js';
import { phraseFeatures, phraseUses } from '../../src/features/insights/learned/title_phrases.js';
import {
  formOf,
  stemOf,
  titleFeatures,
  titleWords,
  tokensOf,
} from '../../src/features/insights/learned/title_words.js';
import type { WordTable } from '../../src/features/insights/learned/word_table.js';
import type { Label } from './corpus.js';
import { placeOf, type ReadTalk } from './item_training.js';
import { type Answered, fitLogistic } from './logistic.js';
import { fitRanking, type RankedGroup } from './ranking.js';
import { shareIn, stems } from './score.js';

/** Learns which utterance says what an item is about, what a summary says, and the words of a title. */

const SUMMARY_FORM = { bits: 17, epochs: 20, rate: 0.03, l2: 1e-3, bias: -2, average: true };
const TITLE_FORM = { bits: 15, epochs: 30, rate: 0.3, l2: 0.1 };
const PHRASE_FORM = { bits: 14, epochs: 30, rate: 0.2, l2: 0.05 };
const SAID_FORM = { bits: 14, epochs: 30, rate: 0.1, l2: 0.05 };
/** The share of a point's words that an utterance must have to say it. */
const SAYS_MIN = 0.6;
/** How much an utterance counts that says a point, each further one, and one that says what must not be said. */
const COUNTS = { point: 3, further: 1.5, forbidden: 4 };
/** A word of the title that somebody gave counts so many times one of the further words of the matter. */
const NAME_WEIGHT = 2;
/** A phrase of two words is worth more than each of them. */
const PHRASE_POWER = 2;

/** A talk and its items, as a finder tells them that has not seen it. */
export type HeardTalk = ReadTalk & { chances: Chances };
/** `worths`: of each utterance in a summary, by a model that has not seen it either. */
export type KnownTalk = HeardTalk & { worths: readonly number[] };

export function fitSummary(talks: readonly HeardTalk[], table: WordTable): HashedModel {
  const rows = talks.flatMap(({ of, talk, turns, chances }): Answered[] => {
    const features = new SummaryFeatures(talk, chances, table);
    const points = of.must.map(stems);
    return talk.utterances.map(({ text }, at) => {
      const own = stems(text);
      const said = points.filter((point) => shareIn(point, own) >= SAYS_MIN).length;
      const is_bad = of.must_not.some(
        (point) =>
          point.turns.some((turn) => turns[at]?.includes(turn)) ||
          (stems(point.gist).length > 1 && shareIn(stems(point.gist), own) >= 0.8),
      );
      return {
        row: hashedRow(features.of(at), SUMMARY_FORM.bits, null),
        answers: [said > 0 && !is_bad ? 1 : 0, is_bad ? 1 : 0],
        counts: [said > 0 ? COUNTS.point + COUNTS.further * (said - 1) : 1, is_bad ? COUNTS.forbidden : 1],
      };
    });
  });
  return fitLogistic(rows, SUMMARY_FORM);
}

export async function fitTitles(talks: readonly KnownTalk[], table: WordTable): Promise<HashedModel> {
  const reading = { table, slices: new Slices() };
  const groups: RankedGroup[] = [];
  for (const known of talks) {
    const { of, talk } = known;
    const words = await titleWords(known, reading);
    const named = new Set(
      (of.name ?? '')
        .toLowerCase()
        .split(/[^a-z0-9]+/)
        .map(stemOf),
    );
    const matter = new Set(of.title.flatMap((term) => term.toLowerCase().split(/\s+/)).map(stemOf));
    const worths = words.map(({ stem }) => (named.has(stem) ? NAME_WEIGHT : 0) + (matter.has(stem) ? 1 : 0));
    const total = worths.reduce((sum, one) => sum + one, 0);
    if (total === 0) continue;
    const bags = await titleFeatures(talk, words, reading);
    const rows = bags.map((bag) => hashedRow(bag, TITLE_FORM.bits, null));
    groups.push({ rows, shares: worths.map((one) => one / total) });
  }
  return fitRanking(groups, TITLE_FORM);
}

/** `title`: by a ranking of words that has not seen the talk, as far as there is one. */
export async function fitPhrases(
  talks: readonly KnownTalk[],
  titleFor: (talk: KnownTalk) => HashedModel,
  table: WordTable,
): Promise<HashedModel> {
  const reading = { table, slices: new Slices() };
  const groups: RankedGroup[] = [];
  for (const talk of talks) {
    const named = stemsOf(talk.of.name ?? '');
    const terms = talk.of.title.map(stemsOf);
    const uses = await phraseUses(titleFor(talk), talk, reading);
    const worths = uses.map(({ stems: own }) => {
      const isIn = (words: readonly string[]) => own.every((stem) => words.includes(stem));
      if (isIn(named)) return NAME_WEIGHT * own.length ** PHRASE_POWER;
      return terms.some(isIn) ? own.length ** PHRASE_POWER : 0;
    });
    const total = worths.reduce((sum, one) => sum + one, 0);
    if (total === 0) continue;
    const rows = uses.map((use) => hashedRow(phraseFeatures(use), PHRASE_FORM.bits, null));
    groups.push({ rows, shares: worths.map((one) => one / total) });
  }
  return fitRanking(groups, PHRASE_FORM);
}

function stemsOf(text: string): string[] {
  return tokensOf(text).map((token) => stemOf(formOf(token)));
}

export function fitSaid(talks: readonly ReadTalk[], table: WordTable): HashedModel {
  const groups = talks.flatMap((read): RankedGroup[] => read.of.labels.flatMap((label) => groupOf(label, read, table)));
  return fitRanking(groups, SAID_FORM);
}

/** The sentences that say most of an item, among those of its utterance and of the ones before. */
function groupOf(label: Label, read: ReadTalk, table: WordTable): RankedGroup[] {
  const { kind, gist } = label;
  const at = placeOf(label, read);
  if (kind === 'trap' || kind === 'optional' || at < 0) return [];
  const own = stems(gist);
  const rows: FeatureRow[] = [];
  const shares: number[] = [];
  for (let distance = 0; distance <= Math.min(SAID_BEFORE_MAX, at); distance++) {
    const { sentences } = read.talk.utterances[at - distance] as SpokenUnit;
    for (const [place, { text }] of sentences.entries()) {
      const is_last = place === sentences.length - 1;
      const bag = saidFeatures({ kind, at, distance, text, is_last }, read.talk, table);
      rows.push(hashedRow(bag, SAID_FORM.bits, null));
      shares.push(shareIn(own, stems(text)));
    }
  }
  const most = Math.max(...shares);
  if (most === 0 || rows.length === 1) return [];
  const best = shares.map((share) => (share >= most - 0.01 ? 1 : 0) as number);
  const total = best.reduce((sum, one) => sum + one, 0);
  return [{ rows, shares: best.map((one) => one / total) }];
}
