import type { X509Certificate } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import { PURPOSE_OIDS } from './certificate_der.js';

export type RefusalReason = 'missing' | 'unverifiable' | 'wrong_purpose' | 'not_yet_valid' | 'expired';

/**
 * The inspection of a client certificate at one moment. `fingerprint`: SHA-256 of the DER, 64 lower-case hex digits.
 */
export type CertificateInspection =
  | { ok: true; fingerprint: string; not_after_ms: number }
  /** Proven to be ours and only too old: enough to look up who may still renew. */
  | { ok: false; reason: 'expired'; message: string; fingerprint: string; not_after_ms: number }
  | { ok: false; reason: Exclude<RefusalReason, 'expired'>; message: string };

/** The facts of a certificate apart from the time; they hold for the life of its connection. */
export type CertificateFacts =
  | { kind: 'refused'; reason: 'missing' | 'unverifiable' | 'wrong_purpose'; message: string }
  | { kind: 'issued'; fingerprint: string; not_before_ms: number; not_after_ms: number };

/** A certificate as TLS presented it, with TLS's own verdict, and the CAs that sign devices. */
export type PresentedCertificate = {
  certificate: X509Certificate | undefined;
  authorized: boolean;
  authorization_error: string | undefined;
  issuers: readonly X509Certificate[];
};

/** OpenSSL's verdict on a leaf whose issuer it does not know. */
const NOT_BY_US = 'UNABLE_TO_VERIFY_LEAF_SIGNATURE';
const DATE_VERDICTS = new Set(['CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID']);

/**
 * Judges a certificate from a listener with `requestCert: true, rejectUnauthorized: false`. Pure: the dates are held
 * against `now_ms` alone, never against the clock TLS used.
 */
export function inspectCertificate(presented: PresentedCertificate, now_ms: number): CertificateInspection {
  return judgeCertificate(readCertificate(presented), now_ms);
}

/** The certificates on the connections of a listener. */
export class PeerCertificates {
  readonly #issuers: readonly X509Certificate[];
  readonly #facts = new WeakMap<TLSSocket, CertificateFacts>();

  constructor(issuers: readonly X509Certificate[]) {
    this.#issuers = issuers;
  }

  /**
   * The facts of the certificate on a connection, read once per socket. TLS calls a resumed or kept-alive connection
   * authorized for ever, so every request must judge the facts anew.
   */
  of(socket: TLSSocket): CertificateFacts {
    const known = this.#facts.get(socket);
    if (known !== undefined) return known;
    const facts = readCertificate({
      certificate: socket.getPeerX509Certificate(),
      authorized: socket.authorized,
      authorization_error: readVerdict(socket.authorizationError),
      issuers: this.#issuers,
    });
    this.#facts.set(socket, facts);
    return facts;
  }
}

/** The facts of a certificate that a proxy passed on, whose handshake was not with us: only our CAs vouch for it. */
export function readPassedCertificate(
  certificate: X509Certificate | undefined,
  issuers: readonly X509Certificate[],
): CertificateFacts {
  const authorized = certificate !== undefined && isIssuedBy(certificate, issuers);
  return readCertificate({ certificate, authorized, authorization_error: NOT_BY_US, issuers });
}

/** Judges facts at a moment: valid from `not_before_ms` on, until just before `not_after_ms`. */
export function judgeCertificate(facts: CertificateFacts, now_ms: number): CertificateInspection {
  if (facts.kind === 'refused') return { ok: false, reason: facts.reason, message: facts.message };
  const { fingerprint, not_before_ms, not_after_ms } = facts;
  if (now_ms < not_before_ms) {
    const message = `the certificate is valid only from ${new Date(not_before_ms).toISOString()} on`;
    return { ok: false, reason: 'not_yet_valid', message };
  }
  if (now_ms >= not_after_ms) {
    const message = `the certificate expired at ${new Date(not_after_ms).toISOString()}`;
    return { ok: false, reason: 'expired', message, fingerprint, not_after_ms };
  }
  return { ok: true, fingerprint, not_after_ms };
}

/** Everything about a presented certificate that does not depend on the time. */
function readCertificate(presented: PresentedCertificate): CertificateFacts {
  const { certificate, authorized, authorization_error, issuers } = presented;
  if (certificate === undefined) return refused('missing', 'a device must present a client certificate');

  const is_ours = isIssuedBy(certificate, issuers);
  // OpenSSL keeps the last fault only, and looks at dates last: a date verdict also stands on a certificate that
  // anybody made. It counts as none, but then the issuer's signature must hold.
  const is_date_verdict = !authorized && DATE_VERDICTS.has(authorization_error ?? '');
  if (is_date_verdict && !is_ours) return refused('unverifiable', NOT_ISSUED_HERE);
  if (!authorized && !is_date_verdict) return explainVerdict(authorization_error, is_ours);

  // OpenSSL takes a certificate without any extended key usage for every purpose.
  if (certificate.keyUsage?.includes(PURPOSE_OIDS.client_auth) !== true)
    return refused('wrong_purpose', NOT_FOR_CLIENTS);
  if (certificate.ca) return refused('wrong_purpose', 'the certificate is that of a certificate authority');
  return { kind: 'issued', fingerprint: readFingerprint(certificate), ...readValidity(certificate) };
}

function isIssuedBy(certificate: X509Certificate, issuers: readonly X509Certificate[]): boolean {
  return issuers.some((issuer) => certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey));
}

/** SHA-256 of the DER as 64 lower-case hex digits. */
export function readFingerprint(certificate: X509Certificate): string {
  return certificate.fingerprint256.replaceAll(':', '').toLowerCase();
}

/** The dates in a certificate, in milliseconds. */
export function readValidity(certificate: X509Certificate): { not_before_ms: number; not_after_ms: number } {
  return { not_before_ms: Date.parse(certificate.validFrom), not_after_ms: Date.parse(certificate.validTo) };
}

const NOT_ISSUED_HERE = 'the certificate was not issued by the authority this server trusts';
const NOT_FOR_CLIENTS = 'the certificate lacks the extended key usage clientAuth';

function explainVerdict(verdict: string | undefined, is_ours: boolean): CertificateFacts {
  if (verdict === 'INVALID_PURPOSE') return refused('wrong_purpose', NOT_FOR_CLIENTS);
  if (verdict === NOT_BY_US && is_ours) {
    return refused('unverifiable', 'the intermediate certificate is missing: a device sends it after its own');
  }
  return refused('unverifiable', `${NOT_ISSUED_HERE} (${verdict ?? 'UNSPECIFIED'})`);
}

function refused(reason: 'missing' | 'unverifiable' | 'wrong_purpose', message: string): CertificateFacts {
  return { kind: 'refused', reason, message };
}

// Declared as an Error, at run time the code alone.
function readVerdict(error: unknown): string | undefined {
  if (typeof error === 'string') return error;
  if (error instanceof Error) return 'code' in error ? String(error.code) : error.message;
  return undefined;
}
