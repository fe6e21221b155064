import { createPrivateKey, type KeyObject, sign, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Authority, makeDeviceKey } from '../../certs/authority.js';
import {
  type Asn1,
  type CertificateUse,
  makeCertificate,
  parseDer,
  partsOf,
  readIssuerName,
  readOid,
  writeDer,
} from '../../certs/certificate_der.js';

export const DAY_MS = 86_400_000;

/** A client's side of a handshake. */
export type Credentials = { cert: string; key: string };

/** A proper device certificate with its chain, made as if at `now_ms`. */
export function makeCredentials(authority: Authority, now_ms: number): Credentials {
  const { private_key_pem, public_key } = makeDeviceKey();
  const issued = authority.issueDeviceCertificate({ device_id: 'recorder-1', public_key, now_ms, days: 90 });
  if (!issued.ok) throw new Error(issued.message);
  return { cert: issued.certificate_pem + issued.ca_pem, key: private_key_pem };
}

/** A certificate the authority would never make, signed with its key or with any other. */
export function forgeCredentials(forged: {
  use: CertificateUse;
  signer: X509Certificate;
  signing_key: KeyObject;
  chain_pem: string;
  now_ms: number;
}): Credentials {
  const { private_key_pem, public_key } = makeDeviceKey();
  const certificate_pem = makeCertificate({
    use: forged.use,
    subject: 'recorder-1',
    public_key,
    issuer: readIssuerName(forged.signer),
    signing_key: forged.signing_key,
    not_before_ms: forged.now_ms - DAY_MS,
    not_after_ms: forged.now_ms + DAY_MS,
  });
  return { cert: certificate_pem + forged.chain_pem, key: private_key_pem };
}

export async function readIssuingKey(folder: string): Promise<KeyObject> {
  return createPrivateKey(await readFile(join(folder, 'issuing_ca.key.pem')));
}

/** The same certificate without one extension, signed again. */
export function removeExtension(certificate_pem: string, removed: { oid: string; signing_key: KeyObject }): string {
  const certificate = parseDer(new X509Certificate(certificate_pem).raw);
  const [body, , signature] = partsOf(certificate) ?? [];
  const extensions = partsOf(partsOf(body)?.[7])?.[0];
  if (body === undefined || signature === undefined || extensions === undefined) throw new Error('not a certificate');
  extensions.value = (partsOf(extensions) ?? []).filter((one: Asn1) => readOid(partsOf(one)?.[0]) !== removed.oid);
  signature.value = `\0${sign('sha256', writeDer(body), removed.signing_key).toString('binary')}`;
  const base64 = writeDer(certificate).toString('base64');
  return `-----BEGIN CERTIFICATE-----\n${base64}\n-----END CERTIFICATE-----\n`;
}
