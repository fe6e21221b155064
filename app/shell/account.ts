import { signal } from '@preact/signals';
import type { Account, Permission } from '../../kits/typescript/src/api.js';
import { api } from '../api/api.js';
import type { ApiError } from '../api/api_error.js';
import { followFromHere } from '../api/event_feed.js';
import { apiErrorOf } from '../api/loading.js';

/** The signed-in account, as all pages need it. */

export const account = signal<Account | null>(null);
export const account_error = signal<ApiError | null>(null);

export async function loadAccount(): Promise<void> {
  try {
    if (account.value === null) await followFromHere();
    account.value = await api('GET /me');
    account_error.value = null;
  } catch (error) {
    account_error.value = apiErrorOf(error);
  }
}

/** Whether the account holds a permission: staff may have switched a layer of content off. */
export function may(permission: Permission): boolean {
  return account.value?.permissions.includes(permission) ?? false;
}
