import type { Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { OperatorClient } from '../../kits/typescript/src/operator_client.js';
import type { ChosenServer } from './server_choice.js';

const POLL_MS = 500;

/**
 * Says where a browser shows what was recorded, and how one signs in there. A server of its own ends after that, or serves
 * until Ctrl-C and prints each code that it mails.
 */
export async function showApp(
  server: ChosenServer,
  { email, stays, out }: { email: string; stays: boolean; out: Writable },
): Promise<void> {
  const where = `${server.base_url}/app`;
  if (server.own === null) {
    out.write(`\nSee it at ${where}: sign in as ${email}. The code stands at ${server.operator_url}/mails.\n`);
    return;
  }
  if (!stays) {
    out.write('\nThe server ends now. With --stay it goes on, and a browser shows what was recorded.\n');
    return;
  }
  out.write(`\nSee it at ${where}: sign in as ${email}. The code comes here. Serving until Ctrl-C.\n`);
  const operator = new OperatorClient(server.operator_url, server.ops_token);
  const seen = new Set(await operator.codes(email));
  for (;;) {
    await delay(POLL_MS);
    for (const code of await operator.codes(email)) {
      if (seen.has(code)) continue;
      seen.add(code);
      out.write(`code for ${email}: ${code}\n`);
    }
  }
}
