import { numbersIn } from '../../domain/search/spoken_numbers.js';

/** Counts the words that differ between what was said and what was heard: left out, put in, or others. */
type WordErrors = { words: number; errors: number };

export function wordErrors(said: string, heard: string): WordErrors {
  const [wanted, found] = [wordsOf(said), wordsOf(heard)];
  // The least changes that make the first words of one those of the other, row by row.
  let row = Array.from({ length: found.length + 1 }, (_, index) => index);
  for (const [index, word] of wanted.entries()) {
    const next = [index + 1];
    for (const [at, other] of found.entries())
      next.push(
        Math.min((row[at + 1] as number) + 1, (next[at] as number) + 1, (row[at] as number) + (word === other ? 0 : 1)),
      );
    row = next;
  }
  return { words: wanted.length, errors: row[found.length] as number };
}

/** Lower-case words; a number is one word, however it is written: "twenty two" and "22" are "22", "seventh" is "7th". */
export function wordsOf(text: string): string[] {
  const words = text.toLowerCase().match(/[\p{L}\p{N}']+/gu) ?? [];
  const found: string[] = [];
  let at = 0;
  for (const { value, is_ordinal, from, to } of numbersIn(words)) {
    found.push(...words.slice(at, from), is_ordinal ? `${value}th` : String(value));
    at = to;
  }
  return [...found, ...words.slice(at)];
}
