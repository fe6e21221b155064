import { numbersIn } from '../../../domain/search/spoken_numbers.js';

/** Sentences in a plain form, and the forms of words that are looked for in them. */

/** Its named groups. */
export type FormGroups = Partial<Record<string, string>>;
/** Its first character, and the one behind it. */
export type FormPlace = { from: number; to: number };
/** Gives the meaning of a form; null where it has none here. `to`: where it ends. */
type FormReader<Value, Context> = (said: FormGroups, context: Context, to: number) => Value | null;
export type SpokenForm<Value, Context> = { form: RegExp; read: FormReader<Value, Context> };

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

/** A form of whole words. */
export function spokenForm<Value, Context>(
  source: string,
  read: FormReader<Value, Context>,
): SpokenForm<Value, Context> {
  return { form: new RegExp(`(?:${source})(?= |$)`, 'y'), read };
}

/** The first form that says something at that place. A value may tell another end than the form's. */
export function readAt<Value extends object, Context>(
  forms: readonly SpokenForm<Value, Context>[],
  text: string,
  { at, context }: { at: number; context: Context },
): (Value & FormPlace) | null {
  for (const { form, read } of forms) {
    form.lastIndex = at;
    const found = form.exec(text);
    const to = at + (found?.[0].length ?? 0);
    const value = found === null ? null : read(found.groups ?? {}, context, to);
    if (value !== null) return { to, ...value, from: at };
  }
  return null;
}

/** All that the forms say from left to right; a word belongs to one of them. */
export function readAll<Value extends object, Context>(
  forms: readonly SpokenForm<Value, Context>[],
  text: string,
  context: Context,
): (Value & FormPlace)[] {
  const found: (Value & FormPlace)[] = [];
  for (const { index: at } of text.matchAll(/\S+/g)) {
    const one = at < (found.at(-1)?.to ?? 0) ? null : readAt(forms, text, { at, context });
    if (one !== null) found.push(one);
  }
  return found;
}

/** "an", "a couple of", "22"; one where it does not say. */
export function countOf(count = ''): number {
  return count.includes('couple') ? 2 : Number(/\d+/.exec(count)?.[0] ?? 1);
}
