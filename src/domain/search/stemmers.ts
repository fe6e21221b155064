import { createRequire } from 'node:module';
import { stemmer as english } from '@orama/stemmers/english';
import { LIMITS } from '../limits.js';
import { PureMemo } from '../pure_memo.js';

/** A stemmer of one language: removes the endings of words. */

export type Stemmer = { name: string; stem: (word: string) => string };

const DEFAULT = 'english';
const require = createRequire(import.meta.url);

/** By the first subtag of a BCP 47 tag. Other languages are stemmed as English, which leaves other scripts alone. */
const LANGUAGES: Readonly<Record<string, string>> = {
  ar: 'arabic',
  bg: 'bulgarian',
  da: 'danish',
  de: 'german',
  el: 'greek',
  es: 'spanish',
  fi: 'finnish',
  fr: 'french',
  ga: 'irish',
  hi: 'indian',
  hu: 'hungarian',
  hy: 'armenian',
  id: 'indonesian',
  it: 'italian',
  lt: 'lithuanian',
  nb: 'norwegian',
  ne: 'nepali',
  nl: 'dutch',
  nn: 'norwegian',
  no: 'norwegian',
  pt: 'portuguese',
  ro: 'romanian',
  ru: 'russian',
  sa: 'sanskrit',
  sr: 'serbian',
  sv: 'swedish',
  ta: 'tamil',
  tr: 'turkish',
  uk: 'ukrainian',
};

const NAMES = [...new Set([DEFAULT, ...Object.values(LANGUAGES)])];
/** Each is loaded when it is first needed: most servers hear few languages. */
const STEMMERS = new PureMemo(2 * NAMES.length, stemmerNamed);

/** The stemmer of a language. `language`: a BCP 47 tag; null if unknown. */
export function stemmerOf(language: string | null): Stemmer {
  const first = (language ?? 'en').split('-')[0]?.toLowerCase() ?? '';
  return STEMMERS.of(Object.hasOwn(LANGUAGES, first) ? (LANGUAGES[first] as string) : DEFAULT);
}

/** Numbers of stemmers, which are stored: new ones come last. */
export function numberOfStemmer({ name }: Stemmer): number {
  return NAMES.indexOf(name);
}

export function stemmerOfNumber(number: number): Stemmer {
  return STEMMERS.of(NAMES[number] ?? DEFAULT);
}

function stemmerNamed(name: string): Stemmer {
  const made =
    name === DEFAULT ? english : (require(`@orama/stemmers/${name}`) as { stemmer: Stemmer['stem'] }).stemmer;
  // The same words come again and again.
  const stems = new PureMemo(LIMITS.search_terms_kept_max, made);
  return { name, stem: (word) => stems.of(word) };
}
