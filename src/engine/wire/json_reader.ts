import { DOCUMENT_LIMITS, type DocumentSteps, NotReadable } from './document.js';

/** A value takes more bytes than its limit. */
export class TooLong extends NotReadable {
  override name = 'TooLong';
}

/**
 * A value as it was written, without the space between its tokens, and in the canonical form that all equal ones have.
 * `bytes`: its size in UTF-8 without unnecessary escapes.
 */
export type SentValue = { text: string; canonical: string; bytes: number };

type Container = { end: '}' | ']'; keys: Set<string> | null; key: string; index: number; members: Member[] };
type Member = { key: string; canonical: string };

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LIST_START = 0x5b;
const LETTER_A = 0x61;
const MAP_START = 0x7b;

// Characters of numbers and literals. Capitals occur in numbers only, as the E of an exponent.
const IS_BARE = new Uint8Array(128);
for (const byte of Buffer.from('0123456789+-.abcdefghijklmnopqrstuvwxyzE')) IS_BARE[byte] = 1;

const NUMBER = /^-?(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;
/** Longer ones are compared as they are written. */
const EXACT_NUMBER_CHARS_MAX = 400;
/** The number of characters that an escape may take for each byte it represents: `\u0061` is an a. */
const ESCAPE_CHARS_MAX = 6;

const ENDS_EARLY = 'the body ends inside a value';
const TOO_MANY_ITEMS = `more than ${DOCUMENT_LIMITS.items_max} items`;
const MALFORMED = 'a string, number or literal is malformed';

/**
 * Reads JSON (RFC 8259) value by value from text that comes in pieces. It sees what `JSON.parse` loses: keys that come
 * twice, which are refused since readers disagree on which one counts, and the spelling of a value. What a string and a
 * number look like is left to `JSON.parse`, which gets each value afterwards. Throws NotReadable; never recurses.
 *
 * `is_strict` holds values to what CBOR may say: `depth_max` of DOCUMENT_LIMITS, no `__proto__`, integers up to 2^53-1,
 * finite numbers, no half of a surrogate pair.
 */
export class JsonReader {
  readonly #more: Iterator<string>;
  readonly #depth_max: number;
  readonly #is_strict: boolean;
  /** The received text from the beginning of this value on. */
  #text = '';
  #at = 0;
  /** Characters before it. */
  #characters_before = 0;
  #items = 0;
  readonly #open: Container[] = [];
  /** Of the value that is read as it was sent. */
  #sent: { text: string; bytes: number; bytes_max: number } | null = null;

  constructor(pieces: Iterable<string>, { is_strict = false }: { is_strict?: boolean } = {}) {
    this.#more = pieces[Symbol.iterator]();
    this.#is_strict = is_strict;
    this.#depth_max = is_strict ? DOCUMENT_LIMITS.depth_max : Number.POSITIVE_INFINITY;
  }

  /** The number of characters read. */
  get characters(): number {
    return this.#characters_before + this.#at;
  }

  /** The place in the value at which reading stopped. */
  get steps(): DocumentSteps {
    return this.#open.map(({ keys, key, index }) => (keys === null ? index : key === '' ? undefined : textOfKey(key)));
  }

  /** The next token's first character, '' at the end. */
  peek(): string {
    this.#next();
    return this.#text[this.#at] ?? '';
  }

  /** Takes one of the characters that structure JSON, if it is next. */
  take(character: string): boolean {
    if (this.#next() !== character.charCodeAt(0)) return false;
    this.#pass(1);
    return true;
  }

  expect(character: string): void {
    if (!this.take(character)) throw this.#missing(character);
  }

  /** A key and its colon. */
  key(): string {
    this.#begin();
    const key = this.#string();
    this.expect(':');
    return parsed(key) as string;
  }

  /** The next value. */
  value(): unknown {
    this.#begin();
    this.#read();
    return parsed(this.#text.slice(0, this.#at));
  }

  /** The next value as it was sent, if it takes at most this number of bytes. */
  valueAsSent(bytes_max: number): SentValue {
    this.#begin();
    const sent = { text: '', bytes: 0, bytes_max };
    this.#sent = sent;
    const canonical = this.#read();
    this.#sent = null;
    parsed(sent.text);
    return { text: sent.text, canonical, bytes: sent.bytes };
  }

  /** Forgets the text read before a value. */
  #begin(): void {
    this.#next();
    this.#characters_before += this.#at;
    if (this.#at > 0) this.#text = this.#text.slice(this.#at);
    this.#at = 0;
    this.#items = 0;
  }

  /**
   * Reads over a value. Returns its canonical form if the value is wanted as it was sent; otherwise the result is
   * unused.
   */
  #read(): string {
    for (;;) {
      const first = this.#next();
      if (first === MAP_START || first === LIST_START) {
        const container = this.#enter(first);
        if (!this.take(container.end)) {
          this.#enterKey(container);
          continue;
        }
        this.#open.pop();
      }
      let canonical = first === MAP_START ? '{}' : first === LIST_START ? '[]' : this.#scalar(first);
      // A value is complete, and with it perhaps what it is the last of.
      for (let top = this.#open.at(-1); ; top = this.#open.at(-1)) {
        if (top === undefined) return canonical;
        if (this.#sent !== null) top.members.push({ key: top.key, canonical });
        if (this.take(',')) {
          top.index += 1;
          this.#enterKey(top);
          break;
        }
        this.expect(top.end);
        canonical = this.#sent === null ? '' : canonicalOf(top);
        this.#open.pop();
      }
    }
  }

  #enter(first: number): Container {
    this.#countItem();
    if (this.#open.length >= this.#depth_max) throw new NotReadable(`nested deeper than ${this.#depth_max}`);
    this.#pass(1);
    const is_map = first === MAP_START;
    const container: Container = {
      end: is_map ? '}' : ']',
      keys: is_map ? new Set() : null,
      key: '',
      index: 0,
      members: [],
    };
    this.#open.push(container);
    return container;
  }

  #enterKey(container: Container): void {
    if (container.keys === null) return;
    container.key = '';
    const key = this.#string();
    container.key = key;
    if (this.#is_strict && key === '"__proto__"') throw new NotReadable('the key __proto__ is not allowed');
    if (container.keys.has(key)) throw new NotReadable('the key occurs twice');
    container.keys.add(key);
    this.expect(':');
  }

  #scalar(first: number): string {
    if (first === QUOTE) return this.#string();
    const token = this.#bare();
    // Letters come behind digits and signs: they begin a literal.
    if (first >= LETTER_A) return token;
    if (this.#is_strict) checkNumber(token);
    return this.#sent === null ? token : exactNumber(token);
  }

  /** A string in the form that all equal strings have, in quotes: with necessary escapes only. */
  #string(): string {
    if (this.#next() !== QUOTE) throw this.#missing('a string');
    this.#countItem();
    let end = this.#at;
    do end = this.#quoteBehind(end);
    while (isEscaped(this.#text, end));
    const token = this.#text.slice(this.#at, end + 1);
    const plain = token.includes('\\') ? this.#plainOf(token) : token;
    this.#pass(token.length, token, plain);
    return plain;
  }

  #quoteBehind(at: number): number {
    for (let from = at + 1; ; ) {
      const quote = this.#text.indexOf('"', from);
      // Before megabytes are looked at one by one.
      const characters = (quote < 0 ? this.#text.length : quote) - this.#at;
      if (this.#sent !== null && characters / ESCAPE_CHARS_MAX > this.#sent.bytes_max) throw tooLong(this.#sent);
      if (quote >= 0) return quote;
      from = this.#text.length;
      if (!this.#feed()) throw new NotReadable(ENDS_EARLY);
    }
  }

  /** A string's token without unnecessary escapes. */
  #plainOf(token: string): string {
    const text = parsed(token) as string;
    if (this.#is_strict && !text.isWellFormed()) throw new NotReadable('text must not hold half a surrogate pair');
    return JSON.stringify(text);
  }

  /** Reads a number or a literal, up to a character that belongs to neither. */
  #bare(): string {
    this.#countItem();
    let end = this.#at;
    do while (IS_BARE[this.#text.charCodeAt(end)] === 1) end += 1;
    while (end === this.#text.length && this.#feed());
    const token = this.#text.slice(this.#at, end);
    if (token === '') throw this.#missing('a value');
    this.#pass(token.length, token);
    return token;
  }

  #countItem(): void {
    if (++this.#items > DOCUMENT_LIMITS.items_max) throw new NotReadable(TOO_MANY_ITEMS);
  }

  #missing(what: string): NotReadable {
    return new NotReadable(this.#at < this.#text.length ? `${what} is missing` : ENDS_EARLY);
  }

  /** Steps over a token, and keeps it if the value is wanted as it was sent. */
  #pass(length: number, token?: string, plain = token): void {
    const sent = this.#sent;
    if (sent !== null) {
      sent.text += token ?? this.#text[this.#at];
      sent.bytes += plain === undefined ? 1 : Buffer.byteLength(plain);
      if (sent.bytes > sent.bytes_max) throw tooLong(sent);
    }
    this.#at += length;
  }

  /** Skips space. Returns the code of the next token's first character; NaN at the end. */
  #next(): number {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      if (code > 0x20) return code;
      if (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09) this.#at += 1;
      else if (this.#at < this.#text.length || !this.#feed()) return code;
    }
  }

  /** Adds as much text as is buffered already, so that long values are not rejoined for each piece. */
  #feed(): boolean {
    let added = '';
    do {
      const { done, value } = this.#more.next();
      if (done === true) break;
      added += value;
    } while (added.length < this.#text.length);
    this.#text += added;
    return added !== '';
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own message quotes the body, which may hold secrets.
    throw new NotReadable(MALFORMED);
  }
}

function textOfKey(token: string): string {
  return token.includes('\\') ? (JSON.parse(token) as string) : token.slice(1, -1);
}

function tooLong({ bytes_max }: { bytes_max: number }): TooLong {
  return new TooLong(`longer than ${bytes_max} bytes`);
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0;
  while (text.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes += 1;
  return backslashes % 2 === 1;
}

/** Put together by `+`, which copies nothing: joined, deep values would be copied once for each level. */
function canonicalOf({ keys, members }: Container): string {
  if (keys !== null) members.sort((a, b) => (a.key < b.key ? -1 : 1));
  let text = '';
  for (const { key, canonical } of members) {
    if (text !== '') text += ',';
    text += keys === null ? canonical : `${key}:${canonical}`;
  }
  return keys === null ? `[${text}]` : `{${text}}`;
}

function checkNumber(token: string): void {
  const value = Number(token);
  if (Math.abs(value) === Number.POSITIVE_INFINITY || Object.is(value, -0))
    throw new NotReadable('numbers must be finite, and zero without a sign');
  if (Math.abs(value) > Number.MAX_SAFE_INTEGER && /^-?\d+$/.test(token))
    throw new NotReadable('integers must be between -(2^53-1) and 2^53-1');
}

/** The number's own value, digit by digit: doubles would take different large ones for equal. */
function exactNumber(token: string): string {
  const parts = NUMBER.exec(token);
  if (parts === null || token.length > EXACT_NUMBER_CHARS_MAX) return token;
  const [, whole = '', fraction = '', exponent = '0'] = parts;
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  if (digits === '') return '0';
  const significant = digits.replace(/0+$/, '');
  const shift = BigInt(exponent) - BigInt(fraction.length) + BigInt(digits.length - significant.length);
  return `${token.startsWith('-') ? '-' : ''}${significant}e${shift}`;
}
