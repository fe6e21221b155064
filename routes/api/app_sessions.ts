import { z } from 'zod';
import type { IssuedTokens } from '../../actors/accounts/app_session.js';
import { emailAddress } from '../../src/access/request_schemas.js';
import { count, id } from '../../src/access/response_schemas.js';
import { partitionOfId } from '../../src/domain/ids.js';
import { LIMITS } from '../../src/domain/limits.js';
import { Refused, refuse } from '../../src/domain/refusals.js';
import { CAPTCHA_AWAY, checkCaptcha } from '../../src/edge/http/captcha.js';
import { networkOf } from '../../src/engine/limits/rate_limits.js';
import { sealMail } from '../../src/engine/mail/sealed_mail.js';
import { randomCode, randomId } from '../../src/engine/runtime/random.js';
import { deriveToken, isGenuine, parseToken, randomSeed } from '../../src/engine/secrets/tokens.js';
import { partitionOfText } from '../../src/engine/store/partitions.js';
import { accountOf, knownEmail, newAccountId } from '../../src/features/accounts/account_of_email.js';
import { codeMail } from '../../src/features/accounts/code_mail.js';
import { accountRoute, openRoute, type Route } from '../rows.js';
import type { Services } from '../services.js';

/** Sign-in by emailed code, and sessions of our own apps. docs/rules.md, "Sign-in and sessions". */

const MAIL_AWAY = refuse('UNAVAILABLE', 'Sign-in is not available at the moment.', { retry_after_s: 30 });
const CAPTCHA_FAILED = refuse('BAD_REQUEST', 'The CAPTCHA was not passed.', {
  details: [{ path: 'captcha_token', message: 'must be the token of a CAPTCHA that was passed' }],
});
const SIX_DIGITS = 'must be six digits';
const CAPTCHA_TOKEN = 'Where a CAPTCHA is configured: the token that its widget gave.';
const SESSION_ENDED = refuse('UNAUTHORIZED', 'The refresh token is unknown, used or has ended.');

const codeSentShape = z.strictObject({
  sent: z.literal(true).describe('Always true: what became of the mail is not reported.'),
  expires_in: count.describe('Seconds for which the code counts.'),
});

const sessionShape = z
  .strictObject({
    access_token: z.string().describe('The bearer token of account routes.'),
    refresh_token: z.string().describe('What gets the session its next tokens.'),
    token_type: z.literal('bearer').describe('How the access token is shown: `Authorization: Bearer …`.'),
    expires_in: count.describe('Seconds that the access token lives from now on.'),
    expires_at: count.describe('When the access token ends, in Unix seconds.'),
    user: z.strictObject({ id, email: z.string() }).describe('The account that is signed in.'),
  })
  .meta({ id: 'Session' });

