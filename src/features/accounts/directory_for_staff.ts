import { z } from 'zod';
import type { Account } from '../../../actors/accounts/account_state.js';
import { count, deviceKind, id, moment, momentOrNull, pageShape, serverNow } from '../../access/response_schemas.js';
import { isScanCursor, type ScannedPage } from '../../engine/store/entity_scan.js';
import type { FeatureServices } from '../services.js';
import { type FoundDevice, findAccounts, findDevices } from './directory.js';

/** Accounts and devices as staff look for them. */

export const DEVICE_STATES = ['bound', 'unbound', 'revoked'] as const;
export const ACCOUNT_STATES = ['active', 'leaving', 'deleted', 'erasing', 'erased'] as const;

export const scanCursor = z
  .string()
  .refine(isScanCursor, 'must be a cursor that this list returned')
  .optional()
  .describe('Where to continue: the cursor of the page before. Absent for the first page.');

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

export const listedAccountsShape = scannedShape(listedAccountShape);
export const provisionedDevicesShape = scannedShape(provisionedDeviceShape);

type ScanQuery = { find: string; limit: number; cursor?: string | undefined };

/** Lists accounts by a part of the id or of the email, and by status. */
export async function listAccounts(
  services: Pick<FeatureServices, 'clock' | 'entity_scan' | 'runtime'>,
  { status, ...query }: ScanQuery & { status?: (typeof ACCOUNT_STATES)[number] | undefined },
): Promise<z.infer<typeof listedAccountsShape>> {
  const holds = ({ phase }: Account) => status === undefined || phase.status === status;
  return scanned(services, await findAccounts(services, { ...query, holds }), accountView);
}

type DeviceScanQuery = ScanQuery & {
  kind?: 'personal' | 'shared' | undefined;
  state?: (typeof DEVICE_STATES)[number] | undefined;
  /** Only devices that have not called for this time. */
  unseen_ms: number;
};

/** Lists devices by a part of the id or by their account, and by state. */
export async function listProvisionedDevices(
  services: Pick<FeatureServices, 'actors' | 'clock' | 'entity_scan' | 'runtime'>,
  { kind, state, unseen_ms, ...query }: DeviceScanQuery,
): Promise<z.infer<typeof provisionedDevicesShape>> {
  const seen_before_ms = services.clock.now() - unseen_ms;
  const holds = (device: FoundDevice) =>
    (kind === undefined || device.kind === kind) &&
    (state === undefined || stateOf(device) === state) &&
    (unseen_ms === 0 || (device.last_seen_at_ms ?? 0) <= seen_before_ms);
  return scanned(services, await findDevices(services, { ...query, holds }), deviceView);
}

async function scanned<Found, View>(
  { clock, entity_scan }: Pick<FeatureServices, 'clock' | 'entity_scan'>,
  { rows, cursor, looked_at }: ScannedPage<Found>,
  viewOf: (found: Found) => View,
) {
  const now = new Date(clock.now()).toISOString();
  return { now, items: rows.map(viewOf), cursor, looked_at, keys: await entity_scan.keys() };
}

function accountView(account: Account): z.infer<typeof listedAccountShape> {
  const { id, email, phase, created_at_ms, devices, endpoints, memberships } = account;
  return {
    id,
    email,
    status: phase.status,
    created_at: new Date(created_at_ms).toISOString(),
    devices,
    endpoints: endpoints.length,
    shared_workspaces: memberships.length,
  };
}

function deviceView(device: FoundDevice): z.infer<typeof provisionedDeviceShape> {
  const { device_id, kind, provisioned_at_ms, last_seen_at_ms, binding, certificates } = device;
  const in_use = certificates.live.find(({ status }) => status === 'in_use');
  return {
    device_id,
    kind,
    state: stateOf(device),
    account_id: binding?.account_id ?? null,
    provisioned_at: new Date(provisioned_at_ms).toISOString(),
    last_seen_at: momentOrNull(last_seen_at_ms),
    certificate_until: momentOrNull(in_use?.not_after_ms ?? null),
  };
}

function stateOf({ certificates, binding }: FoundDevice): (typeof DEVICE_STATES)[number] {
  if (certificates.revoked_at_ms !== null) return 'revoked';
  return binding === null ? 'unbound' : 'bound';
}
