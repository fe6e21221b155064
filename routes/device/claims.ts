import { z } from 'zod';
import { UNBOUND } from '../../actors/binding.js';
import { type Claim, type ClaimMessage, STILL_REDEEMED } from '../../actors/claim.js';
import type { Device, DeviceMessage } from '../../actors/device.js';
import { isSecret, parseSecret } from '../../src/secrets/tokens.js';
import type { Services } from '../../src/services.js';
import { LIMITS } from '../../src/vocabulary/limits.js';
import { isRefusal, type Refusal, refuse } from '../../src/vocabulary/refusals.js';
import { patiently } from '../patience.js';
import { deviceRoute, type Route } from '../route.js';
import { boundBy, openAccount } from './bound.js';

/** How a device comes to be bound to an account. Choices: "Devices". */

const UNKNOWN_CLAIM = refuse('NOT_FOUND', 'The claim is unknown or has expired.');

export const CLAIM_ROUTES: readonly Route[] = [
  deviceRoute({
    method: 'POST',
    path: '/device/claims/redeem',
    credential: 'device',
    rate: 'claims',
    // An owner claim ignores ble_address, whatever it holds.
    body: z.object({ claim: z.string('must be the text of a claim').max(200), ble_address: z.unknown().optional() }),
    async handler({ services, who: { device_id }, body }) {
      const parsed = parseSecret('claim', body.claim);
      if (parsed === null) return UNKNOWN_CLAIM;
      const { runtime, keys } = services;
      const address = { kind: 'claim', id: parsed.id };
      const claim = await runtime.ask<Claim>(address, { type: 'view' } satisfies ClaimMessage);
      if (isRefusal(claim)) return claim;
      if (!isSecret(keys, 'claim', parsed, claim.secret_hash)) return UNKNOWN_CLAIM;
      const open = await openAccount(services, claim.account_id);
      if (isRefusal(open)) return open;
      const redeemed = await runtime.askSettled<Claim>(address, { type: 'redeem', device_id } satisfies ClaimMessage);
      if (isRefusal(redeemed)) return redeemed;
      const outcome = await outcomeOf(services, address, device_id);
      return isRefusal(outcome) ? outcome : bindingView(services, { device_id, epoch: outcome.binding_epoch });
    },
  }),

  deviceRoute({
    method: 'GET',
    path: '/device/binding',
    credential: 'device',
    async handler({ services, who: { device_id } }) {
      const device = await services.runtime.ask<Device>({ kind: 'device', id: device_id }, {
        type: 'view',
      } satisfies DeviceMessage);
      if (isRefusal(device)) return device;
      return device.binding === null ? UNBOUND : bindingView(services, { device_id, epoch: device.binding.epoch });
    },
  }),

  deviceRoute({
    method: 'POST',
    path: '/device/heartbeat',
    credential: 'device',
    async handler({ services, who: { device_id } }) {
      const { runtime, clock } = services;
      const device = await runtime.ask<Device>({ kind: 'device', id: device_id }, {
        type: 'view',
      } satisfies DeviceMessage);
      if (isRefusal(device)) return device;
      if (device.binding === null) return UNBOUND;
      const bound = await boundBy(services, { device_id, epoch: device.binding.epoch });
      if (isRefusal(bound)) return bound;
      const seen = await runtime.ask({ kind: 'device', id: device_id }, { type: 'seen' } satisfies DeviceMessage);
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

async function bindingView(
  services: Services,
  { device_id, epoch }: { device_id: string; epoch: string },
): Promise<unknown | Refusal> {
  const bound = await boundBy(services, { device_id, epoch });
  if (isRefusal(bound)) return bound;
  return {
    kind: 'owner',
    binding_epoch: epoch,
    owner_user_id: bound.binding.account_id,
    source_device_id: device_id,
    session: null,
    server_time: new Date(services.clock.now()).toISOString(),
    limits: { chunk_bytes_max: LIMITS.chunk_bytes_max, open_intents_max: LIMITS.open_intents_max },
  };
}
