const FIRST_BYTES = 16 * 1024;
/** A larger buffer is not reused. */
const KEPT_BYTES_MAX = 1024 * 1024;
/** Shorter texts are written letter by letter, which costs less than a call into the engine. */
const SHORT_MAX = 24;
/** The most bytes of a letter in UTF-8. */
const LETTER_BYTES_MAX = 3;
const ASCII_MAX = 0x7f;
const TINY_MAX = 0x7f;

/** Marks of msgpack: each is followed by a length of two or four bytes, or a number of two. */
const ARRAY_32 = 0xdd;
const TEXT_16 = 0xda;
const TEXT_32 = 0xdb;
const NUMBER_16 = 0xcd;

/**
 * Writes arrays, numbers, texts and bytes for commit.lua, one after the other. To Lua texts are bytes; it reads both
 * only as msgpack's texts.
 */
export class MsgpackWriter {
  #buffer = Buffer.allocUnsafeSlow(FIRST_BYTES);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Gives a copy of the written bytes. */
  take(): Buffer {
    const taken = Buffer.from(this.#buffer.subarray(0, this.#length));
    this.#length = 0;
    if (this.#buffer.length > KEPT_BYTES_MAX) this.#buffer = Buffer.allocUnsafeSlow(FIRST_BYTES);
    return taken;
  }

  /** Discards all bytes written after this length. */
  cut(length: number): void {
    this.#length = length;
  }

  /** Begins an array of this number of items. */
  array(count: number): void {
    this.#reserve(5);
    this.#mark32(ARRAY_32, count);
  }

  text(text: string): void {
    const { length } = text;
    const bytes_max = length * LETTER_BYTES_MAX;
    this.#reserve(5 + bytes_max);
    const buffer = this.#buffer;
    const is_wide = bytes_max > 0xffff;
    const start = this.#length + (is_wide ? 5 : 3);
    let bytes = length <= SHORT_MAX ? 0 : -1;
    for (; bytes >= 0 && bytes < length; bytes++) {
      const letter = text.charCodeAt(bytes);
      if (letter > ASCII_MAX) {
        bytes = -1;
        break;
      }
      buffer[start + bytes] = letter;
    }
    if (bytes === -1) bytes = buffer.write(text, start);
    if (is_wide) this.#mark32(TEXT_32, bytes);
    else this.#mark16(TEXT_16, bytes);
    this.#length = start + bytes;
  }

  bytes(bytes: Uint8Array): void {
    this.begin(bytes.length);
    this.put(bytes);
  }

  /** Begins bytes of this length, which are then put in pieces. */
  begin(length: number): void {
    this.#reserve(5 + length);
    this.#mark32(TEXT_32, length);
  }

  put(bytes: Uint8Array): void {
    this.#buffer.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  putText(text: string, encoding: 'hex' | 'latin1'): void {
    this.#length += this.#buffer.write(text, this.#length, encoding);
  }

  putByte(byte: number): void {
    this.#buffer[this.#length++] = byte;
  }

  /** Puts an integer that JavaScript can hold, in eight bytes. */
  putNumber(number: number): void {
    this.#length = this.#buffer.writeUInt32BE(Math.floor(number / 2 ** 32), this.#length);
    this.#length = this.#buffer.writeUInt32BE(number >>> 0, this.#length);
  }

  /** A whole number from 0 to 65,535. */
  number(number: number): void {
    this.#reserve(3);
    if (number <= TINY_MAX) this.#buffer[this.#length++] = number;
    else this.#mark16(NUMBER_16, number);
  }

  #mark16(mark: number, value: number): void {
    const buffer = this.#buffer;
    buffer[this.#length++] = mark;
    buffer[this.#length++] = value >> 8;
    buffer[this.#length++] = value & 0xff;
  }

  #mark32(mark: number, value: number): void {
    this.#buffer[this.#length++] = mark;
    this.#length = this.#buffer.writeUInt32BE(value, this.#length);
  }

  #reserve(bytes: number): void {
    const needed = this.#length + bytes;
    if (needed <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.#buffer.length * 2));
    larger.set(this.#buffer.subarray(0, this.#length));
    this.#buffer = larger;
  }
}
