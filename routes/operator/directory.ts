import { z } from 'zod';
import type { Account } from '../../actors/accounts/account_state.js';
import { STREAMS } from '../../actors/recordings/stream.js';
import type { Stream } from '../../actors/recordings/stream_state.js';
import { listCursor, type Position, pageOf } from '../../src/access/cursors.js';
import { listLimit } from '../../src/access/request_schemas.js';
import {
  count,
  deviceKind,
  id,
  moment,
  momentOrNull,
  pageShape,
  serverNow,
} from '../../src/access/response_schemas.js';
import { partitionOfId } from '../../src/domain/ids.js';
import { isScanCursor, type ScannedPage } from '../../src/engine/store/entity_scan.js';
import { accountNamed } from '../../src/features/accounts/account_of_email.js';
import { type FoundDevice, findAccounts, findDevices } from '../../src/features/accounts/directory.js';
import { listDevices } from '../../src/features/devices/devices.js';
import { operatorRoute, type Route } from '../rows.js';
import type { Services } from '../services.js';

/** Accounts and devices as staff look for them, and what belongs to an account. */

const FIND_CHARS_MAX = 300;
const MINUTE_MS = 60_000;
const DEVICE_STATES = ['bound', 'unbound', 'revoked'] as const;
const ACCOUNT_STATES = ['active', 'leaving', 'deleted', 'erasing', 'erased'] as const;

const scanQuery = z.object({
  find: z
    .string()
    .trim()
    .toLowerCase()
    .max(FIND_CHARS_MAX, `must be at most ${FIND_CHARS_MAX} characters`)
    .default('')
    .describe('An id or an email, or a part of one; all when absent.'),
  limit: listLimit,
  cursor: z
    .string()
    .refine(isScanCursor, 'must be a cursor that this list returned')
    .optional()
    .describe('Where to continue: the cursor of the page before. Absent for the first page.'),
});

function scannedShape<Item extends z.ZodType>(item: Item) {
  return pageShape(item).extend({
    now: serverNow,
    looked_at: count.describe('Through how many keys of Redis this page has looked.'),
    keys: count.describe('How many keys Redis has.'),
  });
}

const listedAccountShape = z
  .strictObject({
    id,
    email: z.string(),
    status: z
      .enum(ACCOUNT_STATES)
      .describe('leaving: its deletion waits for shared workspaces. deleted: it can be restored.'),
    created_at: moment,
    devices: count.describe('Bound to it.'),
    endpoints: count.describe('Where it sends its events.'),
    shared_workspaces: count.describe('That it belongs to.'),
  })
  .meta({ id: 'ListedAccount' });

const provisionedDeviceShape = z
  .strictObject({
    device_id: id.describe('The device.'),
    kind: deviceKind,
    state: z.enum(DEVICE_STATES).describe('revoked: none of its certificates is good any more.'),
    account_id: id.nullable().describe('Whom it records for; null for one that is bound to nobody.'),
    provisioned_at: moment.describe('When it got its first certificate.'),
    last_seen_at: moment
      .nullable()
      .describe('When it last sent a heartbeat or redeemed a claim, to the minute; null while it never has.'),
    certificate_until: moment.nullable().describe('When the certificate in use ends; null where that is not known.'),
  })
  .meta({ id: 'ProvisionedDevice' });

const listedStreamShape = z
  .strictObject({
    id,
    captured_at: moment.describe('When its timeline begins.'),
    created_at: moment,
    end_ms: count.nullable().describe('Where its timeline ends; null while it is open.'),
    device_id: id.nullable().describe('The device that uploads it; null for an app.'),
    stored_chunks: count.describe('Chunks whose bytes have come.'),
    stored_bytes: count.describe('All of them together.'),
    awaited_chunks: count.describe('Announced, and not uploaded.'),
  })
  .meta({ id: 'ListedStream' });

const ofAccountShape = { account_id: id.describe('Whose they are.') };
const paging = z.object({ limit: listLimit, cursor: listCursor });

