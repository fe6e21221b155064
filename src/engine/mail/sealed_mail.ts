import type { ServerKeys } from '../secrets/server_keys.js';
import { decodeStored, encodeStored } from '../store/codec.js';
import type { Mail } from './mailer.js';

const PURPOSE = 'mail';

/** A mail as it may rest in Redis: sealed with the server key, since it can carry a code. */
export function sealMail(keys: ServerKeys, mail: Mail): Uint8Array {
  return keys.seal(PURPOSE, encodeStored(mail));
}

/** The mail, or null when it was sealed with a key that is gone. */
export function openMail(keys: ServerKeys, sealed: Uint8Array): Mail | null {
  const bytes = keys.unseal(PURPOSE, sealed);
  return bytes === null ? null : (decodeStored(bytes) as Mail);
}
