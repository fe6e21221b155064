import { durationInWords } from '../limit_text.js';
import { GERMAN } from './german.js';
import {
  type CountedKeyOf,
  filledIn,
  languageOf,
  type PlaceOf,
  type Places,
  type PlainTextOf,
  pluralBy,
  type TextKeyOf,
  type TextTable,
  translatedBy,
  withNodes,
} from './text_table.js';

/** Texts of the server's pages and mails, by language. docs/contributing.md, "Languages of pages and mails". */

type Keys = typeof GERMAN;
/** A text in English. */
export type TextKey = TextKeyOf<Keys>;
/** A text without places. */
export type PlainText = PlainTextOf<Keys>;

const LANGUAGES = {
  en: { tag: 'en-GB', table: null },
  de: { tag: 'de', table: GERMAN },
} as const satisfies Record<string, { tag: string; table: TextTable | null }>;

export type Language = keyof typeof LANGUAGES;

const CODES = Object.keys(LANGUAGES) as Language[];
/** The units of durations, the largest first. */
const UNITS = [
  [24 * 60 * 60_000, 'day'],
  [60 * 60_000, 'hour'],
  [60_000, 'minute'],
  [1_000, 'second'],
] as const;

export class Texts {
  readonly #table: TextTable | null;
  readonly #tag: string;

  constructor(readonly language: Language) {
    ({ table: this.#table, tag: this.#tag } = LANGUAGES[language]);
  }

  say<Key extends TextKey>(key: Key, ...[places]: Places<PlaceOf<Key>, string | number>): string {
    return filledIn(translatedBy(this.#table, key), places ?? {}, (n) => this.#number(n));
  }

  /** A text that counts, in the form for the number. `{n}` is the number. */
  sayCount<Key extends CountedKeyOf<Keys>>(
    n: number,
    forms: { one: string; other: Key },
    ...[places]: Places<Exclude<PlaceOf<Key>, 'n'>, string | number>
  ): string {
    const form = pluralBy(this.#table, forms, new Intl.PluralRules(this.#tag).select(n));
    return filledIn(form, { n: this.#number(n), ...places }, (one) => this.#number(one));
  }

  /** The parts of a text, with nodes in its places. */
  sayWith<Node>(key: string, nodes: Readonly<Record<string, Node>>): (Node | string | undefined)[] {
    return withNodes(translatedBy(this.#table, key), nodes);
  }

  /** A text that may be in English alone, and the language that it is in. */
  sayKnown(words: string): { text: string; language: Language } {
    const is_known = this.#table !== null && Object.hasOwn(this.#table, words);
    return { text: translatedBy(this.#table, words), language: is_known ? this.language : 'en' };
  }

  /** Such as "3 February 2026". */
  dayText(at: number): string {
    return new Intl.DateTimeFormat(this.#tag, { dateStyle: 'long', timeZone: 'UTC' }).format(at);
  }

  /** Such as "3 February 2026, 08:30 UTC". */
  momentText(at: number): string {
    return `${this.dayText(at)}, ${new Date(at).toISOString().slice(11, 16)} UTC`;
  }

  /** Such as "08:30", by the clocks of a zone. */
  timeText(at: number, time_zone: string): string {
    return new Intl.DateTimeFormat(this.#tag, { timeStyle: 'short', timeZone: time_zone }).format(at);
  }

  /** Such as "ten minutes"; other languages than English have digits. */
  durationText(ms: number): string {
    if (this.#table === null) return durationInWords(ms);
    const [unit_ms, unit] = UNITS.find(([one_ms]) => ms % one_ms === 0 && ms > one_ms) ?? [1, 'millisecond'];
    return new Intl.NumberFormat(this.#tag, { style: 'unit', unit, unitDisplay: 'long' }).format(ms / unit_ms);
  }

  #number(n: number): string {
    return new Intl.NumberFormat(this.#tag).format(n);
  }
}

const MADE: Record<Language, Texts> = { en: new Texts('en'), de: new Texts('de') };

export function textsIn(language: Language): Texts {
  return MADE[language];
}

/** The language of ours that these tags name first; English where they name none. */
export function languageAmong(tags: readonly string[]): Language {
  return languageOf(tags, CODES) ?? 'en';
}

/** Whether a header `Accept-Language` names a language: `*` stands for any. */
export function namesLanguage(header: string | undefined): boolean {
  return /[a-z]/i.test((header ?? '').replace(/;[^,]*/g, ''));
}

/** The language that a header `Accept-Language` prefers (RFC 9110, 12.5.4). */
export function acceptedLanguage(header: string | undefined): Language {
  const ranges = (header ?? '').split(',').map((range) => {
    const [tag = '', ...parameters] = range.split(';').map((part) => part.trim());
    const weight = parameters.find((one) => /^q=/i.test(one))?.slice(2);
    return { tag, weight: weight === undefined ? 1 : Number(weight) || 0 };
  });
  const wanted = ranges.filter(({ weight }) => weight > 0).sort((one, other) => other.weight - one.weight);
  return languageAmong(wanted.map(({ tag }) => tag));
}
