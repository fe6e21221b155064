import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { CallRefused, NoAnswer } from '../kits/typescript/src/call.js';
import { BackupRefused } from '../src/engine/backup/manifest.js';
import { DataFolderHeld } from '../src/engine/process/data_folder.js';
import { NoRedisProgram } from '../src/engine/process/redis_program.js';
import { VERSION } from '../src/engine/process/version.js';
import { ModelRefused } from '../src/features/transcripts/speech_models/installed_models.js';
import { WrongSettings } from '../src/host/settings.js';
import { UserError, WRONG_USAGE } from './user_error.js';

/**
 * The common parts of all programs for people: help in 80 columns, the version, and how they end. Exit code 2: the
 * command line was not understood.
 */

const COLUMNS = 80;

export function newProgram(name: string, says: string): Command {
  return new Command(name)
    .description(says)
    .version(`spool ${VERSION}`, '--version', 'print the version of Spool')
    .helpOption('--help', 'print this text')
    .configureOutput({ getOutHelpWidth: () => COLUMNS, getErrHelpWidth: () => COLUMNS })
    .exitOverride();
}

/** An option `--name <VALUE>` whose value is a number. */
export function numberOption(
  flags: string,
  says: string,
  { min, max, is_whole = false, otherwise }: { min: number; max: number; is_whole?: boolean; otherwise?: number },
): Option {
  const option = new Option(flags, says).argParser((text) => {
    const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max && (!is_whole || Number.isInteger(value))) return value;
    throw new InvalidArgumentError(`It must be a ${is_whole ? 'whole ' : ''}number from ${min} to ${max}.`);
  });
  return otherwise === undefined ? option : option.default(otherwise);
}

/** Runs a program with what was typed. `wordsFor` knows errors that are this program's own. */
export async function runProgram(
  program: Command,
  wordsFor: (error: unknown) => string | undefined = () => undefined,
): Promise<void> {
  // Whoever reads the output may have seen enough: `spool --help | head`.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit(0);
  });
  try {
    await program.parseAsync();
  } catch (error) {
    process.exitCode = exitCodeOf(error);
    // Commander has said what it does not understand.
    if (!(error instanceof CommanderError)) console.error(wordsFor(error) ?? commonWordsFor(error));
  }
}

function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : WRONG_USAGE.exit_code;
  if (error instanceof UserError) return error.exit_code;
  return error instanceof WrongSettings ? WRONG_USAGE.exit_code : 1;
}

/** A bug shows its stack. */
function commonWordsFor(error: unknown): unknown {
  if (error instanceof CallRefused) return `The server refused: ${error.message}`;
  const kinds = [UserError, WrongSettings, NoRedisProgram, BackupRefused, ModelRefused, DataFolderHeld];
  if (kinds.some((kind) => error instanceof kind)) return (error as Error).message;
  const { code, syscall } = error as NodeJS.ErrnoException;
  return error instanceof NoAnswer || syscall === 'connect' ? `The server could not be reached (${code}).` : error;
}
