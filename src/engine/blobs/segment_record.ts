/**
 * A record holds the bytes of one chunk behind a header of 64 bytes. Segments in the folder and objects in the bucket are
 * records, one behind the other. Numbers are big-endian.
 *
 * | at | bytes | what |
 * |----|-------|------|
 * | 0  | 4     | `SPLR` |
 * | 4  | 4     | bytes of the chunk |
 * | 8  | 8     | when they were appended, ms, as a double |
 * | 16 | 16    | the stream's id |
 * | 32 | 16    | the chunk's source_chunk_ref |
 * | 48 | 4     | CRC-32 of what is before it |
 * | 52 | 1     | 0, or 1 after the bytes were erased |
 * | 53 | 11    | zeros |
 */
import { crc32 } from 'node:zlib';

export const RECORD_HEADER_BYTES = 64;

const MAGIC = 0x53504c52;
const SIZE_AT = 4;
const TIME_AT = 8;
const STREAM_AT = 16;
const REF_AT = 32;
const CRC_AT = 48;
const ERASED_AT = 52;

/** The bytes of a chunk, with its stream and its reference. Both ids are UUIDs in lower case. */
export interface ChunkBytes {
  stream_id: string;
  source_chunk_ref: string;
  bytes: Buffer;
}

export interface RecordHeader {
  size_bytes: number;
  at_ms: number;
  stream_id: string;
  source_chunk_ref: string;
  is_erased: boolean;
}

export function encodeHeader({ size_bytes, at_ms, stream_id, source_chunk_ref, is_erased }: RecordHeader): Buffer {
  const header = Buffer.alloc(RECORD_HEADER_BYTES);
  header.writeUInt32BE(MAGIC, 0);
  header.writeUInt32BE(size_bytes, SIZE_AT);
  header.writeDoubleBE(at_ms, TIME_AT);
  header.write(stream_id.replaceAll('-', '') + source_chunk_ref.replaceAll('-', ''), STREAM_AT, 32, 'hex');
  header.writeUInt32BE(crc32(header.subarray(0, CRC_AT)), CRC_AT);
  header.writeUInt8(is_erased ? 1 : 0, ERASED_AT);
  return header;
}

/** Null if these 64 bytes are no header. */
export function decodeHeader(header: Buffer): RecordHeader | null {
  if (header.readUInt32BE(0) !== MAGIC || crc32(header.subarray(0, CRC_AT)) !== header.readUInt32BE(CRC_AT))
    return null;
  return {
    size_bytes: header.readUInt32BE(SIZE_AT),
    at_ms: header.readDoubleBE(TIME_AT),
    stream_id: uuidAt(header, STREAM_AT),
    source_chunk_ref: uuidAt(header, REF_AT),
    is_erased: header.readUInt8(ERASED_AT) === 1,
  };
}

/** Headers and bytes of chunks as they are written. */
export function encodeRecords(chunks: readonly ChunkBytes[], at_ms: number): Buffer[] {
  return chunks.flatMap(({ bytes, ...ids }) => [
    encodeHeader({ ...ids, size_bytes: bytes.length, at_ms, is_erased: false }),
    bytes,
  ]);
}

function uuidAt(header: Buffer, at: number): string {
  const hex = header.toString('hex', at, at + 16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