export const AUTH_ROUTES: readonly Route[] = [
  openRoute({
    method: 'POST',
    path: '/auth/otp',
    summary: 'Sends a six-digit code to an email address.',
    notes: 'The answer is the same whether or not there is an account. Signing in with the code makes one.',
    credential: 'none',
    rate: 'codes_sent',
    body: z.object({
      email: emailAddress,
      captcha_token: z.string('must be text').max(4_096).optional().describe(CAPTCHA_TOKEN),
    }),
    answer: codeSentShape,
    async handler({ services, body: { email: typed, captcha_token: token }, request }) {
      if (!services.mail.healthy()) throw new Refused(MAIL_AWAY);
      const captcha = await checkCaptcha(services.settings, { token, network: request.ip });
      if (captcha === 'away') throw new Refused(CAPTCHA_AWAY);
      if (captcha === 'failed') throw new Refused(CAPTCHA_FAILED);
      const { keys, actors, clock } = services;
      const email = await knownEmail(services, typed);
      const code = randomCode();
      const { key_id, mac } = keys.keyedHash('code', email, code);
      await actors.email(email).send_code({
        network: networkOf(request.ip),
        budgeted: services.settings.rate_limits,
        code_hash: Buffer.from(mac).toString('base64url'),
        key_id,
        mail_id: randomId({ partition: 0, now_ms: clock.now() }),
        sealed: sealMail(keys, codeMail({ to: email, code })),
      });
      void services.mails.sendDue(partitionOfText(email)); // the answer does not wait for it
      return { sent: true, expires_in: LIMITS.code_life_ms / 1000 };
    },
  }),

  openRoute({
    method: 'POST',
    path: '/auth/verify-otp',
    summary: 'Signs in with an emailed code.',
    notes: 'A code counts once. Codes that were tried too often, or are older than ten minutes, count no more.',
    credential: 'none',
    rate: 'codes_checked',
    body: z.object({
      email: emailAddress,
      token: z
        .string(SIX_DIGITS)
        .regex(/^\d{6}$/, SIX_DIGITS)
        .describe('The code of the mail, six digits.'),
    }),
    answer: sessionShape,
    refusals: ['UNAUTHORIZED'],
    async handler({ services, body: { email: typed, token }, request }) {
      const { keys, actors } = services;
      const email = await knownEmail(services, typed);
      const hashes = Object.fromEntries(
        keys
          .keyIds()
          .map((key_id) => [
            key_id,
            Buffer.from(keys.keyedHashWith(key_id, 'code', email, token) ?? []).toString('base64url'),
          ]),
      );
      const verified = await actors.downstream
        .email(email)
        .verify_code({ network: networkOf(request.ip), hashes, email, account: newAccountId(services) });
      return openSession(services, { email, ...verified });
    },
  }),

  openRoute({
    method: 'POST',
    path: '/auth/refresh',
    summary: 'Gives a session new tokens.',
    notes: 'Both stored tokens are replaced by those of the answer.',
    credential: 'none',
    body: z.object({
      refresh_token: z.string('must be text').max(4_096).describe('The last one that the session was given.'),
    }),
    answer: sessionShape,
    refusals: ['UNAUTHORIZED'],
    async handler({ services, body: { refresh_token } }) {
      const { keys, actors } = services;
      const parsed = parseToken('app_refresh', refresh_token);
      if (parsed === null) throw new Refused(SESSION_ENDED);
      const session = await actors.appSession(parsed.id).secret();
      if (!isGenuine(keys, 'app_refresh', parsed, session)) throw new Refused(SESSION_ENDED);
      const { account_id, born } = session;
      const account = await actors.account(account_id).view();
      if (account.lives.app_sessions !== born.app_sessions) throw new Refused(SESSION_ENDED);
      const issued = await actors
        .appSession(parsed.id)
        .refresh({ generation: parsed.counter }, [
          { fence: 'epoch', account_id, epoch: 'app_sessions', value: born.app_sessions },
        ]);
      return sessionView(services, parsed.id, issued);
    },
  }),

  accountRoute({
    method: 'POST',
    path: '/auth/logout',
    summary: 'Ends the session that calls.',
    credential: 'session',
    deleted_too: true,
    status: 204,
    async handler({ services, who }) {
      return services.actors.appSession(who.credential_id).end();
    },
  }),
];

/** Begins a session for a verified email, in the account's partition. */
async function openSession(
  services: Services,
  verified: { email: string; account_id: string; verified_at_ms: number },
) {
  const { actors, clock, keys } = services;
  const { account_id, email, verified_at_ms } = verified;
  const account = await accountOf(services, account_id);
  const session_id = randomId({ partition: partitionOfId(account_id), now_ms: clock.now() });
  const born = { account: account.lives.account, app_sessions: account.lives.app_sessions };
  const issued = await actors
    .appSession(session_id)
    .open({ account_id, email, ...randomSeed(keys), born, verified_at_ms }, [
      { fence: 'epoch', account_id, epoch: 'app_sessions', value: born.app_sessions },
    ]);
  return sessionView(services, session_id, issued);
}

/** The Session of the interface. */
function sessionView(
  { keys, clock }: Services,
  id: string,
  { session, serial, expires_at_ms }: IssuedTokens,
): z.infer<typeof sessionShape> {
  return {
    access_token: deriveToken(keys, 'app_access', { ...session, id, counter: serial }),
    refresh_token: deriveToken(keys, 'app_refresh', { ...session, id, counter: session.generation }),
    token_type: 'bearer',
    expires_in: Math.ceil((expires_at_ms - clock.now()) / 1000),
    expires_at: Math.floor(expires_at_ms / 1000),
    user: { id: session.account_id, email: session.email },
  };
}
