import { CallRefused } from '../../kits/typescript/src/call.js';
import { operatorAccess } from '../cli/operator_access.js';
import { UserError, WRONG_USAGE } from '../user_error.js';
import type { AccountAccess } from './access.js';
import type { AccountChoice } from './options.js';
import { askOnTerminal, hasTerminal } from './terminal.js';

const TRIES_MAX = 3;

/** Gets the credential that was chosen; gives whose it is, in words. Throws UserError or CallRefused. */
export async function signIn(access: AccountAccess, who: AccountChoice): Promise<string> {
  if (who.by === 'token') {
    access.useToken(who.token);
    return 'with the token in SPOOL_TOKEN';
  }
  if (!hasTerminal() && (who.email === null || !who.from_inbox))
    throw new UserError(
      'There is no terminal to ask on: set SPOOL_TOKEN, or give --email and, in development, --code-from-inbox.',
      WRONG_USAGE,
    );
  const email = who.email ?? (await askOnTerminal('email: '));
  const { app } = access;
  const verify = (token: string) => app.call('POST /auth/verify-otp', { body: { email, token } });
  if (who.from_inbox) {
    const operator = operatorAccess(process.env);
    try {
      const seen = new Set(await operator.codes(email));
      await app.call('POST /auth/otp', { body: { email } });
      await access.useSession(await verify(await operator.readCode(email, seen)));
    } finally {
      operator.close();
    }
    return `as ${email}`;
  }
  await app.call('POST /auth/otp', { body: { email } });
  console.log(`A code was mailed to ${email}.`);
  for (let tries = 1; ; tries++) {
    const code = await askOnTerminal('code: ');
    try {
      await access.useSession(await verify(code.replaceAll(' ', '')));
      return `as ${email}`;
    } catch (error) {
      if (!(error instanceof CallRefused) || (error.status !== 400 && error.status !== 401)) throw error;
      if (tries >= TRIES_MAX) throw new UserError('That code is not right either. Start again for another one.');
      console.log('That code is not right. Try again:');
    }
  }
}
