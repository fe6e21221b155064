import { LIMITS } from '../../domain/limits.js';
import { equalBytes, type ServerKeys } from './server_keys.js';
import type { Seed } from './tokens.js';

/**
 * Join codes of recorder sessions: eight characters that people read out to each other. Derived, so that the host can
 * see theirs again while nothing that would let anybody in rests in Redis. docs/choices.md, "Devices".
 */

/** None of them looks like another: no 0, O, 1, I, L or U. */
const ALPHABET = '23456789ABCDEFGHJKMNPQRSTVWXYZ';

/** The code of a session. Throws when the key that the seed goes with is gone. */
export function joinCodeOf(keys: ServerKeys, { session_id, seed }: { session_id: string; seed: Seed }): string {
  const mac = keys.keyedHashWith(seed.key_id, 'join_code', session_id, seed.seed);
  if (mac === null) throw new Error(`server key ${seed.key_id} is not known here`);
  let number = mac.subarray(0, 16).reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
  let code = '';
  for (let place = 0; place < LIMITS.join_code_chars; place++) {
    code += ALPHABET[Number(number % BigInt(ALPHABET.length))];
    number /= BigInt(ALPHABET.length);
  }
  return code;
}

/** Whether this is the session's code; in constant time. */
export function isJoinCode(keys: ServerKeys, session: { session_id: string; seed: Seed }, code: string): boolean {
  return equalBytes(Buffer.from(joinCodeOf(keys, session)), Buffer.from(code));
}
