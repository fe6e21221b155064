import type { Logger } from 'pino';
import type { Services } from '../../../routes/services.js';
import { DataFolderHeld } from '../../engine/process/data_folder.js';
import { NoRedisProgram } from '../../engine/process/redis_program.js';
import { storageProblem } from '../../engine/store/storage_problem.js';
import { type Settings, WrongSettings } from '../settings.js';
import type { PrimaryLink } from './primary_link.js';
import type { Shutdown } from './shutdown.js';

/** The services of a whole server, with all settings. */
export type ServerServices = Services & { settings: Settings };

/**
 * The arguments with which every part of a server is started. `primary`: null for a process that is alone on its ports.
 * `print`: shows a line to the person at the terminal; unlike the log, it may show a sign-in code.
 */
export type Start = {
  settings: Settings;
  log: Logger;
  shutdown: Shutdown;
  primary: PrimaryLink | null;
  print: (line: string) => void;
};

/** The time that work in progress gets to end. */
export const DRAIN_MAX_MS = 10_000;

/** The server cannot start as configured; the message gives advice. */
export class CannotStart extends Error {
  override name = 'CannotStart';
}

/** Whether a person at the terminal can solve the problem: the message says how. Anything else is a bug. */
export function isStartProblem(error: unknown): boolean {
  return [CannotStart, DataFolderHeld, NoRedisProgram, WrongSettings].some((kind) => error instanceof kind);
}

/** Reports a problem with Redis that a person can solve in words; anything else is a bug and shows its stack. */
export async function ofStorage<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const problem = storageProblem(error);
    throw problem === null ? error : new CannotStart(`The server can't start: ${problem}`);
  }
}
