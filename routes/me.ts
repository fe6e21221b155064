import { z } from 'zod';
import type { AccountMessage, AccountView } from '../actors/account.js';
import { LIMITS } from '../src/vocabulary/limits.js';
import { ENTITLEMENT_DEFAULTS } from '../src/vocabulary/permissions.js';
import { isRefusal } from '../src/vocabulary/refusals.js';
import { trimmedText } from './forms.js';
import type { Principal } from './principal.js';
import { accountRoute, type Route } from './route.js';

/** The signed-in account. Interface: "Account". */
export const ME_ROUTES: readonly Route[] = [
  accountRoute({
    method: 'GET',
    path: '/me',
    credential: 'account',
    permission: ['account:manage'],
    handler: async ({ who }) => accountView(who.account, who),
  }),

  accountRoute({
    method: 'PATCH',
    path: '/me',
    credential: 'account',
    permission: ['account:manage'],
    body: z.object({ name: trimmedText(LIMITS.account_name_chars_max).nullable() }),
    async handler({ services, who, body: { name } }) {
      const message: AccountMessage = { type: 'rename', name };
      const account = await services.runtime.ask<AccountView>(
        { kind: 'account', id: who.account_id },
        message,
        who.guards,
      );
      return isRefusal(account) ? account : accountView(account, who);
    },
  }),
];

/** The Account of the interface; permissions are those that the calling credential can use. */
function accountView(account: AccountView, who: Principal) {
  const { id, email, name, entitlements, private_workspace } = account;
  const enabled = { ...ENTITLEMENT_DEFAULTS, ...entitlements };
  return {
    id,
    email,
    name,
    developer_enabled: enabled['developer.tools'],
    permissions: account.permissions.filter((permission) => who.permissions.includes(permission)),
    sharing_enabled: enabled['workspace.sharing'],
    agent_enabled: enabled['agent.experimental'],
    workspaces: [{ ...private_workspace, private: true, role: 'owner' }],
  };
}
