import { createHash } from 'node:crypto';
import { closeSync, existsSync, openSync, readdirSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { BlobStore } from '../../../src/engine/blobs/blob_store.js';
import { decodeHeader, encodeHeader, RECORD_HEADER_BYTES } from '../../../src/engine/blobs/segment_record.js';
import { encodeSegmentHead, SEGMENT_HEAD_BYTES } from '../../../src/engine/blobs/segment_scan.js';

/** Bytes that anybody can tell from their name. */
export function bytesNamed(name: string, size: number): Buffer {
  const seed = createHash('sha512').update(name).digest();
  return Buffer.alloc(size, seed);
}

/** The segments of a store in a folder. */
export function segmentsIn(folder: string): string[] {
  const segments = join(folder, 'segments');
  return existsSync(segments) ? readdirSync(segments).map((file) => join(segments, file)) : [];
}

/** Makes what was appended to a segment older, and has it checked again. */
export function ageRecords(segment: string, by_ms: number): void {
  const bytes = readFileSync(segment);
  const fd = openSync(segment, 'r+');
  writeSync(fd, encodeSegmentHead(), 0, SEGMENT_HEAD_BYTES, 0);
  for (let at = SEGMENT_HEAD_BYTES; at + RECORD_HEADER_BYTES <= bytes.length; ) {
    const header = decodeHeader(bytes.subarray(at, at + RECORD_HEADER_BYTES));
    if (header === null) break;
    writeSync(fd, encodeHeader({ ...header, at_ms: header.at_ms - by_ms }), 0, RECORD_HEADER_BYTES, at);
    at += RECORD_HEADER_BYTES + header.size_bytes;
  }
  closeSync(fd);
}

/** The SHA-256 of each of these blobs that is there. */
export async function hashesOf(store: BlobStore, keys: Iterable<string>): Promise<Map<string, string>> {
  const hashes = new Map<string, string>();
  for (const key of keys) {
    const blob = await store.open(key);
    if (blob === null) continue;
    hashes.set(
      key,
      createHash('sha256')
        .update(await buffer(blob.stream))
        .digest('hex'),
    );
  }
  return hashes;
}
