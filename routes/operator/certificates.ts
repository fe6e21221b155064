import { z } from 'zod';
import {
  admitProxy,
  admittedProxyShape,
  provisionDevice,
  provisionedDeviceShape,
  revokeDevice,
  revokeProxy,
} from '../../src/features/devices/provisioning.js';
import { PARAMETERS } from '../path_parameters.js';
import { operatorRoute, type Route } from '../rows.js';

const csrPem = z
  .string('must be a PEM certificate request')
  .max(16_384)
  .optional()
  .describe('A certificate request (PKCS #10); without one the private key is made here.');

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
    answer: provisionedDeviceShape,
    example: { kind: 'personal' },
    handler: ({ services, body }) => provisionDevice(services, body),
  }),

  operatorRoute({
    method: 'DELETE',
    path: '/ops/devices/:id/certificate',
    params: { id: PARAMETERS.device },
    summary: "Revokes a device's certificates.",
    credential: 'operator',
    status: 204,
    handler: ({ services, params }) => revokeDevice(services, params.id),
  }),

  operatorRoute({
    method: 'POST',
    path: '/ops/device-proxies',
    summary: 'Gives a proxy the certificate with which it may pass devices on.',
    credential: 'operator',
    status: 201,
    body: z.object({ csr_pem: csrPem }),
    answer: admittedProxyShape,
    example: {},
    handler: ({ services, body }) => admitProxy(services, body.csr_pem),
  }),

  operatorRoute({
    method: 'DELETE',
    path: '/ops/device-proxies/:fingerprint',
    params: { fingerprint: PARAMETERS.certificate },
    summary: "Revokes a proxy's certificate.",
    credential: 'operator',
    status: 204,
    refusals: ['NOT_FOUND'],
    handler: ({ services, params }) => revokeProxy(services, params.fingerprint),
  }),
];
