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

export function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}']+/gu) ?? [];
}
