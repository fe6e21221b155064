import { z } from 'zod';
import { listCursor } from '../../src/access/cursors.js';
import { listLimit } from '../../src/access/request_schemas.js';
import { moment, pageShape } from '../../src/access/response_schemas.js';
import { createOwnerClaim } from '../../src/features/devices/claims.js';
import { deviceShape, listDevices, MANAGES_DEVICES, removeDevice } from '../../src/features/devices/devices.js';
import { pairingCode, pairingCodeEnd } from '../../src/features/devices/pairing_codes.js';
import { PARAMETERS } from '../path_parameters.js';
import { accountRoute, type Route } from '../rows.js';

/** The app's side of devices. Rules H-033 to H-036. */
export const DEVICE_MANAGEMENT_ROUTES: readonly Route[] = [
  accountRoute({
    method: 'POST',
    path: '/devices/claims',
    summary: 'Makes a claim, with which a personal device binds itself to the account.',
    notes: 'It counts for an hour, for one device.',
    credential: 'account',
    permission: MANAGES_DEVICES,
    rate: 'claims',
    status: 201,
    body: z.object({
      kind: z.literal('owner', 'must be owner').describe('The claim of an owner: there is no other here.'),
    }),
    answer: z.strictObject({
      claim: z.string().describe('What the app hands to the device, which redeems it; shown this once.'),
      kind: z.literal('owner').describe('As asked for.'),
      expires_at: moment.describe('Until then it can be redeemed.'),
      code: pairingCode,
      code_expires_at: pairingCodeEnd,
    }),
    refusals: ['CONFLICT'],
    handler: ({ services, who }) => createOwnerClaim(services, who),
  }),

  accountRoute({
    method: 'GET',
    path: '/devices',
    summary: 'The devices of the account, those bound last first.',
    credential: 'account',
    permission: MANAGES_DEVICES,
    query: z.object({ limit: listLimit, cursor: listCursor }),
    answer: pageShape(deviceShape),
    handler: ({ services, who, query }) => listDevices(services, who, query),
  }),

  accountRoute({
    method: 'DELETE',
    path: '/devices/:id',
    params: { id: PARAMETERS.device },
    summary: 'Unbinds a device, at once.',
    notes: 'A session that it records in ends.',
    credential: 'account',
    permission: MANAGES_DEVICES,
    status: 204,
    handler: ({ services, who, params }) => removeDevice(services, who, params.id),
  }),
];
