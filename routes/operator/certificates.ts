import { z } from 'zod';
import { type DeviceCertificate, makeDeviceKey } from '../../certs/authority.js';
import { renewAfterMs } from '../../certs/renewal.js';
import { deviceKind, id, moment } from '../../src/access/response_schemas.js';
import { LIMITS } from '../../src/domain/limits.js';
import { Refused, refuse } from '../../src/domain/refusals.js';
import { randomId, randomPartition } from '../../src/engine/runtime/random.js';
import { operatorRoute, type Route } from '../rows.js';
import type { Services } from '../services.js';

const csrPem = z
  .string('must be a PEM certificate request')
  .max(16_384)
  .optional()
  .describe('A certificate request (PKCS #10); without one the private key is made here.');

const certificateShape = z.strictObject({
  certificate_pem: z.string().describe('The certificate.'),
  private_key_pem: z.string().optional().describe('Only where it was made here.'),
  ca_pem: z.string().describe('What signs devices and the listener: issuing CA and root.'),
  not_after: moment.describe('When it expires.'),
});
const provisionedShape = certificateShape.extend({
  device_id: id.describe('What the device is called from now on.'),
  kind: deviceKind,
  renew_after: moment.describe('From here on the device should renew.'),
});
const proxyShape = certificateShape.extend({
  proxy_id: id.describe('What the proxy is called in its certificate.'),
  fingerprint: z.string().describe('SHA-256 of the certificate, in hexadecimal: what revokes it.'),
});

/** Certificates of devices, and of proxies that pass devices on. */
export const STAFF_CERTIFICATE_ROUTES: readonly Route[] = [
  operatorRoute({
    method: 'POST',
    path: '/ops/devices',
    summary: 'Provisions a device.',
    notes:
      'With a certificate request the private key stays where it is; otherwise it is made here, and is in this answer alone.',
    credential: 'operator',
    status: 201,
    body: z.object({
      kind: z
        .enum(['personal', 'shared'], 'must be personal or shared')
        .describe('personal: bound to one account; shared: records for whoever hosts a session on it.'),
      csr_pem: csrPem,
    }),
    answer: provisionedShape,
    example: { kind: 'personal' },
    handler: async ({ services, body }) => provision(services, body),
  }),

  operatorRoute({
    method: 'DELETE',
    path: '/ops/devices/:id/certificate',
    summary: "Revokes a device's certificates.",
    credential: 'operator',
    status: 204,
    handler: async ({ services, params }) => revokeDevice(services, params.id as string),
  }),

  operatorRoute({
    method: 'POST',
    path: '/ops/device-proxies',
    summary: 'Gives a proxy the certificate with which it may pass devices on.',
    credential: 'operator',
    status: 201,
    body: z.object({ csr_pem: csrPem }),
    answer: proxyShape,
    example: {},
    handler: async ({ services, body }) => admitProxy(services, body.csr_pem),
  }),

  operatorRoute({
    method: 'DELETE',
    path: '/ops/device-proxies/:fingerprint',
    summary: "Revokes a proxy's certificate.",
    credential: 'operator',
    status: 204,
    refusals: ['NOT_FOUND'],
    handler: async ({ services, params }) => revokeProxy(services, params.fingerprint as string),
  }),
];

async function provision(
  services: Services,
  { kind, csr_pem }: { kind: 'personal' | 'shared'; csr_pem?: string | undefined },
): Promise<z.infer<typeof provisionedShape>> {
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
async function admitProxy(services: Services, csr_pem: string | undefined): Promise<z.infer<typeof proxyShape>> {
  const { certificates, clock, metrics } = services;
  const now_ms = clock.now();
  const proxy_id = randomId({ partition: randomPartition(), now_ms });
  const made = issue(services, { subject: proxy_id, days: LIMITS.proxy_certificate_days, csr_pem });
  const { fingerprint, not_after_ms } = made.issued;
  const record = { fingerprint, device_id: proxy_id, kind: 'proxy' as const, not_after_ms, is_renewal: 0 };
  await certificates.save(record, now_ms);
  metrics.device_certificates.inc({ what: 'proxy_provisioned' });
  return { proxy_id, fingerprint, ...made.view };
}

type Made = {
  issued: DeviceCertificate;
  /** The private key only where it was made here. */
  view: z.infer<typeof certificateShape>;
};

function issue(
  { authority, clock }: Services,
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
async function revokeDevice(services: Services, device_id: string): Promise<void> {
  const { actors } = services;
  const device = await actors.device(device_id).revoke();
  await Promise.all(device.named.map((one) => revoke(services, one)));
}

async function revokeProxy(services: Services, fingerprint: string): Promise<void> {
  const issued = await services.certificates.find(fingerprint.toLowerCase());
  if (issued?.kind !== 'proxy')
    throw new Refused(refuse('NOT_FOUND', 'No proxy has a certificate with this fingerprint.'));
  await revoke(services, issued);
}

async function revoke(
  { connections, metrics, actors }: Services,
  { fingerprint, not_after_ms }: { fingerprint: string; not_after_ms: number | null },
): Promise<void> {
  await actors.certificate(fingerprint).revoke({ not_after_ms });
  metrics.device_certificates.inc({ what: 'revoked' });
  connections.revoked(fingerprint);
}
