import { z } from 'zod';
import { type Claim, STILL_REDEEMED } from '../../../actors/devices/claim.js';
import type { DeviceIdentity, Principal } from '../../access/principal.js';
import { partitionOfId } from '../../domain/ids.js';
import { LIMITS } from '../../domain/limits.js';
import { isRefused, Refused, refuse } from '../../domain/refusals.js';
import { randomId } from '../../engine/random/random.js';
import { pollUntil } from '../../engine/runtime/poll_until.js';
import { parsePairingCode } from '../../engine/secrets/pairing_codes.js';
import { isSecret, makeSecret, parseSecret } from '../../engine/secrets/tokens.js';
import type { FeatureServices } from '../services.js';
import { type BindingView, openAccount, viewBinding } from './device_binding.js';
import { claimOfCode, type OpenedPairingCode, openPairingCode } from './pairing_codes.js';

/** Claims, by which a device is bound to an account. Rules H-027 to H-032. */

const TOO_MANY_DEVICES = refuse('CONFLICT', `An account holds at most ${LIMITS.devices_per_account_max} devices.`);
const UNKNOWN_CLAIM = refuse('NOT_FOUND', 'The claim is unknown or has expired.');
const BLE_ADDRESS = z.string().regex(/^[0-9A-F]{12}$/);
const WRONG_ADDRESS = refuse('BAD_REQUEST', 'A session claim is redeemed with the BLE address of its recorder.', {
  details: [{ path: 'ble_address', message: 'must be 12 upper-case hexadecimal digits without colons' }],
});

/**
 * Makes a claim with which a personal device binds itself to the account. CONFLICT if the account has too many devices.
 */
export async function createOwnerClaim(
  services: Pick<FeatureServices, 'actors' | 'clock' | 'keys'>,
  { account, account_id, fences }: Principal,
): Promise<{ claim: string; kind: Claim['kind']; expires_at: string } & OpenedPairingCode> {
  const { keys, actors, clock } = services;
  if (account.devices >= LIMITS.devices_per_account_max) throw new Refused(TOO_MANY_DEVICES);
  const drawn = () => randomId({ partition: partitionOfId(account_id), now_ms: clock.now() });
  const claim_id = drawn();
  const { text: claim, secret_hash } = makeSecret(keys, 'claim', claim_id);
  const created = await actors
    .claim(claim_id)
    .create({ account_id, secret_hash, binding_epoch: drawn(), source_id: drawn() }, fences);
  const code = await openPairingCode(services, claim_id);
  return { claim, kind: created.kind, expires_at: new Date(created.expires_at_ms).toISOString(), ...code };
}

/**
 * Binds the device by a claim, or by the pairing code of one. A personal device redeems an owner claim, whatever address
 * comes with it; a shared recorder a session claim together with its BLE address. The same device may redeem again.
 */
export async function redeemClaim(
  services: Pick<FeatureServices, 'actors' | 'clock' | 'keys' | 'rates'>,
  who: DeviceIdentity,
  { claim: text, ble_address }: { claim: string; ble_address?: unknown },
): Promise<BindingView> {
  const { actors } = services;
  const { device_id } = who;
  const { claim_id, claim } = await findClaim(services, who, text);
  await openAccount(services, claim.account_id);
  const address = BLE_ADDRESS.safeParse(ble_address);
  const needs_address = claim.kind === 'session' && who.kind === 'shared';
  // What no address could set right is said first, by the device itself.
  if (needs_address && !address.success) throw new Refused(WRONG_ADDRESS);
  const at = needs_address && address.success ? { ble_address: address.data } : {};
  await actors.downstream.claim(claim_id).redeem({ device_id, ...at });
  const outcome = await outcomeOf(services, claim_id, device_id);
  return viewBinding(services, who, outcome.binding_epoch);
}

/** The claim whose text or pairing code the device sent. */
async function findClaim(
  services: Pick<FeatureServices, 'actors' | 'keys' | 'rates'>,
  who: DeviceIdentity,
  text: string,
): Promise<{ claim_id: string; claim: Claim }> {
  const { actors, keys } = services;
  const code = parsePairingCode(text);
  if (code !== null) {
    const claim_id = await claimOfCode(services, who, code);
    return { claim_id, claim: await actors.claim(claim_id).view() };
  }
  const parsed = parseSecret('claim', text);
  if (parsed === null) throw new Refused(UNKNOWN_CLAIM);
  const claim = await actors.claim(parsed.id).view();
  if (!isSecret(keys, 'claim', parsed, claim.secret_hash)) throw new Refused(UNKNOWN_CLAIM);
  return { claim_id: parsed.id, claim };
}

/**
 * The outcome of the redemption. The caller that began it has waited until all was applied. A caller that asks again
 * meanwhile, or whose redemption another process drives, polls a few times.
 */
function outcomeOf({ actors }: Pick<FeatureServices, 'actors'>, claim_id: string, device_id: string): Promise<Claim> {
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
