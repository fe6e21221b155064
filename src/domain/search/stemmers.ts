import { createRequire } from 'node:module';
import { stemmer as english } from '@orama/stemmers/english';
import { LIMITS } from '../limits.js';

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
const loaded = new Map<string, Stemmer>([[DEFAULT, { name: DEFAULT, stem: remembering(english) }]]);

/** Of tags that were asked for; there are few. */
const by_tag = new Map<string, Stemmer>();
const TAGS_KEPT_MAX = 1_000;

/** The stemmer of a language by its BCP 47 tag; null for an unknown language. */
export function stemmerOf(language: string | null): Stemmer {
  const tag = language ?? 'en';
  const known = by_tag.get(tag);
  if (known !== undefined) return known;
  const first = tag.split('-')[0]?.toLowerCase() ?? '';
  const found = stemmerNamed(Object.hasOwn(LANGUAGES, first) ? (LANGUAGES[first] as string) : DEFAULT);
  if (by_tag.size < TAGS_KEPT_MAX) by_tag.set(tag, found);
  return found;
}

/** Numbers of stemmers, which are stored: new ones come last. */
export function numberOfStemmer({ name }: Stemmer): number {
  return NAMES.indexOf(name);
}

export function stemmerOfNumber(number: number): Stemmer {
  return stemmerNamed(NAMES[number] ?? DEFAULT);
}

function stemmerNamed(name: string): Stemmer {
  const known = loaded.get(name);
  if (known !== undefined) return known;
  // Loaded when first needed: most servers hear few languages.
  const { stemmer: stem } = require(`@orama/stemmers/${name}`) as { stemmer: Stemmer['stem'] };
  const found = { name, stem: remembering(stem) };
  loaded.set(name, found);
  return found;
}

/** The same words come again and again. */
function remembering(stem: Stemmer['stem']): Stemmer['stem'] {
  const known = new Map<string, string>();
  return (word) => {
    let found = known.get(word);
    if (found === undefined) {
      found = stem(word);
      if (known.size >= LIMITS.search_terms_kept_max) known.clear();
      known.set(word, found);
    }
    return found;
  };
}
