import { createRequire } from 'node:module';
import { stopwords as english } from '@orama/stopwords/english';
import { PureMemo } from '../../../domain/pure_memo.js';
import { wordsIn } from '../../../domain/search/words.js';
import type { SearchIndex } from './search_index.js';

/** Words that say nothing of what a question is about. By the names of stemmers, where there is a list. */
const LISTS: ReadonlySet<string> = new Set([
  ...['arabic', 'armenian', 'bulgarian', 'danish', 'dutch', 'finnish', 'french', 'german', 'greek'],
  ...['hungarian', 'indian', 'indonesian', 'irish', 'italian', 'lithuanian', 'nepali', 'norwegian', 'portuguese'],
  ...['romanian', 'russian', 'sanskrit', 'serbian', 'spanish', 'swedish', 'tamil', 'turkish', 'ukrainian'],
]);
const NO_WORDS = { stopwords: [] };
const DEFAULT = 'english';
/** English words of questions to a memory, besides those of the list. */
const OF_QUESTIONS: readonly string[] = [
  ...['a', 'say', 'says', 'said', 'tell', 'told', 'talk', 'talked', 'talking', 'discuss', 'discussed', 'mention'],
  ...['mentioned', 'happen', 'happened', 'anything', 'something', 'everything', 'anyone', 'someone'],
];

/** Stop words that a text of another language has more of than English ones. */
const OTHERS_MORE = 2;

const require = createRequire(import.meta.url);
/** Each list is loaded on first use: most servers need few languages. */
const STOP_WORDS = new PureMemo(2 * (LISTS.size + 1), listOf);

/** Whether an English word says nothing of what a question is about. */
export function isQuestionStopWord(word: string): boolean {
  return STOP_WORDS.of(DEFAULT).has(word);
}

/** The stop words of a query, in that language of the texts whose list has most of its words. */
export function stopWordsOf(words: readonly string[], indexes: readonly SearchIndex[]): ReadonlySet<string> {
  let best = STOP_WORDS.of(DEFAULT);
  let most = words.filter((word) => best.has(word)).length;
  for (const name of languagesOf(indexes)) {
    const list = STOP_WORDS.of(name);
    const found = words.filter((word) => list.has(word)).length;
    if (found > most) [best, most] = [list, found];
  }
  return best;
}

/**
 * Whether a text is English, by its script and its stop words: no other language has two more of them. So a text of few words
 * counts as English.
 */
export function isEnglish(text: string): boolean {
  const letters = text.match(/\p{L}/gu)?.length ?? 0;
  const latin = text.match(/\p{Script=Latin}/gu)?.length ?? 0;
  if (letters === 0 || latin * 2 < letters) return false;
  const words = wordsIn(text).map(({ word }) => word);
  const countOf = (name: string) => words.filter((word) => STOP_WORDS.of(name).has(word)).length;
  const english = countOf(DEFAULT);
  return [...LISTS].every((name) => countOf(name) < english + OTHERS_MORE);
}

/** The languages of the first pages of recordings. */
function languagesOf(indexes: readonly SearchIndex[]): Set<string> {
  const found = new Set<string>();
  for (const { transcripts } of indexes)
    for (const [first] of transcripts.values()) for (const { name } of first?.block.stemmers ?? []) found.add(name);
  return found;
}

function listOf(name: string): ReadonlySet<string> {
  if (name === DEFAULT) return new Set([...english, ...OF_QUESTIONS]);
  const { stopwords } = LISTS.has(name) ? (require(`@orama/stopwords/${name}`) as { stopwords: string[] }) : NO_WORDS;
  return new Set(stopwords);
}
