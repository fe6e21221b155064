import { createHmac, type KeyObject, randomBytes } from 'node:crypto';
import { LIMITS } from '../../domain/limits.js';
import type { ServerKeys } from '../../engine/secrets/server_keys.js';

const PURPOSE = 'signing secret';
const PREFIX = 'whsec_';

/** A new key for an endpoint: the text that its owner gets once, and the sealed form that is stored. */
export function randomSigningSecret(keys: ServerKeys): { text: string; sealed: Uint8Array } {
  const key = randomBytes(LIMITS.endpoint_secret_bytes);
  return { text: signingSecretText(key), sealed: keys.seal(PURPOSE, key) };
}

/** The key in the form that a verifier gets. */
export function signingSecretText(key: Uint8Array): string {
  return PREFIX + Buffer.from(key).toString('base64');
}

/** The key, or null when it was sealed with a server key that is gone. */
export function openSigningSecret(keys: ServerKeys, sealed: Uint8Array): Uint8Array | null {
  return keys.unseal(PURPOSE, sealed);
}

/** The key of an owner's text; null for any other text. */
export function parseSigningSecret(text: string): Uint8Array | null {
  if (!text.startsWith(PREFIX)) return null;
  const key = Buffer.from(text.slice(PREFIX.length), 'base64');
  return key.length === LIMITS.endpoint_secret_bytes ? key : null;
}

/** Headers that prove the origin of a body. Rules F-023 and F-024. */
export function signedHeaders(
  key: Uint8Array | KeyObject,
  { id, at_ms, body }: { id: string; at_ms: number; body: string | Uint8Array },
): Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string> {
  const timestamp = String(Math.floor(at_ms / 1000));
  const mac = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${mac}` };
}
