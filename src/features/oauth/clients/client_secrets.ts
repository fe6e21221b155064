import { createHash } from 'node:crypto';
import { randomBytes } from '../../../engine/random/random.js';
import { equalBytes, type ServerKeys } from '../../../engine/secrets/server_keys.js';

/**
 * Secrets of confidential clients. A secret has 256 random bits in an alphabet that form encoding does not change, so
 * that clients send the same whether or not they encode it for HTTP Basic. The stored form is `keyed:<key id>:<HMAC in
 * base64url>`; a first-party file written by hand may have `sha256:<hex digits>`.
 */
const SECRET_BYTES = 32;
const KEYED = /^keyed:([0-9a-f]{8}):([A-Za-z0-9_-]{43})$/;
const PLAIN = /^sha256:([0-9a-f]{64})$/;

/** A new secret, 43 characters. */
export function randomClientSecret(): string {
  return Buffer.from(randomBytes(SECRET_BYTES)).toString('base64url');
}

/** The stored hash of a client's secret. */
export function clientSecretHash(
  keys: ServerKeys,
  { client_id, secret }: { client_id: string; secret: string },
): string {
  const { key_id, mac } = keys.keyedHash('client_secret', client_id, secret);
  return `keyed:${key_id}:${Buffer.from(mac).toString('base64url')}`;
}

/** Whether this is the secret of a stored hash; in constant time. */
export function isClientSecret(
  keys: ServerKeys,
  { client_id, secret }: { client_id: string; secret: string },
  kept: string,
): boolean {
  const plain = PLAIN.exec(kept)?.[1];
  if (plain !== undefined) return equalBytes(createHash('sha256').update(secret).digest(), Buffer.from(plain, 'hex'));
  const [, key_id = '', hash = ''] = KEYED.exec(kept) ?? [];
  const mac = keys.keyedHashWith(key_id, 'client_secret', client_id, secret);
  return mac !== null && equalBytes(mac, Buffer.from(hash, 'base64url'));
}

/** Why a text can't be the hash of a secret, as the end of a sentence about it; null when it can. */
export function secretHashProblem(keys: ServerKeys, kept: string): string | null {
  if (PLAIN.test(kept)) return null;
  const key_id = KEYED.exec(kept)?.[1];
  if (key_id === undefined) return 'must be sha256: and 64 lower-case hex digits, or keyed: as the server wrote it';
  return keys.keyIds().includes(key_id) ? null : `was made under server key ${key_id}, which is not in KEYS_DIR`;
}
