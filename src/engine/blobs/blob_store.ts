/**
 * The store of audio, files and archives. `test/engine/blobs/blob_store_contract.ts` tests what a store must do, for
 * each store alike.
 */
import type { Readable } from 'node:stream';
import type { ChunkBytes } from './segment_record.js';

/** Announced by the uploader; size and hash must both match before anything is kept. */
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
  /** The size of the whole blob, also if a range was asked for. */
  size_bytes: number;
  /** Must be read to its end or destroyed. Empty when the range starts beyond the last byte. */
  stream: Readable;
}

/**
 * Keys are `partition/folder/name`, or name bytes among others (`placedBytes`); any other throws RangeError. A store
 * that fails throws, and a retry does no harm.
 */
export interface BlobStore {
  /**
   * Durable when it resolves with `ok`; otherwise nothing is kept. Reads no more than is needed to see that there are
   * too many bytes. Several puts of one key at once are allowed: the name holds one whole, verified content at any
   * time.
   */
  put(key: string, stream: ArrivingBytes, expected: BlobExpectation): Promise<PutResult>;
  /**
   * Appends the bytes of chunks of one stream, whose hashes the caller has checked. Durable when it resolves with the
   * place of each chunk, which the caller keeps: the store does not know which chunk has which place. After a rejection
   * some bytes may stay until the sweep.
   */
  append(chunks: readonly ChunkBytes[]): Promise<string[]>;
  /** Null if there is no such blob. */
  open(key: string, range?: ByteRange): Promise<OpenBlob | null>;
  has(key: string): Promise<boolean>;
  /** Removes these blobs and their bytes in containers shared with others; keys of missing blobs are allowed. */
  remove(keys: readonly string[]): Promise<void>;
  /** Removes all keys below `partition` or `partition/folder`; an empty folder is allowed. */
  removeFolder(prefix: string): Promise<void>;
  /**
   * Keys of blobs below a prefix as in removeFolder, or all, unordered; keys that are added or removed meanwhile may be
   * missed. A bucket lists containers of appended bytes, which are in their streams' folders there.
   */
  list(prefix?: string): AsyncIterable<string>;
  /** First parts of all keys that may have blobs. */
  partitions(): Promise<string[]>;
  /**
   * The owner of the store: the first name under which it was ever claimed, which it keeps. A name has the form of a
   * part of a key.
   */
  claim(name: string): Promise<string>;
  /**
   * Removes a blob of at least this age, by the clock that stamps it; a blob that was put again meanwhile is young and
   * stays.
   */
  removeOlder(key: string, age_ms: number): Promise<'removed' | 'young' | 'absent'>;
  /**
   * Removes the remains of unfinished puts, untouched for that long, below a prefix as in removeFolder or anywhere;
   * resolves with their number.
   */
  sweepTemporary(older_than_ms: number, prefix?: string): Promise<number>;
  /**
   * Removes appended bytes that no chunk claims and that are older than that, if containers are not listed. Yields
   * after each container the number of chunks whose bytes it removed.
   */
  sweepAppended(older_than_ms: number, claims: AppendedClaims): AsyncIterable<number>;
  /** Releases its resources; no call is allowed afterwards. */
  close(): Promise<void>;
}

/** For each of these places of a stream, whether a chunk has it, or may still have it. */
export type AppendedClaims = (stream_id: string, appended: readonly AppendedBytes[]) => Promise<boolean[]>;
export type AppendedBytes = { source_chunk_ref: string; place: string };

/** Bytes that are served whole or in ranges. `etag`, without quotes, changes whenever a byte does. */
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
  /** Whether it has come before: the same bytes again are accepted and not stored, other bytes are refused. */
  is_known: boolean;
  put: (body: ArrivingBytes, expected: BlobExpectation) => Promise<PutResult<Put>>;
}

/**
 * Stores the body of an upload, or rejects with a refusal, if possible before the body is read. Null if it has come
 * before.
 */
export type TakeBody = <Put>(announced: AnnouncedBody<Put>) => Promise<Put | null>;

/** The store could not do what was asked, and may later: the device keeps its copy. */
export class BlobStoreUnavailable extends Error {
  override name = 'BlobStoreUnavailable';
  readonly code = 'BLOB_STORE_UNAVAILABLE';
}

/** The name under which a store keeps its owner; it is no key, since it has a dot. */
export const OWNER_NAME = '.owner';
/** Bodies up to this size are collected in memory and written at once; larger ones pass through in pieces. */
export const SMALL_BLOB_BYTES_MAX = 1_048_576;

const NAME = '[A-Za-z0-9_-]{1,100}';
const KEY = new RegExp(`^${NAME}/${NAME}/${NAME}$`);
const PART = new RegExp(`^${NAME}$`);
const PREFIX = new RegExp(`^${NAME}(?:/${NAME})?$`);

/**
 * Throws RangeError unless `key` is that of a blob of its own. A key has no dot, so it can neither leave its folder nor
 * be a temporary name.
 */
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

/**
 * The bytes of `range` in a blob of that size, or null if there are none. Throws RangeError if `range` has invalid
 * offsets.
 */
export function resolveRange(
  size_bytes: number,
  { start = 0, end = size_bytes - 1 }: ByteRange,
): { start: number; end: number } | null {
  if (!Number.isSafeInteger(start) || start < 0 || !Number.isSafeInteger(end))
    throw new RangeError('not a range of bytes');
  const last = Math.min(end, size_bytes - 1);
  return start > last ? null : { start, end: last };
}
