/**
 * The headers of a segment side by side in a file beside it, so that a sweep need not look for each where it lies. It
 * is written of a segment that has been left alone for long, and counts as long as that has the same size and time of
 * change: every append and every erasure moves the time. Without it, or with one that is damaged, the segment is read.
 *
 * | at | bytes | what |
 * |----|-------|------|
 * | 0  | 4     | `SPLC` |
 * | 4  | 4     | CRC-32 of what follows |
 * | 8  | 8     | the segment's size, bytes, as a double |
 * | 16 | 8     | when it was changed, ms, as a double |
 * | 24 |       | the headers, in order |
 */
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { crc32 } from 'node:zlib';
import { decodeHeader, RECORD_HEADER_BYTES, type RecordHeader } from './segment_record.js';

export const CONTENTS_SUFFIX = '.contents';

const MAGIC = 0x53504c43;
const CRC_AT = 4;
const SIZE_AT = 8;
const CHANGED_AT = 16;
const HEADERS_AT = 24;
/** Of a larger segment none is written. */
const CONTENTS_BYTES_MAX = 32 * 1_048_576; // ours: two hundred thousand records

type Stats = Pick<fs.Stats, 'size' | 'mtimeMs'>;

/** The headers of a segment of this size and time of change; null when they are not known. */
export async function readContents(file: string, { size, mtimeMs }: Stats): Promise<RecordHeader[] | null> {
  const bytes = await fs.promises.readFile(file).catch(() => null);
  if (bytes === null || bytes.length < HEADERS_AT || bytes.readUInt32BE(0) !== MAGIC) return null;
  if (crc32(bytes.subarray(SIZE_AT)) !== bytes.readUInt32BE(CRC_AT)) return null;
  if (bytes.readDoubleBE(SIZE_AT) !== size || bytes.readDoubleBE(CHANGED_AT) !== mtimeMs) return null;
  const headers: RecordHeader[] = [];
  for (let at = HEADERS_AT; at + RECORD_HEADER_BYTES <= bytes.length; at += RECORD_HEADER_BYTES) {
    const header = decodeHeader(bytes.subarray(at, at + RECORD_HEADER_BYTES));
    if (header === null) return null;
    headers.push(header);
  }
  return headers;
}

/** `headers`: as they lie in the segment, which had this size and time of change before they were read. */
export async function writeContents(file: string, headers: Buffer[], { size, mtimeMs }: Stats): Promise<void> {
  if (headers.length * RECORD_HEADER_BYTES > CONTENTS_BYTES_MAX) return;
  const head = Buffer.alloc(HEADERS_AT);
  head.writeUInt32BE(MAGIC, 0);
  head.writeDoubleBE(size, SIZE_AT);
  head.writeDoubleBE(mtimeMs, CHANGED_AT);
  const bytes = Buffer.concat([head, ...headers]);
  bytes.writeUInt32BE(crc32(bytes.subarray(SIZE_AT)), CRC_AT);
  const draft = path.join(path.dirname(file), `.${randomUUID()}.tmp`);
  await fs.promises.writeFile(draft, bytes, { mode: 0o600 });
  await fs.promises.rename(draft, file);
}
