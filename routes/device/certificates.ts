import { z } from 'zod';
import { renewCertificate, renewedShape } from '../../src/features/devices/certificate_renewal.js';
import { deviceRoute, type Route } from '../rows.js';

/** Renewal of a device's certificate, bound to an account or not. docs/choices.md, "Devices". */
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
    handler: ({ services, who, body }) => renewCertificate(services, who, body.csr_pem),
  }),
];
