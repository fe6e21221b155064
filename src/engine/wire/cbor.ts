import { addExtension, Decoder } from 'cbor-x';
import { withDefiniteLengths } from './cbor_definite.js';
import { isSelfDescribed, SELF_DESCRIBED, scanCbor } from './cbor_scan.js';
import type { DocumentRefusal } from './document.js';

const OPTIONS = { useRecords: false, mapsAsObjects: true };
const copying = new Decoder({ ...OPTIONS, copyBuffers: true });
const viewing = new Decoder({ ...OPTIONS, copyBuffers: false });

// cbor-x makes Dates of timestamps and loses the text. Tag 0 keeps it as sent, so that whoever checks timestamps sees
// the same as in JSON. Extensions are process-wide in cbor-x, and the published types demand an encoder as well.
type TagReader = { tag: number; decode: (content: unknown) => unknown };
const addTagReader = addExtension as unknown as (reader: TagReader) => void;
addTagReader({ tag: 0, decode: (text) => text });
addTagReader({ tag: 1, decode: (seconds) => new Date(Math.round(Number(seconds) * 1_000)).toISOString() });

// What takes a UUID takes its 16 bytes as well, tagged or not.
addTagReader({ tag: 37, decode: (bytes) => bytes });

/**
 * A value from CBOR, as JSON would have given it, or why the bytes were not taken. Timestamps (tags 0 and 1) become
 * ISO 8601 text, byte strings Uint8Arrays of their own (or windows on `bytes`), all integers Numbers. Never throws.
 */
export function decodeCbor(
  bytes: Uint8Array,
  { byte_strings = 'copies' }: { byte_strings?: 'copies' | 'windows' } = {},
): { ok: true; value: unknown } | DocumentRefusal {
  const scan = scanCbor(bytes);
  if (!scan.ok) return scan;
  const whole = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const item = isSelfDescribed(whole) ? whole.subarray(SELF_DESCRIBED.length) : whole;
  const plain = scan.has_indefinite_lengths ? withDefiniteLengths(item) : item;
  // A plain view: of a Buffer, cbor-x would cut Buffers.
  const decoder = byte_strings === 'copies' ? copying : viewing;
  const value: unknown = decoder.decode(new Uint8Array(plain.buffer, plain.byteOffset, plain.byteLength));
  return { ok: true, value: scan.has_wide_integers ? narrowIntegers(value) : value };
}

/**
 * The deterministic encoding of RFC 8949, 4.2.1 (shortest heads and floats, keys in byte order) of what
 * `JSON.stringify` would write: `toJSON` is asked, undefined members are left out. Byte arrays become byte strings.
 * Throws TypeError for what JSON cannot say either.
 */
export function encodeCbor(value: unknown): Buffer {
  const writer = new CborWriter();
  if (!writer.write(value)) throw new TypeError(`CBOR has no place for a ${typeof value}`);
  return writer.finish();
}

// cbor-x's own switch for this (int64AsNumber) wraps negative ones to 32 bits. Recursion is bounded by the scan.
function narrowIntegers(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (Array.isArray(value)) return value.map(narrowIntegers);
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value;
  const narrowed: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(value)) narrowed[key] = narrowIntegers(member);
  return narrowed;
}

const HEAD = { unsigned: 0x00, negative: 0x20, bytes: 0x40, text: 0x60, array: 0x80, map: 0xa0 };
const FALSE = 0xf4;
const TRUE = 0xf5;
const NULL = 0xf6;
const HALF = 0xf9;
const SINGLE = 0xfa;
const DOUBLE = 0xfb;

const HEAD_BYTES_MAX = 9;
const BUFFER_BYTES_START = 1_024;

class CborWriter {
  #bytes = Buffer.allocUnsafe(BUFFER_BYTES_START);
  #length = 0;

  finish(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  /** False, with nothing written, for what JSON leaves out: undefined, functions, symbols. */
  write(value: unknown): boolean {
    switch (typeof value) {
      case 'string':
        this.#writeText(value);
        return true;
      case 'number':
        this.#writeNumber(value);
        return true;
      case 'boolean':
        this.#writeByte(value ? TRUE : FALSE);
        return true;
      case 'object':
        return this.#writeObject(value);
      case 'bigint':
        throw new TypeError('CBOR answers hold no BigInt: JSON could not say it');
      default:
        return false;
    }
  }

  #writeObject(value: object | null): boolean {
    if (value === null) this.#writeByte(NULL);
    else if (value instanceof Uint8Array) this.#writeBytes(value);
    else if ('toJSON' in value && typeof value.toJSON === 'function') return this.write(value.toJSON());
    else if (Array.isArray(value)) this.#writeArray(value);
    else this.#writeMap(value as Record<string, unknown>);
    return true;
  }

