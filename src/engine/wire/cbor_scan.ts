import { isUtf8 } from 'node:buffer';
import {
  DOCUMENT_LIMITS,
  type DocumentRefusal,
  enterKey,
  leaveEntry,
  type OpenContainer,
  openContainer,
  refuseAt,
} from './document.js';

/**
 * `has_wide_integers`: an integer has an 8-byte head, which cbor-x turns into a BigInt whatever its value.
 * `has_indefinite_lengths`: a string or container does, whose strings cbor-x does not take.
 */
export type CborScan = { ok: true; has_wide_integers: boolean; has_indefinite_lengths: boolean } | DocumentRefusal;

const MAJOR = { unsigned: 0, negative: 1, bytes: 2, text: 3, array: 4, map: 5, tag: 6, simple: 7 };

// The low five bits of a head (RFC 8949, 3).
const INFO = { one_byte: 24, two_bytes: 25, four_bytes: 26, eight_bytes: 27, indefinite: 31 };
const SIMPLE = { false: 20, true: 21, null: 22 };

const TAG_NONE = -1;
const TAG_TEXT_TIME = 0;
const TAG_EPOCH_TIME = 1;
const TAG_UUID = 37;
const TAGS = [TAG_TEXT_TIME, TAG_EPOCH_TIME, TAG_UUID];
const UUID_BYTES = 16;

/** Tag 55799, by which a file says of itself that it is CBOR (RFC 8949, 3.4.6). */
export const SELF_DESCRIBED = Buffer.from('d9d9f7', 'hex');

export function isSelfDescribed(bytes: Buffer): boolean {
  return bytes.subarray(0, SELF_DESCRIBED.length).equals(SELF_DESCRIBED);
}

const BREAK = 0xff;
/** Of a container that does not say how many follow; even, as keys and values come in pairs. */
const HEADS_UNTOLD = 2 * DOCUMENT_LIMITS.items_max;

const TEXT_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/i;
// Up to here looking at each byte costs less than the call that does it faster.
const SHORT_TEXT_BYTES_MAX = 40;

const TEXT_TIME_BYTES_MAX = 40;
// The years 0000 to 9999: what an ISO 8601 date of four digits can say.
const EPOCH_SECONDS = { min: -62_167_219_200, max: 253_402_300_799 };

/**
 * Checks that `bytes` are one CBOR item that JSON could have said as well, within `DOCUMENT_LIMITS`: lengths inside the
 * buffer, text keys, no key twice, no tags but of timestamps and UUIDs, integers up to 2^53-1, finite numbers, valid UTF-8.
 * The whole may carry the tag of self-described CBOR.
 * Neither recurses nor allocates by a length that the input states, and never throws: what it passes is safe for cbor-x.
 */
export function scanCbor(bytes: Uint8Array): CborScan {
  return new CborScanner(bytes).scan();
}

