import type { SuggestionKind } from '../../../actors/insights/library_state.js';
import { LIMITS } from '../../domain/limits.js';
import { stemmerOf } from '../../domain/search/stemmers.js';
import { kindTerm, wordsIn } from '../../domain/search/words.js';
import type { SearchIndex } from './search_index.js';
import { stopWordsOf } from './stop_words.js';

/** The subject of a question, beside its words: kinds of suggestions, and whether it asks for one's own. */
export type RecallQuestion = {
  words: string[];
  /** By the place of a word: terms of the suggestions that it stands for. */
  about: Map<number, number[]>;
  /** Whether it asks for what is for the account's own person to do. */
  is_own: boolean;
};

/** Stems that stand for suggestions, in English. */
const KINDS_OF_STEMS: Readonly<Record<string, readonly SuggestionKind[]>> = {
  promis: ['task'],
  commit: ['task'],
  task: ['task'],
  todo: ['task'],
  action: ['task', 'follow_up'],
  follow: ['follow_up'],
  remind: ['reminder'],
  decid: ['decision'],
  decis: ['decision'],
  agre: ['decision'],
  ask: ['question'],
  question: ['question'],
};
/** Words that stand for suggestions only before another. */
const FOLLOWED_BY: Readonly<Record<string, string>> = { action: 'item', follow: 'up' };
const TODO = 'todo';
const FIRST_PERSON: ReadonlySet<string> = new Set([
  'i',
  "i'm",
  "i've",
  "i'll",
  "i'd",
  'me',
  'my',
  'mine',
  'myself',
  'we',
  'us',
  'our',
]);

/** `may_be_empty`: there is something else to go by. */
export function questionOf(
  text: string,
  { indexes, may_be_empty }: { indexes: readonly SearchIndex[]; may_be_empty: boolean },
): RecallQuestion {
  const said = joined(wordsIn(text).map(({ word }) => word));
  const stop = stopWordsOf(said, indexes);
  const words: string[] = [];
  const about = new Map<number, number[]>();
  for (const [at, word] of said.entries()) {
    if (words.includes(word) || words.length >= LIMITS.search_words_max) continue;
    const kinds = kindsOf(word, said[at + 1]);
    if (stop.has(word) && kinds.length === 0) continue;
    if (kinds.length > 0) about.set(words.length, kinds.map(kindTerm));
    words.push(word);
  }
  // Of nothing but such words they are what there is.
  if (words.length === 0 && !may_be_empty) words.push(...[...new Set(said)].slice(0, LIMITS.search_words_max));
  return { words, about, is_own: about.size > 0 && said.some((word) => FIRST_PERSON.has(word)) };
}

/** "to do" is one word. */
function joined(said: string[]): string[] {
  return said.flatMap((word, at) => {
    if (word === 'to' && said[at + 1] === 'do') return [TODO];
    return word === 'do' && said[at - 1] === 'to' ? [] : [word];
  });
}

function kindsOf(word: string, next: string | undefined): readonly SuggestionKind[] {
  const { stem } = stemmerOf('en');
  const stemmed = stem(word);
  if (!Object.hasOwn(KINDS_OF_STEMS, stemmed)) return [];
  const behind = FOLLOWED_BY[stemmed];
  if (behind !== undefined && (next === undefined || stem(next) !== behind)) return [];
  return KINDS_OF_STEMS[stemmed] as readonly SuggestionKind[];
}
