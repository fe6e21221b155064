import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { BlobStoreUnavailable } from './blob_store.js';
import { reasonOf } from './s3_errors.js';
import type { S3Location } from './s3_location.js';
import { decodeHeader, RECORD_HEADER_BYTES, type RecordHeader } from './segment_record.js';

/** Tries of a request whose body is in memory; a streamed body is tried once, and the device sends it again. */
const TRIES_MAX = 3;
const CONNECT_MAX_MS = 3_000;
/** The time from a request to the head of its answer, if the body is in memory. */
const ANSWER_MAX_MS = 15_000;
export const AT_HAND = { requestTimeout: ANSWER_MAX_MS };
/** A request ends after this time without traffic in either direction; longer than an upload may pause. */
const STILL_MAX_MS = 30_000;
const CONNECTIONS_MAX = 256;
/** Silences the client's warnings, which would be written to the console without a level or a form. */
const QUIET = { trace() {}, debug() {}, info() {}, warn() {}, error() {} };

export function clientOf(place: S3Location): S3Client {
  // Whoever runs this server can't change which versions of Node later versions of the client will want.
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';
  return new S3Client({
    region: place.region ?? process.env.AWS_REGION ?? 'us-east-1',
    ...(place.endpoint === null ? {} : { endpoint: place.endpoint }),
    forcePathStyle: place.path_style,
    maxAttempts: TRIES_MAX,
    // Other stores than Amazon's know none of its newer checksums.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    expectContinueHeader: false,
    logger: QUIET,
    requestHandler: {
      connectionTimeout: CONNECT_MAX_MS,
      socketTimeout: STILL_MAX_MS,
      throwOnRequestTimeout: true,
      httpAgent: { keepAlive: true, maxSockets: CONNECTIONS_MAX },
      httpsAgent: { keepAlive: true, maxSockets: CONNECTIONS_MAX },
      logger: QUIET,
    },
  });
}

/** Runs a request; its errors state what failed and why, and contain nothing that was signed. */
export async function ask<Output>(what: string, request: () => Promise<Output>): Promise<Output> {
  try {
    return await request();
  } catch (error) {
    throw new BlobStoreUnavailable(`${what}: ${reasonOf(error)}`);
  }
}

type Put = { Bucket: string; Key: string; Body: Buffer | Readable; ContentLength: number };

export function hashOf(bytes: Buffer): Buffer {
  return createHash('sha256').update(bytes).digest();
}

export function headerAt(bytes: Buffer, at: number): RecordHeader | null {
  return at + RECORD_HEADER_BYTES > bytes.length ? null : decodeHeader(bytes.subarray(at, at + RECORD_HEADER_BYTES));
}

export function hasLiveRecord(bytes: Buffer): boolean {
  for (let at = 0; at < bytes.length; ) {
    const header = headerAt(bytes, at);
    if (header === null || !header.is_erased) return true;
    at += RECORD_HEADER_BYTES + header.size_bytes;
  }
  return false;
}

/** States the hash twice: signed with the request, which every store checks, and as the object's checksum. */
export function putCommand(put: Put, sha256: Buffer): PutObjectCommand {
  const command = new PutObjectCommand({
    ...put,
    ContentType: 'application/octet-stream',
    ChecksumSHA256: sha256.toString('base64'),
  });
  command.middlewareStack.add(
    (next) => (args) => {
      (args.request as { headers: Record<string, string> }).headers['x-amz-content-sha256'] = sha256.toString('hex');
      return next(args);
    },
    { step: 'build', name: 'spool_payload_hash' },
  );
  return command;
}

/** The age by the store's own clock, which its answers state. */
export function ageMs({
  LastModified,
  date,
}: {
  LastModified?: Date | undefined;
  date: string | undefined;
}): number | null {
  const age = Date.parse(date ?? '') - (LastModified?.getTime() ?? Number.NaN);
  return Number.isNaN(age) ? null : Math.max(0, age); // whole seconds, and some stores round up
}
