import type { FastifyRequest } from 'fastify';
import type { Account } from '../../actors/account_state.js';
import type { EmailMessage } from '../../actors/email.js';
import type { CodeToSend, TriedCode } from '../../actors/emailed_code.js';
import { accountOf, drawAccount } from '../accounts/account_of_email.js';
import { networkOf } from '../admission/rate_limits.js';
import { isRefusal, type Refusal, refuse } from '../domain/refusals.js';
import { codeMail } from '../mail/code_mail.js';
import { sealMail } from '../mail/sealed_mail.js';
import { randomCode, randomId } from '../random.js';
import type { Services } from '../services.js';

/** What native and browser sign-in share: a code that is mailed for one sign-in, and the account behind the email. */

const MAIL_AWAY = refuse('UNAVAILABLE', 'Sign-in is not available at the moment.', { retry_after_s: 30 });

type SignIn = { sign_in_id: string; email: string };

/** A code for this sign-in; null when the address has had its share. */
export async function newCode(
  { mail, runtime, keys, clock, settings }: Services,
  request: FastifyRequest,
  { sign_in_id, email }: SignIn,
): Promise<CodeToSend | Refusal> {
  if (!mail.healthy()) return MAIL_AWAY;
  const take: EmailMessage = { type: 'take_send', network: networkOf(request.ip), budgeted: settings.rate_limits };
  const taken = await runtime.ask<{ sent: boolean }>({ kind: 'email', id: email }, take);
  if (isRefusal(taken)) return taken;
  if (!taken.sent) return null;
  const code = randomCode();
  const { key_id, mac } = keys.keyedHash('sign-in code', sign_in_id, email, code);
  return {
    hash: Buffer.from(mac).toString('base64url'),
    key_id,
    mail_id: randomId({ partition: 0, now_ms: clock.now() }),
    sealed: sealMail(keys, codeMail({ to: email, code })),
  };
}

/** What a person typed, ready to be judged. */
export async function triedCode(
  { runtime, keys }: Services,
  request: FastifyRequest,
  { sign_in_id, email, code }: SignIn & { code: string },
): Promise<TriedCode | Refusal> {
  const network = networkOf(request.ip);
  const may: EmailMessage = { type: 'may_try', network };
  const answer = await runtime.ask<{ allowed: boolean }>({ kind: 'email', id: email }, may);
  if (isRefusal(answer)) return answer;
  const hashes: Record<string, string> = {};
  for (const key_id of keys.keyIds()) {
    const mac = keys.keyedHashWith(key_id, 'sign-in code', sign_in_id, email, code);
    if (mac !== null) hashes[key_id] = Buffer.from(mac).toString('base64url');
  }
  return { hashes, allowed: answer.allowed, network };
}

/** The account behind an email that somebody has shown a code for; made when there is none. */
export async function accountBehind(
  services: Services,
  request: FastifyRequest,
  email: string,
): Promise<Account | Refusal> {
  const { runtime } = services;
  const message: EmailMessage = {
    type: 'enter',
    network: networkOf(request.ip),
    email,
    account: drawAccount(services),
  };
  const entered = await runtime.askDownstream<{ account_id: string }>({ kind: 'email', id: email }, message);
  if (isRefusal(entered)) return entered;
  return accountOf(services, entered.account_id);
}
