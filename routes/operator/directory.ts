import { z } from 'zod';
import { listCursor } from '../../src/access/cursors.js';
import { listLimit } from '../../src/access/request_schemas.js';
import { deviceKind, id, moment, pageShape } from '../../src/access/response_schemas.js';
import { accountNamed } from '../../src/features/accounts/account_of_email.js';
import {
  ACCOUNT_STATES,
  DEVICE_STATES,
  listAccounts,
  listedAccountsShape,
  listProvisionedDevices,
  provisionedDevicesShape,
  scanCursor,
} from '../../src/features/accounts/directory_for_staff.js';
import { listDevices } from '../../src/features/devices/devices.js';
import { listedStreamShape, listStreamsForStaff } from '../../src/features/recordings/streams_for_staff.js';
import { PARAMETERS } from '../path_parameters.js';
import { operatorRoute, type Route } from '../rows.js';

/** Accounts and devices, as staff search for them, and what belongs to an account. */

const FIND_CHARS_MAX = 300;
const MINUTE_MS = 60_000;

const scanQuery = z.object({
  find: z
    .string()
    .trim()
    .toLowerCase()
    .max(FIND_CHARS_MAX, `must be at most ${FIND_CHARS_MAX} characters`)
    .default('')
    .describe('An id or an email, or a part of one; all when absent.'),
  limit: listLimit,
  cursor: scanCursor,
});

const ofAccountShape = { account_id: id.describe('Whose they are.') };
const paging = z.object({ limit: listLimit, cursor: listCursor });

export const DIRECTORY_ROUTES: readonly Route[] = [
  operatorRoute({
    method: 'GET',
    path: '/ops/accounts',
    summary: 'Accounts, by a part of the id or of the email, and by status.',
    notes:
      'No index lists them: a page looks through a bounded number of keys, in the order of Redis, and may hold few rows, none, or somewhat more than asked for. There are more while `cursor` is not null.',
    credential: 'operator',
    query: scanQuery.extend({
      status: z
        .enum(ACCOUNT_STATES, `must be one of ${ACCOUNT_STATES.join(', ')}`)
        .optional()
        .describe('Only these.'),
    }),
    answer: listedAccountsShape,
    handler: ({ services, query }) => listAccounts(services, query),
  }),

  operatorRoute({
    method: 'GET',
    path: '/ops/devices/provisioned',
    summary: 'Devices that were provisioned, by a part of the id or by whom they record for, and by how they stand.',
    notes: 'What is stored, whoever heard of them. No index lists them; pages are those of `/ops/accounts`.',
    credential: 'operator',
    query: scanQuery.extend({
      kind: deviceKind.optional(),
      state: z
        .enum(DEVICE_STATES, `must be one of ${DEVICE_STATES.join(', ')}`)
        .optional()
        .describe('Only these.'),
      unseen_min: z
        .string()
        .regex(/^\d{1,6}$/, 'must be whole minutes')
        .transform(Number)
        .default(0)
        .meta({ type: 'integer', minimum: 0, description: 'Only devices that have not called for so many minutes.' }),
    }),
    answer: provisionedDevicesShape,
    handler: ({ services, query: { unseen_min, ...query } }) =>
      listProvisionedDevices(services, { ...query, unseen_ms: unseen_min * MINUTE_MS }),
  }),

  operatorRoute({
    method: 'GET',
    path: '/ops/accounts/:account/devices',
    params: { account: PARAMETERS.account_or_email },
    summary: 'The devices of an account, those bound last first.',
    credential: 'operator',
    query: paging,
    answer: pageShape(
      z.strictObject({
        device_id: id.describe('The device.'),
        kind: deviceKind,
        bound_at: moment.describe('Since when it records for the account.'),
        last_seen_at: moment
          .nullable()
          .describe('When it last sent a heartbeat or redeemed a claim, to the minute; null while it never has.'),
      }),
    ).extend(ofAccountShape),
    refusals: ['NOT_FOUND'],
    async handler({ services, params, query }) {
      const account = await accountNamed(services, params.account);
      const page = await listDevices(services, { account_id: account.id }, query);
      const items = page.items.map(({ id: device_id, kind, bound_at, last_seen_at }) => ({
        device_id,
        kind,
        bound_at,
        last_seen_at,
      }));
      return { account_id: account.id, items, cursor: page.cursor };
    },
  }),

  operatorRoute({
    method: 'GET',
    path: '/ops/accounts/:account/streams',
    params: { account: PARAMETERS.account_or_email },
    summary: 'The recordings of an account, the newest first, without what is in them.',
    credential: 'operator',
    query: paging,
    answer: pageShape(listedStreamShape).extend(ofAccountShape),
    refusals: ['NOT_FOUND'],
    handler: ({ services, params, query }) => listStreamsForStaff(services, params.account, query),
  }),
];
