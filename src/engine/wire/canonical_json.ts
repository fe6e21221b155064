import { JsonTokens } from './json_tokens.js';

/** Thrown where reading stops: the text is not JSON, or not of the kind that was asked for. */
export class NotReadable extends Error {
  override name = 'NotReadable';
}

/** A value takes more bytes than there was room for. */
export class TooLong extends NotReadable {
  override name = 'TooLong';
}

/**
 * A value as it was written, without the space between its tokens, and in the one form that all equal ones have.
 * `bytes`: what it takes in UTF-8 with no letter escaped that need not be.
 */
export type ReadValue = { text: string; canonical: string; bytes: number };

/** Canonical text in parts: put together once, at the end, or deep values would be copied once for each level. */
type JsonParts = string | JsonParts[];
type Open = { is_map: boolean; keys: Set<string>; key: string; members: { key: string; value: JsonParts }[] };

const NUMBER = /^-?(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROL = /[\u0000-\u001f]/;
const LITERALS = ['true', 'false', 'null'];
/** Nothing here recurses, but what is open takes memory. Where there is little room, that bounds the depth long before. */
const DEPTH_MAX = 10_000;
/** The characters that an escape may take for each byte that it stands for: `\u0061` is an a. */
const ESCAPE_CHARS_MAX = 6;
/** Canonical text up to this length is put together at once. */
const TOGETHER_CHARS_MAX = 256;
/** Longer ones are compared as they are written. */
const EXACT_NUMBER_CHARS_MAX = 400;

/**
 * Reads JSON (RFC 8259) token by token and keeps what `JSON.parse` loses: the spelling of numbers and strings and the
 * order of keys. A key that comes twice is refused, since readers disagree on which one counts. Throws NotReadable.
 */
export class JsonReader {
  readonly #tokens: JsonTokens;
  /** Bytes of a value that `read` takes at most. */
  #room = Number.POSITIVE_INFINITY;
  /** By so many bytes its text is longer for letters that were escaped. */
  #escaped = 0;
  /** Where the value begins that is being read, and what of its text is copied. */
  #start = 0;
  #skipped = 0;
  #copied_to = 0;
  #pieces: string[] = [];

  constructor(text: string) {
    this.#tokens = new JsonTokens(text);
  }

  /** Where it stands, in characters of the text that is left. */
  get at(): number {
    return this.#tokens.at;
  }

  set at(at: number) {
    this.#tokens.at = at;
  }

  /** Forgets what was read, and adds more text after what was not. */
  append(more: string): void {
    const tokens = this.#tokens;
    tokens.text = tokens.text.slice(tokens.at) + more;
    tokens.at = 0;
    this.#copied_to = 0;
    this.#pieces = [];
  }

  /** Characters that were not read. */
  get left(): number {
    return this.#tokens.text.length - this.at;
  }

  /** The next token's first character, '' at the end. */
  peek(): string {
    this.#skip();
    return this.#tokens.text[this.at] ?? '';
  }

  /** Takes one of the characters that structure JSON, if it is next. */
  take(character: string): boolean {
    if (this.peek() !== character) return false;
    this.at += 1;
    return true;
  }

  expect(character: string): void {
    if (!this.take(character)) throw new NotReadable(`${character} is missing`);
  }

  /** A key and its colon. */
  key(): string {
    const token = this.#string();
    this.expect(':');
    return JSON.parse(token) as string;
  }

  /** The next value, if it takes no more bytes than there is room for. */
  read({ room = Number.POSITIVE_INFINITY }: { room?: number | undefined } = {}): ReadValue {
    this.#begin(room);
    const canonical = joined(this.#value({ is_kept: true }));
    this.#room = Number.POSITIVE_INFINITY; // keys are read between values
    const rest = this.#tokens.text.slice(this.#copied_to, this.at);
    const text = this.#pieces.length === 0 ? rest : this.#pieces.join('') + rest;
    const bytes = Buffer.byteLength(text) - this.#escaped;
    if (bytes > room) this.#tooLong(room);
    return { text, canonical, bytes };
  }

  /** Reads over the next value. */
  pass(): void {
    this.#begin(Number.POSITIVE_INFINITY);
    this.#value({ is_kept: false });
  }

  #begin(room: number): void {
    this.#skip();
    this.#room = room;
    this.#escaped = 0;
    this.#start = this.at;
    this.#copied_to = this.at;
    this.#skipped = 0;
    this.#pieces = [];
  }

  /** The next value's canonical text, or '' when it is not kept. Its containers are open on a list, not on the stack. */
  #value({ is_kept }: { is_kept: boolean }): JsonParts {
    const open: Open[] = [];
    for (;;) {
      this.#checkRoom();
      let value: JsonParts;
      const first = this.peek();
      if (first === '{' || first === '[') {
        this.at += 1;
        const is_map = first === '{';
        if (!this.take(is_map ? '}' : ']')) {
          if (open.length >= DEPTH_MAX) throw new NotReadable(`nested deeper than ${DEPTH_MAX}`);
          const container: Open = { is_map, keys: is_map ? new Set() : NO_KEYS, key: '', members: [] };
          open.push(container);
          this.#enterKey(container);
          continue;
        }
        value = is_map ? '{}' : '[]';
      } else value = this.#scalar(first);

      // A value is complete, and with it perhaps what it is the last of.
      for (let top = open.at(-1); ; top = open.at(-1)) {
        if (top === undefined) return value;
        if (is_kept) top.members.push({ key: top.key, value });
        if (this.take(',')) {
          this.#enterKey(top);
          break;
        }
        this.expect(top.is_map ? '}' : ']');
        open.pop();
        value = is_kept ? canonicalOf(top) : '';
      }
    }
  }

  #enterKey(container: Open): void {
    if (!container.is_map) return;
    container.key = this.#string();
    if (container.keys.has(container.key)) throw new NotReadable('a key occurs twice');
    container.keys.add(container.key);
    this.expect(':');
  }

  #scalar(first: string): string {
    if (first === '"') return this.#string();
    const token = this.#tokens.bare();
    const is_literal = first >= 'a';
    if (is_literal && LITERALS.includes(token)) return token;
    const parts = is_literal ? null : NUMBER.exec(token);
    if (parts === null) throw new NotReadable('a value is missing');
    return exactNumber(token, parts);
  }

  /** The string as every equal one is written: escapes only where there must be some. */
  #string(): string {
    if (this.peek() !== '"') throw new NotReadable('a string is missing');
    const token = this.#tokens.string();
    if (token === null) throw new NotReadable('a string does not end');
    // Before megabytes are looked at one by one.
    if (token.length / ESCAPE_CHARS_MAX > this.#room) this.#tooLong(this.#room);
    if (CONTROL.test(token)) throw new NotReadable('a string holds a control character');
    const plain = token.includes('\\') ? plainOf(token) : token;
    if (plain !== token) this.#escaped += Buffer.byteLength(token) - Buffer.byteLength(plain);
    this.#checkRoom();
    return plain;
  }

  #skip(): void {
    const tokens = this.#tokens;
    const from = tokens.at;
    if (tokens.text.charCodeAt(from) > 0x20) return;
    tokens.next();
    if (tokens.at === from) return;
    this.#pieces.push(tokens.text.slice(this.#copied_to, from));
    this.#skipped += tokens.at - from;
    this.#copied_to = tokens.at;
  }

  /** Characters are at least as many bytes: what is far too large is not read to its end. */
  #checkRoom(): void {
    if (this.at - this.#start - this.#skipped - this.#escaped > this.#room) this.#tooLong(this.#room);
  }

  #tooLong(room: number): never {
    this.#room = Number.POSITIVE_INFINITY;
    throw new TooLong(`longer than ${room} bytes`);
  }
}

