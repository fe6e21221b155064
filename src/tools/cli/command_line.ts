import { type ParseArgsConfig, parseArgs } from 'node:util';
import { type Command, type CommandGroup, GivenOptions, type Option, WrongUsage } from './command.js';
import { COMMON_OPTIONS } from './common_options.js';
import { helpOfAll, helpOfCommand, helpOfGroup } from './help.js';

export type Typed =
  | { typed: 'help'; text: string }
  | { typed: 'command'; command: Command; parameters: Record<string, string>; options: GivenOptions; json: boolean };

/** What was typed after `spool`. Throws WrongUsage. */
export function readCommandLine(groups: readonly CommandGroup[], typed: readonly string[]): Typed {
  const [group_name, command_name, ...rest] = typed.filter((word, index) => index > 0 || word !== 'help');
  const all = helpOfAll(groups);
  if (group_name === '--help' || (group_name === undefined && typed.length > 0)) return { typed: 'help', text: all };
  if (group_name === undefined) throw new WrongUsage(all);
  const group = groups.find(({ name }) => name === group_name);
  if (group === undefined) throw new WrongUsage(`There is no ${shown(group_name)}.\n\n${all}`);
  const of_group = helpOfGroup(group);
  if (command_name === '--help' || (command_name === undefined && typed[0] === 'help')) {
    return { typed: 'help', text: of_group };
  }
  if (command_name === undefined) throw new WrongUsage(of_group);
  const command = group.commands.find(({ name }) => name === command_name);
  if (command === undefined) throw new WrongUsage(`${group.name} has no ${shown(command_name)}.\n\n${of_group}`);
  const help = helpOfCommand(group, command);
  if (typed[0] === 'help') return { typed: 'help', text: help };
  const { values, positionals } = readOptions({ ...command.options, ...COMMON_OPTIONS }, rest, help);
  if (values.help === true) return { typed: 'help', text: help };
  const missing = command.parameters[positionals.length];
  if (missing !== undefined) throw new WrongUsage(`${missing} is missing.\n\n${help}`);
  const extra = positionals[command.parameters.length];
  if (extra !== undefined) throw new WrongUsage(`${shown(extra)} is one too many.\n\n${help}`);
  for (const [name, { required }] of Object.entries(command.options)) {
    if (required && values[name] === undefined) throw new WrongUsage(`--${name} is missing.\n\n${help}`);
  }
  return {
    typed: 'command',
    command,
    parameters: Object.fromEntries(command.parameters.map((name, index) => [name, positionals[index] as string])),
    options: new GivenOptions(values),
    json: values.json === true,
  };
}

/** Options and other words as they were typed. Throws WrongUsage, with the help. */
export function readOptions(known: Record<string, Option>, args: string[], help: string) {
  const options: NonNullable<ParseArgsConfig['options']> = {};
  for (const [name, { value, repeats }] of Object.entries(known)) {
    options[name] = { type: value === undefined ? 'boolean' : 'string', multiple: repeats === true };
  }
  try {
    return parseArgs({ args, options, allowPositionals: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code?.startsWith('ERR_PARSE_ARGS') !== true) throw error;
    throw new WrongUsage(`${(error as Error).message}\n\n${help}`);
  }
}

function shown(word: string): string {
  return JSON.stringify(word.length > 40 ? `${word.slice(0, 40)}…` : word);
}
