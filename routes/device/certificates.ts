import { z } from 'zod';
import type { OfferedCertificate, Waiting } from '../../actors/devices/device_certificates.js';
import { keyDigest, renewAfterMs } from '../../certs/renewal.js';
import { readSigningRequest } from '../../certs/signing_request.js';
import { moment } from '../../src/access/response_schemas.js';
import { type Refusal, Refused, refuse } from '../../src/domain/refusals.js';
import type { DeviceIdentity } from '../../src/edge/admission/device_identity.js';
import { deviceRoute, type Route } from '../rows.js';
import type { Services } from '../services.js';

const renewedShape = z
  .strictObject({
    certificate_pem: z.string().describe('The new certificate. The first request with it ends the old one.'),
    ca_pem: z.string().describe('What signs devices and the listener: issuing CA and root.'),
    not_after: moment.describe('When it expires.'),
    renew_after: moment.describe('From here on the device should renew.'),
  })
  .meta({ id: 'RenewedCertificate' });

/** How a device gets its next certificate, bound to an account or not. docs/choices.md, "Devices". */
export const CERTIFICATE_ROUTES: readonly Route[] = [
  deviceRoute({
    method: 'POST',
    path: '/device/certificates/renew',
    summary: 'Gives the device its next certificate.',
    notes:
      'The request is signed with a new key, or the present one. The first use of the new certificate ends the old one. An expired one may renew for a year.',
    credential: 'device',
    expired_too: true,
    body: z.object({
      csr_pem: z
        .string('must be a PEM certificate request')
        .max(16_384)
        .describe('A certificate request (PKCS #10), for a key of its own or the one it has.'),
    }),
    answer: renewedShape,
    handler: async ({ services, who, body: { csr_pem } }) => renew(services, who, csr_pem),
  }),
];

/** An interrupted request continues when the device asks again with the same key: see actors/devices/device_certificates.ts. */
async function renew(services: Services, who: DeviceIdentity, csr_pem: string): Promise<z.infer<typeof renewedShape>> {
  const { authority, certificates, clock, metrics, actors, settings } = services;
  const { device_id, kind, fingerprint } = who;
  const asked = readSigningRequest(csr_pem);
  if (!asked.ok) throw new Refused(badRequest(asked.message));
  const now_ms = clock.now();
  const { public_key } = asked;
  const made = authority.issueDeviceCertificate({ device_id, now_ms, days: settings.device_cert_days, public_key });
  if (!made.ok) throw new Refused(badRequest(made.message));
  const offered: OfferedCertificate = {
    fingerprint: made.fingerprint,
    key_digest: keyDigest(public_key),
    certificate_pem: made.certificate_pem,
    not_after_ms: made.not_after_ms,
    renew_after_ms: renewAfterMs(made),
  };
  const reply = await actors.device(device_id).renew({ fingerprint, offered });
  const kept = reply.named[0] as Waiting;
  const { not_after_ms } = kept;
  await certificates.save({ fingerprint: kept.fingerprint, device_id, kind, not_after_ms, is_renewal: 1 }, now_ms);
  metrics.device_certificates.inc({ what: kept.fingerprint === made.fingerprint ? 'renewed' : 'renewal_repeated' });
  return {
    certificate_pem: kept.certificate_pem,
    ca_pem: made.ca_pem,
    not_after: new Date(not_after_ms).toISOString(),
    renew_after: new Date(kept.renew_after_ms).toISOString(),
  };
}

function badRequest(message: string): Refusal {
  return refuse('BAD_REQUEST', `csr_pem: ${message}.`, { details: [{ path: 'csr_pem', message }] });
}