const NO_KEYS = new Set<string>();

/** A string's token without the escapes that it can do without. */
function plainOf(token: string): string {
  try {
    return JSON.stringify(JSON.parse(token));
  } catch {
    throw new NotReadable('a string has an escape that there is not');
  }
}

function canonicalOf({ is_map, members }: Open): JsonParts {
  if (is_map) members.sort((a, b) => (a.key < b.key ? -1 : 1));
  const parts: JsonParts[] = [is_map ? '{' : '['];
  let chars: number = 0;
  for (const [index, { key, value }] of members.entries()) {
    if (index > 0) parts.push(',');
    if (is_map) parts.push(key, ':');
    parts.push(value);
    chars += typeof value === 'string' ? key.length + value.length : TOGETHER_CHARS_MAX;
  }
  parts.push(is_map ? '}' : ']');
  return chars < TOGETHER_CHARS_MAX ? parts.join('') : parts;
}

function joined(parts: JsonParts): string {
  if (typeof parts === 'string') return parts;
  const found: string[] = [];
  const left: JsonParts[] = [parts];
  for (let part = left.pop(); part !== undefined; part = left.pop()) {
    if (typeof part === 'string') found.push(part);
    else for (let at = part.length - 1; at >= 0; at -= 1) left.push(part[at] as JsonParts);
  }
  return found.join('');
}

/** The number's own value, digit by digit: doubles would take different large ones for equal. */
function exactNumber(token: string, [, whole = '', fraction = '', exponent = '0']: string[]): string {
  if (token.length > EXACT_NUMBER_CHARS_MAX) return token;
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  if (digits === '') return '0';
  const significant = digits.replace(/0+$/, '');
  const shift = BigInt(exponent) - BigInt(fraction.length) + BigInt(digits.length - significant.length);
  return `${token.startsWith('-') ? '-' : ''}${significant}e${shift}`;
}
