import { z } from 'zod';
import { type Claim, type ClaimMessage, STILL_REDEEMED } from '../../actors/claim.js';
import type { Device, DeviceMessage } from '../../actors/device.js';
import { UNBOUND } from '../../actors/stream_refs.js';
import { isSecret, parseSecret } from '../../src/secrets/tokens.js';
import type { Services } from '../../src/services.js';
import { LIMITS } from '../../src/vocabulary/limits.js';
import { isRefusal, type Refusal, refuse } from '../../src/vocabulary/refusals.js';
import { patiently } from '../patience.js';
import { deviceRoute, type Route } from '../route.js';
import { boundBy, openAccount, type Recording } from './bound.js';

/** How a device comes to be bound to an account. Choices: "Devices". */

const UNKNOWN_CLAIM = refuse('NOT_FOUND', 'The claim is unknown or has expired.');
const BLE_ADDRESS = z.string().regex(/^[0-9A-F]{12}$/);
const WRONG_ADDRESS = refuse('BAD_REQUEST', 'A session claim is redeemed with the BLE address of its recorder.', {
  details: [{ path: 'ble_address', message: 'must be 12 upper-case hexadecimal digits without colons' }],
});

export const CLAIM_ROUTES: readonly Route[] = [
  deviceRoute({
    method: 'POST',
    path: '/device/claims/redeem',
    credential: 'device',
    rate: 'claims',
    // An owner claim ignores ble_address, whatever it holds; a session claim needs it.
    body: z.object({ claim: z.string('must be the text of a claim').max(200), ble_address: z.unknown().optional() }),
    async handler({ services, who, body }) {
      const { device_id } = who;
      const parsed = parseSecret('claim', body.claim);
      if (parsed === null) return UNKNOWN_CLAIM;
      const { runtime, keys } = services;
      const address = { kind: 'claim', id: parsed.id };
      const claim = await runtime.ask<Claim>(address, { type: 'view' } satisfies ClaimMessage);
      if (isRefusal(claim)) return claim;
      if (!isSecret(keys, 'claim', parsed, claim.secret_hash)) return UNKNOWN_CLAIM;
      const open = await openAccount(services, claim.account_id);
      if (isRefusal(open)) return open;
      const message: ClaimMessage = { type: 'redeem', device_id };
      if (claim.kind === 'session') {
        const ble_address = BLE_ADDRESS.safeParse(body.ble_address);
        if (!ble_address.success) return WRONG_ADDRESS;
        message.ble_address = ble_address.data;
      }
      const redeemed = await runtime.askSettled<Claim>(address, message);
      if (isRefusal(redeemed)) return redeemed;
      const outcome = await outcomeOf(services, address, device_id);
      return isRefusal(outcome) ? outcome : bindingView(services, who, outcome.binding_epoch);
    },
  }),

  deviceRoute({
    method: 'GET',
    path: '/device/binding',
    credential: 'device',
    shed: 'last',
    async handler({ services, who }) {
      const epoch = await presentEpoch(services, who);
      return isRefusal(epoch) ? epoch : bindingView(services, who, epoch);
    },
  }),

  deviceRoute({
    method: 'POST',
    path: '/device/heartbeat',
    credential: 'device',
    shed: 'last',
    async handler({ services, who }) {
      const { runtime, clock } = services;
      const epoch = await presentEpoch(services, who);
      if (isRefusal(epoch)) return epoch;
      const bound = await boundBy(services, who, epoch);
      if (isRefusal(bound)) return bound;
      const seen = await runtime.ask({ kind: 'device', id: who.device_id }, { type: 'seen' } satisfies DeviceMessage);
      return isRefusal(seen) ? seen : { server_time: new Date(clock.now()).toISOString() };
    },
  }),
];

/**
 * How the redemption ended. Whoever began it has heard that all is applied; one who asked again meanwhile, or whose
 * redemption another process drives, looks a few times.
 */
function outcomeOf(
  { runtime }: Services,
  claim: { kind: string; id: string },
  device_id: string,
): Promise<Claim | Refusal> {
  const look: ClaimMessage = { type: 'outcome', device_id };
  return patiently(async () => {
    const outcome = await runtime.ask<Claim>(claim, look);
    return outcome === STILL_REDEEMED ? null : outcome;
  }, STILL_REDEEMED);
}

/** What the device is bound by, or was last and may still upload for. */
async function presentEpoch({ runtime }: Services, { device_id: id }: Recording): Promise<string | Refusal> {
  const device = await runtime.ask<Device>({ kind: 'device', id }, { type: 'view' } satisfies DeviceMessage);
  if (isRefusal(device)) return device;
  return device.binding?.epoch ?? UNBOUND;
}

async function bindingView(services: Services, who: Recording, epoch: string): Promise<unknown | Refusal> {
  const bound = await boundBy(services, who, epoch);
  if (isRefusal(bound)) return bound;
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
