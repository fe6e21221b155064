import { isId } from '../../domain/ids.js';
import { randomBytes } from '../random/random.js';
import { equalBytes, type ServerKeys } from './server_keys.js';
import { matchesStoredHash, storedHash } from './stored_hash.js';

/**
 * Tokens that lead to their entity: prefix, then base64url of the entity's id, a counter and a MAC. The MAC is derived
 * from the server key and the entity's seed, so nothing that could be shown to us rests anywhere (docs/areas.md,
 * "Refresh tokens").
 */
const PREFIXES = {
  app_access: 'sps_',
  app_refresh: 'spr_',
  authorization_code: 'spo_',
  oauth_refresh: 'spg_',
  auth_session: 'spn_',
  browser_session: 'spb_',
  sign_in_form: 'spf_',
  account_form: 'spa_',
  share_link: 'spl_',
  unsubscribe: 'spu_',
} as const;
export type DerivedTokenKind = keyof typeof PREFIXES;
const SEED_BYTES = 16;
const MAC_BYTES = 24;
const DERIVED_BYTES = 16 + 4 + MAC_BYTES;

/** These lead home as well, with a random secret of which only the keyed hash is kept. */
const KEPT = {
  claim: { prefix: 'spc_', secret_bytes: 16 },
  personal_access_token: { prefix: 'svc_pat_', secret_bytes: 24 },
  calendar: { prefix: 'spk_', secret_bytes: 24 },
  omi: { prefix: 'spm_', secret_bytes: 24 },
} as const;
export type KeptSecretKind = keyof typeof KEPT;
/** The prefix of every personal access token. Rule B-001. */
export const PERSONAL_ACCESS_TOKEN_PREFIX = KEPT.personal_access_token.prefix;

export type DerivedToken = { id: string; counter: number; mac: Uint8Array };

/** The seed from which tokens of an entity are derived; stored with the entity. */
export type Seed = { key_id: string; seed: Uint8Array };

/** A new seed, under the present server key. */
export function randomSeed(keys: ServerKeys): Seed {
  return { seed: randomBytes(SEED_BYTES), key_id: keys.currentKeyId() };
}

/** The token of this kind, entity and counter. Throws when the key that the seed goes with is gone. */
export function deriveToken(
  keys: ServerKeys,
  kind: DerivedTokenKind,
  of: { id: string; counter: number } & Seed,
): string {
  const mac = macOf(keys, kind, of);
  if (mac === null) throw new Error(`server key ${of.key_id} is not known here`);
  const body = Buffer.alloc(DERIVED_BYTES);
  body.write(of.id.replaceAll('-', ''), 0, 'hex');
  body.writeUInt32BE(of.counter, 16);
  body.set(mac, 20);
  return PREFIXES[kind] + body.toString('base64url');
}

/** The parts of a token that has the form of this kind, or null. Says nothing of its being genuine. */
export function parseToken(kind: DerivedTokenKind, token: string): DerivedToken | null {
  const body = decode(PREFIXES[kind], token, DERIVED_BYTES);
  if (body === null) return null;
  const id = idOf(body);
  return id === null ? null : { id, counter: body.readUInt32BE(16), mac: body.subarray(20) };
}

/** Whether the token was derived from this seed; in constant time. */
export function isGenuine(keys: ServerKeys, kind: DerivedTokenKind, token: DerivedToken, seed: Seed): boolean {
  const { id, counter } = token;
  // The seed is an entity's whole state at times, which costs too much to spread.
  const mac = macOf(keys, kind, { id, counter, key_id: seed.key_id, seed: seed.seed });
  return mac !== null && equalBytes(mac, token.mac);
}

function macOf(
  keys: ServerKeys,
  kind: DerivedTokenKind,
  of: { id: string; counter: number } & Seed,
): Uint8Array | null {
  return keys.keyedHashWith(of.key_id, kind, of.id, String(of.counter), of.seed)?.subarray(0, MAC_BYTES) ?? null;
}

/** A new secret of this kind for an entity: the text that is shown once, and what is kept of it. */
export function makeSecret(keys: ServerKeys, kind: KeptSecretKind, id: string): { text: string; secret_hash: string } {
  const { prefix, secret_bytes } = KEPT[kind];
  const secret = randomBytes(secret_bytes);
  const body = Buffer.concat([Buffer.from(id.replaceAll('-', ''), 'hex'), secret]);
  return { text: prefix + body.toString('base64url'), secret_hash: storedHash(keys, kind, id, secret) };
}

export type ParsedSecret = { id: string; secret: Uint8Array };

/** The id in such a text and the secret; null for what has not the form of one. */
export function parseSecret(kind: KeptSecretKind, text: string): ParsedSecret | null {
  const { prefix, secret_bytes } = KEPT[kind];
  const body = decode(prefix, text, 16 + secret_bytes);
  const id = body === null ? null : idOf(body);
  return body === null || id === null ? null : { id, secret: body.subarray(16) };
}

/** Whether this is the secret whose hash was kept. */
export function isSecret(keys: ServerKeys, kind: KeptSecretKind, { id, secret }: ParsedSecret, kept: string): boolean {
  return matchesStoredHash(keys, kept, kind, id, secret);
}

function decode(prefix: string, token: string, bytes: number): Buffer | null {
  if (!token.startsWith(prefix)) return null;
  const text = token.slice(prefix.length);
  const body = Buffer.from(text, 'base64url');
  // Only as it was written: the last character's spare bits would otherwise make several texts one token.
  return body.length === bytes && body.toString('base64url') === text ? body : null;
}

function idOf(body: Buffer): string | null {
  const hex = body.toString('hex', 0, 16);
  const id = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
  return isId(id) ? id : null;
}
