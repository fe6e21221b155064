import { JsonReader, NotReadable, type ReadValue, TooLong } from './canonical_json.js';

/** The bytes are no text in UTF-8. */
export class NotUtf8 extends NotReadable {
  override name = 'NotUtf8';
}

/** A number that was cut there is one without what is left: `1` of `1e+5`. */
const CUT_CHARS_MAX = 'e+'.length;

/**
 * Reads JSON from bytes as they came, in pieces; only those are text that are being read. Megabytes in one buffer, and
 * again in one text, would hold up everybody else for as long as the system takes to find the memory.
 */
export class JsonInPieces {
  /** It keeps byte order marks: from Node 24 on one that takes them away loses U+FEFF behind a character that was cut. */
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  #has_text = false;
  readonly #pieces: readonly Uint8Array[];
  /** The number of pieces that are decoded. */
  #taken = 0;
  readonly #reader = new JsonReader('');
  #forgotten_chars = 0;

  constructor(pieces: readonly Uint8Array[]) {
    this.#pieces = pieces;
  }

  /** Characters that were read. */
  get at(): number {
    return this.#forgotten_chars + this.#reader.at;
  }

  /** The next token's first character, '' at the end. */
  peek(): string {
    return this.whole((reader) => reader.peek());
  }

  take(character: string): boolean {
    return this.whole((reader) => reader.take(character));
  }

  expect(character: string): void {
    this.whole((reader) => reader.expect(character));
  }

  key(): string {
    return this.whole((reader) => reader.key());
  }

  read(): ReadValue {
    return this.whole((reader) => reader.read());
  }

  pass(): void {
    this.whole((reader) => reader.pass());
  }

  /**
   * Gives what `read` makes of the next text. `read` is called again, with twice as much, when the text broke off in
   * the middle.
   */
  whole<T>(read: (reader: JsonReader) => T): T {
    const reader = this.#reader;
    for (let pieces = 1; ; pieces *= 2) {
      const begin = reader.at;
      try {
        const value = read(reader);
        if (reader.left > CUT_CHARS_MAX || this.#taken === this.#pieces.length) return value;
      } catch (error) {
        const is_cut = error instanceof NotReadable && !(error instanceof TooLong);
        if (!is_cut || this.#taken === this.#pieces.length) throw error;
      }
      reader.at = begin;
      this.#forgotten_chars += begin;
      reader.append(this.#nextText(pieces));
    }
  }

  #nextText(pieces: number): string {
    let text = '';
    const to = Math.min(this.#taken + pieces, this.#pieces.length);
    try {
      while (this.#taken < to) {
        const piece = this.#pieces[this.#taken];
        this.#taken += 1;
        text += this.#decoder.decode(piece, { stream: this.#taken < this.#pieces.length });
      }
    } catch {
      throw new NotUtf8('it is not UTF-8');
    }
    if (this.#has_text || text === '') return text;
    this.#has_text = true;
    return text.replace(/^\ufeff/, '');
  }
}
