import { numbersIn } from '../../domain/search/spoken_numbers.js';

/** Counts the words that differ between what was said and what was heard: left out, put in, or others. */
type WordErrors = { words: number; errors: number };

export function wordErrors(said: string, heard: string): WordErrors {
  const wanted = wordsOf(said);
  return { words: wanted.length, errors: changesBetween(wanted, wordsOf(heard)) };
}

/** The least number of elements to change, add and take away that makes one sequence the other. */
export function changesBetween<Element>(one: ArrayLike<Element>, other: ArrayLike<Element>): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let from = 0; from < one.length; from++) {
    const next = [from + 1];
    for (let to = 0; to < other.length; to++)
      next.push(
        Math.min(
          (row[to + 1] as number) + 1,
          (next[to] as number) + 1,
          (row[to] as number) + (one[from] === other[to] ? 0 : 1),
        ),
      );
    row = next;
  }
  return row[other.length] as number;
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
