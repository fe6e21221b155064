import { CallRefused } from '../../kits/typescript/src/call.js';
import { NoCode } from '../../kits/typescript/src/operator_client.js';
import { UserError } from '../user_error.js';
import { AccountAccess } from './access.js';
import type { Display } from './display.js';
import { isOfTheWay, wordsFor } from './feed.js';
import { LiveTable } from './live_table.js';
import type { ListenOptions } from './options.js';
import { PlainLines } from './plain_lines.js';
import { Run, type Summary } from './run.js';
import { signIn } from './sign_in.js';
import { hasTerminal, onKeys } from './terminal.js';

const CTRL_C = '\x03';

/** Words for errors that are its own. */
function listenWords(error: unknown): string | undefined {
  if (error instanceof NoCode) return `${error.message}; of too many in a row, some are not sent. Wait a while.`;
  if (error instanceof CallRefused || error instanceof UserError || !isOfTheWay(error)) return undefined;
  return `Nothing to listen to: ${wordsFor(error)}. Is --server right?`;
}

/** Signs in, and forwards until somebody ends it. */
export async function listen(options: ListenOptions): Promise<void> {
  const access = new AccountAccess(options.server);
  try {
    await listenWith(access, options);
  } catch (error) {
    const words = listenWords(error);
    throw words === undefined ? error : new UserError(words);
  } finally {
    await access.leave();
  }
}

async function listenWith(access: AccountAccess, options: ListenOptions): Promise<void> {
  const who = await signIn(access, options.who);
  console.log(`server: ${options.server.origin}, signed in ${who}`);
  console.log(`signing secret: ${options.secret.is_drawn ? options.secret.text : 'from SPOOL_WEBHOOK_SECRET'}`);
  const display = openDisplay();
  const run = new Run(options, display);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => run.quit());
  // Whoever read our lines has gone.
  process.stdout.on('error', () => run.quit());
  const putBack = hasTerminal() ? onKeys((key) => press(run, key)) : () => {};
  let summary: Summary;
  try {
    summary = await run.listen(access);
  } finally {
    putBack();
    display.end();
  }
  console.log(`\n${wordsOf(summary)}`);
}

function openDisplay(): Display {
  const { stdout, env } = process;
  if (stdout.isTTY !== true || env.TERM === 'dumb') return new PlainLines(stdout);
  return new LiveTable(stdout, { colours: !env.NO_COLOR });
}

function press(run: Run, key: string): void {
  if (key === 'q' || key === CTRL_C) run.quit();
  if (key === 'r') void run.again();
}

function wordsOf({ forwarded, failed, seconds }: Summary): string {
  const minutes = Math.floor(seconds / 60);
  const time = minutes === 0 ? `${seconds.toFixed(1)} s` : `${minutes} min ${Math.floor(seconds % 60)} s`;
  return `forwarded ${forwarded}, failed ${failed}, in ${time}`;
}
