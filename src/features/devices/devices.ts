import { z } from 'zod';
import { type Page, type PageQuery, pageOf } from '../../access/cursors.js';
import type { Principal } from '../../access/principal.js';
import { deviceKind, id, moment, momentOrNull } from '../../access/response_schemas.js';
import { orRefused } from '../../domain/refusals.js';
import type { FeatureServices } from '../services.js';

/** Devices as the account that they record for sees them. Rules H-033 to H-036. */

export const MANAGES_DEVICES = ['devices:manage'] as const;

export const deviceShape = z
  .strictObject({
    id,
    kind: deviceKind,
    bound_at: moment.describe('Since when it records for the account.'),
    last_seen_at: moment
      .nullable()
      .describe('When it last sent a heartbeat or redeemed a claim, to the minute; null while it never has.'),
    session_id: id.nullable().describe('The recorder session of a shared one; null for a personal one.'),
  })
  .meta({ id: 'Device' });

export type DeviceView = z.infer<typeof deviceShape>;

/** A page of an account's devices, the last bound first. */
export async function listDevices(
  { actors }: Pick<FeatureServices, 'actors'>,
  { account_id }: Pick<Principal, 'account_id'>,
  { limit, cursor }: PageQuery,
): Promise<Page<DeviceView>> {
  const after = cursor === undefined ? undefined : { order: cursor.order, id: cursor.member };
  const range = { after, descending: true, limit: limit + 1 };
  const listed = await actors.account(account_id).list_devices({ range });
  const page = pageOf(
    listed.devices.map((device) => ({ ...device, member: device.id })),
    limit,
  );
  const items = await Promise.all(
    page.rows.map(async ({ id, kind, bound_at_ms, binding_epoch }): Promise<DeviceView> => {
      const device = await actors.device(id).view().catch(orRefused(null));
      return {
        id,
        kind,
        bound_at: new Date(bound_at_ms).toISOString(),
        last_seen_at: momentOrNull(device?.last_seen_at_ms ?? null),
        session_id: kind === 'shared' ? binding_epoch : null, // a personal device has no recorder session
      };
    }),
  );
  return { items, cursor: page.cursor };
}

/** Unbinds a device at once; its present recorder session ends. */
export async function removeDevice(
  { actors }: Pick<FeatureServices, 'actors'>,
  { account_id, fences }: Principal,
  device_id: string,
): Promise<void> {
  await actors.downstream.account(account_id).remove_device({ device_id }, fences);
}
