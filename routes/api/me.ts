import { z } from 'zod';
import type { Account } from '../../actors/accounts/account_state.js';
import type { Principal } from '../../src/access/principal.js';
import { trimmedText } from '../../src/access/request_schemas.js';
import { id, permission } from '../../src/access/response_schemas.js';
import { partitionOfId } from '../../src/domain/ids.js';
import { LIMITS } from '../../src/domain/limits.js';
import { ENTITLEMENT_DEFAULTS, type Permission, permissionsOf } from '../../src/domain/permissions.js';
import { refuse, throwRefusal } from '../../src/domain/refusals.js';
import { lasting } from '../../src/edge/http/lasting_answers.js';
import { sealMail } from '../../src/engine/mail/sealed_mail.js';
import { pollUntil } from '../../src/engine/runtime/poll_until.js';
import { randomId } from '../../src/engine/runtime/random.js';
import type { Fence } from '../../src/engine/store/store.js';
import { listedWorkspaceShape, workspacesOf } from '../../src/features/accounts/account_workspaces.js';
import { deletionMail } from '../../src/features/accounts/deletion_mail.js';
import { accountRoute, type Route } from '../rows.js';
import type { Services } from '../services.js';

const NOT_RECENT = refuse(
  'REAUTHENTICATION_REQUIRED',
  `Deleting the account needs a code entered within the last ${LIMITS.recent_sign_in_ms / 60_000} minutes; sign in again.`,
);
const STILL_LEAVING = refuse(
  'UNAVAILABLE',
  'A shared workspace has not answered yet; the account is deleted or kept within seconds. Look again.',
  { retry_after_s: 5 },
);

const accountShape = z
  .strictObject({
    id,
    email: z.string(),
    name: z.string().nullable().describe('What the person is called; null until it is set.'),
    developer_enabled: z.boolean().describe('Whether the account has developer access.'),
    permissions: z
      .array(permission)
      .describe('What the calling credential may use: of what the account holds, what its scopes allow.'),
    sharing_enabled: z.boolean().describe('Whether the account may share workspaces.'),
    agent_enabled: z.boolean().describe('Whether the account has the experimental agent.'),
    workspaces: z
      .array(listedWorkspaceShape.omit({ created_at: true }))
      .describe('The private workspace first, then the others by name.'),
  })
  .meta({ id: 'Account' });

/** The signed-in account. docs/rules.md, "Accounts". */
export const ME_ROUTES: readonly Route[] = [
  accountRoute({
    method: 'GET',
    path: '/me',
    summary: 'The signed-in account.',
    credential: 'account',
    permission: ['account:manage'],
    answer: accountShape,
    handler: async ({ who }) => accountView(who.account, who),
  }),

  accountRoute({
    method: 'PATCH',
    path: '/me',
    summary: 'Renames the account.',
    credential: 'account',
    permission: ['account:manage'],
    body: z.object({
      name: trimmedText(LIMITS.account_name_chars_max)
        .nullable()
        .describe('What the person is called; null for no name.'),
    }),
    answer: accountShape,
    async handler({ services, who, body: { name } }) {
      const account = await services.actors.account(who.account_id).rename({ name }, who.fences);
      return accountView(account, who);
    },
  }),

  accountRoute({
    method: 'DELETE',
    path: '/me',
    summary: 'Deletes the account.',
    notes:
      'It takes effect at once, and for seven days everything can be restored. A code must have been entered for this credential within the last ten minutes.',
    credential: 'app',
    permission: ['account:manage'],
    status: 204,
    refusals: ['REAUTHENTICATION_REQUIRED', 'WORKSPACE_OWNER_REQUIRED'],
    async handler({ services, who }) {
      const { verified_at_ms, account } = who;
      const is_recent = verified_at_ms !== null && services.clock.now() <= verified_at_ms + LIMITS.recent_sign_in_ms;
      return is_recent ? deleteAccount(services, account, who.fences) : throwRefusal(NOT_RECENT);
    },
  }),

  accountRoute({
    method: 'POST',
    path: '/me/restore',
    summary: 'Restores a deleted account.',
    notes: 'Of an account that is not deleted nothing changes.',
    credential: 'app',
    permission: ['account:manage'],
    deleted_too: true,
    status: 204,
    refusals: ['ACCOUNT_DELETION_IN_PROGRESS'],
    async handler({ services: { actors }, who }) {
      return actors.downstream.account(who.account_id).restore({}, who.fences);
    },
  }),
];

/** Deletes the account when every shared workspace can do without it; answers what came of it. */
async function deleteAccount(services: Services, account: Account, fences: Fence[]): Promise<unknown> {
  const { clock, keys, mails, actors } = services;
  const erase_at_ms = clock.now() + LIMITS.erase_after_ms;
  const { restore_url } = services.addresses();
  const mail = {
    mail_id: randomId({ partition: 0, now_ms: clock.now() }),
    sealed: sealMail(keys, deletionMail({ to: account.email, erase_at_ms, restore_url })),
  };
  await actors.downstream.account(account.id).delete({ mail }, fences);
  await pollUntil(async () => {
    const found = await actors.account(account.id).deletion_outcome();
    return found.outcome === 'leaving' ? null : found;
  }, STILL_LEAVING);
  void mails.sendDue(partitionOfId(account.id)); // the answer does not wait for it
  return null;
}

type AccountView = z.infer<typeof accountShape>;

/** What was last shown of each state of an account, and for which permissions. */
const shown = new WeakMap<Account, { permissions: readonly Permission[]; view: AccountView }>();

/** The Account of the interface; permissions are those that the calling credential can use. */
function accountView(account: Account, { permissions }: Principal): AccountView {
  const before = shown.get(account);
  if (before?.permissions === permissions) return before.view;
  const view = lasting(viewOf(account, permissions));
  shown.set(account, { permissions, view });
  return view;
}

function viewOf(account: Account, usable: readonly Permission[]): AccountView {
  const { email, name, entitlements } = account;
  const enabled = { ...ENTITLEMENT_DEFAULTS, ...entitlements };
  return {
    id: account.id,
    email,
    name,
    developer_enabled: enabled['developer.tools'],
    permissions: permissionsOf(entitlements).filter((permission) => usable.includes(permission)),
    sharing_enabled: enabled['workspace.sharing'],
    agent_enabled: enabled['agent.experimental'],
    workspaces: workspacesOf(account).map(({ id, name, private: is_private, role }) => ({
      id,
      name,
      private: is_private,
      role,
    })),
  };
}
