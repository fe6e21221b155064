/**
 * Ids are UUIDs of version 7 that lead home: their last byte is the partition of the entity (design section 2).
 *
 *   48 bits time │ version │ 12 random │ variant │ 22 random │ 32 chunk number │ 8 partition
 *
 * The chunk number is 0 for everything but a chunk, and a chunk's other bits are its stream's: whoever holds a
 * chunk's id finds the stream that owns it without any index.
 */
export const PARTITIONS = 256;

const ID_FORM = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const CHUNK_NUMBER_MAX = 0xffff_ffff;

/** True for a UUID in its canonical form: 36 characters, lower case. */
export function isId(text: unknown): text is string {
  return typeof text === 'string' && ID_FORM.test(text);
}

/** The partition (0 to 255) that an id leads to. */
export function partitionOfId(id: string): number {
  return Number.parseInt(id.slice(-2), 16);
}

/** Makes an id from its parts; `random` gives at least five bytes. */
export function makeId(parts: { partition: number; now_ms: number; random: Uint8Array }): string {
  const { partition, now_ms, random } = parts;
  const hex = (value: number, digits: number) => value.toString(16).padStart(digits, '0');
  const time = hex(now_ms, 12);
  const at = (index: number) => random[index] ?? 0;
  const random_a = hex(((at(0) << 8) | at(1)) & 0xfff, 3);
  const random_b = hex(0x800000 | (((at(2) << 16) | (at(3) << 8) | at(4)) & 0x3fffff), 6);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${random_a}-${random_b.slice(0, 4)}-${random_b.slice(4)}00000000${hex(partition, 2)}`;
}

/** The id of a stream's chunk; `number` counts from 1. */
export function chunkId(stream_id: string, number: number): string {
  if (!(Number.isSafeInteger(number) && number >= 1 && number <= CHUNK_NUMBER_MAX)) {
    throw new Error(`no chunk can have number ${number}`);
  }
  return stream_id.slice(0, 26) + number.toString(16).padStart(8, '0') + stream_id.slice(34);
}

/** The stream and number behind a chunk's id; null for an id that is no chunk's. */
export function streamOfChunk(chunk_id: string): { stream_id: string; number: number } | null {
  const number = Number.parseInt(chunk_id.slice(26, 34), 16);
  if (number === 0) return null;
  return { stream_id: `${chunk_id.slice(0, 26)}00000000${chunk_id.slice(34)}`, number };
}
