import type { Command } from 'commander';
import type { CommandGroup, CommandRow, OptionRow } from './command.js';
import { COMMON_OPTIONS } from './program.js';

const ALL_COMMANDS: Record<string, OptionRow> = { ...COMMON_OPTIONS, help: { says: 'print the usage' } };

/** Commands without a group, as commander has them. */
type Words = { groups: readonly CommandGroup[]; programs: readonly Command[] };
type Script = (words: Words) => string[];

const bash: Script = ({ groups, programs }) => [
  '_spool() {',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell's
  '  local typed="${COMP_WORDS[COMP_CWORD]}" words=',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell's
  '  case "$COMP_CWORD ${COMP_WORDS[1]} ${COMP_WORDS[2]}" in',
  `    '1 '*) words='${namesOf({ groups, programs }).join(' ')}' ;;`,
  ...groups.map(({ name, commands }) => `    '2 ${name} '*) words='${commands.map((one) => one.name).join(' ')}' ;;`),
  ...programs.map((one) => `    *' ${one.name()} '*) words='${one.options.map(({ long }) => long).join(' ')}' ;;`),
  ...groups.flatMap(({ name, commands }) =>
    commands.map((command) => `    *' ${name} ${command.name}') words='${optionsOf(command).join(' ')}' ;;`),
  ),
  '  esac',
  '  COMPREPLY=($(compgen -W "$words" -- "$typed"))',
  '}',
  'complete -o default -F _spool spool',
];

const zsh: Script = (words) => ['autoload -U +X bashcompinit && bashcompinit', ...bash(words)];

const fish: Script = ({ groups, programs }) => [
  'complete -c spool -e',
  ...programs.flatMap((one) => [
    `complete -c spool -f -n __fish_use_subcommand -a ${one.name()} -d ${quoted(one.summary())}`,
    ...one.options.map(({ long, required, description }) => {
      const seen = quoted(`__fish_seen_subcommand_from ${one.name()}`);
      return `complete -c spool -n ${seen} -l ${long?.slice(2)}${required ? ' -r' : ''} -d ${quoted(description)}`;
    }),
  ]),
  ...groups.map(({ name, says }) => `complete -c spool -f -n __fish_use_subcommand -a ${name} -d ${quoted(says)}`),
  ...groups.flatMap(({ name, commands }) => {
    const names = commands.map((command) => command.name).join(' ');
    const choosing = quoted(`__fish_seen_subcommand_from ${name}; and not __fish_seen_subcommand_from ${names}`);
    return commands.map((one) => `complete -c spool -f -n ${choosing} -a ${one.name} -d ${quoted(one.says)}`);
  }),
  ...groups.flatMap(({ name, commands }) =>
    commands.flatMap((command) => {
      const chosen = `__fish_seen_subcommand_from ${name}; and __fish_seen_subcommand_from ${command.name}`;
      return Object.entries({ ...command.options, ...ALL_COMMANDS }).map(
        ([option, { value, says }]) =>
          `complete -c spool -n ${quoted(chosen)} -l ${option}${value === undefined ? '' : ' -r'} -d ${quoted(says)}`,
      );
    }),
  ),
];

const SCRIPTS: Record<string, { script: Script; use: string }> = {
  bash: { script: bash, use: 'eval "$(spool completion bash)"' },
  zsh: { script: zsh, use: 'eval "$(spool completion zsh)"' },
  fish: { script: fish, use: 'spool completion fish | source' },
};

/** One command a shell, which prints what makes it complete the words of `spool`. */
export function completionCommands(groups: readonly CommandGroup[], programs: readonly Command[]): CommandGroup {
  return {
    name: 'completion',
    says: 'Prints the completion script of a shell',
    commands: Object.entries(SCRIPTS).map(([name, { script, use }]) => ({
      name,
      parameters: [],
      options: {},
      says: `For ${name}: ${use}`,
      async run() {
        const lines = script({ groups, programs });
        return { json: { shell: name, script: lines.join('\n') }, lines };
      },
    })),
  };
}

function namesOf({ groups, programs }: Words): string[] {
  return [...groups.map(({ name }) => name), ...programs.map((one) => one.name())];
}

function optionsOf({ options }: CommandRow): string[] {
  return Object.keys({ ...options, ...ALL_COMMANDS }).map((name) => `--${name}`);
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
