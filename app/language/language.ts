import { signal } from '@preact/signals-core';
import { codeOf, type TextTable } from '../../src/domain/language/text_table.js';

/** The language in which the app is at present. `languages.ts` says which there are. */

/** The tag by which dates and numbers are written, such as de-AT. */
export const locale = signal('en');
/** The texts of the language; null for English. */
export const table = signal<TextTable | null>(null);

/** The person's own form of a language, such as en-GB. */
export function tagOf(code: string, tags: readonly string[]): string {
  return tags.find((tag) => codeOf(tag) === code) ?? code;
}
