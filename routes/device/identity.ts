import type { TLSSocket } from 'node:tls';
import type { FastifyRequest } from 'fastify';
import type { CertificateMessage, CertificateReply } from '../../actors/certificate.js';
import { judgeCertificate, readPeerCertificate } from '../../certs/inspection.js';
import type { Services } from '../../src/services.js';
import type { IssuedCertificate } from '../../src/store/issued_certificates.js';
import { isRefusal, type Refusal, refuse } from '../../src/vocabulary/refusals.js';

/** The device behind a request, as of this request. */
export type DeviceIdentity = Pick<IssuedCertificate, 'device_id' | 'kind' | 'fingerprint'>;

const UNKNOWN = refuse('FORBIDDEN', 'This certificate was not issued to a device here.');
const REVOKED = refuse('FORBIDDEN', "The device's certificate is revoked.");

/**
 * Decides anew with every request, from the certificate of its connection, the record of that certificate and the
 * clock: a handshake, a resumed one above all, only proves possession of the key. Choices: "Devices", Identity.
 */
export async function deviceIdentityOf(services: Services, request: FastifyRequest): Promise<DeviceIdentity | Refusal> {
  const { authority, certificates, runtime, clock, connections } = services;
  const socket = request.raw.socket as TLSSocket;
  const facts = readPeerCertificate(socket, authority.issuers);
  const inspection = judgeCertificate(facts, clock.now());
  if (!inspection.ok) {
    return refuse('UNAUTHORIZED', `Client certificate refused: ${inspection.message}.`, {
      extra: { reason: inspection.reason },
    });
  }
  const { fingerprint } = inspection;
  connections.note(fingerprint, socket);
  const issued = await certificates.find(fingerprint);
  if (issued === null) return UNKNOWN;
  const view: CertificateMessage = { type: 'view' };
  const certificate = await runtime.ask<CertificateReply>({ kind: 'certificate', id: fingerprint }, view);
  if (isRefusal(certificate)) return certificate;
  return certificate.revoked_at_ms === null ? issued : REVOKED;
}
