import type { TLSSocket } from 'node:tls';
import type { FastifyRequest } from 'fastify';
import { REVOKED, SUPERSEDED } from '../../../actors/devices/device_certificates.js';
import { type CertificateInspection, judgeCertificate, type PeerCertificates } from '../../../certs/inspection.js';
import type { DeviceIdentity } from '../../access/principal.js';
import { LIMITS } from '../../domain/limits.js';
import { isRefusal, isRefused, type Refusal, Refused, refuse, throwRefusal } from '../../domain/refusals.js';
import type { Metrics } from '../../engine/metrics/metrics.js';
import type { Actors } from '../../engine/runtime/actors.js';
import type { IssuedCertificate, IssuedCertificates } from '../../engine/store/issued_certificates.js';
import type { Clock } from '../../engine/time/clock.js';
import { type DeviceBudgets, overBudget } from './device_budgets.js';
import type { DeviceProxies, PassedFacts } from './device_proxies.js';

/** The services that identify a device and record its requests. */
export type DeviceIdentityDeps = {
  actors: Pick<Actors, 'certificate' | 'downstream'>;
  certificates: IssuedCertificates;
  clock: Clock;
  /** Connections by their client certificates. */
  connections: { note(fingerprint: string, socket: TLSSocket): void };
  device_activity: {
    asked(device: Pick<DeviceIdentity, 'device_id' | 'kind'>): void;
    refused(device_id: string, refusal: { reason: string; route: string }): void;
  };
  device_budgets: DeviceBudgets;
  device_proxies: DeviceProxies;
  metrics: Metrics;
  peer_certificates: PeerCertificates;
};

const UNKNOWN = refuse('FORBIDDEN', 'This certificate was not issued to a device here.', {
  extra: { reason: 'unknown' },
});
const NO_DEVICE = refuse('FORBIDDEN', "This certificate is a proxy's, not a device's.", { extra: { reason: 'proxy' } });
/** Refusals that concern the certificate, with a reason; others concern load and storage. */
const REFUSED: ReadonlySet<string> = new Set(['UNAUTHORIZED', 'FORBIDDEN', 'BAD_REQUEST']);

/**
 * Decides anew with every request, from the certificate of its connection, the record of that certificate and the
 * clock: a handshake, a resumed one above all, only proves possession of the key. Rule H-001.
 * `expired_too`: for a year after its end a certificate still serves, for what renews it.
 */
export async function deviceIdentityOf(
  services: DeviceIdentityDeps,
  { request, expired_too }: { request: FastifyRequest; expired_too: boolean },
): Promise<DeviceIdentity> {
  try {
    const device = await decide(services, { request, expired_too });
    services.device_activity.asked(device);
    return device;
  } catch (error) {
    if (isRefused(error) && REFUSED.has(error.code))
      services.metrics.device_refusals.inc({ reason: String(error.refusal.extra?.reason) });
    throw error;
  }
}

/**
 * Records a refusal, so that operators see why a device is silent. Reads records for no more requests than a device may
 * send. Never rejects, and no caller waits for it: a refusal needs no storage.
 */
async function noteRefusal(
  { certificates, device_activity, device_budgets }: DeviceIdentityDeps,
  { request, fingerprint, refusal }: { request: FastifyRequest; fingerprint: string; refusal: Refusal },
): Promise<void> {
  if (!REFUSED.has(refusal.refused) || !device_budgets.takeRequest(fingerprint)) return;
  const issued = await certificates.find(fingerprint).catch(() => null); // the refusal stands, noted or not
  if (issued === null || issued.kind === 'proxy') return;
  const reason = String(refusal.extra?.reason ?? refusal.refused);
  device_activity.refused(issued.device_id, { reason, route: `${request.method} ${request.routeOptions.url}` });
}

