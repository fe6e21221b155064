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

export type JsonScan = { ok: true } | DocumentRefusal;

const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const LOWER_U = 0x75;
const ARRAY_START = 0x5b;
const ARRAY_END = 0x5d;
const MAP_START = 0x7b;
const MAP_END = 0x7d;

// Fifteen digits are always below 2^53 and no float of that length without an exponent overflows.
const PLAIN_NUMBER_CHARACTERS_MAX = 15;

const SPACE = 1;
const NUMBER = 2;
const LETTER = 3;

// What a byte outside of strings may be part of.
const CLASSES = new Uint8Array(256);
for (const byte of Buffer.from(' \t\r\n')) CLASSES[byte] = SPACE;
for (const byte of Buffer.from('0123456789+-.')) CLASSES[byte] = NUMBER;
for (let byte = 0x61; byte <= 0x7a; byte += 1) CLASSES[byte] = LETTER;
// Capitals occur in numbers only, as the E of an exponent.
CLASSES[0x45] = LETTER;

const HEX_VALUES = new Uint8Array(256);
for (let value = 0; value < 16; value += 1) {
  const digit = value.toString(16);
  HEX_VALUES[digit.charCodeAt(0)] = value;
  HEX_VALUES[digit.toUpperCase().charCodeAt(0)] = value;
}

/**
 * Holds JSON text to what `scanCbor` demands of CBOR: `DOCUMENT_LIMITS`, no key twice (also not by way of escapes), no
 * `__proto__`, integers up to 2^53-1, finite numbers, valid UTF-8 without lone surrogates, nothing after the end.
 * One pass, no recursion, never throws. Grammar stays with `JSON.parse`: what passes here may still be refused there.
 */
export function scanJson(bytes: Uint8Array): JsonScan {
  if (!isUtf8(bytes)) return { ok: false, message: 'the body must be valid UTF-8' };
  return new JsonScanner(bytes).scan();
}

