/**
 * Texts in other languages. A text in English is the key of its translations. `{name}` is a place to fill in. What stands
 * behind a bar, as in `Done|a button`, tells apart what other languages say differently, and is not shown.
 */

export type PluralForms = Readonly<Partial<Record<Intl.LDMLPluralRule, string>> & { other: string }>;
export type TextTable = Readonly<Record<string, string | PluralForms>>;

/** A text in English of the table. */
export type TextKeyOf<Table> = { [Key in keyof Table]: Table[Key] extends string ? Key : never }[keyof Table];
/** The English plural of a text that counts. */
export type CountedKeyOf<Table> = Exclude<keyof Table, TextKeyOf<Table>>;
/** A text without places. */
export type PlainTextOf<Table> = {
  [Key in TextKeyOf<Table>]: PlaceOf<Key> extends never ? Key : never;
}[TextKeyOf<Table>];

export type PlaceOf<Key> = Key extends `${string}{${infer Name}}${infer Rest}` ? Name | PlaceOf<Rest> : never;
export type Places<Name extends string, Value> = [Name] extends [never] ? [] : [places: Record<Name, Value>];
export type PlaceValues = Readonly<Record<string, string | number>>;

/** The text in the language of the table; null stands for English. */
export function translatedBy(table: TextTable | null, key: string): string {
  const found = table?.[key];
  if (typeof found === 'string') return found;
  const bar = key.indexOf('|');
  return bar < 0 ? key : key.slice(0, bar);
}

/** The form of a text that counts. */
export function pluralBy(
  table: TextTable | null,
  { one, other }: { one: string; other: string },
  rule: Intl.LDMLPluralRule,
): string {
  const forms = table?.[other] ?? { one, other };
  return typeof forms === 'string' ? forms : (forms[rule] ?? forms.other);
}

/** The text with values in its places. */
export function filledIn(text: string, places: PlaceValues, numberText: (n: number) => string): string {
  return text.replace(/\{(\w+)\}/g, (place, name: string) => {
    const value = places[name];
    return value === undefined ? place : typeof value === 'number' ? numberText(value) : value;
  });
}

/** The text cut at its places, each with its node. */
export function withNodes<Node>(text: string, nodes: Readonly<Record<string, Node>>): (Node | string | undefined)[] {
  return text.split(/\{(\w+)\}/).map((part, n) => (n % 2 === 1 ? nodes[part] : part));
}

/** The first language of these tags that is among `codes`; null where none is. */
export function languageOf<Code extends string>(tags: readonly string[], codes: readonly Code[]): Code | null {
  return tags.map(codeOf).flatMap((code) => codes.find((one) => one === code) ?? [])[0] ?? null;
}

export function codeOf(tag: string): string {
  return tag.toLowerCase().split('-', 1)[0] ?? '';
}
