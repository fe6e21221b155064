import { X509Certificate } from 'node:crypto';

/**
 * The client's certificate as a TLS-terminating proxy passed it on; or which header is wrong, and the rule it broke.
 */
export type PassedCertificate =
  | { ok: true; certificate: X509Certificate | undefined }
  | { ok: false; header: string; message: string };

/** The lines of each header as they came, undefined when there was none. */
export type ClientCertLines = { client_cert: readonly string[] | undefined; chain: readonly string[] | undefined };

const CERTIFICATE_HEADER = 'Client-Cert';
const CHAIN_HEADER = 'Client-Cert-Chain';
/** RFC 8941, 3.3.5, without parameters: RFC 9440 defines none. */
const BYTE_SEQUENCE = /^:([A-Za-z0-9+/]*={0,2}):$/;
/** Issuing CA and root are two. */
const CHAIN_MAX = 8;

/**
 * Reads `Client-Cert` and `Client-Cert-Chain` (RFC 9440), which must come once at most: a second line is what somebody
 * else put there. The chain must be well-formed and decides nothing, since the CAs that sign devices are known here.
 * Never throws.
 */
export function readClientCertHeader({ client_cert, chain }: ClientCertLines): PassedCertificate {
  if ((client_cert?.length ?? 0) > 1) return { ok: false, header: CERTIFICATE_HEADER, message: 'must come once' };
  if ((chain?.length ?? 0) > 1) return { ok: false, header: CHAIN_HEADER, message: 'must come once' };
  const text = client_cert?.[0];
  const members = chain?.[0]?.split(/[ \t]*,[ \t]*/) ?? [];
  if (text === undefined) {
    if (members.length === 0) return { ok: true, certificate: undefined };
    return { ok: false, header: CHAIN_HEADER, message: 'must not come without Client-Cert' };
  }
  const certificate = readByteSequence(text);
  if (certificate === undefined) {
    return { ok: false, header: CERTIFICATE_HEADER, message: 'must be one DER certificate as :base64:' };
  }
  if (members.length > CHAIN_MAX || members.some((member) => readByteSequence(member) === undefined)) {
    return { ok: false, header: CHAIN_HEADER, message: `must be at most ${CHAIN_MAX} DER certificates as :base64:` };
  }
  return { ok: true, certificate };
}

function readByteSequence(text: string): X509Certificate | undefined {
  const base64 = BYTE_SEQUENCE.exec(text.trim())?.[1];
  if (base64 === undefined || base64 === '') return undefined;
  const der = Buffer.from(base64, 'base64');
  // Only the one way to write these bytes, and nothing behind the certificate.
  if (der.toString('base64') !== base64) return undefined;
  try {
    const certificate = new X509Certificate(der);
    return certificate.raw.equals(der) ? certificate : undefined;
  } catch {
    return undefined;
  }
}
