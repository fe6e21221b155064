import type { Account } from '../../../actors/accounts/account_state.js';
import type { NewAccountId } from '../../../actors/emails/email.js';
import { emailAddress } from '../../access/request_schemas.js';
import { isId } from '../../domain/ids.js';
import { orNull, Refused, refuse, throwRefusal } from '../../domain/refusals.js';
import { randomId, randomPartition } from '../../engine/random/random.js';
import { pollUntil } from '../../engine/runtime/poll_until.js';
import type { FeatureServices } from '../services.js';

/** Accounts by the email that leads to them. */

const BEING_MADE = refuse('UNAVAILABLE', 'The account is being made; try again in a moment.', { retry_after_s: 2 });
const NO_ACCOUNT = refuse('NOT_FOUND', 'There is no such account.');

/** The id for an account that may have to be made. */
export function newAccountId({ clock }: Pick<FeatureServices, 'clock'>): NewAccountId {
  return { account_id: randomId({ partition: randomPartition(), now_ms: clock.now() }) };
}

/** The present account. Waits for an account that another sign-in is making at the moment. */
export function accountOf({ actors }: Pick<FeatureServices, 'actors'>, account_id: string): Promise<Account> {
  return pollUntil(async () => {
    return orNull(actors.account(account_id).view(), 'UNAUTHORIZED');
  }, BEING_MADE);
}

/** The account that an email leads to, if any. For callers that may know. */
export async function accountIdOf({ actors }: Pick<FeatureServices, 'actors'>, email: string): Promise<string | null> {
  const found = await actors.email(email).view();
  return found.account_id;
}

/** The account that staff name by its id or its email. */
export async function accountNamed(services: Pick<FeatureServices, 'actors'>, named: string): Promise<Account> {
  const { actors } = services;
  let account_id: string | null = isId(named) ? named : null;
  if (account_id === null) {
    const typed = emailAddress.safeParse(named);
    if (!typed.success) throw new Refused(NO_ACCOUNT);
    account_id = await accountIdOf(services, typed.data);
  }
  if (account_id === null) throw new Refused(NO_ACCOUNT);
  return (await orNull(actors.account(account_id).view(), 'UNAUTHORIZED')) ?? throwRefusal(NO_ACCOUNT);
}
