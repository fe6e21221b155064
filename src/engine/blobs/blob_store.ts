/** Where audio, files and archives lie. What a store must do is tested by `test/engine/blobs/blob_store_contract.ts`, for each store alike. */
import type { Readable } from 'node:stream';
import type { ChunkBytes } from './segment_record.js';

/** Announced by the uploader; both must hold before anything is kept. */
export interface BlobExpectation {
  size_bytes: number;
  /** 64 hex digits, either case. */
  sha256_hex: string;
}

export type ArrivingBytes = Readable | AsyncIterable<Buffer>;

/** `size`: fewer or more bytes than announced. `checksum`: other bytes. `aborted`: the stream broke off. */
export type BlobRefusal = 'size' | 'checksum' | 'aborted';
export type PutResult<Put = unknown> = ({ ok: true } & Put) | { ok: false; reason: BlobRefusal };

/** Offsets of bytes, both inclusive, as in HTTP. `end` is cut to the last byte. */
export interface ByteRange {
  start?: number;
  end?: number;
}

export interface OpenBlob {
  /** Of the whole blob, also when a range was asked for. */
  size_bytes: number;
  /** Must be read to its end or destroyed. Empty when the range starts beyond the last byte. */
  stream: Readable;
}

/**
 * Keys are `partition/folder/name`, or name bytes among others (`placedBytes`); any other throws RangeError. A store that
 * fails throws, and no retry harms.
 */
export interface BlobStore {
  /**
   * Durable when it resolves with `ok`. Nothing is kept otherwise, and no more is read than shows that there are too
   * many bytes. Puts of one key at once are allowed: the name holds one whole, verified content at any time.
   */
  put(key: string, stream: ArrivingBytes, expected: BlobExpectation): Promise<PutResult>;
  /**
   * Appends the bytes of chunks of one stream, whose hashes the caller has checked. Durable when it resolves with the
   * place of each, which the caller keeps: the store does not know who has which. After a rejection some may be there,
   * until the sweep.
   */
  append(chunks: readonly ChunkBytes[]): Promise<string[]>;
  /** Null when there is no such blob. */
  open(key: string, range?: ByteRange): Promise<OpenBlob | null>;
  has(key: string): Promise<boolean>;
  /** None of them is there any more, nor are their bytes in what else lies beside them; keys of nothing are fine. */
  remove(keys: readonly string[]): Promise<void>;
  /** Removes all keys below `partition` or `partition/folder`; nothing there is fine. */
  removeFolder(prefix: string): Promise<void>;
  /**
   * Keys of blobs below a prefix as of removeFolder, or all, in no order; what comes or goes meanwhile may be missed. A
   * bucket lists containers of appended bytes, which are in their streams' folders there.
   */
  list(prefix?: string): AsyncIterable<string>;
  /** First parts of keys below which anything may lie. */
  partitions(): Promise<string[]>;
  /** Whose it is: the first name that it was ever claimed under, which it keeps. A name is as a part of a key. */
  claim(name: string): Promise<string>;
  /**
   * Removes a blob that has been there for so long, by the clock of whoever stamps it; one that was put again meanwhile
   * is young and stays.
   */
  removeOlder(key: string, age_ms: number): Promise<'removed' | 'young' | 'absent'>;
  /**
   * Removes what puts that never ended left behind, untouched for that long, below a prefix as of removeFolder or
   * anywhere; resolves with how many there were.
   */
  sweepTemporary(older_than_ms: number, prefix?: string): Promise<number>;
  /**
   * Removes appended bytes that nobody claims and that are older than that, where containers are not listed. Yields after
   * each container how many chunks' bytes it removed.
   */
  sweepAppended(older_than_ms: number, claims: AppendedClaims): AsyncIterable<number>;
  /** Lets go of what it holds; nothing may be asked any more. */
  close(): Promise<void>;
}

/** Which of these places of a stream a chunk has, or may still have. */
export type AppendedClaims = (stream_id: string, appended: readonly AppendedBytes[]) => Promise<boolean[]>;
export type AppendedBytes = { source_chunk_ref: string; place: string };

/** Bytes that are given out whole or in ranges. `etag`, without quotes, is another one whenever a byte is. */
export interface ByteContent {
  size_bytes: number;
  etag: string;
  content_type: string;
  /** The bytes of a range, or all; must be read to their end or destroyed. */
  open(range: Required<ByteRange> | undefined): Promise<Readable>;
}

/** A body whose size and hash were announced. */
export interface AnnouncedBody<Put> {
  size_bytes: number;
  /** 64 hex digits. */
  sha256: string;
  /** It has come before: the same bytes again are welcome and not stored, other ones are refused. */
  is_known: boolean;
  put: (body: ArrivingBytes, expected: BlobExpectation) => Promise<PutResult<Put>>;
}

/**
 * Stores the body of an upload, or rejects with a refusal: before it is read where that can be said. Null where it has
 * come before.
 */
export type TakeBody = <Put>(announced: AnnouncedBody<Put>) => Promise<Put | null>;

/** The store did not do what it was asked, and may later: the device keeps its copy. */
export class BlobStoreUnavailable extends Error {
  override name = 'BlobStoreUnavailable';
  readonly code = 'BLOB_STORE_UNAVAILABLE';
}

/** Where a store keeps whose it is; no key, since it has a dot. */
export const OWNER_NAME = '.owner';
/** Bodies up to this size are collected in memory and written at once; larger ones pass through in pieces. */
export const SMALL_BLOB_BYTES_MAX = 1_048_576;

const NAME = '[A-Za-z0-9_-]{1,100}';
const KEY = new RegExp(`^${NAME}/${NAME}/${NAME}$`);
const PART = new RegExp(`^${NAME}$`);
const PREFIX = new RegExp(`^${NAME}(?:/${NAME})?$`);

/** Throws RangeError unless `key` is that of a blob of its own. No dot can be in it, so it can neither climb nor be a temporary name. */
export function checkKey(key: string): void {
  if (!isKey(key)) throw new RangeError('not a blob key');
}

export function isKey(name: string): boolean {
  return KEY.test(name);
}

export function isPart(text: string): boolean {
  return PART.test(text);
}

export function checkPrefix(prefix: string): void {
  if (!PREFIX.test(prefix)) throw new RangeError('not a prefix of blob keys');
}

export function checkExpectation({ size_bytes, sha256_hex }: BlobExpectation): void {
  if (!Number.isSafeInteger(size_bytes) || size_bytes < 0) throw new RangeError('not a size in bytes');
  if (!/^[0-9A-Fa-f]{64}$/.test(sha256_hex)) throw new RangeError('not a SHA-256 in hex');
}

/** The bytes that `range` means in a blob of that size, or null when there are none. Throws RangeError on no offsets. */
export function resolveRange(
  size_bytes: number,
  { start = 0, end = size_bytes - 1 }: ByteRange,
): { start: number; end: number } | null {
  if (!Number.isSafeInteger(start) || start < 0 || !Number.isSafeInteger(end))
    throw new RangeError('not a range of bytes');
  const last = Math.min(end, size_bytes - 1);
  return start > last ? null : { start, end: last };
}
