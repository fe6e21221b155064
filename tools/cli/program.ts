import { type Command, Option } from 'commander';
import { newProgram } from '../command_line.js';
import { type CommandGroup, type CommandRow, GivenOptions, type OptionRow } from './command.js';

const WHERE = `
The operator port is found at OPS_URL (http://127.0.0.1:9090 when not set),
with the token in OPS_TOKEN or in DATA_DIR/ops_token.
Exit codes: 0 done, 1 refused or not reached, 2 not understood.`;

/** The options of every command beside its own. */
export const COMMON_OPTIONS: Record<string, OptionRow> = { json: { says: 'answer as JSON' } };

export type Typed = {
  command: CommandRow;
  parameters: Record<string, string>;
  options: GivenOptions;
  json: boolean;
};

/** `spool`, made of its rows. `run` is called with the command that was typed. */
export function spoolProgram(groups: readonly CommandGroup[], run: (typed: Typed) => Promise<void>): Command {
  const program = newProgram('spool', 'Manages a running server.').addHelpText('after', WHERE);
  for (const { name, says, commands } of groups) {
    const group = program.command(name).description(says);
    for (const row of commands) addCommand(group, row, run);
  }
  return program;
}

function addCommand(group: Command, row: CommandRow, run: (typed: Typed) => Promise<void>): void {
  const command = group.command(row.name).description(row.says);
  for (const name of row.parameters) command.argument(`<${name}>`);
  const options = Object.entries({ ...row.options, ...COMMON_OPTIONS }).map(([name, of]) => {
    const option = optionOf(name, of);
    command.addOption(option);
    return [name, option] as const;
  });
  command.action(async () => {
    const values = options.map(([name, option]) => [name, command.getOptionValue(option.attributeName())]);
    const given = new GivenOptions(Object.fromEntries(values));
    const parameters = Object.fromEntries(row.parameters.map((name, index) => [name, command.args[index] as string]));
    await run({ command: row, parameters, options: given, json: given.flag('json') });
  });
}

function optionOf(name: string, { value, required, repeats, says }: OptionRow): Option {
  const option = new Option(value === undefined ? `--${name}` : `--${name} <${value}>`, says);
  if (required) {
    option.makeOptionMandatory();
    option.description += '; required';
  }
  if (repeats) {
    option.description += '; may be repeated';
    option.argParser((text: string, before: string[] = []) => [...before, text]);
  }
  return option;
}
