/**
 * Vectors of a page of turns, by which turns are found that mean the same: one for each window of turns that follow each
 * other. They are stored as one record beside the page's block.
 *
 *   1  version      4  model      2  dimension      2  windows
 *   windows         each: 2 first turn, 2 last turn (places in the page), then a signed byte for each dimension
 *
 * Numbers are little-endian. A vector has the length 127.
 */

/** The collection of vectors: of a transcript by page. */
export const VECTORS = 'vectors';
/** Pages whose vectors are to be made. */
export const VECTORS_DUE = 'vectors_due';

const VERSION = 1;
const HEAD_BYTES = 9;
const WINDOW_HEAD_BYTES = 4;
const UNIT = 127;

export type WindowVector = { first: number; last: number; vector: Int8Array };
export type PageVectors = { model: number; dimension: number; windows: readonly WindowVector[]; bytes: number };

/** Places in a page: `turns_max` turns each, the last window with what is left. */
export function windowsOf(turns: number, turns_max: number): { first: number; last: number }[] {
  const found: { first: number; last: number }[] = [];
  for (let first = 0; first < turns; first += turns_max)
    found.push({ first, last: Math.min(turns, first + turns_max) - 1 });
  return found;
}

/** The same direction as a vector of signed bytes; null for a vector without one. */
export function quantized(values: readonly number[]): Int8Array | null {
  const length = Math.sqrt(values.reduce((sum, value) => sum + value * value, 0));
  if (!(length > 0 && Number.isFinite(length))) return null;
  return Int8Array.from(values, (value) => Math.round((value / length) * UNIT));
}

/** -1 to 1. */
export function similarity(one: Int8Array, other: Int8Array): number {
  let sum = 0;
  for (let at = 0; at < one.length; at++) sum += (one[at] as number) * (other[at] as number);
  return sum / (UNIT * UNIT);
}

export function encodeVectors(model: number, windows: readonly WindowVector[]): Uint8Array {
  const dimension = windows[0]?.vector.length ?? 0;
  const bytes = Buffer.alloc(HEAD_BYTES + windows.length * (WINDOW_HEAD_BYTES + dimension));
  bytes[0] = VERSION;
  bytes.writeUInt32LE(model, 1);
  bytes.writeUInt16LE(dimension, 5);
  bytes.writeUInt16LE(windows.length, 7);
  let at = HEAD_BYTES;
  for (const { first, last, vector } of windows) {
    at = bytes.writeUInt16LE(last, bytes.writeUInt16LE(first, at));
    bytes.set(new Uint8Array(vector.buffer, vector.byteOffset, dimension), at);
    at += dimension;
  }
  return bytes;
}

/** Null for bytes of another version. */
export function readVectors(stored: Uint8Array): PageVectors | null {
  const bytes = Buffer.from(stored.buffer, stored.byteOffset, stored.byteLength);
  if (bytes.length < HEAD_BYTES || bytes[0] !== VERSION) return null;
  const [dimension, count] = [bytes.readUInt16LE(5), bytes.readUInt16LE(7)];
  if (bytes.length < HEAD_BYTES + count * (WINDOW_HEAD_BYTES + dimension)) return null;
  const windows = Array.from({ length: count }, (_, nth): WindowVector => {
    const at = HEAD_BYTES + nth * (WINDOW_HEAD_BYTES + dimension);
    const vector = new Int8Array(bytes.buffer, bytes.byteOffset + at + WINDOW_HEAD_BYTES, dimension);
    return { first: bytes.readUInt16LE(at), last: bytes.readUInt16LE(at + 2), vector };
  });
  return { model: bytes.readUInt32LE(1), dimension, windows, bytes: bytes.length };
}

/** 32 bits that tell texts of turns, or names of models, apart: FNV-1a over UTF-16 units. */
export function fingerprintOf(texts: readonly string[]): number {
  let value = 0x811c9dc5;
  for (const text of texts) {
    for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
    value = Math.imul(value ^ 0xffff, 0x01000193);
  }
  return value >>> 0;
}
