#!/usr/bin/env node
import type { OperatorClient } from '../../kits/typescript/src/operator_client.js';
import { runProgram } from '../command_line.js';
import { demoCommand } from '../demo/command.js';
import { importCommand } from '../import/command.js';
import { listenCommand } from '../listen/command.js';
import { notesCommand } from '../note_folder/command.js';
import { watchCommand } from '../watch/command.js';
import { ACCOUNT_COMMANDS } from './accounts.js';
import { ACTOR_COMMANDS } from './actors.js';
import { CLIENT_COMMANDS } from './clients.js';
import type { CommandGroup } from './command.js';
import { completionCommands } from './completion.js';
import { CONTENT_COMMANDS } from './content.js';
import { DATA_COMMANDS } from './data.js';
import { DEVICE_COMMANDS } from './devices.js';
import { ENDPOINT_COMMANDS } from './endpoints.js';
import { GRANT_COMMANDS } from './grants.js';
import { KEY_COMMANDS } from './keys.js';
import { MODEL_COMMANDS } from './models.js';
import { operatorAccess } from './operator_access.js';
import { spoolProgram } from './program.js';
import { SERVER_COMMANDS } from './server.js';
import { WORKSPACE_COMMANDS } from './workspaces.js';

/** All commands of `spool`: one file a group. */
const SERVER_GROUPS: readonly CommandGroup[] = [
  ACCOUNT_COMMANDS,
  WORKSPACE_COMMANDS,
  CLIENT_COMMANDS,
  GRANT_COMMANDS,
  DEVICE_COMMANDS,
  ENDPOINT_COMMANDS,
  CONTENT_COMMANDS,
  KEY_COMMANDS,
  ACTOR_COMMANDS,
  SERVER_COMMANDS,
  DATA_COMMANDS,
  MODEL_COMMANDS,
];
/** Commands that have options of their own kind. */
const PROGRAMS = [
  importCommand('import'),
  watchCommand('watch'),
  notesCommand('notes'),
  listenCommand('listen'),
  demoCommand('demo'),
];

const program = spoolProgram(
  [...SERVER_GROUPS, completionCommands(SERVER_GROUPS, PROGRAMS)],
  async ({ command, parameters, options, json: as_json }) => {
    let opened: OperatorClient | null = null;
    try {
      const { json, lines, failed } = await command.run({
        get operator() {
          opened ??= operatorAccess(process.env);
          return opened;
        },
        parameters,
        options,
      });
      console.log(as_json ? JSON.stringify(json, null, 2) : lines.join('\n'));
      if (failed) process.exitCode = 1;
    } finally {
      (opened as OperatorClient | null)?.close();
    }
  },
);

for (const one of PROGRAMS) program.addCommand(one);
void runProgram(program, (error) => {
  const { code, syscall } = error as NodeJS.ErrnoException;
  return syscall === 'connect' ? `The server could not be reached (${code}). Is OPS_URL right?` : undefined;
});
