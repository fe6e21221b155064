import { z } from 'zod';
import { listCursor, type Position, pageOf } from '../../src/access/cursors.js';
import { listLimit } from '../../src/access/request_schemas.js';
import { deviceKind, id, moment, pageShape } from '../../src/access/response_schemas.js';
import { partitionOfId } from '../../src/domain/ids.js';
import { LIMITS } from '../../src/domain/limits.js';
import { orRefused, Refused, refuse } from '../../src/domain/refusals.js';
import { randomId } from '../../src/engine/runtime/random.js';
import { makeSecret } from '../../src/engine/secrets/tokens.js';
import { accountRoute, type Route } from '../rows.js';
import type { Services } from '../services.js';

const deviceShape = z
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

/** The app's side of devices. Rules H-033 to H-036. */
export const DEVICE_MANAGEMENT_ROUTES: readonly Route[] = [
  accountRoute({
    method: 'POST',
    path: '/devices/claims',
    summary: 'Makes a claim, with which a personal device binds itself to the account.',
    notes: 'It counts for an hour, for one device.',
    credential: 'account',
    permission: ['devices:manage'],
    rate: 'claims',
    status: 201,
    body: z.object({
      kind: z.literal('owner', 'must be owner').describe('The claim of an owner: there is no other here.'),
    }),
    answer: z.strictObject({
      claim: z.string().describe('What the app hands to the device, which redeems it; shown this once.'),
      kind: z.literal('owner').describe('As asked for.'),
      expires_at: moment.describe('Until then it can be redeemed.'),
    }),
    refusals: ['CONFLICT'],
    async handler({ services: { keys, actors, clock }, who }) {
      if (who.account.devices >= LIMITS.devices_per_account_max) {
        throw new Refused(refuse('CONFLICT', `An account holds at most ${LIMITS.devices_per_account_max} devices.`));
      }
      const { account_id } = who;
      const drawn = () => randomId({ partition: partitionOfId(account_id), now_ms: clock.now() });
      const claim_id = drawn();
      const { text: claim, secret_hash } = makeSecret(keys, 'claim', claim_id);
      const made = await actors
        .claim(claim_id)
        .create({ account_id, secret_hash, binding_epoch: drawn(), source_id: drawn() }, who.fences);
      return { claim, kind: made.kind, expires_at: new Date(made.expires_at_ms).toISOString() };
    },
  }),

  accountRoute({
    method: 'GET',
    path: '/devices',
    summary: 'The devices of the account, those bound last first.',
    credential: 'account',
    permission: ['devices:manage'],
    query: z.object({ limit: listLimit, cursor: listCursor }),
    answer: pageShape(deviceShape),
    handler: ({ services, who, query }) => listDevices(services, who.account_id, query),
  }),

  accountRoute({
    method: 'DELETE',
    path: '/devices/:id',
    summary: 'Unbinds a device, at once.',
    notes: 'A session that it records in ends.',
    credential: 'account',
    permission: ['devices:manage'],
    status: 204,
    async handler({ services: { actors }, who, params }) {
      return actors.downstream.account(who.account_id).remove_device({ device_id: params.id as string }, who.fences);
    },
  }),
];

/** A page of an account's devices, those bound last first. */
export async function listDevices(
  { actors }: Services,
  account_id: string,
  { limit, cursor }: { limit: number; cursor?: Position | undefined },
): Promise<{ items: DeviceView[]; cursor: string | null }> {
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
      const seen_ms = device?.last_seen_at_ms ?? null;
      return {
        id,
        kind,
        bound_at: new Date(bound_at_ms).toISOString(),
        last_seen_at: seen_ms === null ? null : new Date(seen_ms).toISOString(),
        session_id: kind === 'shared' ? binding_epoch : null, // a personal device has no recorder session
      };
    }),
  );
  return { items, cursor: page.cursor };
}
