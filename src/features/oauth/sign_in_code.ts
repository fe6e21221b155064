import type { Account } from '../../../actors/accounts/account_state.js';
import type { CodeToSend, TriedCode } from '../../../actors/oauth/emailed_code.js';
import { type Language, textsIn } from '../../domain/language/texts.js';
import { Refused, refuse } from '../../domain/refusals.js';
import { networkOf } from '../../engine/limits/rate_limits.js';
import { sealMail } from '../../engine/mail/sealed_mail.js';
import { randomCode, randomId } from '../../engine/random/random.js';
import { accountOf, newAccountId } from '../accounts/account_of_email.js';
import { codeMail } from '../accounts/code_mail.js';
import type { FeatureServices } from '../services.js';

/**
 * Parts that native and browser sign-in share: a code that is mailed for one sign-in, and the account behind the email.
 */

const MAIL_AWAY = refuse('UNAVAILABLE', 'Sign-in is not available at the moment.', { retry_after_s: 30 });

type SignIn = { sign_in_id: string; email: string };
/** Who asks for a code, and the language of its mail. */
export type CodeSender = { ip: string; language: Language };

/** A code for this sign-in; null if the budget of the address is spent. */
export async function newCode(
  { mail, actors, keys, clock, settings }: Pick<FeatureServices, 'actors' | 'clock' | 'keys' | 'mail' | 'settings'>,
  { ip, language }: CodeSender,
  { sign_in_id, email }: SignIn,
): Promise<CodeToSend> {
  if (!mail.healthy()) throw new Refused(MAIL_AWAY);
  const taken = await actors.email(email).take_send({ network: networkOf(ip), budgeted: settings.rate_limits });
  if (!taken.sent) return null;
  const code = randomCode();
  const { key_id, mac } = keys.keyedHash('sign-in code', sign_in_id, email, code);
  return {
    hash: Buffer.from(mac).toString('base64url'),
    key_id,
    mail_id: randomId({ partition: 0, now_ms: clock.now() }),
    sealed: sealMail(keys, codeMail({ to: email, code }, textsIn(language))),
  };
}

/** The code that a person typed, hashed for the check. */
export async function triedCode(
  { actors, keys }: Pick<FeatureServices, 'actors' | 'keys'>,
  ip: string,
  { sign_in_id, email, code }: SignIn & { code: string },
): Promise<TriedCode> {
  const network = networkOf(ip);
  const answer = await actors.email(email).may_try({ network });
  const hashes: Record<string, string> = {};
  for (const key_id of keys.keyIds()) {
    const mac = keys.keyedHashWith(key_id, 'sign-in code', sign_in_id, email, code);
    if (mac !== null) hashes[key_id] = Buffer.from(mac).toString('base64url');
  }
  return { hashes, allowed: answer.allowed, network };
}

/** The account behind an email that a code was entered for; made if there is none. */
export async function accountBehind(
  services: Pick<FeatureServices, 'actors' | 'clock'>,
  ip: string,
  email: string,
): Promise<Account> {
  const { actors } = services;
  const entered = await actors.downstream
    .email(email)
    .enter({ network: networkOf(ip), email, account: newAccountId(services) });
  return accountOf(services, entered.account_id);
}
