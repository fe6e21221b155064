import type { SearchScope } from '../../index/evaluate.js';
import { searchedTranscripts } from '../../index/evaluate.js';
import type { Hits } from '../../index/hits.js';
import type { IndexedPage } from '../../index/search_index.js';
import type { RecallQuestion } from '../recall_question.js';

/** How well pages as a whole, ten minutes of a recording each, have the words of a question. */

/**
 * `share`: the part of the question's words that the page has, the rare ones counting more; `names`: the same of its names.
 * 0 to 1.
 */
export type PageScore = { score: number; share: number; names: number };

const SATURATION = 1.2;
const LENGTH_SHARE = 0.5;
const NOTHING: PageScore = { score: 0, share: 0, names: 0 };

/** By BM25 over pages. A word counts by the number of pages that have it. */
export class PageScores {
  readonly #by_page = new Map<IndexedPage, PageScore>();
  /** The number of pages that are searched. */
  readonly pages: number;
  readonly most: number;

  constructor(scope: SearchScope, hits: Hits, { weights, names }: Pick<RecallQuestion, 'weights' | 'names'>) {
    let [pages, all_words] = [0, 0];
    for (const index of scope.indexes)
      for (const [, of_transcript] of searchedTranscripts(index, scope)) {
        pages += of_transcript.length;
        all_words += index.searched_texts.of(of_transcript).words;
      }
    this.pages = pages;
    const found = [...hits.ofPages()].map(({ page, from, to }) => ({
      page,
      counts: countsOf(hits, { from, to }, weights),
    }));
    const rarity = weights.map((weight, word) => {
      const having = found.filter(({ counts }) => counts[word] !== 0).length;
      return weight * Math.log(1 + (Math.max(0, pages - having) + 0.5) / (having + 0.5));
    });
    const all = rarity.reduce((sum, one) => sum + one, 0) || 1;
    const all_names = [...names].reduce((sum, word) => sum + (rarity[word] as number), 0) || 1;
    const average = Math.max(1, all_words / Math.max(1, pages));
    let most = 0;
    for (const { page, counts } of found) {
      const norm = SATURATION * (1 - LENGTH_SHARE + (LENGTH_SHARE * page.block.words) / average);
      let [score, share, named] = [0, 0, 0];
      for (const [word, count] of counts.entries()) {
        score += ((rarity[word] as number) * count * (SATURATION + 1)) / (count + norm);
        share += ((rarity[word] as number) * Math.min(1, count)) / all;
        if (names.has(word)) named += ((rarity[word] as number) * Math.min(1, count)) / all_names;
      }
      this.#by_page.set(page, { score, share, names: named });
      most = Math.max(most, score);
    }
    this.most = most;
  }

  of(page: IndexedPage): PageScore {
    return this.#by_page.get(page) ?? NOTHING;
  }
}

function countsOf(hits: Hits, { from, to }: { from: number; to: number }, words: readonly unknown[]): Float64Array {
  const counts = new Float64Array(words.length);
  for (let hit = from; hit < to; hit++)
    for (let word = 0; word < words.length; word++)
      counts[word] = (counts[word] as number) + hits.occurrence(hit, word);
  return counts;
}