  #writeArray(items: readonly unknown[]): void {
    this.#writeHead(HEAD.array, items.length);
    for (const item of items) if (!this.write(item)) this.#writeByte(NULL);
  }

  #writeMap(members: Record<string, unknown>): void {
    const keys = Object.keys(members).filter((key) => isWritten(members[key]));
    this.#writeHead(HEAD.map, keys.length);
    for (const key of sortKeys(keys)) {
      this.#writeText(key);
      if (!this.write(members[key])) this.#writeByte(NULL);
    }
  }

  #writeText(text: string): void {
    const length = Buffer.byteLength(text);
    this.#writeHead(HEAD.text, length);
    this.#reserve(length);
    this.#length += this.#bytes.write(text, this.#length);
  }

  #writeBytes(bytes: Uint8Array): void {
    this.#writeHead(HEAD.bytes, bytes.length);
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  #writeNumber(value: number): void {
    // Minus zero counts as an integer here and loses its sign, as in JSON.
    if (Number.isSafeInteger(value)) {
      if (value >= 0) this.#writeHead(HEAD.unsigned, value);
      else this.#writeHead(HEAD.negative, -1 - value);
    } else if (Number.isFinite(value)) this.#writeFloat(value);
    else this.#writeByte(NULL);
  }

  #writeFloat(value: number): void {
    this.#reserve(HEAD_BYTES_MAX);
    const at = this.#length;
    if (Math.fround(value) !== value) {
      this.#bytes[at] = DOUBLE;
      this.#length = this.#bytes.writeDoubleBE(value, at + 1);
      return;
    }
    this.#bytes[at] = SINGLE;
    this.#length = this.#bytes.writeFloatBE(value, at + 1);
    const half = narrowToHalf(this.#bytes.readUInt32BE(at + 1));
    if (half === undefined) return;
    this.#bytes[at] = HALF;
    this.#length = this.#bytes.writeUInt16BE(half, at + 1);
  }

  #writeHead(head: number, argument: number): void {
    this.#reserve(HEAD_BYTES_MAX);
    const bytes = this.#bytes;
    const at = this.#length;
    if (argument < 24) {
      bytes[at] = head | argument;
      this.#length = at + 1;
    } else if (argument < 0x100) {
      bytes[at] = head | 24;
      this.#length = bytes.writeUInt8(argument, at + 1);
    } else if (argument < 0x1_0000) {
      bytes[at] = head | 25;
      this.#length = bytes.writeUInt16BE(argument, at + 1);
    } else if (argument < 0x1_0000_0000) {
      bytes[at] = head | 26;
      this.#length = bytes.writeUInt32BE(argument, at + 1);
    } else {
      bytes[at] = head | 27;
      bytes.writeUInt32BE(Math.floor(argument / 0x1_0000_0000), at + 1);
      this.#length = bytes.writeUInt32BE(argument % 0x1_0000_0000, at + 5);
    }
  }

  #writeByte(byte: number): void {
    this.#reserve(1);
    this.#bytes[this.#length] = byte;
    this.#length += 1;
  }

  #reserve(length: number): void {
    const needed = this.#length + length;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, this.#bytes.length * 2));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}

function isWritten(value: unknown): boolean {
  return value !== undefined && typeof value !== 'function' && typeof value !== 'symbol';
}

const ASCII = /^[\0-\x7f]*$/;

/** In the order of the encoded keys: their heads put shorter texts first, among equals the bytes decide. */
function sortKeys(keys: string[]): string[] {
  return keys.every((key) => ASCII.test(key)) ? keys.sort(compareAscii) : keys.sort(compareUtf8);
}

function compareAscii(left: string, right: string): number {
  return left.length - right.length || (left < right ? -1 : 1);
}

function compareUtf8(left: string, right: string): number {
  const [left_bytes, right_bytes] = [Buffer.from(left), Buffer.from(right)];
  return left_bytes.length - right_bytes.length || Buffer.compare(left_bytes, right_bytes);
}

/** The half float that equals a single float, both as bits; undefined where precision would be lost. */
function narrowToHalf(single: number): number | undefined {
  const sign = (single >>> 16) & 0x8000;
  const exponent = ((single >>> 23) & 0xff) - 127;
  const fraction = single & 0x7f_ffff;
  if (exponent >= -14 && exponent <= 15) {
    return (fraction & 0x1fff) === 0 ? sign | ((exponent + 15) << 10) | (fraction >> 13) : undefined;
  }
  if (exponent < -24 || exponent > 15) return undefined;
  // Below 2^-14 halves are multiples of 2^-24, without an implied leading bit.
  const significand = fraction | 0x80_0000;
  const shift = -1 - exponent;
  return significand % (1 << shift) === 0 ? sign | (significand >> shift) : undefined;
}
