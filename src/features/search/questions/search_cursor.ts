import { createHash } from 'node:crypto';
import { LIMITS } from '../../../domain/limits.js';
import type { Weights } from '../index/hits.js';
import type { Rank } from '../index/ranking.js';

/**
 * Where a search goes on: the rank of the last hit, under the weights that the first page was ranked by. So what does
 * not change keeps its place, whatever else is said meanwhile.
 *
 *   16 query   16 id of the last hit   8 its score   8 when it began   8 average length   8 weight of each word
 */
export type SearchPosition = { weights: Weights; rank: Rank };

const DIGEST_BYTES = 16;
const ID_BYTES = 16;
const NUMBER_BYTES = 8;
const HEAD_BYTES = DIGEST_BYTES + ID_BYTES;
/** Beside weights: score, time, average. */
const NUMBERS = 3;

/** The digest by which a cursor of another query is recognised. */
export function digestOfQuery(query: unknown): Buffer {
  return createHash('sha256').update(JSON.stringify(query)).digest().subarray(0, DIGEST_BYTES);
}

export function writeSearchCursor(digest: Buffer, { weights, rank }: SearchPosition): string {
  const bytes = Buffer.alloc(HEAD_BYTES + (NUMBERS + weights.idf.length) * NUMBER_BYTES);
  digest.copy(bytes);
  bytes.write(rank.id.replaceAll('-', ''), DIGEST_BYTES, 'hex');
  const numbers = [rank.score, rank.started_ms, weights.average, ...weights.idf];
  for (const [at, number] of numbers.entries()) bytes.writeDoubleLE(number, HEAD_BYTES + at * NUMBER_BYTES);
  return bytes.toString('base64url');
}

/** Null for a text that is no cursor of that query. */
export function readSearchCursor(cursor: string, digest: Buffer, words: number): SearchPosition | null {
  const size = HEAD_BYTES + (NUMBERS + Math.min(words, LIMITS.search_words_max)) * NUMBER_BYTES;
  const bytes = Buffer.from(cursor, 'base64url');
  if (bytes.length !== size || bytes.toString('base64url') !== cursor) return null;
  if (!bytes.subarray(0, DIGEST_BYTES).equals(digest)) return null;
  const numbers = Array.from({ length: NUMBERS + words }, (_, at) =>
    bytes.readDoubleLE(HEAD_BYTES + at * NUMBER_BYTES),
  );
  const [score = 0, started_ms = 0, average = 0, ...idf] = numbers;
  if (!numbers.every(Number.isFinite) || average <= 0) return null;
  const hex = bytes.toString('hex', DIGEST_BYTES, HEAD_BYTES);
  const id = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
  return { weights: { idf, average }, rank: { score, started_ms, id } };
}
