import { signal } from '@preact/signals';
import type { Account } from '../../tools/client/api.js';
import { type ApiError, api } from '../api/api.js';
import { apiErrorOf } from '../api/loading.js';

/** The signed-in account, as all pages need it. */

export const account = signal<Account | null>(null);
export const account_error = signal<ApiError | null>(null);

export async function loadAccount(): Promise<void> {
  try {
    account.value = await api('GET /me');
    account_error.value = null;
  } catch (error) {
    account_error.value = apiErrorOf(error);
  }
}
