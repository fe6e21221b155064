import { WrongSettings } from '../../settings.js';
import { WrongUsage } from '../cli/command.js';
import { NoOperatorAccess } from '../cli/operator_access.js';
import { CallRefused } from '../client/http_call.js';
import { NoCode } from '../client/operator_client.js';
import { Access } from './access.js';
import type { Display } from './display.js';
import { isOfTheWay, wordsFor } from './feed.js';
import { ListenStop } from './listen_stop.js';
import { LiveTable } from './live_table.js';
import { PlainLines } from './plain_lines.js';
import { Run, type Summary } from './run.js';
import { signIn } from './sign_in.js';
import { hasTerminal, onKeys } from './terminal.js';
import { readWishes, USAGE } from './wishes.js';

const DONE = 0;
const WENT_WRONG = 1;
const NOT_UNDERSTOOD = 2;
const CTRL_C = '\x03';

async function main(): Promise<number> {
  const wishes = readWishes(process.argv.slice(2), process.env);
  if (wishes === null) {
    console.log(USAGE);
    return DONE;
  }
  const access = new Access(wishes.server);
  try {
    const who = await signIn(access, wishes.who);
    console.log(`server: ${wishes.server.origin}, signed in ${who}`);
    console.log(`signing secret: ${wishes.secret.is_drawn ? wishes.secret.text : 'from SPOOL_WEBHOOK_SECRET'}`);
    const display = openDisplay();
    const run = new Run(wishes, display);
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
    return DONE;
  } finally {
    await access.leave();
  }
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

/** What the person at the terminal can set right is said in words; anything else is a bug and shows its stack. */
function endOf(error: unknown): { says: unknown; code: number } {
  if (error instanceof WrongUsage || error instanceof WrongSettings)
    return { says: error.message, code: NOT_UNDERSTOOD };
  if (error instanceof ListenStop || error instanceof NoOperatorAccess)
    return { says: error.message, code: WENT_WRONG };
  if (error instanceof NoCode)
    return { says: `${error.message}; of too many in a row, some are not sent. Wait a while.`, code: WENT_WRONG };
  if (error instanceof CallRefused) return { says: `The server refused: ${error.message}`, code: WENT_WRONG };
  if (!isOfTheWay(error)) return { says: error, code: WENT_WRONG };
  return { says: `Nothing to listen to: ${wordsFor(error)}. Is --server right?`, code: WENT_WRONG };
}

process.exitCode = await main().catch((error: unknown) => {
  const { says, code } = endOf(error);
  console.error(says);
  return code;
});
