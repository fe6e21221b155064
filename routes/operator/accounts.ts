import { z } from 'zod';
import { type Account, eraseAtMs } from '../../actors/accounts/account_state.js';
import { isLiving } from '../../actors/accounts/account_tokens.js';
import { count, id, moment, permission } from '../../src/access/response_schemas.js';
import { ENTITLEMENT_DEFAULTS, ENTITLEMENTS, type Entitlement, permissionsOf } from '../../src/domain/permissions.js';
import { Refused, refuse } from '../../src/domain/refusals.js';
import { accountNamed } from '../../src/features/accounts/account_of_email.js';
import { operatorRoute, type Route } from '../rows.js';
import type { Services } from '../services.js';

const entitlementsShape = z.record(z.enum(ENTITLEMENTS), z.boolean());

const accountForStaffShape = z.strictObject({
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

const entitledShape = z.strictObject({
  account_id: id.describe('Whose it is.'),
  entitlements: z.partialRecord(z.enum(ENTITLEMENTS), z.boolean()).describe('Those that were ever switched.'),
  permissions: z.array(permission).describe('What its credentials can hold at most from now on.'),
});

/** Accounts, and what staff switch for them. */
export const STAFF_ACCOUNT_ROUTES: readonly Route[] = [
  operatorRoute({
    method: 'GET',
    path: '/ops/accounts/:account',
    summary: 'How an account stands, by its id or email.',
    notes: 'Nothing of what is in it.',
    credential: 'operator',
    answer: accountForStaffShape,
    refusals: ['NOT_FOUND'],
    async handler({ services, params }) {
      const account = await accountNamed(services, params.account as string);
      return accountForStaff(account, services.clock.now());
    },
  }),

  operatorRoute({
    method: 'PUT',
    path: '/ops/accounts/:account/entitlements/:name',
    summary: 'Switches an entitlement.',
    credential: 'operator',
    body: z.object({ enabled: z.boolean('must be true or false').describe('Whether the account has it.') }),
    answer: entitledShape,
    refusals: ['NOT_FOUND', 'CONFLICT'],
    async handler({ services, params, body: { enabled } }) {
      const entitlement = ENTITLEMENTS.find((name) => name === params.name);
      if (entitlement === undefined)
        throw new Refused(refuse('NOT_FOUND', `There is no such entitlement; they are ${ENTITLEMENTS.join(', ')}.`));
      const account = await accountNamed(services, params.account as string);
      return switchEntitlement(services, { account_id: account.id, entitlement, enabled });
    },
  }),
];

/** How an account stands, without what is in it. */
function accountForStaff(account: Account, now_ms: number): z.infer<typeof accountForStaffShape> {
  const { email, created_at_ms, phase, entitlements, devices, memberships, tokens } = account;
  const erase_at_ms = eraseAtMs(account);
  return {
    ...{ id: account.id, email, status: phase.status, devices, permissions: [...permissionsOf(entitlements)] },
    created_at: new Date(created_at_ms).toISOString(),
    erase_at: erase_at_ms === null ? null : new Date(erase_at_ms).toISOString(),
    entitlements: { ...ENTITLEMENT_DEFAULTS, ...entitlements },
    shared_workspaces: memberships.length,
    personal_access_tokens: tokens.filter((token) => isLiving(token, now_ms)).length,
  };
}

async function switchEntitlement(
  { actors }: Services,
  { account_id, entitlement, enabled }: { account_id: string; entitlement: Entitlement; enabled: boolean },
): Promise<z.infer<typeof entitledShape>> {
  const account = await actors.account(account_id).switch_entitlement({ entitlement, enabled });
  return { account_id, entitlements: account.entitlements, permissions: [...permissionsOf(account.entitlements)] };
}
