import {
  type CountedKeyOf,
  filledIn,
  type PlaceOf,
  type Places,
  type PlainTextOf,
  pluralBy,
  type TextKeyOf,
  translatedBy,
  withNodes,
} from '../../src/domain/language/text_table.js';
import { numberText, pluralRule } from './formats.js';
import type { GERMAN } from './german.js';
import { table } from './language.js';

/** The texts of the app, in the language of its table. */

type Keys = typeof GERMAN;
/** A text in English. */
export type TextKey = TextKeyOf<Keys>;
type CountedKey = CountedKeyOf<Keys>;
/** A text without places. */
export type PlainText = PlainTextOf<Keys>;

/** The text in the language of the app. */
export function say<Key extends TextKey>(key: Key, ...[places]: Places<PlaceOf<Key>, string | number>): string {
  return filledIn(translatedBy(table.value, key), places ?? {}, numberText);
}

/** A text that counts, in the form for the number. `{n}` is the number. */
export function sayCount<Key extends CountedKey>(
  n: number,
  forms: { one: string; other: Key },
  ...[places]: Places<Exclude<PlaceOf<Key>, 'n'>, string | number>
): string {
  const form = pluralBy(table.value, forms, pluralRule(n));
  return filledIn(form, { n: numberText(n), ...places }, numberText);
}

/** The text with elements in its places. */
export function sayWith<Key extends TextKey, Element>(
  key: Key,
  ...[places]: Places<PlaceOf<Key>, Element>
): (Element | string | undefined)[] {
  return withNodes<Element>(translatedBy(table.value, key), places ?? {});
}

/** The choices of a table in the language of the app. */
export function sayChoices<Value extends string | null>(
  rows: readonly (readonly [value: Value, words: PlainText])[],
): (readonly [Value, string])[] {
  return rows.map(([value, words]) => [value, say(words)] as const);
}

/** A text of the server, which is English where the table does not have it. */
export function sayKnown(words: string): string {
  return translatedBy(table.value, words);
}
