/** Neither seen nor heard: controls, marks of direction, and spaces without width. Joiners of letters stay. */
const UNSEEN = /[\p{Cc}\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u2069\ufeff]+/gu;

/** Text of an engine as one line of well-formed Unicode. */
export function plainText(text: string): string {
  return text.toWellFormed().replace(UNSEEN, ' ').replace(/\s+/g, ' ').trim();
}
