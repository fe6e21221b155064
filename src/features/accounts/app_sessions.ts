import { z } from 'zod';
import type { IssuedTokens } from '../../../actors/accounts/app_session.js';
import type { Principal } from '../../access/principal.js';
import { count, id } from '../../access/response_schemas.js';
import { partitionOfId } from '../../domain/ids.js';
import { type Language, textsIn } from '../../domain/language/texts.js';
import { LIMITS } from '../../domain/limits.js';
import { Refused, refuse } from '../../domain/refusals.js';
import { networkOf } from '../../engine/limits/rate_limits.js';
import { sealMail } from '../../engine/mail/sealed_mail.js';
import { randomCode, randomId } from '../../engine/random/random.js';
import { deriveToken, isGenuine, parseToken, randomSeed } from '../../engine/secrets/tokens.js';
import { partitionOfText } from '../../engine/store/partitions.js';
import type { FeatureServices } from '../services.js';
import { accountOf, newAccountId } from './account_of_email.js';
import { passesCaptcha } from './captcha.js';
import { codeMail } from './code_mail.js';

/** Sign-in by emailed code, and sessions of our own apps. docs/rules.md, "Sign-in and sessions". */

const MAIL_AWAY = refuse('UNAVAILABLE', 'Sign-in is not available at the moment.', { retry_after_s: 30 });
const CAPTCHA_FAILED = refuse('BAD_REQUEST', 'The CAPTCHA was not passed.', {
  details: [{ path: 'captcha_token', message: 'must be the token of a CAPTCHA that was passed' }],
});
const SESSION_ENDED = refuse('UNAUTHORIZED', 'The refresh token is unknown, used or has ended.');

export const codeSentShape = z.strictObject({
  sent: z.literal(true).describe('Always true: what became of the mail is not reported.'),
  expires_in: count.describe('Seconds for which the code counts.'),
});

export const sessionShape = z
  .strictObject({
    access_token: z.string().describe('The bearer token of account routes.'),
    refresh_token: z.string().describe('What gets the session its next tokens.'),
    token_type: z.literal('bearer').describe('How the access token is shown: `Authorization: Bearer …`.'),
    expires_in: count.describe('Seconds that the access token lives from now on.'),
    expires_at: count.describe('When the access token ends, in Unix seconds.'),
    user: z.strictObject({ id, email: z.string() }).describe('The account that is signed in.'),
  })
  .meta({ id: 'Session' });

type SessionView = z.infer<typeof sessionShape>;

/** Mails a six-digit code to an address, whether or not it has an account. */
export async function sendSignInCode(
  services: Pick<FeatureServices, 'actors' | 'clock' | 'keys' | 'mail' | 'mails' | 'settings'>,
  {
    captcha_token: token,
    ip,
    email,
    language,
  }: { email: string; captcha_token?: string | undefined; ip: string; language: Language },
): Promise<z.infer<typeof codeSentShape>> {
  const { actors, clock, keys, mail, mails, settings } = services;
  if (!mail.healthy()) throw new Refused(MAIL_AWAY);
  if (!(await passesCaptcha(settings, { token, ip }))) throw new Refused(CAPTCHA_FAILED);
  const code = randomCode();
  const { key_id, mac } = keys.keyedHash('code', email, code);
  await actors.email(email).send_code({
    network: networkOf(ip),
    budgeted: settings.rate_limits,
    code_hash: Buffer.from(mac).toString('base64url'),
    key_id,
    mail_id: randomId({ partition: 0, now_ms: clock.now() }),
    sealed: sealMail(keys, codeMail({ to: email, code }, textsIn(language))),
  });
  mails.due.offerPartitions([partitionOfText(email)]); // the answer does not wait for it
  return { sent: true, expires_in: LIMITS.code_life_ms / 1000 };
}

/** Signs in with an emailed code: begins a session, and makes the account if the email has none. */
export async function signInWithCode(
  services: Pick<FeatureServices, 'actors' | 'clock' | 'keys'>,
  { code, ip, email }: { email: string; code: string; ip: string },
): Promise<SessionView> {
  const { keys, actors } = services;
  const hashes = Object.fromEntries(
    keys
      .keyIds()
      .map((key_id) => [
        key_id,
        Buffer.from(keys.keyedHashWith(key_id, 'code', email, code) ?? []).toString('base64url'),
      ]),
  );
  const verified = await actors.downstream
    .email(email)
    .verify_code({ network: networkOf(ip), hashes, email, account: newAccountId(services) });
  return openSession(services, { email, ...verified });
}

/** Gives a session its next tokens. UNAUTHORIZED for a refresh token that was used before. */
export async function refreshSession(
  services: Pick<FeatureServices, 'actors' | 'clock' | 'keys'>,
  refresh_token: string,
): Promise<SessionView> {
  const { keys, actors } = services;
  const parsed = parseToken('app_refresh', refresh_token);
  if (parsed === null) throw new Refused(SESSION_ENDED);
  const session = await actors.appSession(parsed.id).secret();
  if (!isGenuine(keys, 'app_refresh', parsed, session)) throw new Refused(SESSION_ENDED);
  const { account_id, issued_under } = session;
  const account = await actors.account(account_id).view();
  if (account.epochs.app_sessions !== issued_under.app_sessions) throw new Refused(SESSION_ENDED);
  const issued = await actors
    .appSession(parsed.id)
    .refresh({ generation: parsed.counter }, [
      { fence: 'epoch', account_id, epoch: 'app_sessions', value: issued_under.app_sessions },
    ]);
  return sessionView(services, parsed.id, issued);
}

/** Ends the calling session. */
export function endSession({ actors }: Pick<FeatureServices, 'actors'>, { credential_id }: Principal) {
  return actors.appSession(credential_id).end();
}

/** Begins a session for a verified email, in the account's partition. */
async function openSession(
  services: Pick<FeatureServices, 'actors' | 'clock' | 'keys'>,
  verified: { email: string; account_id: string; verified_at_ms: number },
): Promise<SessionView> {
  const { actors, clock, keys } = services;
  const { account_id, email, verified_at_ms } = verified;
  const account = await accountOf(services, account_id);
  const session_id = randomId({ partition: partitionOfId(account_id), now_ms: clock.now() });
  const issued_under = { account: account.epochs.account, app_sessions: account.epochs.app_sessions };
  const issued = await actors
    .appSession(session_id)
    .open({ account_id, email, ...randomSeed(keys), issued_under, verified_at_ms }, [
      { fence: 'epoch', account_id, epoch: 'app_sessions', value: issued_under.app_sessions },
    ]);
  return sessionView(services, session_id, issued);
}

/** The Session of the interface. */
function sessionView(
  { keys, clock }: Pick<FeatureServices, 'clock' | 'keys'>,
  id: string,
  { session, serial, expires_at_ms }: IssuedTokens,
): SessionView {
  return {
    access_token: deriveToken(keys, 'app_access', { ...session, id, counter: serial }),
    refresh_token: deriveToken(keys, 'app_refresh', { ...session, id, counter: session.generation }),
    token_type: 'bearer',
    expires_in: Math.ceil((expires_at_ms - clock.now()) / 1000),
    expires_at: Math.floor(expires_at_ms / 1000),
    user: { id: session.account_id, email: session.email },
  };
}
