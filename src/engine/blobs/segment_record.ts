/**
 * A segment is a file of records, one behind the other from its first byte on: a header of 160 bytes, then the bytes of
 * one blob. Numbers are big-endian.
 *
 * | at  | bytes | what |
 * |-----|-------|------|
 * | 0   | 4     | `SPLR` |
 * | 4   | 1     | version, 1 |
 * | 5   | 1     | state, the only byte of a header that ever changes: `L`, `D`, `Z` |
 * | 6   | 1     | length of the name |
 * | 7   | 1     | 0 |
 * | 8   | 8     | when it was put, ms |
 * | 16  | 4     | bytes of the blob |
 * | 20  | 32    | their SHA-256 |
 * | 52  | 4     | CRC-32 of this header, with 0 for the state and for itself |
 * | 56  | 104   | the name, the last part of the blob's key, and zeros |
 *
 * Lengths chain the records, so bytes of audio are never taken for a header. Records are only ever added, and no place
 * in a segment is used twice.
 */
import { crc32 } from 'node:zlib';

export const RECORD_HEADER_BYTES = 160;
/** A larger blob is a file of its own. */
export const RECORD_BLOB_BYTES_MAX = 262_144;
export const STATE_AT = 5;
/** `dying`: its bytes are being overwritten, or a crash cut that off. `dead`: they are zeros. */
export const STATES = { live: 0x4c, dying: 0x44, dead: 0x5a } as const;
export type RecordState = keyof typeof STATES;

const MAGIC = 0x53504c52;
const VERSION = 1;
const CRC_AT = 52;
const NAME_AT = 56;
const NAME_BYTES_MAX = RECORD_HEADER_BYTES - NAME_AT;

export interface RecordHeader {
  name: string;
  at_ms: number;
  size_bytes: number;
  sha256_hex: string;
  state: RecordState;
}

export function encodeHeader({ name, at_ms, size_bytes, sha256_hex, state }: RecordHeader): Buffer {
  if (name.length > NAME_BYTES_MAX || size_bytes > RECORD_BLOB_BYTES_MAX) throw new RangeError('not a record');
  const header = Buffer.alloc(RECORD_HEADER_BYTES);
  header.writeUInt32BE(MAGIC, 0);
  header.writeUInt8(VERSION, 4);
  header.writeUInt8(name.length, 6);
  header.writeBigUInt64BE(BigInt(Math.floor(at_ms)), 8);
  header.writeUInt32BE(size_bytes, 16);
  header.write(sha256_hex, 20, 32, 'hex');
  header.write(name, NAME_AT, 'latin1');
  header.writeUInt32BE(crc32(header), CRC_AT);
  header.writeUInt8(STATES[state], STATE_AT);
  return header;
}

/** Decodes the 160 bytes of a header; null when they are not a whole header of a known version. */
export function decodeHeader(bytes: Buffer): RecordHeader | null {
  if (bytes.readUInt32BE(0) !== MAGIC || bytes.readUInt8(4) !== VERSION) return null;
  const state = stateOf(bytes.readUInt8(STATE_AT));
  const plain = Buffer.from(bytes);
  plain.writeUInt8(0, STATE_AT);
  plain.writeUInt32BE(0, CRC_AT);
  if (state === null || crc32(plain) !== bytes.readUInt32BE(CRC_AT)) return null;
  return {
    name: bytes.toString('latin1', NAME_AT, NAME_AT + bytes.readUInt8(6)),
    at_ms: Number(bytes.readBigUInt64BE(8)),
    size_bytes: bytes.readUInt32BE(16),
    sha256_hex: bytes.toString('hex', 20, CRC_AT),
    state,
  };
}

/** Null for a byte that is no state. */
function stateOf(byte: number): RecordState | null {
  for (const [state, code] of Object.entries(STATES)) if (code === byte) return state as RecordState;
  return null;
}
