import { z } from 'zod';
import { isOpen } from '../../../actors/accounts/account_state.js';
import { ownPrincipal, type Principal } from '../../access/principal.js';
import { moment, momentOrNull } from '../../access/response_schemas.js';
import { permissionsOf } from '../../domain/permissions.js';
import { orNull, Refused, refuse } from '../../domain/refusals.js';
import { isSecret, makeSecret, parseSecret } from '../../engine/secrets/tokens.js';
import type { FeatureServices } from '../services.js';

/** The address to which omi sends conversations and audio of an account. docs/choices.md, "omi". */

const ENDED = refuse('NOT_FOUND', 'The address has ended, or there never was one.');
const MAY_NOT_RECORD = refuse('FORBIDDEN', 'You do not hold audio:write yourself.');

const made = {
  made_at: moment.nullable().describe('When the address was made; null where there is none.'),
  last_used_at: moment.nullable().describe('When something came last, to the hour; null while nothing did.'),
};

export const omiAddressShape = z.strictObject(made).meta({ id: 'OmiAddress' });
export const madeOmiAddressShape = z
  .strictObject({ url: z.string().describe('The address. It is told only now.'), ...made })
  .meta({ id: 'MadeOmiAddress' });

type OmiAddressView = z.infer<typeof omiAddressShape>;

export function omiAddress({ account: { omi } }: Pick<Principal, 'account'>): OmiAddressView {
  return { made_at: momentOrNull(omi?.made_at_ms ?? null), last_used_at: momentOrNull(omi?.used_at_ms ?? null) };
}

/** Makes the address of the caller; the one before ends. */
export async function makeOmiAddress(
  { actors, addresses, keys }: Pick<FeatureServices, 'actors' | 'addresses' | 'keys'>,
  who: Principal,
): Promise<z.infer<typeof madeOmiAddressShape>> {
  if (!who.permissions.includes('audio:write')) throw new Refused(MAY_NOT_RECORD);
  const { text, secret_hash } = makeSecret(keys, 'omi', who.account_id);
  const omi = await actors.account(who.account_id).make_omi({ secret_hash }, who.fences);
  return { url: `${addresses().base_url}/omi/${text}`, ...omiAddress({ account: { ...who.account, omi } }) };
}

export async function endOmiAddress(
  { actors }: Pick<FeatureServices, 'actors'>,
  { account_id, fences }: Pick<Principal, 'account_id' | 'fences'>,
): Promise<void> {
  await actors.account(account_id).end_omi({}, fences);
}

/**
 * The account behind the last part of an address, for a body of this user of omi. NOT_FOUND where the address has ended, as
 * where there never was one.
 */
export async function omiSender(
  { actors, keys }: Pick<FeatureServices, 'actors' | 'keys'>,
  { secret, uid }: { secret: string; uid: string },
): Promise<Principal> {
  const parsed = parseSecret('omi', secret);
  const account = parsed === null ? null : await orNull(actors.account(parsed.id).view(), 'UNAUTHORIZED');
  if (parsed === null || account?.omi === undefined || !isOpen(account)) throw new Refused(ENDED);
  const { secret_hash } = account.omi;
  if (!isSecret(keys, 'omi', parsed, secret_hash)) throw new Refused(ENDED);
  const permissions = permissionsOf(account.entitlements).filter((held) => held === 'audio:write');
  if (permissions.length === 0) throw new Refused(ENDED);
  await actors.account(account.id).omi_used({ secret_hash, uid });
  const fence = { fence: 'epoch' as const, account_id: account.id, epoch: 'account', value: account.epochs.account };
  return { ...ownPrincipal(account, permissions), fences: [fence] };
}
