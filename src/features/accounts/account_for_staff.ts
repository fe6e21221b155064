import { z } from 'zod';
import { eraseAtMs } from '../../../actors/accounts/account_state.js';
import { isLiving } from '../../../actors/accounts/account_tokens.js';
import { count, id, moment, momentOrNull, permission } from '../../access/response_schemas.js';
import { ENTITLEMENT_DEFAULTS, ENTITLEMENTS, permissionsOf } from '../../domain/permissions.js';
import { Refused, refuse } from '../../domain/refusals.js';
import type { FeatureServices } from '../services.js';
import { accountNamed } from './account_of_email.js';

const NO_ENTITLEMENT = refuse('NOT_FOUND', `There is no such entitlement; they are ${ENTITLEMENTS.join(', ')}.`);

const entitlementsShape = z.record(z.enum(ENTITLEMENTS), z.boolean());

export const accountForStaffShape = z.strictObject({
  id,
  email: z.string(),
  status: z
    .enum(['active', 'leaving', 'deleted', 'erasing', 'erased'])
    .describe('leaving: its deletion waits for shared workspaces. deleted: it can be restored.'),
  permissions: z.array(permission).describe('What its credentials can hold at most.'),
  devices: count.describe('Bound to it.'),
  created_at: moment,
  erase_at: moment.nullable().describe('When a deleted one is erased; null otherwise.'),
  entitlements: entitlementsShape.describe('What staff have switched on and off, or the default.'),
  shared_workspaces: count.describe('That it belongs to.'),
  personal_access_tokens: count.describe('That are still good.'),
});

export const entitledShape = z.strictObject({
  account_id: id.describe('Whose it is.'),
  entitlements: z.partialRecord(z.enum(ENTITLEMENTS), z.boolean()).describe('Those that were ever switched.'),
  permissions: z.array(permission).describe('What its credentials can hold at most from now on.'),
});

/** An account as staff see it, by its id or email; without its content. */
export async function readAccountForStaff(
  services: Pick<FeatureServices, 'actors' | 'clock'>,
  named: string,
): Promise<z.infer<typeof accountForStaffShape>> {
  const account = await accountNamed(services, named);
  const now_ms = services.clock.now();
  const { email, created_at_ms, phase, entitlements, devices, memberships, tokens } = account;
  return {
    id: account.id,
    email,
    status: phase.status,
    devices,
    permissions: [...permissionsOf(entitlements)],
    created_at: new Date(created_at_ms).toISOString(),
    erase_at: momentOrNull(eraseAtMs(account)),
    entitlements: { ...ENTITLEMENT_DEFAULTS, ...entitlements },
    shared_workspaces: memberships.length,
    personal_access_tokens: tokens.filter((token) => isLiving(token, now_ms)).length,
  };
}

export async function switchEntitlement(
  services: Pick<FeatureServices, 'actors'>,
  { account: named, name, enabled }: { account: string; name: string; enabled: boolean },
): Promise<z.infer<typeof entitledShape>> {
  const entitlement = ENTITLEMENTS.find((one) => one === name);
  if (entitlement === undefined) throw new Refused(NO_ENTITLEMENT);
  const { id: account_id } = await accountNamed(services, named);
  const account = await services.actors.account(account_id).switch_entitlement({ entitlement, enabled });
  return { account_id, entitlements: account.entitlements, permissions: [...permissionsOf(account.entitlements)] };
}
