import type { Account } from '../../actors/account_state.js';
import type { NewAccountId } from '../../actors/email.js';
import { isId } from '../domain/ids.js';
import { isRefusal, type Refusal, refuse } from '../domain/refusals.js';
import { pollUntil } from '../http/poll_until.js';
import { emailAddress } from '../http/request_schemas.js';
import { randomId, randomPartition } from '../random.js';
import type { Services } from '../services.js';

/** Accounts by the email that leads to them. */

const BEING_MADE = refuse('UNAVAILABLE', 'The account is being made; try again in a moment.', { retry_after_s: 2 });
const NO_ACCOUNT = refuse('NOT_FOUND', 'There is no such account.');

/** The id of an account that may have to be made. */
export function newAccountId({ clock }: Services): NewAccountId {
  return { account_id: randomId({ partition: randomPartition(), now_ms: clock.now() }) };
}

/**
 * The account as it is now. One whose making is still in progress, since somebody else's sign-in has begun it, is waited
 * for; it will be finished.
 */
export function accountOf({ actors }: Services, account_id: string): Promise<Account | Refusal> {
  return pollUntil(async () => {
    const account = await actors.account(account_id).view();
    return isRefusal(account) && account.refused === 'UNAUTHORIZED' ? null : account;
  }, BEING_MADE);
}

/** The account that an email leads to, if there is one: for those who may know. */
export async function accountIdOf({ actors }: Services, email: string): Promise<string | null | Refusal> {
  const found = await actors.email(email).view();
  return isRefusal(found) ? found : found.account_id;
}

/** The account that staff name by its id or its email. */
export async function accountNamed(services: Services, named: string): Promise<Account | Refusal> {
  const { actors } = services;
  let account_id: string | null = isId(named) ? named : null;
  if (account_id === null) {
    const email = emailAddress.safeParse(named);
    if (!email.success) return NO_ACCOUNT;
    const found = await accountIdOf(services, email.data);
    if (isRefusal(found)) return found;
    account_id = found;
  }
  if (account_id === null) return NO_ACCOUNT;
  const account = await actors.account(account_id).view();
  return isRefusal(account) && account.refused === 'UNAUTHORIZED' ? NO_ACCOUNT : account;
}