async function decide(
  services: DeviceIdentityDeps,
  { request, expired_too }: { request: FastifyRequest; expired_too: boolean },
): Promise<DeviceIdentity> {
  const { clock, connections, device_budgets, peer_certificates } = services;
  const socket = request.raw.socket as TLSSocket;
  const own = peer_certificates.of(socket);
  const passed = await passedCertificate(services, { request, own: judgeCertificate(own, clock.now()) });
  const facts = passed ?? own;
  if (facts.kind === 'malformed') {
    throw new Refused(
      refuse('BAD_REQUEST', `${facts.header}: ${facts.message}.`, {
        details: [{ path: facts.header, message: facts.message }],
        extra: { reason: 'malformed' },
      }),
    );
  }
  const inspection = judgeCertificate(facts, clock.now());
  const fingerprint = fingerprintIn(inspection, { expired_too, now_ms: clock.now() });
  if (isRefusal(fingerprint)) {
    if (facts.kind === 'issued')
      void noteRefusal(services, { request, fingerprint: facts.fingerprint, refusal: fingerprint });
    throw new Refused(fingerprint);
  }
  // Before anything is looked up: that is what a device that asks too often would cost.
  if (!device_budgets.takeRequest(fingerprint)) throw new Refused(overBudget(services.metrics, 'device_requests'));
  if (passed === null) connections.note(fingerprint, socket);
  const { device_id, kind } = await standing(services, fingerprint).catch((error: unknown) => {
    if (isRefused(error)) void noteRefusal(services, { request, fingerprint, refusal: error.refusal });
    throw error;
  });
  return kind === 'proxy' ? throwRefusal(NO_DEVICE) : { device_id, kind, fingerprint };
}

/** Who may be looked up: by a certificate that is good, or was and may still be renewed. */
function fingerprintIn(
  inspection: CertificateInspection,
  { expired_too, now_ms }: { expired_too: boolean; now_ms: number },
): string | Refusal {
  if (inspection.ok) return inspection.fingerprint;
  const { reason, message } = inspection;
  if (reason === 'expired' && expired_too) {
    if (now_ms < inspection.not_after_ms + LIMITS.certificate_renewable_ms) return inspection.fingerprint;
    return unauthorized(`${message}, too long ago to be renewed`, reason);
  }
  return unauthorized(message, reason);
}

function unauthorized(message: string, reason: string): Refusal {
  return refuse('UNAUTHORIZED', `Client certificate refused: ${message}.`, { extra: { reason } });
}

/** The record of a certificate that was neither revoked nor superseded. */
async function standing(services: DeviceIdentityDeps, fingerprint: string): Promise<IssuedCertificate> {
  const { certificates, metrics, actors } = services;
  const issued = await certificates.find(fingerprint);
  if (issued === null) throw new Refused(UNKNOWN);
  const certificate = await actors.certificate(fingerprint).view();
  if (certificate.status === 'revoked') throw new Refused(REVOKED);
  if (certificate.status === 'superseded') throw new Refused(SUPERSEDED);
  if (issued.is_renewal === 0 || certificate.status === 'used') return issued;
  // Answered when the certificates before it have been notified of their end.
  const used = await actors.downstream.device(issued.device_id).use_certificate({ fingerprint });
  if (used.named.length > 0) metrics.device_certificates.inc({ what: 'first_used' });
  return issued;
}

/**
 * Reads the certificate that a proxy passed on, or null if the connection's own certificate counts. Only a proxy is
 * trusted: by its address and by a certificate that was issued to a proxy. From any other client the headers are
 * ignored.
 */
async function passedCertificate(
  services: DeviceIdentityDeps,
  { request, own }: { request: FastifyRequest; own: CertificateInspection },
): Promise<PassedFacts | null> {
  const { device_proxies } = services;
  if (!own.ok || !device_proxies.has(request.raw.socket.remoteAddress)) return null;
  const { fingerprint } = own;
  const issued = await services.certificates.find(fingerprint);
  if (issued?.kind !== 'proxy') return null;
  await standing(services, fingerprint);
  device_proxies.notePassedOn(request);
  services.connections.note(fingerprint, request.raw.socket as TLSSocket);
  const { 'client-cert': client_cert, 'client-cert-chain': chain } = request.raw.headersDistinct;
  return device_proxies.read({ client_cert, chain });
}
