import type { Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { AppClient } from '../../kits/typescript/src/app_client.js';
import { OperatorClient } from '../../kits/typescript/src/operator_client.js';
import { Patience } from '../../kits/typescript/src/retries.js';
import { signIn } from './recorder.js';
import type { ChosenServer } from './server_choice.js';
import { lineOf } from './transcript.js';
import { prepareAccount } from './week_account.js';
import { recordWeek, type WeekRecording } from './week_recordings.js';
import { tidyUp } from './week_tidying.js';

const POLL_MS = 200;
const WAIT_MS_MAX = 120_000;
/** Nothing is looked into before it was quiet for ten seconds. */
const QUIET_MS = 12_000;
const QUESTIONS = [
  'what did I promise in the last seven days',
  'where is the spare key',
  'what does the battery cabinet cost',
];
const SHOWN = 3;

const TOKEN_PERMISSIONS = ['turns:read', 'insights:read'] as const;

type Week = WeekRecording & { out: Writable };

/**
 * Records the scripted week into a server whose engine hears what the script says, as the last seven days, and fills
 * the rest of the account; then asks what an assistant would ask. Gives a token with which one reads it. Whether all of it
 * was heard. `webhook_url`: where events are sent, an address that the server trusts; null for nowhere.
 */
export async function runWeek(
  server: ChosenServer,
  { email, out, webhook_url }: { email: string; out: Writable; webhook_url: string | null },
): Promise<{ is_heard: boolean; token: string }> {
  const patience = new Patience();
  const operator = new OperatorClient(server.operator_url, server.ops_token);
  const app = new AppClient(server.base_url, { patience: null });
  const { device_url } = server;
  const week = { app, operator, patience, out, device_url };
  try {
    await signIn(week, email);
    out.write(`signed in as ${email}\n`);
    // Most recordings need nothing of it.
    const account = prepareAccount(week, { email, base_url: server.base_url, webhook_url });
    try {
      const { recordings, said, heard } = await recordWeek(week, account);
      out.write(`${recordings.length} conversations, ${heard} of ${said} turns heard\n`);
      await (await account).end();
      out.write(`${await suggestionsOf(week)} suggestions made of them\n`);
      await tidyUp(week, recordings);
      for (const question of QUESTIONS) await show(week, question);
      const body = { name: 'Assistant', permissions: [...TOKEN_PERMISSIONS], expires_at: null };
      const { value } = await patience.ask(() => app.call('POST /me/tokens', { body }));
      return { is_heard: heard === said, token: value };
    } finally {
      (await account).close();
    }
  } finally {
    operator.close();
    app.close();
  }
}

/** Counts the suggestions, once no more come. */
async function suggestionsOf({ app, patience }: Week): Promise<number> {
  let [count, changed] = [0, performance.now()];
  for (const until = changed + WAIT_MS_MAX; performance.now() < until; await delay(POLL_MS)) {
    let [seen, cursor]: [number, string | undefined] = [0, undefined];
    do {
      const query: { limit: number; cursor: string | undefined } = { limit: 100, cursor };
      const page = await patience.repeat(() => app.call('GET /suggestions', { query }));
      seen += page.items.length;
      cursor = page.cursor ?? undefined;
    } while (cursor !== undefined);
    if (seen !== count) changed = performance.now();
    count = seen;
    if (performance.now() - changed > QUIET_MS) return count;
  }
  return count;
}

async function show({ app, patience, out }: Week, query: string): Promise<void> {
  out.write(`\n${query}?\n`);
  const { items } = await patience.repeat(() =>
    app.call('POST /recall', { body: { query, limit: SHOWN, context_turns: 0 } }),
  );
  for (const { started_at, turns } of items) {
    out.write(`  ${started_at.slice(0, 16).replace('T', ' ')}\n`);
    for (const turn of turns) out.write(`    ${lineOf(turn)}\n`);
  }
}
