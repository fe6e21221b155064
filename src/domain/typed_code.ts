/** A digit of any script, such as full-width or Arabic-Indic. */
const DIGIT = /\p{Nd}/gu;
const IS_DIGIT = /\p{Nd}/u;
/** Characters between those of a code that was typed or pasted: blanks, dashes, and marks that can't be seen. */
const BETWEEN = /[\s\p{Cf}\p{Pd}\u2212]/gu;

/** A code as a person typed or pasted it, in plain characters: digits of any script in ASCII, letters in upper case. */
export function typedCode(text: string): string {
  return text.replaceAll(BETWEEN, '').normalize('NFKC').replaceAll(DIGIT, digitOf).toUpperCase();
}

/** The digits of a script follow each other from zero on. */
function digitOf(digit: string): string {
  const code_point = digit.codePointAt(0) ?? 0;
  let zero = code_point;
  while (IS_DIGIT.test(String.fromCodePoint(zero - 1))) zero -= 1;
  return String((code_point - zero) % 10);
}
