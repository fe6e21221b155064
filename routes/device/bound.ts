import type { AccountMessage, AccountView } from '../../actors/account.js';
import { type Binding, type BindingMessage, UNBOUND } from '../../actors/binding.js';
import type { Services } from '../../src/services.js';
import type { Guard } from '../../src/store/store.js';
import { isRefusal, type Refusal } from '../../src/vocabulary/refusals.js';
import { accountDeleted } from '../principal.js';

/** A binding that lets its device do what it asks, and the life of the account that commits for it must hold. */
export type Bound = { binding: Binding; guards: Guard[] };

/** The binding of an epoch, if it is this device's and has not ended, and its account is there. */
export async function boundBy(
  services: Services,
  { device_id, epoch }: { device_id: string; epoch: string },
): Promise<Bound | Refusal> {
  const { runtime } = services;
  const view: BindingMessage = { type: 'view', device_id };
  const binding = await runtime.ask<Binding>({ kind: 'binding', id: epoch }, view);
  if (isRefusal(binding)) return binding;
  const { account_id } = binding;
  const account = await openAccount(services, account_id);
  if (isRefusal(account)) return account;
  return { binding, guards: [{ guard: 'life', account_id, life: 'account', value: account.lives.account }] };
}

/** The account that a device acts for, unless it is deleted. */
export async function openAccount({ runtime }: Services, account_id: string): Promise<AccountView | Refusal> {
  const view: AccountMessage = { type: 'view' };
  const account = await runtime.ask<AccountView>({ kind: 'account', id: account_id }, view);
  if (isRefusal(account)) return account.refused === 'UNAUTHORIZED' ? UNBOUND : account;
  return accountDeleted(account) ?? account;
}
