import type { Stemmer } from './stemmers.js';
import { beginningTerm, isHeard, looked, pairTerms, soundsOf, soundTerm, stemTerm, wordTerm } from './words.js';

/** Grades of a match between a searched word and a text: the higher the better. */
const NOT_THERE = 0;
/** A word that sounds alike, or a longer word that begins with it. */
export const BY_SOUND = 1;
/** A synonym. */
export const BY_SENSE = 2;
/** Another form of the word, or a Korean word that contains it. */
export const BY_STEM = 3;
export const AS_IT_IS = 4;
type Variant = typeof NOT_THERE | typeof BY_SOUND | typeof BY_SENSE | typeof BY_STEM | typeof AS_IT_IS;

/** The weight of a match of each variant. docs/choices.md, "Search and recall". */
export const VARIANT_WEIGHTS: readonly number[] = [0, 0.4, 0.5, 0.7, 1];

/** Terms for other forms of a word: those with an ending, and the stem if it is a word. 0 for none. */
export type StemTerms = { inflected: number; plain: number };

/** A term for a word in blocks of a time: from when to when they begin, both included. */
export type OtherTerm = { term: number; variant: Exclude<Variant, typeof NOT_THERE>; from_ms?: number; to_ms?: number };

/** A searched word. */
export class QueryWord {
  readonly term: number;
  /** Equal for words that match alike at any time. */
  readonly key: string;
  /** Terms of its sound; none if it is matched by its letters alone. */
  readonly sounds: readonly number[];
  /** Terms of a Korean word's pairs of syllables; a longer word that contains it has all of them. */
  readonly pairs: readonly number[];
  /** The term of words that begin with it; 0 if these do not match. */
  readonly beginning: number;
  /** Other terms than those of the word itself, the worst match first. */
  readonly others: readonly OtherTerm[];
  readonly #looked: string;
  readonly #sounds: readonly string[];
  readonly #stems = new Map<string, { stem: string; terms: StemTerms }>();

  constructor(
    readonly word: string,
    { fuzzy, begins = false, others = [] }: { fuzzy: boolean; begins?: boolean; others?: readonly OtherTerm[] },
  ) {
    this.others = [...others].sort((a, b) => a.variant - b.variant);
    this.term = wordTerm(word);
    this.pairs = pairTerms(word);
    this.#looked = looked(word);
    this.beginning = begins ? beginningTerm(this.#looked) : 0;
    this.#sounds = fuzzy && isHeard(word) ? [...new Set(soundsOf(word))].filter((sound) => sound !== '') : [];
    this.sounds = this.#sounds.map(soundTerm);
    const other_terms = this.others.map(({ term, variant }) => `${term}:${variant}`);
    this.key = `${this.sounds.length} ${this.beginning} ${other_terms.join(',')} ${word}`;
  }

  /** In texts of a language. */
  stems(stemmer: Stemmer): StemTerms {
    return this.#of(stemmer).terms;
  }

  /** The grade of the match with a word of a text. `stem`: the stem of that word. */
  variantOf(word: string, stemmer: Stemmer, stem: string = stemmer.stem(word)): Variant {
    const other = looked(word);
    if (other === this.#looked) return AS_IT_IS;
    if (stem === this.#of(stemmer).stem) return BY_STEM;
    if (this.pairs.length > 0 && word.includes(this.word)) return BY_STEM;
    if (this.#sounds.length > 0 && isHeard(word) && this.#sounds.includes(soundsOf(word)[0])) return BY_SOUND;
    return this.beginning !== 0 && other.startsWith(this.#looked) ? BY_SOUND : NOT_THERE;
  }

  #of(stemmer: Stemmer): { stem: string; terms: StemTerms } {
    const known = this.#stems.get(stemmer.name);
    if (known !== undefined) return known;
    const stem = stemmer.stem(this.word);
    // A word that is its own stem is indexed as a word alone.
    const is_word = stem !== this.word && stemmer.stem(stem) === stem;
    const found = { stem, terms: { inflected: stemTerm(stem, stemmer), plain: is_word ? wordTerm(stem) : 0 } };
    this.#stems.set(stemmer.name, found);
    return found;
  }
}
