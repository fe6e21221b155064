/** Neither seen nor heard: controls, marks of direction, and spaces without width. */
const UNSEEN = /[\p{Cc}\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u2069\ufeff]+/gu;
/** Characters that only say how others are shown, such as marks of direction and soft hyphens. Joiners of letters stay. */
const FORMAT = /(?![\u200c\u200d])\p{Cf}/gu;

/** Text without what turns its direction or can't be seen. */
export function withoutFormat(text: string): string {
  return text.replace(FORMAT, '');
}

/** Text of an engine as one line of well-formed Unicode. */
export function plainText(text: string): string {
  return withoutFormat(text.toWellFormed().replace(UNSEEN, ' ')).replace(/\s+/g, ' ').trim();
}
