import { stemmerOf } from '../../src/domain/search/stemmers.js';
import { wordsIn } from '../../src/domain/search/words.js';
import { type CorpusTalk, isSetAside } from '../insights/corpus.js';

/** Which words many talks have, for `src/features/search/questions/related`. */

/** Shorter ones are dialogues of a few sentences. */
const TURNS_MIN = 24;
const HAVING_MIN = 3;

/** The first and the second half of each longer talk: two recordings about the same. */
export function halvesOf(talks: readonly CorpusTalk[]): { talk: CorpusTalk; texts: string[] }[] {
  return talks
    .filter(({ turns }) => turns.length >= TURNS_MIN)
    .flatMap((talk) => {
      const texts = talk.turns.map(({ text }) => text);
      const middle = texts.length >> 1;
      return [texts.slice(0, middle), texts.slice(middle)].map((half) => ({ talk, texts: half }));
    });
}

/** Stems by how many halves of the talks that are not set aside have them. */
export function commonWords(talks: readonly CorpusTalk[]): { texts: number; stems: Record<string, number> } {
  const halves = halvesOf(talks.filter((talk) => !isSetAside(talk)));
  const stemmer = stemmerOf('en');
  const having = new Map<string, number>();
  for (const { texts } of halves) {
    const stems = new Set(texts.flatMap((text) => wordsIn(text).map(({ word }) => stemmer.stem(word))));
    for (const stem of stems) having.set(stem, (having.get(stem) ?? 0) + 1);
  }
  const common = [...having].filter(([, count]) => count >= HAVING_MIN).sort(([a], [b]) => (a < b ? -1 : 1));
  return { texts: halves.length, stems: Object.fromEntries(common) };
}
