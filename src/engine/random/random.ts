import { randomInt, randomBytes as systemBytes } from 'node:crypto';
import { makeId, PARTITIONS } from '../../domain/ids.js';

/** Bytes and numbers of the system. A seeded run replaces those of `node:crypto`. */

const ID_BYTES = 5;

export function randomBytes(count: number): Uint8Array {
  return new Uint8Array(systemBytes(count));
}

/** A new id whose home is the partition. Its bytes are those of a number: Node draws many of these at once. */
export function randomId(home: { partition: number; now_ms: number }): string {
  const random = new Uint8Array(ID_BYTES);
  new DataView(random.buffer).setUint32(0, randomInt(2 ** 32));
  random[ID_BYTES - 1] = randomInt(2 ** 8);
  return makeId({ ...home, random });
}

export function randomPartition(): number {
  return randomInt(PARTITIONS);
}

/** A number from 0 up to, not including, one. For jitter. */
export function randomFraction(): number {
  return randomInt(2 ** 32) / 2 ** 32;
}

/** Six digits. */
export function randomCode(): string {
  return String(randomInt(1_000_000)).padStart(6, '0');
}
