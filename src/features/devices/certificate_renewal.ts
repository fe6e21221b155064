import { z } from 'zod';
import type { OfferedCertificate, WaitingCertificate } from '../../../actors/devices/device_certificates.js';
import { keyDigest, renewAfterMs } from '../../../certs/renewal.js';
import { readSigningRequest } from '../../../certs/signing_request.js';
import type { DeviceIdentity } from '../../access/principal.js';
import { moment } from '../../access/response_schemas.js';
import { type Refusal, Refused, refuse } from '../../domain/refusals.js';
import type { FeatureServices } from '../services.js';

export const renewedShape = z
  .strictObject({
    certificate_pem: z.string().describe('The new certificate. The first request with it ends the old one.'),
    ca_pem: z.string().describe('What signs devices and the listener: issuing CA and root.'),
    not_after: moment.describe('When it expires.'),
    renew_after: moment.describe('From here on the device should renew.'),
  })
  .meta({ id: 'RenewedCertificate' });

/**
 * Gives the device its next certificate. An interrupted request continues when the device asks again with the same key: see
 * actors/devices/device_certificates.ts.
 */
export async function renewCertificate(
  {
    authority,
    certificates,
    clock,
    metrics,
    actors,
    settings,
  }: Pick<FeatureServices, 'actors' | 'authority' | 'certificates' | 'clock' | 'metrics' | 'settings'>,
  { device_id, kind, fingerprint }: DeviceIdentity,
  csr_pem: string,
): Promise<z.infer<typeof renewedShape>> {
  const request = readSigningRequest(csr_pem);
  if (!request.ok) throw new Refused(badRequest(request.message));
  const now_ms = clock.now();
  const { public_key } = request;
  const issued = authority.issueDeviceCertificate({ device_id, now_ms, days: settings.device_cert_days, public_key });
  if (!issued.ok) throw new Refused(badRequest(issued.message));
  const offered: OfferedCertificate = {
    fingerprint: issued.fingerprint,
    key_digest: keyDigest(public_key),
    certificate_pem: issued.certificate_pem,
    not_after_ms: issued.not_after_ms,
    renew_after_ms: renewAfterMs(issued),
  };
  const reply = await actors.device(device_id).renew({ fingerprint, offered });
  const kept = reply.named[0] as WaitingCertificate;
  const { not_after_ms } = kept;
  await certificates.save({ fingerprint: kept.fingerprint, device_id, kind, not_after_ms, is_renewal: 1 }, now_ms);
  metrics.device_certificates.inc({ what: kept.fingerprint === issued.fingerprint ? 'renewed' : 'renewal_repeated' });
  return {
    certificate_pem: kept.certificate_pem,
    ca_pem: issued.ca_pem,
    not_after: new Date(not_after_ms).toISOString(),
    renew_after: new Date(kept.renew_after_ms).toISOString(),
  };
}

function badRequest(message: string): Refusal {
  return refuse('BAD_REQUEST', `csr_pem: ${message}.`, { details: [{ path: 'csr_pem', message }] });
}
