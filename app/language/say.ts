import { numberText, pluralRule } from './formats.js';
import type { GERMAN } from './german.js';
import { table } from './language.js';

/**
 * The texts of the app. A text in English is the key of its translations. `{name}` is a place to fill in. What stands behind a
 * bar, as in `Done|a button`, tells apart what other languages say differently, and is not shown.
 */

type Keys = typeof GERMAN;
/** A text in English. */
export type TextKey = { [Key in keyof Keys]: Keys[Key] extends string ? Key : never }[keyof Keys];
/** The English plural of a text that counts. */
type CountedKey = Exclude<keyof Keys, TextKey>;

type PlaceOf<Key> = Key extends `${string}{${infer Name}}${infer Rest}` ? Name | PlaceOf<Rest> : never;
type Places<Name extends string, Value> = [Name] extends [never] ? [] : [places: Record<Name, Value>];
/** A text without places. */
export type PlainText = { [Key in TextKey]: PlaceOf<Key> extends never ? Key : never }[TextKey];
type Values = Readonly<Record<string, string | number>>;

/** The text in the language of the app. */
export function say<Key extends TextKey>(key: Key, ...[places]: Places<PlaceOf<Key>, string | number>): string {
  return filled(translated(key), places ?? {});
}

/** A text that counts, in the form for the number. `{n}` is the number. */
export function sayCount<Key extends CountedKey>(
  n: number,
  { one, other }: { one: string; other: Key },
  ...[places]: Places<Exclude<PlaceOf<Key>, 'n'>, string | number>
): string {
  const forms = table.value?.[other] ?? { one, other };
  const form = typeof forms === 'string' ? forms : (forms[pluralRule(n)] ?? forms.other);
  return filled(form, { n: numberText(n), ...places });
}

/** The text with elements in its places. */
export function sayWith<Key extends TextKey, Element>(
  key: Key,
  ...[places]: Places<PlaceOf<Key>, Element>
): (Element | string | undefined)[] {
  const nodes: Readonly<Record<string, Element>> = places ?? {};
  return translated(key)
    .split(/\{(\w+)\}/)
    .map((part, n) => (n % 2 === 1 ? nodes[part] : part));
}

/** The choices of a table in the language of the app. */
export function sayChoices<Value extends string | null>(
  rows: readonly (readonly [value: Value, words: PlainText])[],
): (readonly [Value, string])[] {
  return rows.map(([value, words]) => [value, say(words)] as const);
}

/** A text of the server, which is English where the table does not have it. */
export function sayKnown(words: string): string {
  return translated(words);
}

function translated(key: string): string {
  const found = table.value?.[key];
  if (typeof found === 'string') return found;
  const bar = key.indexOf('|');
  return bar < 0 ? key : key.slice(0, bar);
}

function filled(text: string, places: Values): string {
  return text.replace(/\{(\w+)\}/g, (place, name: string) => {
    const value = places[name];
    return value === undefined ? place : typeof value === 'number' ? numberText(value) : value;
  });
}
