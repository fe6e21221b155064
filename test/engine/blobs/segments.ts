import { createHash } from 'node:crypto';
import { closeSync, openSync, readdirSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { BlobStore } from '../../../src/engine/blobs/blob_store.js';
import { decodeHeader, encodeHeader, RECORD_HEADER_BYTES } from '../../../src/engine/blobs/segment_record.js';

/** Bytes that anybody can tell from their name. */
export function bytesNamed(name: string, size: number): Buffer {
  const seed = createHash('sha512').update(name).digest();
  return Buffer.alloc(size, seed);
}

/** The segments in the folder of a stream. */
export function segmentsIn(folder: string): string[] {
  return readdirSync(folder)
    .filter(isSegment)
    .map((file) => join(folder, file));
}

export function isSegment(file: string): boolean {
  return file.endsWith('.seg') || file.endsWith('.closed');
}

/** Makes what was put into a segment older: all of it, or what is of one name. */
export function ageRecords(segment: string, by_ms: number, name?: string): void {
  const bytes = readFileSync(segment);
  const fd = openSync(segment, 'r+');
  for (let at = 0; at + RECORD_HEADER_BYTES <= bytes.length; ) {
    const header = decodeHeader(bytes.subarray(at, at + RECORD_HEADER_BYTES));
    if (header === null) break;
    const aged = encodeHeader({ ...header, at_ms: header.at_ms - by_ms });
    if (name === undefined || header.name === name) writeSync(fd, aged, 0, RECORD_HEADER_BYTES, at);
    at += RECORD_HEADER_BYTES + header.size_bytes;
  }
  closeSync(fd);
}

/** Whether there was such a blob, and now is none. */
export async function isRemoved(store: BlobStore, key: string): Promise<boolean> {
  const was_there = await store.has(key);
  await store.remove([key]);
  return was_there && !(await store.has(key));
}

/** The SHA-256 of every blob, by its key. */
export async function hashesOf(store: BlobStore): Promise<Map<string, string>> {
  const hashes = new Map<string, string>();
  for await (const key of store.list()) {
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
