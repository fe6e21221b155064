import { doubleMetaphone } from 'double-metaphone';
import { changesBetween } from './word_errors.js';

/** Names and words that an account wants spelt its way, put where a text has what sounds like them. */

type Term = { text: string; letters: string; sounds: string[] };
type Token = { word: string; at: number; end: number };
/** `is_doubted`: another decoding lacks a word of it. */
type HeardWords = { letters: string; sounds: string[]; is_doubted: boolean; is_word: boolean };
type TermPlace = { from: number; to: number; is_word: boolean; term: Term; score: number };

/** Shorter terms sound like too many other words. */
const LETTERS_MIN = 5;
const SOUND_MIN = 3;
const NEAR_SOUND_MIN = 4;
/** A name may be heard as so many words. */
const TOKENS_MAX = 3;
const SPAN_LETTERS_MAX = 80;
/** The least share of equal letters. Measured: docs/transcription.md, "The built-in engine". */
const LIKENESS = 0.65;
/** A word in which the decodings agree is replaced only by a longer term. */
const AGREED_LETTERS_MIN = 7;
/** The score of text with the letters of the term. */
const ITSELF = 2;
/** Of equal likeness the term with the same sound comes first. */
const SAME_SOUND = 0.3;
const TOKEN = /[\p{L}\p{N}]+(?:-[\p{L}\p{N}]+)*/gu;
/** Names do not go on behind them. */
const BREAK = /[.?!,;:]/;

export class KnownTerms {
  readonly #terms: readonly Term[];

  constructor(terms: readonly string[]) {
    this.#terms = terms.flatMap((text) => {
      const letters = lettersOf(text);
      const sounds = soundsOf(letters).filter((sound) => sound.length >= SOUND_MIN);
      return letters.length < LETTERS_MIN || sounds.length === 0 ? [] : [{ text, letters, sounds }];
    });
  }

  /** The first of those decodings of the same speech that have most of the terms, with words that sound like a term spelt so. */
  bestOf(decodings: readonly string[]): string {
    const words = decodings.map(wordsIn);
    const spelt = decodings.map((text, at) =>
      this.#spelt(
        text,
        words.filter((_, other) => other !== at),
      ),
    );
    return spelt.reduce((best, one) => (one.terms > best.terms ? one : best)).text;
  }

  #spelt(text: string, others: readonly ReadonlySet<string>[]): { text: string; terms: number } {
    const tokens = tokensIn(text);
    const found = tokens
      .flatMap((_, at) => this.#at(text, tokens.slice(at, at + TOKENS_MAX), others) ?? [])
      .sort((one, other) => other.score - one.score);
    const taken = found.filter(
      (one, at) => !found.slice(0, at).some((better) => one.from < better.to && better.from < one.to),
    );
    let [spelt, copied] = ['', 0];
    for (const { from, to, term, is_word, score } of taken.sort((one, other) => one.from - other.from)) {
      // One word with the letters of the term stays as it is: it may be an ordinary word.
      if (is_word && score === ITSELF) continue;
      spelt += text.slice(copied, from) + term.text;
      copied = to;
    }
    return { text: spelt + text.slice(copied), terms: taken.filter(({ score }) => score === ITSELF).length };
  }

  /** The term that the first tokens may be. */
  #at(text: string, tokens: readonly Token[], others: readonly ReadonlySet<string>[]): TermPlace | null {
    let best: TermPlace | null = null;
    for (let count = 1; count <= tokens.length; count++) {
      const span = tokens.slice(0, count);
      const [first, last] = [span[0] as Token, span.at(-1) as Token];
      if (BREAK.test(text.slice(first.end, last.at))) break;
      const letters = lettersOf(text.slice(first.at, last.end));
      if (letters.length < LETTERS_MIN - 1 || letters.length > SPAN_LETTERS_MAX) continue;
      const sounds = soundsOf(letters);
      const is_word = count === 1;
      const is_doubted = others.some((words) => span.some(({ word }) => !words.has(word.toLowerCase())));
      for (const term of this.#terms) {
        const score = likenessOf({ letters, sounds, is_doubted, is_word }, term);
        if (score > (best?.score ?? 0)) best = { from: first.at, to: last.end, is_word, term, score };
      }
    }
    return best;
  }
}

/** 0 where it is not the term. */
function likenessOf({ letters, sounds, is_doubted, is_word }: HeardWords, term: Term): number {
  if (letters === term.letters && (is_word || is_doubted)) return ITSELF;
  if (!is_doubted && !(is_word && term.letters.length >= AGREED_LETTERS_MIN)) return 0;
  const is_same_sound = sounds.some((sound) => term.sounds.includes(sound));
  if (!is_same_sound && !(is_doubted && sounds.some((sound) => isNear(sound, term.sounds)))) return 0;
  const longest = Math.max(letters.length, term.letters.length);
  const likeness = 1 - changesBetween(letters, term.letters) / longest;
  return likeness < LIKENESS ? 0 : likeness + (is_same_sound ? SAME_SOUND : 0);
}

function isNear(sound: string, sounds: readonly string[]): boolean {
  return sounds.some((other) => other.length >= NEAR_SOUND_MIN && changesBetween(sound, other) === 1);
}

function tokensIn(text: string): Token[] {
  return [...text.matchAll(TOKEN)].map(({ 0: word, index }) => ({ word, at: index, end: index + word.length }));
}

function wordsIn(text: string): ReadonlySet<string> {
  return new Set(tokensIn(text).map(({ word }) => word.toLowerCase()));
}

function lettersOf(text: string): string {
  return text
    .normalize('NFD')
    .toLowerCase()
    .replaceAll(/[^\p{L}]/gu, '');
}

function soundsOf(letters: string): string[] {
  return [...new Set(doubleMetaphone(letters))];
}
