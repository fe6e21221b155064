import type { Command } from 'commander';
import { listenProgram, readOptions, type TypedOptions } from './options.js';

/** `listen`, called so. What it does is loaded when it is called: other commands of `spool` need none of it. */
export const listenCommand = (name: string): Command =>
  listenProgram(name).action(async (typed: TypedOptions) => {
    const options = readOptions(typed, process.env);
    const { listen } = await import('./listen.js');
    await listen(options);
  });
