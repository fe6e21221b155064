import { NoRedisProgram } from '../../process/redis_program.js';
import { WrongSettings } from '../../settings.js';
import { CallRefused } from '../client/http_call.js';
import { DemoStop } from './demo_stop.js';

/** What commands with simulated devices take from, and say to, whoever sits at the terminal. */

/** A number of an option, or DemoStop with its bounds. */
export function numberIn(text: string, { name, min, max }: { name: string; min: number; max: number }): number {
  const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= min && value <= max)) throw new DemoStop(`${name} must be a number from ${min} to ${max}.`);
  return value;
}

/** What the person at the terminal can set right is said in words; anything else is a bug and shows its stack. */
export function wordsFor(error: unknown): unknown {
  if (error instanceof CallRefused) return `The server refused: ${error.message}`;
  if ([DemoStop, NoRedisProgram, WrongSettings].some((kind) => error instanceof kind)) return (error as Error).message;
  const { code, syscall } = error as NodeJS.ErrnoException;
  return syscall === 'connect' ? `The server could not be reached (${code}).` : error;
}
