import fs from 'node:fs';
import { promisify } from 'node:util';
import { decodeHeader, RECORD_HEADER_BYTES, type RecordHeader } from './segment_record.js';

/**
 * A segment is a file of records behind a head of 64 bytes.
 *
 * | at | bytes | what |
 * |----|-------|------|
 * | 0  | 4     | `SPLS` |
 * | 8  | 8     | when its bytes were last held against the chunks that have them, ms, as a double; 0 for never |
 * | 16 | 48    | zeros |
 */
export const SEGMENT_HEAD_BYTES = 64;
const MAGIC = 0x53504c53;
const CHECKED_AT = 8;

/** The bytes read at once for a header: several small records may be there. */
const WINDOW_BYTES = 4_096;
const ZERO_READ_BYTES = 1_048_576;

const readFile = promisify(fs.read);
const writeFile = promisify(fs.write) as (
  fd: number,
  bytes: Buffer,
  at: number,
  length: number,
  to: number,
) => Promise<unknown>;

/** The head of a segment whose bytes were last checked at that time. */
export function encodeSegmentHead(checked_at_ms = 0): Buffer {
  const head = Buffer.alloc(SEGMENT_HEAD_BYTES);
  head.writeUInt32BE(MAGIC, 0);
  head.writeDoubleBE(checked_at_ms, CHECKED_AT);
  return head;
}

/** The time at which the bytes of a segment were last checked, ms; 0 for never. */
export async function readCheckedAt(fd: number): Promise<number> {
  const head = await bytesAt(fd, 0, SEGMENT_HEAD_BYTES);
  return head.length === SEGMENT_HEAD_BYTES && head.readUInt32BE(0) === MAGIC ? head.readDoubleBE(CHECKED_AT) : 0;
}

export async function writeCheckedAt(fd: number, at_ms: number): Promise<void> {
  await writeFile(fd, encodeSegmentHead(at_ms), 0, SEGMENT_HEAD_BYTES, 0);
}

/** The end of a scan: the end of the file, a record that a crash cut off, or bytes that are no header. */
export type ScanEnd = { at: number; why: 'end' | 'torn' | 'damaged' };
export type FoundRecord = { offset: number; header: RecordHeader };

/** Calls `visit` with each record of a segment in its order. */
export async function scanSegment(fd: number, visit: (found: FoundRecord) => void): Promise<ScanEnd> {
  let window = await bytesAt(fd, 0, WINDOW_BYTES);
  let window_at = 0;
  if (window.length < SEGMENT_HEAD_BYTES) return { at: 0, why: 'torn' };
  if (window.readUInt32BE(0) !== MAGIC) return { at: 0, why: (await isZeroFrom(fd, 0)) ? 'torn' : 'damaged' };
  const { size } = await promisify(fs.fstat)(fd);
  for (let at = SEGMENT_HEAD_BYTES; ; ) {
    if (at === size) return { at, why: 'end' };
    if (at + RECORD_HEADER_BYTES > size) return { at, why: 'torn' };
    if (at < window_at || at + RECORD_HEADER_BYTES > window_at + window.length) {
      window = await bytesAt(fd, at, WINDOW_BYTES);
      window_at = at;
    }
    const begins = at - window_at;
    const header = decodeHeader(window.subarray(begins, begins + RECORD_HEADER_BYTES));
    if (header === null) return { at, why: (await isZeroFrom(fd, at)) ? 'torn' : 'damaged' };
    const ends = at + RECORD_HEADER_BYTES + header.size_bytes;
    if (ends > size) return { at, why: 'torn' };
    visit({ offset: at, header });
    at = ends;
  }
}

/** Fewer bytes if the file ends before. */
export async function bytesAt(fd: number, at: number, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(length);
  const { bytesRead } = await readFile(fd, bytes, 0, length, at);
  return bytes.subarray(0, bytesRead);
}

/** After a power cut a file may be longer than what was written to it. */
async function isZeroFrom(fd: number, from: number): Promise<boolean> {
  for (let at = from; ; at += ZERO_READ_BYTES) {
    const bytes = await bytesAt(fd, at, ZERO_READ_BYTES);
    if (bytes.some((byte) => byte !== 0)) return false;
    if (bytes.length < ZERO_READ_BYTES) return true;
  }
}
