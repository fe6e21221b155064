import { LIMITS } from '../../domain/limits.js';
import { typedCode } from '../../domain/typed_code.js';
import { randomBytes } from '../random/random.js';
import type { ServerKeys } from './server_keys.js';

/** Pairing codes: eight characters that a person reads from a page and types into a device. */

/** Base 32 of Crockford: 0 to 9, and letters without I, L, O and U. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const FORM = new RegExp(`^[${ALPHABET}]{${LIMITS.pairing_code_chars}}$`);
/** A code opened before a rotation of the server's keys lies under the key before; one key may be introduced besides. */
const KEYS_TRIED_MAX = 3;
const ID_BYTES = 16;

/** A new code; each is as likely as any other. */
export function randomPairingCode(): string {
  const drawn = randomBytes(LIMITS.pairing_code_chars);
  return Array.from(drawn, (byte) => ALPHABET[byte % ALPHABET.length]).join('');
}

/** The code in what a person typed, with O for 0, I or L for 1 as well; or null. */
export function parsePairingCode(typed: string): string | null {
  const code = typedCode(typed).replaceAll('O', '0').replace(/[IL]/g, '1');
  return FORM.test(code) ? code : null;
}

/** Where a new code lies: a keyed hash, from which nobody learns the code. */
export function pairingCodeId(keys: ServerKeys, code: string): string {
  return idUnder(keys, keys.currentKeyId(), code);
}

/** Where a code may lie, the likeliest place first. */
export function pairingCodeIds(keys: ServerKeys, code: string): string[] {
  const newest_first = keys.keyIds().slice(-KEYS_TRIED_MAX).reverse();
  return newest_first.map((key_id) => idUnder(keys, key_id, code));
}

function idUnder(keys: ServerKeys, key_id: string, code: string): string {
  const mac = keys.keyedHashWith(key_id, 'pairing_code', code);
  if (mac === null) throw new Error(`server key ${key_id} is not known here`);
  return Buffer.from(mac.subarray(0, ID_BYTES)).toString('hex');
}
