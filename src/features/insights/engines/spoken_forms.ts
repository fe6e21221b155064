import { numbersIn } from '../../../domain/search/spoken_numbers.js';

/** Sentences in a plain form, and the forms of words that are looked for in them. */

/** Its named groups; those of the form that did not match are undefined. */
export type FormGroups = Partial<Record<string, string>>;
export type FormMatch = { said: FormGroups; from: number; to: number };
/** The place of a form: its first character, and the one behind it. */
export type FormPlace = { from: number; to: number };

const FILLERS = /(?:,\s*)?\b(?:um+|uh+|erm?|eh)\b,?/g;
const TOKENS = /\d{1,2}[:.h]\d{2}(?!\d|[.]\d)|[\p{L}\p{N}]+(?:'\p{L}+)*|[,.;?!]/gu;
/** "Friday's", but not "it's". */
const POSSESSIVE = /(?<!^(?:it|that|there|let|he|she|what|who|here|where))'s$/;

/** Lower case, one space between words and signs, numbers as digits: "the twenty second" is "the 22th". */
export function plainSpeech(text: string): string {
  const lower = text
    .toLowerCase()
    .replaceAll('’', "'")
    .replaceAll(/\b([ap])\.m\.?/g, '$1m')
    .replaceAll(/(\d)(am|pm)\b/g, '$1 $2')
    .replaceAll(FILLERS, ' ');
  const words = (lower.match(TOKENS) ?? []).map((word) => word.replace(POSSESSIVE, ''));
  for (const { value, is_ordinal, from, to } of numbersIn(words).reverse())
    words.splice(from, to - from, `${value}${is_ordinal ? 'th' : ''}`);
  return words.join(' ');
}

/** A form of whole words that is looked for at one place. */
export function spokenForm(source: string): RegExp {
  return new RegExp(`(?:${source})(?= |$)`, 'y');
}

export function matchAt(form: RegExp, text: string, at: number): FormMatch | null {
  form.lastIndex = at;
  const found = form.exec(text);
  return found === null ? null : { said: found.groups ?? {}, from: at, to: at + found[0].length };
}

/** From left to right, what is read at the beginning of a word; a word belongs to one of them. */
export function readEach<One extends FormPlace>(text: string, read: (at: number) => One | null): One[] {
  const found: One[] = [];
  for (let at = 0; at >= 0 && at < text.length; ) {
    const one = read(at);
    if (one !== null) found.push(one);
    const next = text.indexOf(' ', one === null ? at : Math.max(one.to - 1, at));
    at = next < 0 ? next : next + 1;
  }
  return found;
}
