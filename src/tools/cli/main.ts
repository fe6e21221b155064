import { BackupRefused } from '../../backup/manifest.js';
import { DataFolderHeld } from '../../process/data_folder.js';
import { WrongSettings } from '../../settings.js';
import { CallRefused } from '../client/http_call.js';
import type { OperatorClient } from '../client/operator_client.js';
import { ACCOUNT_COMMANDS } from './accounts.js';
import { ACTOR_COMMANDS } from './actors.js';
import { CLIENT_COMMANDS } from './clients.js';
import { type CommandGroup, WrongUsage } from './command.js';
import { readCommandLine } from './command_line.js';
import { completionCommands } from './completion.js';
import { DATA_COMMANDS } from './data.js';
import { DEVICE_COMMANDS } from './devices.js';
import { ENDPOINT_COMMANDS } from './endpoints.js';
import { GRANT_COMMANDS } from './grants.js';
import { KEY_COMMANDS } from './keys.js';
import { NoOperatorAccess, operatorAccess } from './operator_access.js';
import { SERVER_COMMANDS } from './server.js';
import { WORKSPACE_COMMANDS } from './workspaces.js';

/** All that `spool` can do: one file a group. */
const SERVER_GROUPS: readonly CommandGroup[] = [
  ACCOUNT_COMMANDS,
  WORKSPACE_COMMANDS,
  CLIENT_COMMANDS,
  GRANT_COMMANDS,
  DEVICE_COMMANDS,
  ENDPOINT_COMMANDS,
  KEY_COMMANDS,
  ACTOR_COMMANDS,
  SERVER_COMMANDS,
  DATA_COMMANDS,
];
const GROUPS = [...SERVER_GROUPS, completionCommands(SERVER_GROUPS)];

const DONE = 0;
const REFUSED = 1;
const NOT_UNDERSTOOD = 2;

async function main(): Promise<number> {
  const typed = readCommandLine(GROUPS, process.argv.slice(2));
  if (typed.typed === 'help') {
    console.log(typed.text);
    return DONE;
  }
  let opened: OperatorClient | null = null;
  try {
    const { command, parameters, options } = typed;
    const { json, lines, failed } = await command.run({
      get operator() {
        opened ??= operatorAccess(process.env);
        return opened;
      },
      parameters,
      options,
    });
    console.log(typed.json ? JSON.stringify(json, null, 2) : lines.join('\n'));
    return failed ? REFUSED : DONE;
  } finally {
    (opened as OperatorClient | null)?.close();
  }
}

/** What to say of an error, and how to end. Anything that is not known here is a bug and shows its stack. */
function endOf(error: unknown): { says: unknown; code: number } {
  if (error instanceof WrongUsage || error instanceof WrongSettings) {
    return { says: error.message, code: NOT_UNDERSTOOD };
  }
  if ([NoOperatorAccess, BackupRefused, DataFolderHeld].some((kind) => error instanceof kind)) {
    return { says: (error as Error).message, code: REFUSED };
  }
  if (error instanceof CallRefused) return { says: `The server refused: ${error.message}`, code: REFUSED };
  const { code, syscall } = error as NodeJS.ErrnoException;
  const says = syscall === 'connect' ? `The server could not be reached (${code}). Is OPS_URL right?` : error;
  return { says, code: REFUSED };
}

process.exitCode = await main().catch((error: unknown) => {
  const { says, code } = endOf(error);
  console.error(says);
  return code;
});
