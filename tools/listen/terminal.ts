import { createInterface } from 'node:readline/promises';
import type { ReadStream } from 'node:tty';
import { UserError } from '../user_error.js';

/** Whether somebody sits there who can be asked. */
export function hasTerminal(): boolean {
  return process.stdin.isTTY === true && process.stdout.isTTY === true;
}

/** Asks on the terminal; what was typed, without space around it. */
export async function askOnTerminal(question: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  const given_up = new Promise<never>((_, reject) => {
    lines.once('close', () => reject(new UserError('Nothing was typed.')));
  });
  try {
    return (await Promise.race([lines.question(question), given_up])).trim();
  } finally {
    given_up.catch(() => {});
    lines.close();
  }
}

/** Calls for each key that is pressed; gives what puts the terminal back. */
export function onKeys(pressed: (key: string) => void): () => void {
  const stdin = process.stdin as ReadStream;
  const heard = (text: string) => {
    for (const key of text) pressed(key);
  };
  stdin.setRawMode(true).setEncoding('utf8').on('data', heard).resume();
  return () => {
    stdin.off('data', heard).pause();
    stdin.setRawMode(false);
  };
}
