import { randomBytes } from '../random/random.js';

const BYTES = 12;

/** A new token that identifies the holder of a job's claim. */
export function newClaimToken(): string {
  return Buffer.from(randomBytes(BYTES)).toString('base64url');
}
