import { isUtf8 } from 'node:buffer';
import { encode } from 'cborg';
import { type DecodedDocument, DOCUMENT_LIMITS, NotReadable, refusalAt } from './document.js';

/**
 * The deterministic encoding of RFC 8949, 4.2.1 (shortest heads and floats, keys in byte order) of a value that JSON could
 * say as well. Undefined members are left out; byte arrays become byte strings. Throws for dates and other objects.
 */
export function encodeCbor(value: unknown): Buffer {
  const bytes = encode(value, { ignoreUndefinedProperties: true });
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/**
 * A value from CBOR, as JSON would have given it, or why the bytes were not taken: lengths beyond the body, keys that are
 * no text or come twice, tags but of timestamps (0 and 1), of UUIDs (37) and of CBOR itself (55799), integers beyond
 * 2^53-1, numbers that are not finite, text that is not UTF-8, or more than `DOCUMENT_LIMITS`. Timestamps become ISO 8601
 * text, byte strings windows on `bytes`. Never throws.
 */
export function decodeCbor(bytes: Uint8Array): DecodedDocument {
  const reader = new CborReader(bytes);
  try {
    return { ok: true, value: reader.document() };
  } catch (error) {
    return refusalAt(reader.steps, error);
  }
}

const MAJOR = { unsigned: 0, negative: 1, bytes: 2, text: 3, array: 4, map: 5, tag: 6 };

// The low five bits of a head (RFC 8949, 3).
const INFO = { one_byte: 24, eight_bytes: 27, indefinite: 31 };
const SIMPLE = { false: 20, true: 21, null: 22 };
const FLOAT = { half: 25, single: 26, double: 27 };
const BREAK = 0xff;

const TAG = { text_time: 0, epoch_time: 1, uuid: 37 };
/** Tag 55799, by which a file identifies itself as CBOR (RFC 8949, 3.4.6). */
const SELF_DESCRIBED = Buffer.from('d9d9f7', 'hex');

const UUID_BYTES = 16;
const TEXT_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/i;
// The years 0000 to 9999: what an ISO 8601 date of four digits can say.
const EPOCH_SECONDS = { min: -62_167_219_200, max: 253_402_300_799 };

/** Up to this length a loop over the bytes is faster than a call that decodes them. */
const SHORT_TEXT_BYTES_MAX = 24;

const ENDS_EARLY = 'the body ends inside an item';
const TOO_MANY_ITEMS = `more than ${DOCUMENT_LIMITS.items_max} items`;

/** Reads one item in one pass. It recurses no deeper than `depth_max` and allocates nothing by a length from outside. */
class CborReader {
  /** The reader's place, as steps into the containers. */
  readonly steps: (string | number | undefined)[] = [];
  readonly #bytes: Buffer;
  #at = 0;
  #items = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  document(): unknown {
    if (this.#bytes.length === 0) throw new NotReadable('the body is empty');
    if (this.#bytes.subarray(0, SELF_DESCRIBED.length).equals(SELF_DESCRIBED)) this.#at = SELF_DESCRIBED.length;
    const value = this.#item();
    if (this.#at < this.#bytes.length) throw new NotReadable('bytes follow the end of the item');
    return value;
  }

  #item(): unknown {
    const head = this.#head();
    const info = head & 0x1f;
    switch (head >> 5) {
      case MAJOR.unsigned:
        return safeInteger(this.#argument(info));
      case MAJOR.negative:
        return safeInteger(-1 - this.#argument(info));
      case MAJOR.bytes:
        return this.#byteString(info);
      case MAJOR.text:
        return this.#text(info);
      case MAJOR.array:
        return this.#array(info);
      case MAJOR.map:
        return this.#map(info);
      case MAJOR.tag:
        return this.#tagged(this.#argument(info));
      default:
        return this.#simple(info);
    }
  }

  /** The first byte of an item: its type, and its length or value or the number of bytes that hold that. */
  #head(): number {
    if (this.#at >= this.#bytes.length) throw new NotReadable(ENDS_EARLY);
    const head = this.#bytes[this.#at++] as number;
    if (head === BREAK) throw new NotReadable('a break ends nothing here');
    if (head >> 5 !== MAJOR.tag && ++this.#items > DOCUMENT_LIMITS.items_max) throw new NotReadable(TOO_MANY_ITEMS);
    return head;
  }

  /** The value in or behind a head. Above 2^53-1 it is inexact, but still above. */
  #argument(info: number): number {
    if (info < INFO.one_byte) return info;
    if (info > INFO.eight_bytes) throw new NotReadable(`the head ${info} is reserved`);
    const width = 1 << (info - INFO.one_byte);
    const at = this.#skip(width);
    if (width < 8) return this.#bytes.readUIntBE(at, width);
    return this.#bytes.readUInt32BE(at) * 0x1_0000_0000 + this.#bytes.readUInt32BE(at + 4);
  }

  /** Skips bytes; returns the offset where they begin. */
  #skip(length: number): number {
    const at = this.#at;
    if (length > this.#bytes.length - at) throw new NotReadable(ENDS_EARLY);
    this.#at += length;
    return at;
  }

  #text(info: number): string {
    if (info !== INFO.indefinite) return this.#textOf(this.#argument(info));
    let text = '';
    while (!this.#takeBreak()) text += this.#textOf(this.#chunkLength(MAJOR.text));
    return text;
  }

  #textOf(length: number): string {
    const bytes = this.#bytes;
    const start = this.#skip(length);
    if (length <= SHORT_TEXT_BYTES_MAX) {
      let text = '';
      let at = start;
      for (; at < this.#at && (bytes[at] as number) < 0x80; at += 1) text += String.fromCharCode(bytes[at] as number);
      if (at === this.#at) return text;
    }
    const text = bytes.toString('utf8', start, this.#at);
    // It stands for bytes that are wrong, but may have been sent as well.
    if (text.includes('\ufffd') && !isUtf8(bytes.subarray(start, this.#at)))
      throw new NotReadable('text must be valid UTF-8');
    return text;
  }

  #byteString(info: number): Uint8Array {
    if (info !== INFO.indefinite) return this.#bytesOf(this.#argument(info));
    const chunks: Uint8Array[] = [];
    while (!this.#takeBreak()) chunks.push(this.#bytesOf(this.#chunkLength(MAJOR.bytes)));
    return new Uint8Array(Buffer.concat(chunks));
  }

  #bytesOf(length: number): Uint8Array {
    const start = this.#skip(length);
    return new Uint8Array(this.#bytes.buffer, this.#bytes.byteOffset + start, length);
  }

  /** The length of the next chunk of a string of indefinite length. */
  #chunkLength(major: number): number {
    const head = this.#head();
    const info = head & 0x1f;
    if (head >> 5 !== major || info === INFO.indefinite)
      throw new NotReadable('chunks of a string must be such strings');
    return this.#argument(info);
  }

  #array(info: number): unknown[] {
    const items: unknown[] = [];
    const length = this.#enter(info, { heads_each: 1 });
    while (!this.#isOver(length, items.length)) {
      this.steps[this.steps.length - 1] = items.length;
      items.push(this.#item());
    }
    this.steps.pop();
    return items;
  }

  #map(info: number): Record<string, unknown> {
    const members: Record<string, unknown> = {};
    const length = this.#enter(info, { heads_each: 2 });
    for (let index = 0; !this.#isOver(length, index); index += 1) {
      const key = this.#key();
      if (key === '__proto__') throw new NotReadable('the key __proto__ is not allowed');
      if (Object.hasOwn(members, key)) throw new NotReadable('the key occurs twice');
      members[key] = this.#item();
    }
    this.steps.pop();
    return members;
  }

  #key(): string {
    this.steps[this.steps.length - 1] = undefined;
    const head = this.#head();
    if (head >> 5 !== MAJOR.text) throw new NotReadable('keys must be text');
    const key = this.#text(head & 0x1f);
    this.steps[this.steps.length - 1] = key;
    return key;
  }

  /** The number of entries of a container; Infinity if a break ends it. */
  #enter(info: number, { heads_each }: { heads_each: number }): number {
    if (this.steps.length >= DOCUMENT_LIMITS.depth_max)
      throw new NotReadable(`nested deeper than ${DOCUMENT_LIMITS.depth_max}`);
    const length = info === INFO.indefinite ? Number.POSITIVE_INFINITY : this.#argument(info);
    if (info !== INFO.indefinite) {
      // Each head takes a byte at least: a length that was made up is refused before its entries are read.
      if (length * heads_each > this.#bytes.length - this.#at) throw new NotReadable(ENDS_EARLY);
      if (length * heads_each > DOCUMENT_LIMITS.items_max - this.#items) throw new NotReadable(TOO_MANY_ITEMS);
    }
    this.steps.push(undefined);
    return length;
  }

  #isOver(length: number, entries_read: number): boolean {
    return length === Number.POSITIVE_INFINITY ? this.#takeBreak() : entries_read === length;
  }

  #takeBreak(): boolean {
    if (this.#bytes[this.#at] !== BREAK) return false;
    this.#at += 1;
    return true;
  }

  /** The item behind a tag, as text or bytes. The item's head states its type, so tags in tags do not recurse. */
  #tagged(tag: number): string | Uint8Array {
    const head = this.#bytes[this.#at] ?? BREAK;
    const major = head >> 5;
    switch (tag) {
      case TAG.text_time: {
        const text = major === MAJOR.text ? this.#item() : undefined;
        if (typeof text !== 'string') throw new NotReadable('tag 0 must hold text');
        if (TEXT_TIME.test(text)) return text;
        throw new NotReadable('tag 0 must hold a timestamp with date, time and offset');
      }
      case TAG.epoch_time: {
        const seconds = major <= MAJOR.negative || major > MAJOR.tag ? this.#item() : undefined;
        if (typeof seconds !== 'number') throw new NotReadable('tag 1 must hold a number');
        if (seconds >= EPOCH_SECONDS.min && seconds <= EPOCH_SECONDS.max)
          return new Date(Math.round(seconds * 1_000)).toISOString();
        throw new NotReadable('the timestamp is outside the years 0000 to 9999');
      }
      case TAG.uuid: {
        const uuid = major === MAJOR.bytes ? this.#item() : undefined;
        if (uuid instanceof Uint8Array && uuid.length === UUID_BYTES) return uuid;
        throw new NotReadable('tag 37 must hold the 16 bytes of a UUID');
      }
      default:
        throw new NotReadable('tags other than of timestamps (0 and 1) and UUIDs (37) are not allowed');
    }
  }

  #simple(info: number): boolean | null | number {
    switch (info) {
      case SIMPLE.false:
        return false;
      case SIMPLE.true:
        return true;
      case SIMPLE.null:
        return null;
      case FLOAT.half:
        return plainNumber(readHalf(this.#bytes.readUInt16BE(this.#skip(2))));
      case FLOAT.single:
        return plainNumber(this.#bytes.readFloatBE(this.#skip(4)));
      case FLOAT.double:
        return plainNumber(this.#bytes.readDoubleBE(this.#skip(8)));
      default:
        throw new NotReadable('simple values other than false, true and null are not allowed');
    }
  }
}

function safeInteger(value: number): number {
  if (!Number.isSafeInteger(value)) throw new NotReadable('integers must be between -(2^53-1) and 2^53-1');
  return value;
}

function plainNumber(value: number): number {
  if (!Number.isFinite(value) || Object.is(value, -0))
    throw new NotReadable('numbers must be finite, and zero without a sign');
  return value;
}

function readHalf(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0x1f) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  return sign * (0x400 + fraction) * 2 ** (exponent - 25);
}
