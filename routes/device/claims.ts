import { z } from 'zod';
import { type Claim, STILL_REDEEMED } from '../../actors/devices/claim.js';
import { count, id, moment, serverNow } from '../../src/access/response_schemas.js';
import { LIMITS } from '../../src/domain/limits.js';
import { isRefused, Refused, refuse } from '../../src/domain/refusals.js';
import { pollUntil } from '../../src/engine/runtime/poll_until.js';
import { isSecret, parseSecret } from '../../src/engine/secrets/tokens.js';
import {
  BOUND_REFUSALS,
  boundBy,
  openAccount,
  presentEpoch,
  type Recording,
} from '../../src/features/devices/device_binding.js';
import { deviceRoute, type Route } from '../rows.js';
import type { Services } from '../services.js';

/** How a device comes to be bound to an account. Rules H-027 to H-032. */

const UNKNOWN_CLAIM = refuse('NOT_FOUND', 'The claim is unknown or has expired.');
const BLE_ADDRESS = z.string().regex(/^[0-9A-F]{12}$/);
const WRONG_ADDRESS = refuse('BAD_REQUEST', 'A session claim is redeemed with the BLE address of its recorder.', {
  details: [{ path: 'ble_address', message: 'must be 12 upper-case hexadecimal digits without colons' }],
});

const bindingShape = z
  .strictObject({
    kind: z.enum(['owner', 'session']).describe('owner: until it is removed; session: as long as a recorder session.'),
    binding_epoch: id.describe('What the device sends with all that it records under this binding.'),
    owner_user_id: id.describe('The account that it records for.'),
    source_device_id: id.describe('The device itself.'),
    session: z
      .strictObject({
        id,
        expires_at: moment.describe('When it ends by itself; its host may move that.'),
        drain_until: moment.describe('Until then it may upload.'),
      })
      .nullable()
      .describe('Of a shared recorder; null for a personal device.'),
    server_time: serverNow,
    limits: z
      .strictObject({
        chunk_bytes_max: count.describe('How large a chunk may be, in bytes.'),
        open_intents_max: count.describe('How many announced chunks may wait for their upload at once.'),
      })
      .describe('What the device has to keep to.'),
  })
  .meta({ id: 'Binding' });

export const CLAIM_ROUTES: readonly Route[] = [
  deviceRoute({
    method: 'POST',
    path: '/device/claims/redeem',
    summary: 'Binds the device by a claim.',
    notes:
      'A personal device redeems an owner claim, a shared recorder a session claim together with its BLE address. The same device may redeem again and gets the same answer.',
    credential: 'device',
    rate: 'claims',
    // An owner claim ignores ble_address, whatever it holds; a session claim needs it.
    body: z.object({
      claim: z.string('must be the text of a claim').max(200).describe('What the app handed to the device.'),
      ble_address: z.unknown().optional().describe('Of a shared recorder: 12 upper-case hexadecimal digits.'),
    }),
    answer: bindingShape,
    refusals: [...BOUND_REFUSALS, 'NOT_FOUND', 'CONFLICT'],
    async handler({ services, who, body }) {
      const { device_id } = who;
      const parsed = parseSecret('claim', body.claim);
      if (parsed === null) throw new Refused(UNKNOWN_CLAIM);
      const { actors, keys } = services;
      const claim = await actors.claim(parsed.id).view();
      if (!isSecret(keys, 'claim', parsed, claim.secret_hash)) throw new Refused(UNKNOWN_CLAIM);
      await openAccount(services, claim.account_id);
      const ble_address = BLE_ADDRESS.safeParse(body.ble_address);
      const needs_address = claim.kind === 'session' && who.kind === 'shared';
      // What no address could set right is said first, by the device itself.
      if (needs_address && !ble_address.success) throw new Refused(WRONG_ADDRESS);
      const at = needs_address && ble_address.success ? { ble_address: ble_address.data } : {};
      await actors.downstream.claim(parsed.id).redeem({ device_id, ...at });
      const outcome = await outcomeOf(services, parsed.id, device_id);
      return bindingView(services, who, outcome.binding_epoch);
    },
  }),

  deviceRoute({
    method: 'GET',
    path: '/device/binding',
    summary: 'What the device is bound by.',
    credential: 'device',
    priority: 'critical',
    answer: bindingShape,
    refusals: BOUND_REFUSALS,
    async handler({ services, who }) {
      const epoch = await presentEpoch(services, who);
      return bindingView(services, who, epoch);
    },
  }),

  deviceRoute({
    method: 'POST',
    path: '/device/heartbeat',
    summary: 'Says that the device is there.',
    credential: 'device',
    priority: 'critical',
    answer: z.strictObject({ server_time: serverNow }),
    refusals: BOUND_REFUSALS,
    async handler({ services, who }) {
      const { actors, clock } = services;
      const epoch = await presentEpoch(services, who);
      await boundBy(services, who, epoch);
      await actors.device(who.device_id).seen();
      return { server_time: new Date(clock.now()).toISOString() };
    },
  }),
];

/**
 * How the redemption ended. Whoever began it waited until all was applied; one who asked again meanwhile, or whose
 * redemption another process drives, looks a few times.
 */
function outcomeOf({ actors }: Services, claim_id: string, device_id: string): Promise<Claim> {
  return pollUntil(
    () =>
      actors
        .claim(claim_id)
        .outcome({ device_id })
        .catch((error: unknown) => {
          if (isRefused(error) && error.refusal === STILL_REDEEMED) return null;
          throw error;
        }),
    STILL_REDEEMED,
  );
}

async function bindingView(services: Services, who: Recording, epoch: string): Promise<z.infer<typeof bindingShape>> {
  const bound = await boundBy(services, who, epoch);
  const { session } = bound;
  return {
    kind: session === null ? 'owner' : 'session',
    binding_epoch: epoch,
    owner_user_id: bound.terms.account_id,
    source_device_id: who.device_id,
    session: session && {
      id: epoch,
      expires_at: new Date(session.expires_at_ms).toISOString(),
      drain_until: new Date(session.drain_until_ms).toISOString(),
    },
    server_time: new Date(services.clock.now()).toISOString(),
    limits: { chunk_bytes_max: LIMITS.chunk_bytes_max, open_intents_max: LIMITS.open_intents_max },
  };
}
