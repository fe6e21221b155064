/** Line ends and other controls, which separate words. */
const BREAKS = /[\p{Cc}\p{Zl}\p{Zp}]+/gu;
/** Characters that only say how others are shown, also within a word: marks of direction, soft hyphens, blanks without width. Joiners of letters stay. */
const FORMAT = /(?![\u200c\u200d])\p{Cf}/gu;

/** Text without characters that change its direction or are invisible. */
export function withoutFormat(text: string): string {
  return text.replace(FORMAT, '');
}

/** Text of an engine as one line of well-formed Unicode. */
export function plainText(text: string): string {
  return withoutFormat(text.toWellFormed().replace(BREAKS, ' ')).replace(/\s+/g, ' ').trim();
}
