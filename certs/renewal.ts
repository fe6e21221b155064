import { createHash, type KeyObject } from 'node:crypto';
import { LIMITS } from '../src/domain/limits.js';

/** Names a public key: the SHA-256 of its SubjectPublicKeyInfo, 64 lower-case hex digits. */
export function keyDigest(public_key: KeyObject): string {
  return createHash('sha256')
    .update(public_key.export({ type: 'spki', format: 'der' }))
    .digest('hex');
}

/**
 * When a device should renew a certificate, in milliseconds since 1970, whole seconds. Drawn from the fingerprint: the
 * same each time it is asked, and different for devices that were provisioned together.
 */
export function renewAfterMs(certificate: {
  fingerprint: string;
  not_before_ms: number;
  not_after_ms: number;
}): number {
  const { fingerprint, not_before_ms, not_after_ms } = certificate;
  const drawn = Number.parseInt(fingerprint.slice(0, 8), 16) / 2 ** 32;
  const at = LIMITS.certificate_renew_at + (2 * drawn - 1) * LIMITS.certificate_renew_jitter;
  return Math.floor((not_before_ms + (not_after_ms - not_before_ms) * at) / 1000) * 1000;
}
