/** Names and words that the profile has so that they are spelt right. */

export const WORDS_MAX = 200;
export const WORD_CHARS_MAX = 60;

/** With one more word, at its place or the end, unless it is there already; without blanks around it. */
export function withWord(words: readonly string[], text: string, at = words.length): string[] {
  const word = text.trim();
  return word === '' || words.includes(word) ? [...words] : words.toSpliced(at, 0, word);
}

export function withoutWord(words: readonly string[], word: string): string[] {
  return words.filter((one) => one !== word);
}
