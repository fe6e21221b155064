import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { ArrivingBytes, BlobExpectation, BlobRefusal } from './blob_store.js';

/** Request bodies, checked against their announced size and hash. */

type VerifiedPart = { bytes: Buffer } | { reason: BlobRefusal };

/**
 * Yields parts as they arrive, each delayed by one: the last part comes only if the whole body is right; otherwise a
 * reason comes instead. After a reason the stream stays as it was, neither read further nor destroyed: it may be a
 * request to answer.
 */
export async function* verified(
  stream: ArrivingBytes,
  { size_bytes, sha256_hex }: BlobExpectation,
): AsyncGenerator<VerifiedPart> {
  const parts = partsOf(stream);
  const hash = createHash('sha256');
  let seen_bytes = 0;
  let held: Buffer | null = null;
  let is_at_end = false;
  try {
    for (;;) {
      let part: IteratorResult<Buffer>;
      try {
        part = await parts.next();
      } catch {
        is_at_end = true;
        return yield { reason: 'aborted' };
      }
      if (part.done === true) break;
      seen_bytes += part.value.length;
      if (seen_bytes > size_bytes) return yield { reason: 'size' };
      hash.update(part.value);
      if (part.value.length === 0) continue;
      if (held !== null) yield { bytes: held };
      held = part.value;
    }
    is_at_end = true;
    if (seen_bytes !== size_bytes) return yield { reason: 'size' };
    if (hash.digest('hex') !== sha256_hex.toLowerCase()) return yield { reason: 'checksum' };
    if (held !== null) yield { bytes: held };
  } finally {
    if (!is_at_end) await parts.return?.();
  }
}

/** A small body as a whole, in memory. */
export async function gathered(
  stream: ArrivingBytes,
  expected: BlobExpectation,
): Promise<{ ok: true; bytes: Buffer } | { ok: false; reason: BlobRefusal }> {
  const parts: Buffer[] = [];
  for await (const part of verified(stream, expected)) {
    if ('reason' in part) return { ok: false, reason: part.reason };
    parts.push(part.bytes);
  }
  const [only] = parts;
  return { ok: true, bytes: parts.length === 1 && only !== undefined ? only : Buffer.concat(parts) };
}

/** Iterates the parts of a stream without destroying it on an early exit. */
function partsOf(stream: ArrivingBytes): AsyncIterator<Buffer> {
  if (stream instanceof Readable) return stream.iterator({ destroyOnReturn: false }) as AsyncIterator<Buffer>;
  return stream[Symbol.asyncIterator]();
}