export const DIRECTORY_ROUTES: readonly Route[] = [
  operatorRoute({
    method: 'GET',
    path: '/ops/accounts',
    summary: 'Accounts, by a part of the id or of the email, and by how they stand.',
    notes:
      'No index lists them: a page looks through a bounded number of keys, in the order of Redis, and may hold few rows, none, or somewhat more than asked for. There are more while `cursor` is not null.',
    credential: 'operator',
    query: scanQuery.extend({
      status: z
        .enum(ACCOUNT_STATES, `must be one of ${ACCOUNT_STATES.join(', ')}`)
        .optional()
        .describe('Only these.'),
    }),
    answer: scannedShape(listedAccountShape),
    async handler({ services, query: { status, ...asked } }) {
      const holds = ({ phase }: Account) => status === undefined || phase.status === status;
      return scanned(services, await findAccounts(services, { ...asked, holds }), accountRow);
    },
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
    answer: scannedShape(provisionedDeviceShape),
    async handler({ services, query: { kind, state, unseen_min, ...asked } }) {
      const seen_before_ms = services.clock.now() - unseen_min * MINUTE_MS;
      const holds = (device: FoundDevice) =>
        (kind === undefined || device.kind === kind) &&
        (state === undefined || stateOf(device) === state) &&
        (unseen_min === 0 || (device.last_seen_at_ms ?? 0) <= seen_before_ms);
      const found = await findDevices(services, { ...asked, holds });
      return scanned(services, found, deviceRow);
    },
  }),

  operatorRoute({
    method: 'GET',
    path: '/ops/accounts/:account/devices',
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
      const account = await accountNamed(services, params.account as string);
      const page = await listDevices(services, { account_id: account.id }, query);
      const items = page.items.map(({ id: device_id, kind, bound_at, last_seen_at }) => ({
        ...{ device_id, kind, bound_at, last_seen_at },
      }));
      return { account_id: account.id, items, cursor: page.cursor };
    },
  }),

  operatorRoute({
    method: 'GET',
    path: '/ops/accounts/:account/streams',
    summary: 'The recordings of an account, the newest first, without what is in them.',
    credential: 'operator',
    query: paging,
    answer: pageShape(listedStreamShape).extend(ofAccountShape),
    refusals: ['NOT_FOUND'],
    async handler({ services, params, query }) {
      const account = await accountNamed(services, params.account as string);
      return { account_id: account.id, ...(await streamsOf(services, account.id, query)) };
    },
  }),
];

async function scanned<Found, Row>(
  { clock, entity_scan }: Services,
  { rows, cursor, looked_at }: ScannedPage<Found>,
  rowOf: (found: Found) => Row,
) {
  const now = new Date(clock.now()).toISOString();
  return { now, items: rows.map(rowOf), cursor, looked_at, keys: await entity_scan.keys() };
}

function accountRow({ id, email, phase, created_at_ms, devices, endpoints, memberships }: Account) {
  return {
    ...{ id, email, status: phase.status, created_at: new Date(created_at_ms).toISOString() },
    ...{ devices, endpoints: endpoints.length, shared_workspaces: memberships.length },
  };
}

function deviceRow(device: FoundDevice): z.infer<typeof provisionedDeviceShape> {
  const { device_id, kind, provisioned_at_ms, last_seen_at_ms, binding, certificates } = device;
  const in_use = certificates.live.find(({ status }) => status === 'in_use');
  return {
    ...{ device_id, kind, state: stateOf(device), account_id: binding?.account_id ?? null },
    provisioned_at: new Date(provisioned_at_ms).toISOString(),
    last_seen_at: momentOrNull(last_seen_at_ms),
    certificate_until: momentOrNull(in_use?.not_after_ms ?? null),
  };
}

function stateOf({ certificates, binding }: FoundDevice): (typeof DEVICE_STATES)[number] {
  if (certificates.revoked_at_ms !== null) return 'revoked';
  return binding === null ? 'unbound' : 'bound';
}

async function streamsOf(
  { runtime, store }: Services,
  account_id: string,
  { limit, cursor: after }: { limit: number; cursor: Position | undefined },
) {
  const place = { owner: account_id, partition: partitionOfId(account_id) };
  const listed = await store.list(place, STREAMS, { after, descending: true, limit: limit + 1 });
  const { rows, cursor } = pageOf(listed, limit);
  const found = await Promise.all(rows.map(({ member }) => runtime.stored({ kind: 'stream', id: member })));
  // One that was deleted leaves a gap.
  const kept = found.flatMap((one) => {
    const state = (one?.state ?? null) as Stream | null;
    return state?.status === 'kept' ? [streamRow(state)] : [];
  });
  return { items: kept, cursor };
}

function streamRow(stream: Stream): z.infer<typeof listedStreamShape> {
  const { id, captured_at, created_at_ms, end_ms, recorder, stored_chunks, stored_bytes, open } = stream;
  return {
    ...{ id, captured_at, created_at: new Date(created_at_ms).toISOString(), end_ms },
    ...{ device_id: recorder?.device_id ?? null, stored_chunks, stored_bytes, awaited_chunks: open.length },
  };
}