class CborScanner {
  readonly #bytes: Buffer;
  readonly #open: OpenContainer[] = [];
  #offset = 0;
  #items = 0;
  #tag = TAG_NONE;
  #has_wide_integers = false;
  #has_indefinite_lengths = false;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    if (isSelfDescribed(this.#bytes)) this.#offset = SELF_DESCRIBED.length;
  }

  scan(): CborScan {
    if (this.#bytes.length === 0) return this.#refuse('the body is empty');
    do {
      const message = this.#readItem();
      if (message !== undefined) return this.#refuse(message);
    } while (this.#tag !== TAG_NONE || this.#open.length > 0);
    if (this.#offset < this.#bytes.length) return this.#refuse('bytes follow the end of the item');
    const [has_wide_integers, has_indefinite_lengths] = [this.#has_wide_integers, this.#has_indefinite_lengths];
    return { ok: true, has_wide_integers, has_indefinite_lengths };
  }

  #refuse(message: string): DocumentRefusal {
    return refuseAt(this.#open, message, (key) => Buffer.from(key, 'latin1').toString('utf8'));
  }

  /** Takes one head with its bytes; returns what is wrong, if anything. */
  #readItem(): string | undefined {
    if (this.#offset >= this.#bytes.length) return ENDS_EARLY;
    const head = this.#bytes[this.#offset++] as number;
    const major = head >> 5;
    const info = head & 0x1f;
    if (head === BREAK) return this.#leave();
    const map = this.#mapAtKey();
    if (map !== undefined && major !== MAJOR.text) return 'keys must be text';
    if (major !== MAJOR.tag && ++this.#items > DOCUMENT_LIMITS.items_max) return TOO_MANY_ITEMS;
    if (major === MAJOR.simple) return this.#readSimple(info);
    if (info === INFO.indefinite && major >= MAJOR.bytes && major <= MAJOR.map) {
      this.#has_indefinite_lengths = true;
      if (major < MAJOR.array) return this.#readChunks(major, map);
      return this.#enter({ is_map: major === MAJOR.map, length: 'untold' });
    }

    const argument = this.#readArgument(info);
    if (typeof argument === 'string') return argument;
    switch (major) {
      case MAJOR.unsigned:
        return this.#takeInteger(argument, info);
      case MAJOR.negative:
        return this.#takeInteger(-1 - argument, info);
      case MAJOR.bytes:
      case MAJOR.text: {
        const content = this.#readContent(major, argument);
        if (typeof content === 'string') return content;
        return major === MAJOR.text ? this.#takeText(content, map) : this.#takeBytes(content);
      }
      case MAJOR.tag:
        return this.#takeTag(argument);
      default:
        return this.#enter({ is_map: major === MAJOR.map, length: argument });
    }
  }

  /** The value in or after a head, as a Number: above 2^53-1 it is inexact, but still above. */
  #readArgument(info: number): number | string {
    if (info < INFO.one_byte) return info;
    if (info > INFO.eight_bytes) return `the head ${info} is reserved`;
    const width = 1 << (info - INFO.one_byte);
    const at = this.#offset;
    if (width > this.#bytes.length - at) return ENDS_EARLY;
    this.#offset += width;
    if (width < 8) return this.#bytes.readUIntBE(at, width);
    return this.#bytes.readUInt32BE(at) * 0x1_0000_0000 + this.#bytes.readUInt32BE(at + 4);
  }

  /** The bytes of a string whose length is known. */
  #readContent(major: number, length: number): Buffer | string {
    if (length > this.#bytes.length - this.#offset) return ENDS_EARLY;
    const start = this.#offset;
    this.#offset += length;
    if (major === MAJOR.text && !this.#isText(start, this.#offset)) return 'text must be valid UTF-8';
    return this.#bytes.subarray(start, this.#offset);
  }

  /** A string in chunks, each of which is a string of its own kind and of known length. */
  #readChunks(major: number, map: OpenContainer | undefined): string | undefined {
    const chunks: Buffer[] = [];
    for (;;) {
      if (this.#offset >= this.#bytes.length) return ENDS_EARLY;
      const head = this.#bytes[this.#offset++] as number;
      if (head === BREAK) break;
      if (++this.#items > DOCUMENT_LIMITS.items_max) return TOO_MANY_ITEMS;
      if (head >> 5 !== major || (head & 0x1f) === INFO.indefinite) return 'chunks of a string must be such strings';
      const length = this.#readArgument(head & 0x1f);
      if (typeof length === 'string') return length;
      const chunk = this.#readContent(major, length);
      if (typeof chunk === 'string') return chunk;
      chunks.push(chunk);
    }
    const content = Buffer.concat(chunks);
    return major === MAJOR.text ? this.#takeText(content, map) : this.#takeBytes(content);
  }

  #takeInteger(value: number, info: number): string | undefined {
    if (!Number.isSafeInteger(value)) return 'integers must be between -(2^53-1) and 2^53-1';
    if (info === INFO.eight_bytes) this.#has_wide_integers = true;
    return this.#takeNumber(value);
  }

  #takeNumber(value: number): string | undefined {
    if (this.#tag === TAG_TEXT_TIME) return 'tag 0 must hold text';
    if (this.#tag === TAG_UUID) return TAG_HOLDS_NO_UUID;
    if (this.#tag === TAG_EPOCH_TIME && (value < EPOCH_SECONDS.min || value > EPOCH_SECONDS.max)) {
      return 'the timestamp is outside the years 0000 to 9999';
    }
    return this.#finishItem();
  }

  #takeBytes(content: Buffer): string | undefined {
    if (this.#tag === TAG_UUID && content.length !== UUID_BYTES) return TAG_HOLDS_NO_UUID;
    if (this.#tag !== TAG_NONE && this.#tag !== TAG_UUID) return TAG_HOLDS_NO_TIME;
    return this.#finishItem();
  }

  #takeText(content: Buffer, map: OpenContainer | undefined): string | undefined {
    if (this.#tag === TAG_EPOCH_TIME) return 'tag 1 must hold a number';
    if (this.#tag === TAG_UUID) return TAG_HOLDS_NO_UUID;
    if (map !== undefined) {
      map.heads_left -= 1;
      return enterKey(map, content.toString('latin1')); // one character for each byte: cheaper than UTF-8
    }
    if (this.#tag === TAG_TEXT_TIME) {
      const is_time = content.length <= TEXT_TIME_BYTES_MAX && TEXT_TIME.test(content.toString('latin1'));
      if (!is_time) return 'tag 0 must hold a timestamp with date, time and offset';
    }
    return this.#finishItem();
  }

  #takeTag(tag: number): string | undefined {
    if (this.#tag !== TAG_NONE) return this.#wrongContent();
    if (!TAGS.includes(tag)) return 'tags other than of timestamps (0 and 1) and UUIDs (37) are not allowed';
    this.#tag = tag;
    return undefined;
  }

  #readSimple(info: number): string | undefined {
    if (info >= INFO.two_bytes && info <= INFO.eight_bytes) {
      const value = this.#readFloat(info);
      if (value === undefined) return ENDS_EARLY;
      if (!Number.isFinite(value) || Object.is(value, -0)) return 'numbers must be finite, and zero without a sign';
      return this.#takeNumber(value);
    }
    if (info !== SIMPLE.false && info !== SIMPLE.true && info !== SIMPLE.null) {
      return 'simple values other than false, true and null are not allowed';
    }
    return this.#tag === TAG_NONE ? this.#finishItem() : this.#wrongContent();
  }

  #readFloat(info: number): number | undefined {
    const width = 1 << (info - INFO.one_byte);
    const at = this.#offset;
    if (width > this.#bytes.length - at) return undefined;
    this.#offset += width;
    if (width === 8) return this.#bytes.readDoubleBE(at);
    if (width === 4) return this.#bytes.readFloatBE(at);
    return readHalf(this.#bytes.readUInt16BE(at));
  }

  #enter({ is_map, length }: { is_map: boolean; length: number | 'untold' }): string | undefined {
    if (this.#tag !== TAG_NONE) return this.#wrongContent();
    if (this.#open.length >= DOCUMENT_LIMITS.depth_max) return `nested deeper than ${DOCUMENT_LIMITS.depth_max}`;
    if (length === 'untold') {
      this.#open.push(openContainer({ is_map, heads_left: HEADS_UNTOLD, is_indefinite: true }));
      return undefined;
    }
    const heads = is_map ? length * 2 : length;
    // Each head takes a byte at least; asked now, so that no later step works off a length that was made up.
    if (heads > this.#bytes.length - this.#offset) return ENDS_EARLY;
    if (heads > DOCUMENT_LIMITS.items_max - this.#items) return TOO_MANY_ITEMS;
    if (heads === 0) return this.#finishItem();
    this.#open.push(openContainer({ is_map, heads_left: heads }));
    return undefined;
  }

  /** A break: the end of a container that did not say how long it is. */
  #leave(): string | undefined {
    const top = this.#open.at(-1);
    const is_at_value = top?.is_map === true && top.heads_left % 2 === 1;
    if (top?.is_indefinite !== true || is_at_value || this.#tag !== TAG_NONE) return 'a break ends nothing here';
    this.#open.pop();
    return this.#finishItem();
  }

  #wrongContent(): string {
    return this.#tag === TAG_UUID ? TAG_HOLDS_NO_UUID : TAG_HOLDS_NO_TIME;
  }

  #finishItem(): undefined {
    this.#tag = TAG_NONE;
    for (let top = this.#open.at(-1); top !== undefined; top = this.#open.at(-1)) {
      top.heads_left -= 1;
      leaveEntry(top);
      if (top.heads_left > 0) return undefined;
      this.#open.pop();
    }
    return undefined;
  }

  #mapAtKey(): OpenContainer | undefined {
    const top = this.#open.at(-1);
    return top?.is_map === true && top.heads_left % 2 === 0 ? top : undefined;
  }

  #isText(start: number, end: number): boolean {
    const bytes = this.#bytes;
    if (end - start <= SHORT_TEXT_BYTES_MAX) {
      let at = start;
      while (at < end && (bytes[at] as number) < 0x80) at += 1;
      if (at === end) return true;
    }
    return isUtf8(bytes.subarray(start, end));
  }
}

const ENDS_EARLY = 'the body ends inside an item';
const TOO_MANY_ITEMS = `more than ${DOCUMENT_LIMITS.items_max} items`;
const TAG_HOLDS_NO_TIME = 'a tag must hold a timestamp';
const TAG_HOLDS_NO_UUID = 'tag 37 must hold the 16 bytes of a UUID';

function readHalf(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0x1f) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  return sign * (0x400 + fraction) * 2 ** (exponent - 25);
}
