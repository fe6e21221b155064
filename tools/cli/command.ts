import type { OperatorClient } from '../../kits/typescript/src/operator_client.js';

/** An option of a command, as `--name VALUE`, or as `--name` when it has no `value`. */
export type OptionRow = {
  /** The name of its value in the help. */
  value?: string;
  required?: true;
  /** May come more than once. */
  repeats?: true;
  says: string;
};

/** The result of a command: for programs, and for people. */
export type Told = {
  json: unknown;
  lines: string[];
  /** Part of it could not be done: the exit code says so as well. */
  failed?: true;
};

/** The arguments of a command. */
export type CommandCall = {
  /** The operator port; asked for only by commands that need it, as others run without a server. */
  readonly operator: OperatorClient;
  /** By the names of `parameters`. */
  parameters: Record<string, string>;
  options: GivenOptions;
};

/** One command, as a row. `spool <group> <name> <parameters> <options>`. */
export type CommandRow = {
  name: string;
  parameters: readonly string[];
  options: Record<string, OptionRow>;
  says: string;
  run: (call: CommandCall) => Promise<Told>;
};

export type CommandGroup = { name: string; says: string; commands: readonly CommandRow[] };

/** The options that were typed, each asked for by what it is. */
export class GivenOptions {
  readonly #values: Readonly<Record<string, unknown>>;

  constructor(values: Readonly<Record<string, unknown>>) {
    this.#values = values;
  }

  text(name: string): string | undefined {
    return this.#values[name] as string | undefined;
  }
  texts(name: string): string[] {
    return (this.#values[name] as string[] | undefined) ?? [];
  }
  flag(name: string): boolean {
    return this.#values[name] === true;
  }
}
