/** What reading stops at: the text is not JSON, or not of the kind that was asked for. */
export class NotReadable extends Error {
  override name = 'NotReadable';
}

/** A value takes more characters than there was room for. */
export class TooLong extends NotReadable {
  override name = 'TooLong';
}

/** A value as it was written, without the space between its tokens, and in the one form that all equal ones have. */
export type ReadValue = { text: string; canonical: string };

const SPACE = /[ \t\n\r]*/y;
const NUMBER = /-?(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROL = /[\u0000-\u001f]/;
const LITERALS = ['true', 'false', 'null'];
/** Deeper values are refused: readers of other kinds recurse as well. */
const DEPTH_MAX = 100;
/** Longer ones are compared as they are written. */
const EXACT_NUMBER_CHARS_MAX = 400;

/**
 * Reads JSON (RFC 8259) token by token and keeps what `JSON.parse` loses: the spelling of numbers and strings and the
 * order of keys. A key that comes twice is refused, since readers disagree on which one counts. Throws NotReadable.
 */
export class JsonReader {
  #text: string;
  /** Where it stands, in characters of the text that is left. */
  at = 0;
  /** Characters of a value that `read` takes at most. */
  #room = Number.POSITIVE_INFINITY;
  /** Where the value begins that is being read, and what of its text is copied. */
  #start = 0;
  #skipped = 0;
  #copied_to = 0;
  #pieces: string[] = [];

  constructor(text: string) {
    this.#text = text;
  }

  /** Forgets what was read, and goes on with more text behind what was not. */
  goOn(more: string): void {
    this.#text = this.#text.slice(this.at) + more;
    this.at = 0;
    this.#copied_to = 0;
    this.#pieces = [];
  }

  /** Characters that were not read. */
  get left(): number {
    return this.#text.length - this.at;
  }

  /** The next token's first character, '' at the end. */
  peek(): string {
    this.#skip();
    return this.#text[this.at] ?? '';
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

  /** The next value, if its text takes no more characters than there is room for. */
  read({ room = Number.POSITIVE_INFINITY }: { room?: number | undefined } = {}): ReadValue {
    this.#skip();
    this.#room = room;
    this.#start = this.at;
    this.#copied_to = this.at;
    this.#skipped = 0;
    this.#pieces = [];
    const canonical = this.#value(0);
    this.#checkRoom();
    this.#room = Number.POSITIVE_INFINITY; // keys are read between values
    const rest = this.#text.slice(this.#copied_to, this.at);
    return { text: this.#pieces.length === 0 ? rest : this.#pieces.join('') + rest, canonical };
  }

  #value(depth: number): string {
    if (depth > DEPTH_MAX) throw new NotReadable(`nested deeper than ${DEPTH_MAX}`);
    this.#checkRoom();
    const first = this.peek();
    switch (first) {
      case '{':
        return this.#object(depth);
      case '[':
        return this.#array(depth);
      case '"':
        return this.#string();
      case 't':
      case 'f':
      case 'n':
        return this.#literal();
      default:
        return this.#number();
    }
  }

  #object(depth: number): string {
    this.at += 1;
    const members = new Map<string, string>();
    if (this.take('}')) return '{}';
    do {
      const key = this.#string();
      if (members.has(key)) throw new NotReadable('a key occurs twice');
      this.expect(':');
      members.set(key, this.#value(depth + 1));
    } while (this.take(','));
    this.expect('}');
    const sorted = [...members].sort(([a], [b]) => (a < b ? -1 : 1));
    return `{${sorted.map(([key, value]) => `${key}:${value}`).join(',')}}`;
  }

  #array(depth: number): string {
    this.at += 1;
    const items: string[] = [];
    if (this.take(']')) return '[]';
    do items.push(this.#value(depth + 1));
    while (this.take(','));
    this.expect(']');
    return `[${items.join(',')}]`;
  }

  /** The string as every equal one is written: escapes only where there must be some. */
  #string(): string {
    if (this.peek() !== '"') throw new NotReadable('a string is missing');
    const text = this.#text;
    const start = this.at;
    let end = start;
    // A quote behind an odd number of backslashes is one of the text.
    do end = text.indexOf('"', end + 1);
    while (end > 0 && isEscaped(text, end));
    if (end < 0) throw new NotReadable('a string does not end');
    this.at = end + 1;
    this.#checkRoom();
    const token = text.slice(start, this.at);
    if (CONTROL.test(token)) throw new NotReadable('a string holds a control character');
    if (!token.includes('\\')) return token;
    try {
      return JSON.stringify(JSON.parse(token));
    } catch {
      throw new NotReadable('a string has an escape that there is not');
    }
  }

  #literal(): string {
    const found = LITERALS.find((literal) => this.#text.startsWith(literal, this.at));
    if (found === undefined) throw new NotReadable('a value is missing');
    this.at += found.length;
    return found;
  }

  #number(): string {
    NUMBER.lastIndex = this.at;
    const parts = NUMBER.exec(this.#text);
    if (parts === null) throw new NotReadable('a value is missing');
    const [token] = parts;
    this.at += token.length;
    return exactNumber(token, parts);
  }

  #skip(): void {
    const code = this.#text.charCodeAt(this.at);
    if (code > 0x20) return;
    SPACE.lastIndex = this.at;
    SPACE.exec(this.#text);
    const end = SPACE.lastIndex;
    if (end === this.at) return;
    this.#pieces.push(this.#text.slice(this.#copied_to, this.at));
    this.#skipped += end - this.at;
    this.#copied_to = end;
    this.at = end;
  }

  #checkRoom(): void {
    if (this.at - this.#start - this.#skipped > this.#room) this.#tooLong();
  }

  #tooLong(): never {
    throw new TooLong(`longer than ${this.#room} characters`);
  }
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0;
  while (text[at - 1 - backslashes] === '\\') backslashes += 1;
  return backslashes % 2 === 1;
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
