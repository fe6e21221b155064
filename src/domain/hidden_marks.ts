/** Marks of direction and characters without width. */
const HIDDEN = /(?=\p{Default_Ignorable_Code_Point})\p{Cf}/u;
/** Joiners shape the letter or emoji before them, in some scripts at the end of a word as well; tags make a flag another one. */
const SHAPING = /(?<=\p{L}|\p{M}|\p{Emoji}|\u{FE0F})[\u{200C}\u{200D}]|(?<=\u{1F3F4})[\u{E0020}-\u{E007E}]+\u{E007F}/gu;
const SEEN = /[^\s\p{M}\p{Cf}\p{Default_Ignorable_Code_Point}]/u;

/** Whether a text has a character that turns its direction or can't be seen. */
export function holdsHiddenMarks(text: string): boolean {
  return HIDDEN.test(text.replaceAll(SHAPING, ''));
}

/** Whether anything of a text can be seen. */
export function isSeen(text: string): boolean {
  return SEEN.test(text);
}
