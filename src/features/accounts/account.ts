import { z } from 'zod';
import type { Account } from '../../../actors/accounts/account_state.js';
import type { Principal } from '../../access/principal.js';
import { id, permission } from '../../access/response_schemas.js';
import { partitionOfId } from '../../domain/ids.js';
import { type Language, textsIn } from '../../domain/language/texts.js';
import { LIMITS } from '../../domain/limits.js';
import { ENTITLEMENT_DEFAULTS, type Permission, permissionsOf } from '../../domain/permissions.js';
import { Refused, refuse } from '../../domain/refusals.js';
import { sealMail } from '../../engine/mail/sealed_mail.js';
import { randomId } from '../../engine/random/random.js';
import type { ObjectCacheKind } from '../../engine/runtime/caches.js';
import { pollUntil } from '../../engine/runtime/poll_until.js';
import type { Fence } from '../../engine/store/store.js';
import { CachedJson } from '../../engine/wire/cached_json.js';
import type { FeatureServices } from '../services.js';
import { listedWorkspaceShape, workspacesOf } from './account_workspaces.js';
import { deletionMail } from './deletion_mail.js';

/** The signed-in account. docs/rules.md, "Accounts". */

const NOT_RECENT = refuse(
  'REAUTHENTICATION_REQUIRED',
  `Deleting the account needs a code entered within the last ${LIMITS.recent_sign_in_ms / 60_000} minutes; sign in again.`,
);
const STILL_LEAVING = refuse(
  'UNAVAILABLE',
  'A shared workspace has not answered yet; the account is deleted or kept within seconds. Look again.',
  { retry_after_s: 5 },
);

export const accountShape = z
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

type AccountView = z.infer<typeof accountShape>;

export function readAccount({ account, permissions }: Principal): AccountView {
  return viewOf(account, permissions);
}

/** The view of the caller's account; the same object until the view changes. */
export function cachedAccount(
  { runtime }: Pick<FeatureServices, 'runtime'>,
  { account, permissions }: Principal,
): CachedJson<AccountView> {
  const cache = runtime.caches.byObject(VIEWS);
  const before = cache.get(account);
  if (before?.permissions === permissions) return before.view;
  const view = new CachedJson(viewOf(account, permissions));
  cache.set(account, { permissions, view });
  return view;
}

export async function renameAccount(
  { actors }: Pick<FeatureServices, 'actors'>,
  who: Principal,
  { name }: { name: string | null },
): Promise<AccountView> {
  const account = await actors.account(who.account_id).rename({ name }, who.fences);
  return viewOf(account, who.permissions);
}

/**
 * Deletes the account if no shared workspace needs it, and waits for that decision. A code must have been entered for
 * the credential within the last `LIMITS.recent_sign_in_ms`. `language`: of the mail about it.
 */
export async function deleteAccount(
  services: Pick<FeatureServices, 'actors' | 'addresses' | 'clock' | 'keys' | 'mails'>,
  who: Principal,
  { language }: { language: Language },
): Promise<void> {
  const { clock, keys, mails, actors } = services;
  const { verified_at_ms, account_id, account, fences } = who;
  const is_recent = verified_at_ms !== null && clock.now() <= verified_at_ms + LIMITS.recent_sign_in_ms;
  if (!is_recent) throw new Refused(NOT_RECENT);
  const erase_at_ms = clock.now() + LIMITS.erase_after_ms;
  const { restore_url } = services.addresses();
  const mail = {
    mail_id: randomId({ partition: 0, now_ms: clock.now() }),
    sealed: sealMail(keys, deletionMail({ to: account.email, erase_at_ms, restore_url }, textsIn(language))),
  };
  await actors.downstream.account(account_id).delete({ mail }, fences);
  await pollUntil(async () => {
    const found = await actors.account(account_id).deletion_outcome();
    return found.outcome === 'leaving' ? null : found;
  }, STILL_LEAVING);
  mails.due.offerPartitions([partitionOfId(account_id)]); // the answer does not wait for it
}

/** Restores a deleted account; changes no other account. ACCOUNT_DELETION_IN_PROGRESS while its data is erased. */
export function restoreAccount(
  { actors }: Pick<FeatureServices, 'actors'>,
  { account_id, fences }: { account_id: string; fences: Fence[] },
) {
  return actors.downstream.account(account_id).restore({}, fences);
}

/** The last view of each state of an account, and the permissions that the view was made for. */
const VIEWS: ObjectCacheKind<Account, { permissions: readonly Permission[]; view: CachedJson<AccountView> }> = {
  name: 'account views',
};

/** `usable`: permissions that the calling credential can use. */
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
    workspaces: workspacesOf(account).map(({ created_at: _, ...workspace }) => workspace),
  };
}
