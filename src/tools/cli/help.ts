import type { Command, CommandGroup, Option } from './command.js';
import { COMMON_OPTIONS } from './common_options.js';
import { table } from './table.js';

const WHERE = `The server is found at OPS_URL (http://127.0.0.1:9090 when not set), with the token in OPS_TOKEN or in
DATA_DIR/ops_token. Exit codes: 0 done, 1 refused or not reached, 2 not understood.`;

/** What there is. */
export function helpOfAll(groups: readonly CommandGroup[]): string {
  const rows = groups.map(({ name, says }) => [`  spool ${name}`, says]);
  return ['What staff do to a running server.', '', ...table(rows), '', WHERE].join('\n');
}

/** The commands of a group. */
export function helpOfGroup({ name, says, commands }: CommandGroup): string {
  const rows = commands.map((command) => [`  ${formOf(name, command)}`, command.says]);
  return [`${says}.`, '', ...table(rows), '', 'Each takes --json, and --help.'].join('\n');
}

/** One command with its options. */
export function helpOfCommand(group: CommandGroup, command: Command): string {
  const options = helpOfOptions({ ...command.options, ...COMMON_OPTIONS });
  return [`${formOf(group.name, command)} [options]`, '', `${command.says}.`, '', ...options].join('\n');
}

/** A line an option. */
export function helpOfOptions(options: Record<string, Option>): string[] {
  const rows = Object.entries(options).map(([name, option]) => [
    `  ${optionForm(name, option)}`,
    `${option.says}${option.required ? '; must be given' : ''}${option.repeats ? '; may be repeated' : ''}`,
  ]);
  return table(rows);
}

/** What must be typed. */
function formOf(group: string, { name, parameters, options }: Command): string {
  const needed = Object.entries(options).filter(([, { required }]) => required);
  return ['spool', group, name, ...parameters, ...needed.map(([option, of]) => optionForm(option, of))].join(' ');
}

function optionForm(name: string, { value }: Option): string {
  return value === undefined ? `--${name}` : `--${name} ${value}`;
}
