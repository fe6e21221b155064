import { createPrivateKey, createPublicKey, generateKeyPairSync, sign } from 'node:crypto';

/** Certificate requests (PKCS #10, RFC 2986) for P-256 keys, as renewing takes them. */

const TAG = { integer: 0x02, bits: 0x03, oid: 0x06, utf8: 0x0c, sequence: 0x30, set: 0x31, attributes: 0xa0 };
const COMMON_NAME = Buffer.from('550403', 'hex');
const ECDSA_WITH_SHA256 = Buffer.from('2a8648ce3d040302', 'hex');

/** A private key of a device, as PKCS #8 PEM. */
export function newPrivateKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

/** What proves that the device holds the key. The server names the device itself, whatever the request says. */
export function certificateRequest(private_key_pem: string): string {
  const key = createPrivateKey(private_key_pem);
  const name = sequence(der(TAG.set, sequence(der(TAG.oid, COMMON_NAME), der(TAG.utf8, Buffer.from('device')))));
  const public_key = createPublicKey(key).export({ type: 'spki', format: 'der' });
  const info = sequence(der(TAG.integer, Buffer.of(0)), name, public_key, der(TAG.attributes));
  const signature = der(TAG.bits, Buffer.of(0), sign('sha256', info, key));
  const base64 = sequence(info, sequence(der(TAG.oid, ECDSA_WITH_SHA256)), signature).toString('base64');
  return `-----BEGIN CERTIFICATE REQUEST-----\n${base64.replace(/.{64}/g, '$&\n').trim()}\n-----END CERTIFICATE REQUEST-----\n`;
}

function der(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const head = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...head]), content]);
}

function sequence(...parts: Buffer[]): Buffer {
  return der(TAG.sequence, ...parts);
}
