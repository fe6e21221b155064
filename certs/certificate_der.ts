import { createHash, type KeyObject, randomBytes, sign, type X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';
import forge from 'node-forge';

const { asn1, util } = forge;

// Missing from the published types.
const address_bytes = util as unknown as { bytesFromIP(address: string): string | null };

/** A parsed ASN.1 value; byte values are binary strings, as node-forge keeps them. */
export type Asn1 = forge.asn1.Asn1;

const OIDS = {
  common_name: '2.5.4.3',
  ecdsa_with_sha256: '1.2.840.10045.4.3.2',
  subject_key_identifier: '2.5.29.14',
  key_usage: '2.5.29.15',
  subject_alternative_name: '2.5.29.17',
  basic_constraints: '2.5.29.19',
  authority_key_identifier: '2.5.29.35',
  extended_key_usage: '2.5.29.37',
};

/** The extended key usages this project writes and checks. */
export const PURPOSE_OIDS = {
  server_auth: '1.3.6.1.5.5.7.3.1',
  client_auth: '1.3.6.1.5.5.7.3.2',
};

/** The purpose of a certificate; everything in its extensions follows from this. */
export type CertificateUse =
  | { kind: 'root_authority' }
  | { kind: 'issuing_authority' }
  | { kind: 'device' }
  | { kind: 'listener'; names: readonly string[] };

/** The names by which certificates refer to their issuer: its subject, and the identifier of its key. */
export type IssuerName = { subject: Asn1; key_identifier: Buffer };

/** Input of `makeCertificate`; times in milliseconds, cut to whole seconds in the certificate. */
export type CertificateTemplate = {
  use: CertificateUse;
  subject: string;
  public_key: KeyObject;
  /** Absent: signed by itself, `signing_key` then belongs to `public_key`. */
  issuer?: IssuerName;
  signing_key: KeyObject;
  not_before_ms: number;
  not_after_ms: number;
};

// Key usage bits as X.509 numbers them, first bit leftmost: digitalSignature is bit 0, keyCertSign 5, cRLSign 6.
const SIGNS_DATA = { unused_bits: 7, bits: 0x80 };
const SIGNS_CERTIFICATES = { unused_bits: 1, bits: 0x06 };

// UTCTime has two digits for the year and ends with 2049 (RFC 5280, 4.1.2.5).
const UTC_TIME_END_MS = Date.UTC(2050, 0, 1);

/** Parses DER that must fill `bytes`. Bit strings stay bytes: node-forge would guess at what is inside. Throws on bad DER. */
export function parseDer(bytes: Uint8Array): Asn1 {
  const options = { strict: true, parseAllBytes: true, decodeBitStrings: false };
  // The published types know only the older boolean argument.
  return asn1.fromDer(toBinary(bytes), options as unknown as boolean);
}

/** The DER bytes of an ASN.1 value. */
export function writeDer(value: Asn1): Buffer {
  return Buffer.from(asn1.toDer(value).getBytes(), 'binary');
}

/** The parts of a constructed value, or undefined for a primitive one. */
export function partsOf(value: Asn1 | undefined): Asn1[] | undefined {
  return Array.isArray(value?.value) ? value.value : undefined;
}

/** The dotted name in an OBJECT IDENTIFIER, or undefined if `value` is something else. */
export function readOid(value: Asn1 | undefined): string | undefined {
  if (value?.type !== asn1.Type.OID || typeof value.value !== 'string') return undefined;
  return asn1.derToOid(value.value);
}

/** The bytes in a BIT STRING of whole bytes, or undefined if `value` is something else. */
export function readBitString(value: Asn1 | undefined): Buffer | undefined {
  if (value?.type !== asn1.Type.BITSTRING || typeof value.value !== 'string' || value.value[0] !== '\0')
    return undefined;
  return Buffer.from(value.value.slice(1), 'binary');
}

/** The issuer name for what `certificate` signs. X.509 wants its subject repeated byte for byte, so it is copied. */
export function readIssuerName(certificate: X509Certificate): IssuerName {
  const subject = partsOf(partsOf(parseDer(certificate.raw))?.[0])?.[5];
  if (subject === undefined) throw new Error('certificate without a subject');
  return { subject, key_identifier: keyIdentifier(certificate.publicKey) };
}

/** A signed X.509 v3 certificate as PEM; ECDSA with SHA-256, so `signing_key` must be an EC key. */
export function makeCertificate(template: CertificateTemplate): string {
  const subject = writeName(template.subject);
  const algorithm = sequence(oid(OIDS.ecdsa_with_sha256));
  const body = sequence(
    context(0, integer('\x02')),
    integer(makeSerial()),
    algorithm,
    template.issuer?.subject ?? subject,
    sequence(writeTime(template.not_before_ms), writeTime(template.not_after_ms)),
    subject,
    parseDer(exportKey(template.public_key)),
    context(3, sequence(...writeExtensions(template))),
  );
  const signature = sign('sha256', writeDer(body), template.signing_key);
  const certificate = sequence(body, algorithm, bitString(signature, 0));
  return writePem('CERTIFICATE', writeDer(certificate));
}

function writeExtensions({ use, public_key, issuer }: CertificateTemplate): Asn1[] {
  const extensions = [
    extension({ oid: OIDS.basic_constraints, critical: true, value: writeBasicConstraints(use) }),
    extension({ oid: OIDS.key_usage, critical: true, value: writeKeyUsage(use) }),
    extension({ oid: OIDS.subject_key_identifier, critical: false, value: octets(keyIdentifier(public_key)) }),
  ];
  if (issuer !== undefined) {
    const key_identifier = asn1.create(asn1.Class.CONTEXT_SPECIFIC, 0, false, toBinary(issuer.key_identifier));
    extensions.push(
      extension({ oid: OIDS.authority_key_identifier, critical: false, value: sequence(key_identifier) }),
    );
  }
  if (use.kind === 'device') extensions.push(writePurpose(PURPOSE_OIDS.client_auth));
  if (use.kind === 'listener') {
    extensions.push(writePurpose(PURPOSE_OIDS.server_auth));
    const names = sequence(...use.names.map(writeAlternativeName));
    extensions.push(extension({ oid: OIDS.subject_alternative_name, critical: false, value: names }));
  }
  return extensions;
}

function writeBasicConstraints(use: CertificateUse): Asn1 {
  if (use.kind === 'root_authority') return sequence(boolean(true));
  if (use.kind === 'issuing_authority') return sequence(boolean(true), integer('\0'));
  return sequence();
}

function writeKeyUsage(use: CertificateUse): Asn1 {
  const is_authority = use.kind === 'root_authority' || use.kind === 'issuing_authority';
  const usage = is_authority ? SIGNS_CERTIFICATES : SIGNS_DATA;
  return bitString(Buffer.from([usage.bits]), usage.unused_bits);
}

function writePurpose(purpose: string): Asn1 {
  return extension({ oid: OIDS.extended_key_usage, critical: false, value: sequence(oid(purpose)) });
}

function writeAlternativeName(name: string): Asn1 {
  if (isIP(name) !== 0) {
    const bytes = address_bytes.bytesFromIP(name);
    if (bytes === null) throw new Error(`not an address a certificate can carry: ${name}`);
    return asn1.create(asn1.Class.CONTEXT_SPECIFIC, 7, false, bytes);
  }
  const ascii = domainToASCII(name);
  if (ascii === '') throw new Error(`not a host name or an IP address: ${name}`);
  return asn1.create(asn1.Class.CONTEXT_SPECIFIC, 2, false, ascii);
}

function writeName(common_name: string): Asn1 {
  const text = asn1.create(asn1.Class.UNIVERSAL, asn1.Type.UTF8, false, util.encodeUtf8(common_name));
  return sequence(asn1.create(asn1.Class.UNIVERSAL, asn1.Type.SET, true, [sequence(oid(OIDS.common_name), text)]));
}

function writeTime(at_ms: number): Asn1 {
  const date = new Date(at_ms);
  if (at_ms < UTC_TIME_END_MS) {
    return asn1.create(asn1.Class.UNIVERSAL, asn1.Type.UTCTIME, false, asn1.dateToUtcTime(date));
  }
  return asn1.create(asn1.Class.UNIVERSAL, asn1.Type.GENERALIZEDTIME, false, asn1.dateToGeneralizedTime(date));
}

function extension(part: { oid: string; critical: boolean; value: Asn1 }): Asn1 {
  const value = octets(writeDer(part.value));
  return part.critical ? sequence(oid(part.oid), boolean(true), value) : sequence(oid(part.oid), value);
}

// Top bit clear keeps it positive, the next one set keeps DER from dropping a leading zero byte.
function makeSerial(): string {
  const bytes = randomBytes(16);
  bytes.writeUInt8((bytes.readUInt8(0) & 0x7f) | 0x40, 0);
  return toBinary(bytes);
}

// RFC 5280, 4.2.1.2, method 1: a name for the key, not a protection, hence SHA-1.
function keyIdentifier(key: KeyObject): Buffer {
  const key_bytes = readBitString(partsOf(parseDer(exportKey(key)))?.[1]);
  if (key_bytes === undefined) throw new Error('public key without a bit string');
  return createHash('sha1').update(key_bytes).digest();
}

function exportKey(key: KeyObject): Buffer {
  return key.export({ type: 'spki', format: 'der' });
}

function writePem(label: string, der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}

function toBinary(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('binary');
}

function sequence(...parts: Asn1[]): Asn1 {
  return asn1.create(asn1.Class.UNIVERSAL, asn1.Type.SEQUENCE, true, parts);
}

function context(tag: number, part: Asn1): Asn1 {
  return asn1.create(asn1.Class.CONTEXT_SPECIFIC, tag, true, [part]);
}

function oid(dotted: string): Asn1 {
  return asn1.create(asn1.Class.UNIVERSAL, asn1.Type.OID, false, asn1.oidToDer(dotted).getBytes());
}

function integer(binary: string): Asn1 {
  return asn1.create(asn1.Class.UNIVERSAL, asn1.Type.INTEGER, false, binary);
}

function boolean(value: boolean): Asn1 {
  return asn1.create(asn1.Class.UNIVERSAL, asn1.Type.BOOLEAN, false, value ? '\xff' : '\0');
}

function octets(bytes: Buffer): Asn1 {
  return asn1.create(asn1.Class.UNIVERSAL, asn1.Type.OCTETSTRING, false, toBinary(bytes));
}

function bitString(bytes: Buffer, unused_bits: number): Asn1 {
  const binary = String.fromCharCode(unused_bits) + toBinary(bytes);
  return asn1.create(asn1.Class.UNIVERSAL, asn1.Type.BITSTRING, false, binary);
}
