// Characters of numbers and literals. Capitals occur in numbers only, as the E of an exponent.
const IS_BARE = new Uint8Array(128);
for (const byte of Buffer.from('0123456789+-.abcdefghijklmnopqrstuvwxyzE')) IS_BARE[byte] = 1;

/** Cuts JSON text (RFC 8259) into tokens. Whoever reads them says which are good and in which order they may come. */
export class JsonTokens {
  text: string;
  /** Where it stands, in characters. */
  at = 0;

  constructor(text: string) {
    this.text = text;
  }

  /** Skips space. The code of the next token's first character; NaN at the end. */
  next(): number {
    const { text } = this;
    let { at } = this;
    let code = text.charCodeAt(at);
    while (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09) {
      at += 1;
      code = text.charCodeAt(at);
    }
    this.at = at;
    return code;
  }

  /** The string whose quote is next, with its quotes; null when it does not end. */
  string(): string | null {
    const { text, at } = this;
    let end = at;
    // A quote behind an odd number of backslashes is one of the text.
    do end = text.indexOf('"', end + 1);
    while (end > 0 && isEscaped(text, end));
    if (end < 0) return null;
    this.at = end + 1;
    return text.slice(at, this.at);
  }

  /** The number or literal that is next: it ends where a character belongs to neither. '' where there is none. */
  bare(): string {
    const { text, at } = this;
    let end = at;
    while (end < text.length && IS_BARE[text.charCodeAt(end)] === 1) end += 1;
    this.at = end;
    return text.slice(at, end);
  }
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0;
  while (text[at - 1 - backslashes] === '\\') backslashes += 1;
  return backslashes % 2 === 1;
}
