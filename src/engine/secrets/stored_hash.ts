import { equalBytes, type HashPart, type ServerKeys } from './server_keys.js';

/** The stored form of a secret that somebody will show again: the key's id and the keyed hash, as one text. */
export function storedHash(keys: ServerKeys, purpose: string, ...parts: HashPart[]): string {
  const { key_id, mac } = keys.keyedHash(purpose, ...parts);
  return `${key_id}.${Buffer.from(mac).toString('base64url')}`;
}

/** Whether these are the parts whose hash was kept; in constant time. */
export function matchesStoredHash(keys: ServerKeys, kept: string, purpose: string, ...parts: HashPart[]): boolean {
  const [key_id = '', hash = ''] = kept.split('.');
  const mac = keys.keyedHashWith(key_id, purpose, ...parts);
  return mac !== null && equalBytes(mac, Buffer.from(hash, 'base64url'));
}