class JsonScanner {
  readonly #bytes: Buffer;
  readonly #open: OpenContainer[] = [];
  #top: OpenContainer | undefined;
  #offset = 0;
  #items = 0;
  #is_key_next = false;
  #is_complete = false;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  scan(): JsonScan {
    const bytes = this.#bytes;
    while (this.#offset < bytes.length) {
      const byte = bytes[this.#offset] as number;
      if (CLASSES[byte] === SPACE) {
        this.#offset += 1;
        continue;
      }
      const message = this.#is_complete ? 'text follows the end of the value' : this.#readToken(byte);
      if (message !== undefined) return refuseAt(this.#open, message);
    }
    return this.#is_complete
      ? { ok: true }
      : refuseAt(this.#open, bytes.length === 0 ? 'the body is empty' : ENDS_EARLY);
  }

  #readToken(byte: number): string | undefined {
    switch (byte) {
      case QUOTE:
        return this.#readString();
      case COMMA:
        return this.#readComma();
      case COLON:
        this.#offset += 1;
        return undefined;
      case MAP_START:
      case ARRAY_START:
        return this.#enter(byte === MAP_START);
      case MAP_END:
      case ARRAY_END:
        return this.#leave(byte === MAP_END);
      default:
        return this.#readBare(byte);
    }
  }

  #readComma(): undefined {
    this.#offset += 1;
    if (this.#top === undefined) return;
    leaveEntry(this.#top);
    this.#is_key_next = this.#top.is_map;
  }

  #enter(is_map: boolean): string | undefined {
    if (++this.#items > DOCUMENT_LIMITS.items_max) return TOO_MANY_ITEMS;
    if (this.#open.length >= DOCUMENT_LIMITS.depth_max) return `nested deeper than ${DOCUMENT_LIMITS.depth_max}`;
    this.#offset += 1;
    this.#top = openContainer({ is_map, heads_left: 0 });
    this.#open.push(this.#top);
    this.#is_key_next = is_map;
    return undefined;
  }

  #leave(is_map: boolean): string | undefined {
    if (this.#top?.is_map !== is_map) return NOT_JSON;
    this.#offset += 1;
    this.#open.pop();
    this.#top = this.#open.at(-1);
    this.#is_key_next = false;
    this.#is_complete = this.#top === undefined;
    return undefined;
  }

  #readString(): string | undefined {
    if (++this.#items > DOCUMENT_LIMITS.items_max) return TOO_MANY_ITEMS;
    const bytes = this.#bytes;
    const start = this.#offset;
    let at = start + 1;
    let has_escapes = false;
    for (; at < bytes.length && bytes[at] !== QUOTE; at += 1) {
      if (bytes[at] !== BACKSLASH) continue;
      has_escapes = true;
      at += 1;
      if (bytes[at] !== LOWER_U) continue;
      const unit = this.#readUnit(at + 1);
      at += 4;
      if (unit < 0xd800 || unit > 0xdfff) continue;
      const is_pair =
        bytes[at + 1] === BACKSLASH && bytes[at + 2] === LOWER_U && this.#readUnit(at + 3) >> 10 === LOW_SURROGATES;
      if (unit >= 0xdc00 || !is_pair) return 'text must not hold half a surrogate pair';
      at += 6;
    }
    if (at >= bytes.length) return ENDS_EARLY;
    this.#offset = at + 1;
    if (this.#is_key_next && this.#top !== undefined) {
      this.#is_key_next = false;
      const key = has_escapes ? this.#unescape(start, at + 1) : bytes.toString('latin1', start + 1, at);
      return key === undefined ? NOT_JSON : enterKey(this.#top, key);
    }
    this.#is_complete = this.#top === undefined;
    return undefined;
  }

  /** The four hex digits of an escape; any number where there are none, which `JSON.parse` then refuses. */
  #readUnit(at: number): number {
    let unit = 0;
    for (let digit = at; digit < at + 4; digit += 1) unit = unit * 16 + (HEX_VALUES[this.#bytes[digit] ?? 0] as number);
    return unit;
  }

  #unescape(start: number, end: number): string | undefined {
    try {
      const key = JSON.parse(this.#bytes.toString('utf8', start, end)) as string;
      return Buffer.from(key).toString('latin1');
    } catch {
      return undefined;
    }
  }

  /** A number or a literal: no quotes around it, so it ends at the first byte that belongs to neither. */
  #readBare(first: number): string | undefined {
    if (++this.#items > DOCUMENT_LIMITS.items_max) return TOO_MANY_ITEMS;
    const bytes = this.#bytes;
    const start = this.#offset;
    let at = start;
    while (at < bytes.length && (CLASSES[bytes[at] as number] as number) >= NUMBER) at += 1;
    if (at === start) return NOT_JSON;
    this.#offset = at;
    this.#is_complete = this.#top === undefined;
    if (CLASSES[first] !== NUMBER) return undefined;
    return this.#checkNumber(start, at, first === MINUS);
  }

  #checkNumber(start: number, end: number, is_negative: boolean): string | undefined {
    const text = this.#bytes.toString('latin1', start, end);
    const has_exponent = text.includes('e') || text.includes('E');
    if (!is_negative && !has_exponent && text.length <= PLAIN_NUMBER_CHARACTERS_MAX) return undefined;
    const value = Number(text);
    // Not a number at all is a fault of grammar, and stays with JSON.parse.
    if (Math.abs(value) === Number.POSITIVE_INFINITY || Object.is(value, -0))
      return 'numbers must be finite, and zero without a sign';
    const is_integer = !has_exponent && !text.includes('.');
    if (is_integer && Math.abs(value) > Number.MAX_SAFE_INTEGER) return 'integers must be between -(2^53-1) and 2^53-1';
    return undefined;
  }
}

// The upper six bits of the code units 0xdc00 to 0xdfff.
const LOW_SURROGATES = 0xdc00 >> 10;

const NOT_JSON = 'the body is not valid JSON';
const ENDS_EARLY = 'the body ends inside a value';
const TOO_MANY_ITEMS = `more than ${DOCUMENT_LIMITS.items_max} items`;
