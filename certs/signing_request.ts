import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { parseDer, partsOf, readBitString, readOid, writeDer } from './certificate_der.js';

/** The key a certificate may be made for, or the rule it broke. */
export type KeyAnswer = { ok: true; public_key: KeyObject } | { ok: false; message: string };

const CSR_PEM_BYTES_MAX = 16_384;

// OpenSSL refuses larger RSA keys in places, and checking them takes long enough to be abused.
const RSA_BITS = { min: 2_048, max: 8_192 };
const RSA_EXPONENT_MIN = 65_537n;

const CURVES = new Set(['prime256v1', 'secp384r1']);

const KEY_RULE = 'the key must be EC P-256, EC P-384, or RSA of 2048 to 8192 bits with an exponent of at least 65537';

const SIGNATURE_HASHES = new Map([
  ['1.2.840.10045.4.3.2', { type: 'ec', hash: 'sha256' }],
  ['1.2.840.10045.4.3.3', { type: 'ec', hash: 'sha384' }],
  ['1.2.840.10045.4.3.4', { type: 'ec', hash: 'sha512' }],
  ['1.2.840.113549.1.1.11', { type: 'rsa', hash: 'sha256' }],
  ['1.2.840.113549.1.1.12', { type: 'rsa', hash: 'sha384' }],
  ['1.2.840.113549.1.1.13', { type: 'rsa', hash: 'sha512' }],
]);

const PEM_BLOCK =
  /^-----BEGIN (NEW )?CERTIFICATE REQUEST-----\s([A-Za-z0-9+/=\s]+)-----END (NEW )?CERTIFICATE REQUEST-----$/;

/**
 * Reads a PKCS#10 request for its public key alone and checks that the sender holds the private one. Subject and
 * requested extensions are ignored: the authority writes its own. Never throws.
 */
export function readSigningRequest(csr_pem: string): KeyAnswer {
  if (csr_pem.length > CSR_PEM_BYTES_MAX) return refusal(`the request is larger than ${CSR_PEM_BYTES_MAX} bytes`);
  const base64 = PEM_BLOCK.exec(withoutNuls(csr_pem).trim())?.[2];
  if (base64 === undefined) return refusal('the request is not a PEM block "CERTIFICATE REQUEST"');
  const request = parseRequest(Buffer.from(base64, 'base64'));
  if (request === undefined) return refusal('the request is not a PKCS#10 certification request');

  const checked = checkKey(request.public_key);
  if (!checked.ok) return checked;
  const algorithm = SIGNATURE_HASHES.get(request.signature_oid);
  if (algorithm === undefined || algorithm.type !== request.public_key.asymmetricKeyType) {
    return refusal(
      'the request must be signed with its own key, by ECDSA or RSA PKCS#1 v1.5 with SHA-256, SHA-384 or SHA-512',
    );
  }
  if (!verify(algorithm.hash, request.signed_bytes, request.public_key, request.signature)) {
    return refusal('the signature does not prove possession of the private key');
  }
  return checked;
}

/** Programs in C send the NUL that ends their text, or all of a room that was filled with NULs. */
function withoutNuls(pem: string): string {
  let length = pem.length;
  while (length > 0 && /[\s\0]/.test(pem.charAt(length - 1))) length -= 1;
  return pem.slice(0, length);
}

/** Accepts a public key a device certificate may carry; refuses weak and unknown ones with the rule. */
export function checkKey(public_key: KeyObject): KeyAnswer {
  const details = public_key.asymmetricKeyDetails;
  if (public_key.type !== 'public' || details === undefined) return refusal(KEY_RULE);
  if (public_key.asymmetricKeyType === 'ec') {
    return CURVES.has(details.namedCurve ?? '') ? { ok: true, public_key } : refusal(KEY_RULE);
  }
  if (public_key.asymmetricKeyType !== 'rsa') return refusal(KEY_RULE);
  const { modulusLength: bits = 0, publicExponent: exponent = 0n } = details;
  const is_strong =
    bits >= RSA_BITS.min && bits <= RSA_BITS.max && exponent >= RSA_EXPONENT_MIN && exponent % 2n === 1n;
  return is_strong ? { ok: true, public_key } : refusal(KEY_RULE);
}

type Request = { public_key: KeyObject; signed_bytes: Buffer; signature_oid: string; signature: Buffer };

function parseRequest(der: Buffer): Request | undefined {
  try {
    const [info, algorithm, signature_bits] = partsOf(parseDer(der)) ?? [];
    const key_info = partsOf(info)?.[2];
    const signature = readBitString(signature_bits);
    const signature_oid = readOid(partsOf(algorithm)?.[0]);
    if (info === undefined || key_info === undefined || signature === undefined || signature_oid === undefined)
      return undefined;
    // Written again rather than cut out: the two are equal for DER, and for anything else the signature fails.
    const public_key = createPublicKey({ key: writeDer(key_info), format: 'der', type: 'spki' });
    return { public_key, signed_bytes: writeDer(info), signature_oid, signature };
  } catch {
    return undefined;
  }
}

function refusal(message: string): { ok: false; message: string } {
  return { ok: false, message };
}
