import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { stemmerOf } from '../../../../domain/search/stemmers.js';
import { stemTerm, wordsIn, wordTerm } from '../../../../domain/search/words.js';
import type { IndexedPage } from '../../index/search_index.js';
import { isQuestionStopWord } from '../../index/stop_words.js';

/** How alike two recordings are by the words that few recordings have. docs/search.md, "Related recordings". */

const WORDS_MAX = 48; // ours: of a recording, the most telling ones
const LETTERS_MIN = 3;
/** Words of which more texts than this part have them say nothing. */
const SHARE_MAX = 0.12;
/** A single word is shared by chance. */
const SHARED_MIN = 2;
/** From so many recordings on, what a word is worth depends on how many of them have it. */
const COUNTED_MIN = 10;
const WORDS_BESIDE = 133;

/** How many of `texts` halves of labelled talks have each stem, of those that three or more have. */
const Common = z.object({ texts: z.number(), stems: z.record(z.string(), z.number()) });
const COMMON = Common.parse(JSON.parse(readFileSync(new URL('common_words.json', import.meta.url), 'utf8')));

/** A word of a recording. `said`: as it was said first. `weight`: how telling it is for the recording. */
export type TellingWord = { stem: string; said: string; terms: readonly number[]; rarity: number; weight: number };

/** A recording that shares words. `words`: the shared ones, the most telling first. */
export type Likeness = { score: number; words: TellingWord[] };

/** The most telling words of turns; `language`: BCP 47, null if unknown. */
export function tellingWords(turns: Iterable<{ text: string; language: string | null }>): TellingWord[] {
  const found = new Map<string, { stem: string; said: string; terms: number[]; count: number }>();
  for (const { text, language } of turns) {
    const stemmer = stemmerOf(language);
    for (const { word, at, length } of wordsIn(text)) {
      if (word.length < LETTERS_MIN || isQuestionStopWord(word)) continue;
      const stem = stemmer.stem(word);
      const term = stemTerm(stem, stemmer);
      const known = found.get(stem);
      if (known === undefined)
        found.set(stem, { stem, said: text.slice(at, at + length), terms: [wordTerm(stem), term], count: 1 });
      else known.count += 1;
    }
  }
  const words = [...found.values()].flatMap(({ count, ...word }): TellingWord[] => {
    const share = ((COMMON.stems[word.stem] ?? 1) + 2) / (COMMON.texts + 4);
    const rarity = -Math.log(share);
    return share > SHARE_MAX ? [] : [{ ...word, rarity, weight: (1 + Math.log(count)) * rarity }];
  });
  return words.sort((a, b) => b.weight - a.weight).slice(0, WORDS_MAX);
}

/** Compares recordings with the telling words of one. */
export class SharedWords {
  readonly #words: readonly TellingWord[];
  readonly #length: number;
  /** By recording: how many turns of it have each word. */
  readonly #counts = new Map<string, { counts: Uint16Array; words: number }>();

  constructor(words: readonly TellingWord[]) {
    this.#words = words;
    this.#length = Math.hypot(...words.map(({ weight }) => weight)) || 1;
  }

  /** Counts a page of a recording. */
  add(id: string, { block }: IndexedPage): void {
    const known = this.#counts.get(id) ?? { counts: new Uint16Array(this.#words.length), words: 0 };
    this.#counts.set(id, known);
    known.words += block.words;
    const [texts, times] = [new Uint16Array(block.texts), new Uint16Array(block.texts)];
    for (const [at, { terms }] of this.#words.entries()) {
      let count = 0;
      for (const term of terms) count += block.readPostings(term, texts, times);
      known.counts[at] = (known.counts[at] as number) + count;
    }
  }

  /** Recordings that share enough to be about the same, the most alike first. */
  related(): Map<string, Likeness> {
    const all = this.#counts.size;
    const having = this.#words.map(
      (_, at) => [...this.#counts.values()].filter(({ counts }) => counts[at] !== 0).length,
    );
    const tells = having.map((count) => all < COUNTED_MIN || (count - 1) / all <= SHARE_MAX);
    const least = leastScore(all);
    const found = [...this.#counts].flatMap(([id, { counts, words }]): [string, Likeness][] => {
      const shared = this.#words.flatMap((word, at) => {
        const count = counts[at] as number;
        return count > 0 && tells[at] ? [{ word, worth: word.weight * (1 + Math.log(count)) * word.rarity }] : [];
      });
      if (shared.length < SHARED_MIN) return [];
      const sum = shared.reduce((total, { worth }) => total + worth, 0);
      const score = sum / (this.#length * Math.sqrt(words + WORDS_BESIDE));
      shared.sort((a, b) => b.worth - a.worth);
      return score < least ? [] : [[id, { score, words: shared.map(({ word }) => word) }]];
    });
    return new Map(found.sort(([, a], [, b]) => b.score - a.score));
  }
}

/** Among more recordings more words are shared by chance. */
function leastScore(recordings: number): number {
  return LEAST_SCORE + MORE_SCORE * Math.log(Math.max(1, recordings / 8));
}

const LEAST_SCORE = 0.12;
const MORE_SCORE = 0.02;
