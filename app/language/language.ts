import { signal } from '@preact/signals-core';

/** The language in which the app is at present. `languages.ts` says which there are. */

export type PluralForms = Readonly<Partial<Record<Intl.LDMLPluralRule, string>> & { other: string }>;
export type TextTable = Readonly<Record<string, string | PluralForms>>;

/** The tag by which dates and numbers are written, such as de-AT. */
export const locale = signal('en');
/** The texts of the language; null for English. */
export const table = signal<TextTable | null>(null);

/** The first language of these tags that is among `codes`; null where none is. */
export function languageOf<Code extends string>(tags: readonly string[], codes: readonly Code[]): Code | null {
  return tags.map(codeOf).flatMap((code) => codes.find((one) => one === code) ?? [])[0] ?? null;
}

/** The person's own form of a language, such as en-GB. */
export function tagOf(code: string, tags: readonly string[]): string {
  return tags.find((tag) => codeOf(tag) === code) ?? code;
}

function codeOf(tag: string): string {
  return tag.toLowerCase().split('-', 1)[0] ?? '';
}
