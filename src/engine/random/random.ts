import { randomFillSync, randomInt, randomBytes as systemRandomBytes } from 'node:crypto';
import { makeId, PARTITIONS } from '../../domain/ids.js';

/** Where randomness comes from; the simulation puts a seeded source in its place. */
export type RandomSource = { bytes(count: number): Uint8Array; below(limit: number): number };

const DRAWN_BYTES = 4_096;
/** Asking for a few bytes costs as much as for some thousand, so many are generated at once. */
const drawn = new Uint8Array(DRAWN_BYTES);
let given_out = DRAWN_BYTES;

function systemBytes(count: number): Uint8Array {
  if (count > DRAWN_BYTES) return systemRandomBytes(count);
  if (given_out + count > DRAWN_BYTES) {
    randomFillSync(drawn);
    given_out = 0;
  }
  const end = given_out + count;
  const bytes = drawn.slice(given_out, end);
  drawn.fill(0, given_out, end); // a secret lies where its owner keeps it, and not here as well
  given_out = end;
  return bytes;
}

const SYSTEM: RandomSource = { bytes: systemBytes, below: (limit) => randomInt(limit) };
let source = SYSTEM;

/** Replaces the source of randomness for a seeded run; without an argument the system's is back. */
export function useRandomSource(replacement: RandomSource = SYSTEM): void {
  source = replacement;
}

export function randomBytes(count: number): Uint8Array {
  return source.bytes(count);
}

/** A new id whose home is the partition. */
export function randomId(home: { partition: number; now_ms: number }): string {
  return makeId({ ...home, random: source.bytes(5) });
}

export function randomPartition(): number {
  return source.below(PARTITIONS);
}

/** A number from 0 up to, not including, one. For jitter. */
export function randomFraction(): number {
  return source.below(2 ** 32) / 2 ** 32;
}

/** Six digits. */
export function randomCode(): string {
  return String(source.below(1_000_000)).padStart(6, '0');
}
