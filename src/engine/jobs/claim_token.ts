import { randomBytes } from '../random/random.js';

const BYTES = 12;

/** By which a job knows who has it. */
export function newClaimToken(): string {
  return Buffer.from(randomBytes(BYTES)).toString('base64url');
}
