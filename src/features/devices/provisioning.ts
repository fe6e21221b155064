import { z } from 'zod';
import { type DeviceCertificate, makeDeviceKey } from '../../../certs/authority.js';
import { renewAfterMs } from '../../../certs/renewal.js';
import { deviceKind, id, moment } from '../../access/response_schemas.js';
import { Refused, refuse } from '../../domain/refusals.js';
import { randomId, randomPartition } from '../../engine/random/random.js';
import type { FeatureServices } from '../services.js';
import type { DeviceConnections } from './connections.js';

/** Certificates of devices, and of proxies that pass certificates on, as staff issue and revoke them. */

const PROXY_CERTIFICATE_DAYS = 365; // ours: of a proxy that passes certificates on

const NO_PROXY = refuse('NOT_FOUND', 'No proxy has a certificate with this fingerprint.');

const certificateShape = z.strictObject({
  certificate_pem: z.string().describe('The certificate.'),
  private_key_pem: z.string().optional().describe('Only where it was made here.'),
  ca_pem: z.string().describe('What signs devices and the listener: issuing CA and root.'),
  not_after: moment.describe('When it expires.'),
});
export const provisionedDeviceShape = certificateShape.extend({
  device_id: id.describe('What the device is called from now on.'),
  kind: deviceKind,
  renew_after: moment.describe('From here on the device should renew.'),
});
export const admittedProxyShape = certificateShape.extend({
  proxy_id: id.describe('What the proxy is called in its certificate.'),
  fingerprint: z.string().describe('SHA-256 of the certificate, in hexadecimal: what revokes it.'),
});

/** Provisions a device: from now on it has an id and a certificate. */
export async function provisionDevice(
  services: Pick<FeatureServices, 'actors' | 'authority' | 'certificates' | 'clock' | 'metrics' | 'settings'>,
  { kind, csr_pem }: { kind: 'personal' | 'shared'; csr_pem?: string | undefined },
): Promise<z.infer<typeof provisionedDeviceShape>> {
  const { certificates, clock, metrics, actors, settings } = services;
  const now_ms = clock.now();
  const device_id = randomId({ partition: randomPartition(), now_ms });
  const made = issue(services, { subject: device_id, days: settings.device_cert_days, csr_pem });
  const { fingerprint, not_after_ms } = made.issued;
  await actors.device(device_id).provision({ kind, fingerprint, not_after_ms });
  await certificates.save({ fingerprint, device_id, kind, not_after_ms, is_renewal: 0 }, now_ms);
  metrics.device_certificates.inc({ what: 'provisioned' });
  return { device_id, kind, ...made.view, renew_after: new Date(renewAfterMs(made.issued)).toISOString() };
}

/** Its own device's purpose would do for TLS; that it is a proxy's stands in its record alone. */
export async function admitProxy(
  services: Pick<FeatureServices, 'authority' | 'certificates' | 'clock' | 'metrics'>,
  csr_pem: string | undefined,
): Promise<z.infer<typeof admittedProxyShape>> {
  const { certificates, clock, metrics } = services;
  const now_ms = clock.now();
  const proxy_id = randomId({ partition: randomPartition(), now_ms });
  const made = issue(services, { subject: proxy_id, days: PROXY_CERTIFICATE_DAYS, csr_pem });
  const { fingerprint, not_after_ms } = made.issued;
  const record = { fingerprint, device_id: proxy_id, kind: 'proxy' as const, not_after_ms, is_renewal: 0 };
  await certificates.save(record, now_ms);
  metrics.device_certificates.inc({ what: 'proxy_provisioned' });
  return { proxy_id, fingerprint, ...made.view };
}

type Made = {
  issued: DeviceCertificate;
  /** The private key only if it was made here. */
  view: z.infer<typeof certificateShape>;
};

function issue(
  { authority, clock }: Pick<FeatureServices, 'authority' | 'clock'>,
  { subject, days, csr_pem }: { subject: string; days: number; csr_pem: string | undefined },
): Made {
  const key = csr_pem === undefined ? makeDeviceKey() : null;
  const proof = key === null ? { csr_pem: csr_pem as string } : { public_key: key.public_key };
  const issued = authority.issueDeviceCertificate({ device_id: subject, now_ms: clock.now(), days, ...proof });
  if (!issued.ok)
    throw new Refused(
      refuse('BAD_REQUEST', `csr_pem: ${issued.message}.`, {
        details: [{ path: 'csr_pem', message: issued.message }],
      }),
    );
  const { certificate_pem, ca_pem, not_after_ms } = issued;
  const private_key = key === null ? {} : { private_key_pem: key.private_key_pem };
  const not_after = new Date(not_after_ms).toISOString();
  return { issued, view: { certificate_pem, ...private_key, ca_pem, not_after } };
}

/** From the device's own turn on none can be renewed or used for the first time; each is then ended before the answer. */
export async function revokeDevice(
  services: Pick<FeatureServices, 'actors' | 'metrics'> & { connections: DeviceConnections },
  device_id: string,
): Promise<void> {
  const { actors } = services;
  const device = await actors.device(device_id).revoke();
  await Promise.all(device.named.map((one) => revoke(services, one)));
}

export async function revokeProxy(
  services: Pick<FeatureServices, 'actors' | 'certificates' | 'metrics'> & { connections: DeviceConnections },
  fingerprint: string,
): Promise<void> {
  const issued = await services.certificates.find(fingerprint.toLowerCase());
  if (issued?.kind !== 'proxy') throw new Refused(NO_PROXY);
  await revoke(services, issued);
}

async function revoke(
  { connections, metrics, actors }: Pick<FeatureServices, 'actors' | 'metrics'> & { connections: DeviceConnections },
  { fingerprint, not_after_ms }: { fingerprint: string; not_after_ms: number },
): Promise<void> {
  await actors.certificate(fingerprint).revoke({ not_after_ms });
  metrics.device_certificates.inc({ what: 'revoked' });
  connections.revoked(fingerprint);
}
