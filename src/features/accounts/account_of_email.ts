import type { Account } from '../../../actors/accounts/account_state.js';
import type { NewAccountId } from '../../../actors/accounts/email.js';
import { emailAddress } from '../../access/request_schemas.js';
import type { TypedEmail } from '../../access/typed_email.js';
import { isId } from '../../domain/ids.js';
import { isRefusal, type Refusal, refuse } from '../../domain/refusals.js';
import { pollUntil } from '../../engine/runtime/poll_until.js';
import { randomId, randomPartition } from '../../engine/runtime/random.js';
import type { Services } from '../../host/services.js';

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

/**
 * The spelling under which a mailbox is known here: that of an account, else of an invitation, as it was typed before all
 * others; else the canonical one. Earlier releases took each spelling for a mailbox of its own.
 */
export async function knownEmail(
  { actors }: Pick<Services, 'actors'>,
  { canonical, spellings }: TypedEmail,
): Promise<string | Refusal> {
  if (spellings.length === 1) return canonical;
  const owned = await Promise.all(spellings.map((email) => actors.email(email).view()));
  const invited = await Promise.all(
    spellings.map((email) => actors.email(email).list_invitations({ range: { limit: 1 } })),
  );
  const refused = [...owned, ...invited].find((one) => isRefusal(one));
  if (isRefusal(refused)) return refused;
  const of_account = owned.findIndex((one) => !isRefusal(one) && one.account_id !== null);
  const of_invitation = invited.findIndex((one) => !isRefusal(one) && one.invitations.length > 0);
  return spellings[of_account] ?? spellings[of_invitation] ?? canonical;
}

/** The account that an email, as it is known, leads to, if there is one: for those who may know. */
export async function accountIdOf(
  { actors }: Pick<Services, 'actors'>,
  email: string,
): Promise<string | null | Refusal> {
  const found = await actors.email(email).view();
  return isRefusal(found) ? found : found.account_id;
}

/** The account that staff name by its id or its email. */
export async function accountNamed(services: Services, named: string): Promise<Account | Refusal> {
  const { actors } = services;
  let account_id: string | null = isId(named) ? named : null;
  if (account_id === null) {
    const typed = emailAddress.safeParse(named);
    if (!typed.success) return NO_ACCOUNT;
    const email = await knownEmail(services, typed.data);
    const found = isRefusal(email) ? email : await accountIdOf(services, email);
    if (isRefusal(found)) return found;
    account_id = found;
  }
  if (account_id === null) return NO_ACCOUNT;
  const account = await actors.account(account_id).view();
  return isRefusal(account) && account.refused === 'UNAUTHORIZED' ? NO_ACCOUNT : account;
}
